"""The import pages: upload, mapping, dry run, import, discard; and what they refuse."""

import os
import stat
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.corpus.models import Argument
from annotation.labelling.models import Assignment
from cqa_site.files.actions.files import stored_path
from cqa_site.files.models import ImportFile, ImportProblem
from cqa_site.people.models import AuditEvent
from cqa_site.runs.models import Job
from tests import cast
from tests.annotation.imports.import_files import crowd_file, crowd_row, take
from tests.flat import flat
from tests.tabular.files import HEADER, LAUGHS, lying_workbook, workbook

pytestmark = pytest.mark.django_db
TABLE = b"object1,object2,text\ntea,coffee,Tea wins.\ntea,coffee,Coffee wins.\n"
CHOICE = {"map_object1": "object1", "map_object2": "object2", "map_text": "text"}


def address(name: str, study, file: ImportFile | None = None) -> str:
    return reverse(name, args=[study.public_id, *([file.public_id] if file else [])])


def upload(client, study, content: bytes, name: str = "votes.csv", kind: str = "table", **more):
    body = {"kind": kind, "file": SimpleUploadedFile(name, content), "label_round": ""}
    return client.post(address("import_upload", study), body | more)


def uploaded(client, study, content: bytes, **more) -> ImportFile:
    assert upload(client, study, content, **more).status_code == 302
    return study.import_files.latest("pk")


@pytest.fixture
def checked(client, study, inline, tmp_path):
    """A crowd file after its dry run."""
    path = crowd_file(tmp_path, crowd_row("t1", "w1", 2), crowd_row("t1", "w2", 3))
    with inline():
        return uploaded(client, study, path.read_bytes(), name="pool.tsv", kind="toloka")


def test_a_crowd_file_is_looked_at_first_and_then_imported(client, study, checked, inline):
    checked.refresh_from_db()
    assert (checked.state, checked.counts["votes"]["new"]) == ("checked", 2)
    assert Assignment.objects.count() == 0
    assert "Ready to import" in client.get(address("import_file", study, checked)).text
    with inline():
        for _two_clicks in range(2):
            client.post(address("import_apply", study, checked))
    checked.refresh_from_db()
    assert (checked.state, checked.round.name) == ("applied", "pool")
    assert Job.objects.filter(kind="apply_import").count() == 1
    assert Assignment.objects.count() == 2
    assert set(checked.round.labelround.final_labels.values_list("label", flat=True)) == {3}
    assert AuditEvent.objects.filter(study=study, verb="import_applied").count() == 1
    # It stays as evidence.
    for name in ("import_discard", "import_apply", "import_check"):
        client.post(address(name, study, checked))
    checked.refresh_from_db()
    assert checked.state == "applied"
    content = stored_path(checked).read_bytes()
    # The same file again is said, and adds nothing.
    with inline():
        again = uploaded(client, study, content, name="pool.tsv", kind="toloka")
    page = client.get(address("import_file", study, again)).text
    assert "was imported before" in page
    assert f'SHA-256 <span class="mono" title="{again.sha256}">' in flat(page)
    assert "Everything in this file is already in the study" in page
    with inline():
        client.post(address("import_apply", study, again))
    assert Assignment.objects.count() == 2


def test_a_choice_that_cannot_work_is_explained(client, study):
    file = uploaded(client, study, TABLE)
    for changes, words in (
        ({"map_text": ""}, "choose the columns marked"),
        ({"map_label": "text"}, "label and rater go together"),
        ({"map_object2": "object1"}, "one column is chosen for two fields"),
    ):
        data = CHOICE | {"rater_kind": "person"} | changes
        page = client.post(address("import_mapping", study, file), data)
        assert page.status_code == 422
        assert words in page.text.lower()
    assert ImportFile.objects.get().state == "uploaded"


def test_rejected_rows_are_listed_and_nothing_is_imported_until_they_are_left_out(
    client, study, inline, tmp_path
):
    rows = [crowd_row(f"t{n}", "w1", 9 if n % 2 else 1, text=f"S {n}.") for n in range(120)]
    path = crowd_file(tmp_path, *rows)
    with inline():
        file = uploaded(client, study, path.read_bytes(), name="pool.tsv", kind="toloka")
    text = client.get(address("import_file", study, file) + "?show=rejected&page=2").text
    assert "60 rows have errors" in text
    assert "51–60 of 60" in text
    csv = client.get(address("import_problems", study, file))
    assert csv["Content-Disposition"].startswith("attachment")
    assert csv["X-Content-Type-Options"] == "nosniff"
    lines = csv.content.decode("utf-8-sig").splitlines()
    assert len(lines) == 61
    assert lines[1].startswith("pool.tsv,7,OUTPUT:R-4,rejected")
    with inline():
        client.post(address("import_apply", study, file))
    file.refresh_from_db()
    assert (file.state, Assignment.objects.count()) == ("checked", 0)
    page = client.get(address("import_file", study, file)).text
    assert "Nothing was imported, because 60 rows are rejected" in page
    with inline():
        client.post(address("import_apply", study, file), {"leave_out_rejected": "on"})
    file.refresh_from_db()
    assert (file.state, Assignment.objects.count()) == ("applied", 60)
    assert ImportProblem.objects.filter(import_file=file).count() == 60


HOSTILE = [
    (b"MZ\x90\x00" + b"\x00" * 200, "votes.csv", "executable"),
    (b"\x7fELF" + b"\x00" * 200, "votes.tsv", "executable"),
    (b"PK\x03\x04" + b"\x00" * 200, "votes.csv", "ZIP"),
    (lying_workbook(), "bomb.xlsx", "bomb.xlsx"),
    (workbook(HEADER, before=LAUGHS), "laughs.xlsx", "laughs.xlsx"),
    (b"a,b,c\n1,2," + b"x" * 1_100_000, "huge-cell.csv", "longer than"),
    ("é".encode("latin-1") * 50, "votes.csv", "is not UTF-8"),
    (b"<html><script>alert(1)</script>", "votes.csv", "web page"),
]


@pytest.mark.long
def test_hostile_files_get_a_clear_refusal(client, study, inline, subtests):
    cases = [(*case, "table") for case in HOSTILE]
    cases += [(*case, "toloka") for case in HOSTILE[:1] + HOSTILE[6:7]]
    for content, name, words, kind in cases:
        with subtests.test(f"{kind} {words}"):
            with inline():
                response = upload(client, study, content, name=name, kind=kind)
            page = client.get(response.url)
            assert words in page.text
            assert page.status_code == (422 if kind == "table" else 200)
            assert Argument.objects.count() == 0
    assert client.get(address("imports", study)).status_code == 200


def test_an_empty_file_and_one_above_the_limit_are_refused_and_not_kept(client, study, settings):
    assert upload(client, study, b"").status_code == 422
    settings.MAX_UPLOAD_BYTES = 1_000
    for size in (1_001, 1_001 + 2 * 1024 * 1024):
        page = upload(client, study, b"x" * size)
        assert page.status_code == 413
        assert "too large" in page.text
    assert ImportFile.objects.count() == 0
    assert not any(path.is_file() for path in settings.MEDIA_ROOT.rglob("*"))


def test_a_files_name_is_only_ever_shown(client, study, settings):
    for name in ("../../etc/passwd.csv", "C:\\temp\\x.csv", "a\u202evsc.exe", "<img src=x>.csv"):
        file = uploaded(client, study, TABLE, name=name)
        path = stored_path(file)
        assert path.parent == settings.MEDIA_ROOT / "imports"
        assert uuid.UUID(hex=path.name)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert not {"/", "\u202e"} & set(file.name)
    assert "<img" not in client.get(address("imports", study)).text


def test_work_that_broke_off_can_be_taken_up_again_and_a_discarded_file_is_gone(
    client, study, checked, inline
):
    ImportFile.objects.update(state="checking")
    Job.objects.update(state="failed", error="The worker stopped repeatedly on this job.")
    page = client.get(address("import_file", study, checked)).text
    assert "Processing of this file stopped" in page
    with inline():
        client.post(address("import_check", study, checked))
    checked.refresh_from_db()
    assert checked.state == "checked"
    path = stored_path(checked)
    assert path.exists()
    with inline():
        response = client.post(address("import_discard", study, checked))
    assert response.url == address("imports", study)
    assert (path.exists(), ImportFile.objects.count()) == (False, 0)


def test_arguments_are_searched_by_word_and_comparison(client, study, tmp_path):
    rows = [("Tea is warm.", ("tea", "coffee")), ("It rains.", ("a", "b"))]
    made = [crowd_row(f"t{at}", text=text, pair=pair) for at, (text, pair) in enumerate(rows)]
    take(study, "toloka", crowd_file(tmp_path, *made))
    other = cast.make_study("Study B")
    take(other, "toloka", crowd_file(tmp_path, crowd_row(text="A secret.")))
    pair, foreign = study.comparisons.get(object1="a"), other.comparisons.get()
    for query, shown in (
        ({"q": "WARM"}, ["Tea is warm."]),
        ({"comparison": pair.public_id}, ["It rains."]),
        ({"q": "snow"}, ["Nothing matches"]),
        ({"comparison": foreign.public_id}, []),
    ):
        page = client.get(address("arguments", study), query).text
        words = ("Tea is warm.", "It rains.", "A secret.", "Nothing matches")
        assert [word for word in words if word in page][: len(shown)] == shown, query
        assert "A secret." not in page


@pytest.mark.long
def test_the_list_of_arguments_asks_a_bounded_number_of_questions(client, study, tmp_path):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(address("arguments", study)).status_code == 200
        return len(found)

    take(study, "toloka", crowd_file(tmp_path, crowd_row()))
    few = queries()
    rows = [crowd_row(f"u{n}", f"w{n}", text=f"S {n}.") for n in range(60)]
    take(study, "toloka", crowd_file(tmp_path, *rows, name="more.tsv"))
    assert queries() == few


def test_one_argument_with_all_that_was_said_about_it(client, study, tmp_path):
    rows = [crowd_row("t1", f"worker{n}", n, golden=3) for n in range(4)]
    take(study, "toloka", crowd_file(tmp_path, *rows), label_round="Crowd")
    argument = study.arguments.get()
    page = client.get(reverse("argument", args=[study.public_id, argument.public_id]))
    text = flat(page.text)
    assert page.status_code == 200
    assert text.count("<td>Person</td>") == 4
    assert "Control item, known label 3" in text
    assert '<mark class="object-1">Tea</mark>' in text
    assert "worker1" not in text  # workers appear under pseudonyms
