"""Exports: what is in them, what is not, and that they can be read back."""

import csv
import hashlib
import io
import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.urls import reverse
from openpyxl import load_workbook
from pyarrow import parquet

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.corpus.methods.column_guess import guess_mapping
from annotation.corpus.models import Argument
from annotation.exports import actions as exports
from annotation.exports.models import ExportFile
from annotation.exports.reports.tables import VOTE_TYPES
from annotation.figures.actions import LABEL_ROUNDS
from annotation.figures.reports.snapshots import COLUMNS
from annotation.labelling.models import Assignment, Item, label_rounds_of
from annotation.quality import actions as quality
from cqa_site.files.actions import exports as sending
from cqa_site.files.actions.exports import ExportOptions
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from cqa_site.runs import jobs
from cqa_site.tabular.cells import text_key
from tests.annotation.imports.import_files import take
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.lengths import mostly
from tests.worlds import built_once

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files_apart")]
FORMATS = ("csv", "jsonl", "xlsx", "parquet")
CONTENTS = tuple(ExportFile.Content.values)
NASTY = ['=cmd|"/c calc"!A1', "+1", "@SUM(A1)", "'=x", 'Tea,\r\n"coffee"\nboth', "שלום 🍵 "]
SENTINELS = ("PID-sentinel", "person@sentinel.example", "Name of a person")


def make_closed() -> SimpleNamespace:
    """A closed round: extra votes, skips, controls, an excluded rater, hard texts; its figures."""
    study = make_study()
    researcher = make_member(study, "researcher")
    label_round = make_label_round(study, ordinary=9, controls=3, state="closed")
    for argument, text in zip(study.arguments.order_by("pk")[4:], NASTY, strict=False):
        Argument.objects.filter(pk=argument.pk).update(text=text, text_sha256=text_key(text))
    for argument in study.arguments.order_by("pk")[:3]:
        argument.attributes = {"year": "2024", "label": f"=of {argument.pk}"}
        argument.save()
    raters = [_rater(study, n) for n in range(5)]
    items = list(label_round.items.order_by("pk"))
    Assignment.objects.bulk_create(
        _vote(label_round, item, rater, place, number)
        for place, item in enumerate(items)
        for number, rater in enumerate(raters)
    )
    for rater in raters:
        label_round.places.create(rater=rater)
    quality.exclude_rater(label_round=label_round, rater=raters[4], reason="Too fast", actor=None)
    snapshots.refresh(LABEL_ROUNDS, label_round)
    return SimpleNamespace(label_round=label_round, researcher=researcher)


lab = built_once(make_closed)


def _rater(study, number):
    user = make_member(study, "annotator", name=f"{SENTINELS[2]} {number}")
    user.email = f"{number}{SENTINELS[1]}"
    user.save()
    return Rater.objects.create(
        study=study, user=user, name=user.name, external_id=f"{SENTINELS[0]}-{number}"
    )


def _vote(label_round, item, rater, place, number):
    is_skip = (place + number) % 7 == 6
    is_void = place == 10 and number == 0
    return Assignment(
        round=label_round,
        item=item,
        rater=rater,
        state="skipped" if is_skip else "void" if is_void else "answered",
        skip_reason="unclear" if is_skip else "",
        label=None if is_skip or is_void else (place * 2 + number // 2) % 4,
        is_extra=number == 3 and place % 3 == 0 and not is_skip,
        answered_at=datetime(2024, 2, 3, 4, 5, 47 - number, 123, tzinfo=UTC),
        active_ms=1_000 + 7 * place + number,
        block=place // 5,
        position=place % 5,
        comment="=1+1, says Name of a person" if place == 2 else "",
        is_flagged=place == 3,
    )


def request(label_round, actor, contents=("votes",), format="csv", snapshot=None, **options):
    asked = {"contents": list(contents), "format": format, "options": ExportOptions(**options)}
    files = exports.request_exports(
        label_round=label_round, snapshot=snapshot, actor=actor, **asked
    )
    jobs.drain()
    return files


def export(*args, **options):
    files = request(*args, **options)
    for file in files:
        file.refresh_from_db()
        assert file.finished_at, file.job and file.job.error
    return files[0] if len(files) == 1 else {file.content: file for file in files}


def rows_of(file):
    path = file.path
    if file.format == "csv":
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    if file.format == "jsonl":
        return [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]
    if file.format == "parquet":
        return parquet.read_table(path).to_pylist()
    names, *rows = load_workbook(path).active.iter_rows(values_only=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_every_content_has_the_same_rows_in_every_format(label_round, researcher):
    assert tuple(VOTE_TYPES) == (*COLUMNS, "guideline")
    shapes = defaultdict(set)
    for format in FORMATS:
        for content, file in export(label_round, researcher, CONTENTS, format).items():
            rows = rows_of(file)
            assert len(rows) == file.rows > 0
            manifest = json.loads(file.manifest_path.read_text("utf-8"))
            columns = [column["name"] for column in manifest["columns"]]
            assert all(list(row) == columns for row in rows)
            shapes[content].add((len(rows), tuple(columns)))
    assert [len(shapes[content]) for content in CONTENTS] == [1] * len(CONTENTS)


def test_files_hold_every_answer_as_it_is_and_what_follows_from_them(label_round, researcher):
    files = export(label_round, researcher, CONTENTS, "jsonl", with_comments=True)
    rows = {content: rows_of(file) for content, file in files.items()}
    votes = label_round.assignments.exclude(state="served")
    assert len(rows["votes"]) == votes.count()
    # In JSON lines an empty text is null.
    texts = votes.values_list("item__argument__text", flat=True)
    assert sorted(row["text"] or "" for row in rows["votes"]) == sorted(texts)
    assert {row["answered_at"] for row in rows["votes"]} == {"2024-02-03T04:06:00+00:00"}
    extras = votes.filter(is_extra=True).count()
    assert sum(row["is_extra"] for row in rows["votes"]) == extras > 0
    assert {row["label"] for row in rows["votes"] if row["state"] == "skipped"} == {None}
    labels = votes.filter(label__isnull=False).values_list("label", flat=True)
    assert sum(row["label"] or 0 for row in rows["votes"]) == sum(labels)
    said = {row["comment"] or "" for row in rows["votes"]}
    assert said == {"", "=1+1, says Name of a person"}
    # Further columns leave with votes and final labels.
    kept = dict(label_round.items.values_list("argument__text", "argument__attributes"))
    assert sum(map(bool, kept.values())) == 3
    for content in ("votes", "final_labels"):
        assert {row["text"] or "" for row in rows[content]} == set(kept)
        for row in rows[content]:
            further = {name: row[f"attribute: {name}"] for name in ("year", "label")}
            assert further == {name: kept[row["text"] or ""].get(name) for name in further}
    # Final labels are those of the page.
    stored = label_round.final_labels.values_list("argument__text", "label", "votes", "pattern")
    found = [
        (row["text"] or "", row["label"], row["votes"], row["pattern"])
        for row in rows["final_labels"]
    ]
    assert sorted(found) == sorted(stored)
    assert len(found) == 12
    # Crowd-Kit's are the counted votes.
    excluded = label_round.places.get(excluded_at__isnull=False).rater
    counted = label_round.assignments.filter(state="answered", is_extra=False)
    counted = counted.exclude(rater=excluded).values_list("item__external_id", "label")
    assert sorted((row["task"], row["label"]) for row in rows["crowdkit"]) == sorted(counted)
    # Figures are those of the snapshot.
    numbers = {row["figure"]: row["number"] for row in rows["figures"]}
    numbers = {path: number for path, number in numbers.items() if number is not None}
    assert len(numbers) > 20
    for path, number in numbers.items():
        value = files["figures"].snapshot.figures
        for name in path.split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
        assert value == number, path
    # Pseudonyms agree within a set and nowhere else.
    names, same = ({row["rater_id"] for row in rows[each]} for each in ("votes", "annotators"))
    workers = {row["worker"] for row in rows["crowdkit"]}
    assert (names, len(names), len(workers)) == (same, 5, 4)
    assert workers < names
    second = rows_of(export(label_round, researcher, ("votes",), "jsonl"))
    assert not names & {row["rater_id"] for row in second}


@pytest.mark.parametrize("format", mostly(FORMATS, "csv"))
def test_no_file_says_who_somebody_is(label_round, researcher, format):
    files = export(label_round, researcher, CONTENTS, format)
    raters = label_round.study.raters.all()
    secrets = {*SENTINELS, *(str(r.public_id) for r in raters), *(r.pseudonym for r in raters)}
    secrets |= {r.public_id.hex for r in raters} | {str(r.user.public_id) for r in raters}
    for file in files.values():
        texts = [file.manifest_path.read_text("utf-8"), str(rows_of(file))]
        found = [secret for secret in secrets for text in texts if secret in text]
        assert not found, file.content
    # Comments only when asked for.
    assert "comment" not in rows_of(files["votes"])[0]


def test_spreadsheets_run_nothing(label_round, researcher):
    book = load_workbook(export(label_round, researcher, format="xlsx").path)
    kinds = {cell.data_type for row in book.active.iter_rows() for cell in row}
    assert kinds <= {"s", "n"}
    safe = rows_of(export(label_round, researcher))
    risky = ("=", "+", "-", "@", "|", "%", "\t", "\r")
    assert not [value for row in safe for value in row.values() if value.startswith(risky)]
    file = export(label_round, researcher, is_raw=True)
    assert {row["text"] for row in rows_of(file)} >= set(NASTY)
    # The manifest proves the file.
    content = file.path.read_bytes()
    manifest = json.loads(file.manifest_path.read_text("utf-8"))
    assert manifest["sha256"] == file.sha256 == hashlib.sha256(content).hexdigest()
    assert manifest["size"] == file.size == len(content)
    snapshot = label_round.snapshots.get()
    assert manifest["snapshot"]["sha256"] == snapshot.sha256
    assert manifest["snapshot"]["number"] == snapshot.number
    assert manifest["spreadsheet_safe"] is False


def test_files_lie_alone_under_our_names_and_leave_under_names_of_any_script(
    label_round, researcher, settings
):
    label_round.name = "../../etc/passwd \u202e"
    label_round.save()
    file = export(label_round, researcher)
    folder = settings.MEDIA_ROOT / "exports"
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    assert not any(path.stat().st_mode & 0o077 for path in folder.glob("*.csv"))
    assert file.shown_name == "etcpasswd-snapshot-1-votes.csv"
    label_round.name = "Чай ☕ \r\nX: y"
    label_round.save()
    response = sign_in(researcher).get(page("export_download", label_round, file.public_id))
    header = response["Content-Disposition"]
    assert header.startswith("attachment; filename*=utf-8''%D1%87%D0%B0%D0%B9-x-y-")
    assert "\n" not in header


@pytest.mark.long
def test_a_frozen_snapshot_keeps_giving_its_votes(label_round, researcher):
    # A live one is brought up to date first.
    snapshot = snapshots.refresh(LABEL_ROUNDS, label_round)
    argument = label_round.study.arguments.first()
    late = Item.objects.create(round=label_round, argument=argument, external_id="late")
    _vote(label_round, late, label_round.study.raters.first(), 1, 0).save()
    file = export(label_round, researcher)
    assert file.snapshot == snapshot
    assert "late" in {row["item_id"] for row in rows_of(file)}
    snapshots.freeze(
        LABEL_ROUNDS, owner=label_round, number=snapshot.number, note="", actor=researcher
    )
    snapshot.refresh_from_db()
    assert export(label_round, researcher, ["final_labels"]).snapshot == snapshot
    frozen = {"format": "jsonl", "snapshot": snapshot}
    before = export(label_round, researcher, **frozen).rows
    label_round.assignments.filter(state="answered").first().delete()
    assert export(label_round, researcher, **frozen).rows == before
    assert export(label_round, researcher, format="jsonl").snapshot.number == snapshot.number + 1
    with pytest.raises(exports.ExportNotPossible):
        export(label_round, researcher, ["final_labels"], snapshot=snapshot)


def test_a_file_from_before_the_freeze_is_not_listed_as_frozen(label_round, researcher):
    snapshot = snapshots.refresh(LABEL_ROUNDS, label_round)
    export(label_round, researcher)
    about = {"owner": label_round, "number": snapshot.number, "note": "", "actor": researcher}
    snapshots.freeze(LABEL_ROUNDS, **about)
    snapshot.refresh_from_db()
    export(label_round, researcher, snapshot=snapshot)
    listed = sign_in(researcher).get(page("exports", label_round)).text
    assert re.findall(r"badge[^>]*>((?:Not f|F)rozen)", listed) == ["Frozen", "Not frozen"]


def test_a_failure_or_a_lost_job_leaves_no_file(label_round, researcher, settings, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("row 3, column text: longer than 32,767 characters")

    write = sending.write_csv

    def overtaken(*args, **kwargs):
        write(*args, **kwargs)
        label_round.study.jobs.filter(kind="export").update(fence=99)

    for format, writer in (("xlsx", broken), ("csv", overtaken)):
        monkeypatch.setattr(sending, f"write_{format}", writer)
        files = request(label_round, researcher, ["annotators", "votes"], format)
        assert not ExportFile.objects.exclude(finished_at=None).exists()
        assert not list((settings.MEDIA_ROOT / "exports").iterdir())
        if format == "xlsx":
            job = label_round.study.jobs.get(pk=files[0].job_id)
            assert (job.state, job.error[:16]) == ("failed", "row 3, column te")


def figures_of(label_round):
    """The figures with raters named by what they did, because their ids are new on import."""
    snapshot = snapshots.refresh(LABEL_ROUNDS, label_round)
    ids = {str(rater.public_id) for rater in label_round.study.raters.all()}
    figures = snapshot.figures
    for name in ("wanted", "filled", "complete"):  # only where votes are collected
        figures["progress"].pop(name)
    return _nameless(figures, ids)


def _nameless(value, ids):
    if isinstance(value, dict):
        return {key: _nameless(child, ids) for key, child in value.items() if key not in ids}
    if isinstance(value, list):
        found = [_nameless(child, ids) for child in value]
        return sorted(found, key=lambda each: json.dumps(each, sort_keys=True))
    return "somebody" if value in ids else value


@pytest.mark.parametrize("format", ["csv", "raw csv", "jsonl", "xlsx"])
@pytest.mark.long
def test_votes_imported_elsewhere_give_the_same_figures(label_round, researcher, format):
    file = export(
        label_round, researcher, format=format.removeprefix("raw "), is_raw="raw" in format
    )
    other = make_study("Elsewhere")
    how = {"mapping": guess_mapping(list(rows_of(file)[0])), "label_round": "Round 1"}
    how |= {"undo_spreadsheet_marks": format == "csv", "actor": make_member(other, "admin")}
    assert take(other, "table", file.path, **how).rejected == 0
    copy = label_rounds_of(other).get()
    assert figures_of(copy) == figures_of(label_round)
    assert contents_of(copy) == contents_of(label_round)
    assert copy.assignments.filter(state="void").count() == 1
    assert copy.places.filter(excluded_at__isnull=False).count() == 1
    assert set(other.raters.values_list("kind", flat=True)) == {"person"}


def contents_of(label_round):
    """Sentences with their keys, and the labels that follow from the votes."""
    recompute_final_labels(label_round)
    items = label_round.items.values_list("external_id", "argument__text", "control_label")
    labels = label_round.final_labels.values_list("argument__text", "label", "pattern", "is_tied")
    return sorted(items, key=str), sorted(labels)


def page(name, label_round, *ids):
    return reverse(name, args=[label_round.study.public_id, label_round.public_id, *ids])


def test_the_page_makes_and_hands_out_files(label_round, researcher, inline):
    browser = sign_in(researcher)
    wish = {"contents": ["votes", "figures"], "format": "csv", "snapshot": ""}
    with inline():
        assert browser.post(page("exports", label_round), wish).status_code == 302
    file = label_round.export_files.get(content="votes")
    assert file.sha256[:12] in browser.get(page("exports", label_round)).text
    response = browser.get(page("export_download", label_round, file.public_id))
    assert b"".join(response.streaming_content) == file.path.read_bytes()
    for header, value in {
        "Content-Type": "text/csv; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": 'attachment; filename="round-1-snapshot-1-votes.csv"',
        "Cache-Control": "no-store",
    }.items():
        assert response[header] == value
    manifest = browser.get(page("export_manifest", label_round, file.public_id))
    assert json.loads(b"".join(manifest.streaming_content))["rows"] == file.rows
