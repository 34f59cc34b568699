"""The contract of `Format`: what the platform does for every format that an app registers.

Also for one that belongs to no paper. Files of each format stand in `made_formats.py`.
"""

import io
import json
from dataclasses import dataclass
from unittest.mock import patch

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from cqa_site.files import format_parts, formats
from cqa_site.files.actions.files import store_upload
from cqa_site.files.actions.import_jobs import apply_import, check_import
from cqa_site.files.actions.imports import Flag, ImportEntry, ImportRefused, Reconciliation
from cqa_site.files.formats import FORMATS
from cqa_site.people.models import Rater
from cqa_site.runs import jobs
from tests import cast
from tests.files.made_formats import (
    BAD_ROWS,
    options_of,
    sample_of,
    spoilt,
    take,
    take_before,
    written,
)
from tests.lengths import mostly
from tests.rows import rows_of

pytestmark = pytest.mark.django_db
KINDS = sorted(FORMATS)
LONG = pytest.mark.long
OTHERS = [kind for kind in KINDS if kind != "table"]
MANY = [kind for kind in OTHERS if FORMATS[kind].is_many]
COMMANDS = {
    "argument_list": "import_arguments",
    "argument_pairs": "import_arguments",
    "count_sheets": "import_counts",
    "metric_scores": "import_summary_scores",
    "rated_arguments": "import_qualities",
    "system_points": "import_key_points",
}
NAMES = {("judged", "rater"): "judge"}
PAPERS = ("annotation", "benchmark", "argsum")
NOTHING = {"new": 0, "same": 0, "changed": 0, "rejected": 0}


def rows_of_papers() -> dict[str, list[tuple]]:
    """All that stands in the tables of the papers, and in that of raters."""
    models = [model for app in PAPERS for model in apps.get_app_config(app).get_models()]
    return rows_of([Rater, *models])


def what_counts(counts):
    """Kinds of objects of which a file has any."""
    return {name: results for name, results in counts.items() if results != NOTHING}


def url(name, study, *ids):
    return reverse(name, args=[study.public_id, *ids])


def test_every_format_has_a_valid_file_and_one_with_a_bad_row():
    assert sorted(BAD_ROWS) == KINDS
    assert [kind for kind in KINDS if FORMATS[kind].sample is None] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_looked_at_refused_as_a_whole_and_imported_once(study, tmp_path, kind):
    take_before(study, kind, tmp_path)
    before, bad = rows_of_papers(), spoilt(kind)
    with CaptureQueriesContext(connection) as queries:
        looked, doubted = (take(study, kind, tmp_path, each, write=False) for each in (None, bad))
    assert all(query["sql"].startswith("SELECT") for query in queries)
    flag = next(flag for flag in doubted.flags if flag.is_rejection)
    assert (flag.row, flag.column) == (BAD_ROWS[kind].row, BAD_ROWS[kind].column)
    assert flag.reason
    with pytest.raises(ImportRefused, match="rejected"):
        take(study, kind, tmp_path, bad)
    assert rows_of_papers() == before
    with transaction.atomic():
        rest = take(study, kind, tmp_path, bad, leave_out_rejected=True)
        transaction.set_rollback(True)
    assert (rest.counts, rest.rejected) == (doubted.counts, doubted.rejected)
    done = take(study, kind, tmp_path)
    assert (done.counts, done.rejected) == (looked.counts, 0)
    assert done.added > 0
    after = rows_of_papers()
    assert after != before
    again = take(study, kind, tmp_path)
    assert (again.added, again.changed, again.rejected) == (0, 0, 0)
    assert rows_of_papers() == after
    assert sum(results["same"] for results in again.counts.values()) > 0


@pytest.mark.parametrize("kind", mostly(KINDS, *KINDS[::4]))
def test_another_study_shares_nothing(study, tmp_path, kind):
    other = cast.make_study("Study B")
    take_before(study, kind, tmp_path)
    take_before(other, kind, tmp_path)
    first = take(study, kind, tmp_path)
    assert take(other, kind, tmp_path).counts == first.counts


@pytest.mark.parametrize("kind", ["table", *(pytest.param(kind, marks=LONG) for kind in OTHERS)])
def test_page_interface_and_command_say_the_same_and_import_what_they_showed(
    study, client, api, tmp_path, kind
):
    take_before(study, kind, tmp_path)
    looked = what_counts(take(study, kind, tmp_path, write=False).counts)
    before = rows_of_papers()
    page = checked_on_the_page(study, client, kind)
    assert (page.state, what_counts(page.counts)) == ("checked", looked)
    asked = checked_by_the_interface(study, api, kind, tmp_path)
    assert what_counts(asked["counts"]) == looked
    assert command_says(study, kind, tmp_path) == looked
    assert rows_of_papers() == before
    client.post(url("import_apply", study, page.public_id))
    jobs.drain()
    page.refresh_from_db()
    assert page.state == "applied"
    after = rows_of_papers()
    assert after != before
    assert "Import result" in client.get(url("import_file", study, page.public_id)).text
    asked = checked_by_the_interface(study, api, kind, tmp_path)
    applied = api.post(url("api_import_apply", study, asked["id"]), {}, format="json")
    assert applied.status_code == 202
    jobs.drain()
    assert api.get(url("api_import", study, asked["id"])).json()["state"] == "applied"
    assert rows_of_papers() == after


def checked_on_the_page(study, client, kind):
    """Upload a sample without a word about its kind, and answer what is asked as proposed."""
    sample = FORMATS[kind].sample
    upload = SimpleUploadedFile(sample.name, sample_of(kind))
    reply = client.post(url("import_upload", study), {"kind": "", "file": upload})
    jobs.drain()
    file = study.import_files.latest("pk")
    assert (file.kind, list(file.options["fits"])) == (kind, [kind])
    if file.state == "uploaded":
        form = client.get(reply["Location"]).context["form"]
        values = {name: form[name].value() for name in form.fields} | sample.options
        # A browser sends empty lists of choices, too.
        given = {name: "" if value is None else value for name, value in values.items()}
        assert client.post(reply["Location"], given).status_code == 302
        jobs.drain()
    file.refresh_from_db()
    return file


def checked_by_the_interface(study, api, kind, folder):
    path = written(kind, folder)
    options = options_of(study, kind, path)
    options["mapping"] = json.dumps(options.get("mapping", {}))
    upload = SimpleUploadedFile(path.name, sample_of(kind))
    body = options | {"kind": kind, "file": upload}
    made = api.post(url("api_imports", study), body, format="multipart")
    assert made.status_code in (201, 202), made.json()
    jobs.drain()
    return api.get(url("api_import", study, made.json()["id"])).json()


def command_says(study, kind, folder):
    """The table of counts that a dry run of the command prints."""
    path, out = written(kind, folder), io.StringIO()
    options = FORMATS[kind].sample.options
    call_command(
        COMMANDS.get(kind, f"import_{kind}"),
        path,
        study=study.name,
        dry_run=True,
        stdout=out,
        **{NAMES.get((kind, name), name): value for name, value in options.items()},
    )
    text = out.getvalue()
    assert "Dry run: nothing was imported." in text
    titles = {str(each.title).lower(): name for name, each in format_parts.COUNTED.items()}
    found = {}
    for line in text.splitlines():
        title, *numbers = line.rsplit(maxsplit=4)
        if title.strip() in titles and len(numbers) == 4:
            found[titles[title.strip()]] = dict(zip(NOTHING, map(int, numbers), strict=True))
    return found


@pytest.mark.parametrize("kind", ["table", *(pytest.param(kind, marks=LONG) for kind in MANY)])
def test_of_several_files_each_is_taken_whole_or_not_at_all(study, client, tmp_path, kind):
    take_before(study, kind, tmp_path)
    name = FORMATS[kind].sample.name
    files = [
        SimpleUploadedFile(name, sample_of(kind)),
        SimpleUploadedFile(f"bad-{name}", spoilt(kind)),
        SimpleUploadedFile(f"broken-{name}", b"\x00"),
    ]
    options = FORMATS[kind].sample.options
    body = options | {"kind": kind, "file": files}
    assert client.post(url("import_upload", study), body).status_code == 302
    jobs.drain()
    batch = study.import_batches.get()
    apply_batch(client, study, batch)
    states = dict(batch.files.values_list("name", "state"))
    assert states == {name: "applied", f"bad-{name}": "checked", f"broken-{name}": "refused"}
    assert batch.files.get(state="checked").refusal.startswith(
        "Nothing was imported, because 1 row is rejected"
    )
    apply_batch(client, study, batch, leave_out_rejected="on")
    assert sorted(batch.files.values_list("state", flat=True)) == ["applied", "applied", "refused"]


def apply_batch(client, study, batch, **more):
    ids = [str(each.public_id) for each in batch.files.filter(state="checked")]
    client.post(url("import_batch_apply", study, batch.public_id), {"files": ids} | more)
    jobs.drain()


@dataclass(frozen=True, slots=True)
class Named(ImportEntry):
    """A line with the name of somebody."""

    name: str


def read_names(source):
    for number, name in enumerate(source.path.read_text().splitlines(), start=1):
        yield Named(number, name) if name else Flag(number, "name", "is empty", True, "names")


class NameReconciliation(Reconciliation):
    """Makes raters of names."""

    def compare(self, entries):
        known = set(Rater.objects.filter(study=self.study).values_list("name", flat=True))
        for entry in entries:
            self.result("names", "same" if entry.name in known else "new")
            if self.write and entry.name not in known:
                Rater.objects.create(study=self.study, name=entry.name, external_id=entry.name)


@pytest.fixture
def names(monkeypatch):
    monkeypatch.setattr(format_parts, "COUNTED", {})
    with patch.dict(FORMATS, clear=True):
        format_parts.register_counted(format_parts.ObjectCount("names", "Names"))
        formats.register_format(formats.Format("names", "Names", read_names, NameReconciliation))
        yield


def test_a_format_of_no_paper_is_looked_at_and_imported(names, study):
    before = Rater.objects.count()
    file = store_upload(
        study=study, kind="names", name="n.txt", chunks=[b"Ada\n\nBob\n"], actor=None
    )
    check_import(import_file=file)
    assert (file.state, Rater.objects.count()) == ("checked", before)
    assert file.counts == {"names": {"new": 2, "same": 0, "changed": 0, "rejected": 1}}
    assert apply_import(import_file=file) is None
    assert file.refusal == "Nothing was imported, because 1 row is rejected."
    apply_import(import_file=file, leave_out_rejected=True)
    assert (file.state, Rater.objects.count()) == ("applied", before + 2)
    assert (formats.known_kinds(), formats.batch_kinds()) == ([("names", "Names")], [])
    with pytest.raises(KeyError):
        formats.format_of("toloka")
