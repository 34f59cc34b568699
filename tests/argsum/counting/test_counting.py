"""What is special about judging sets: counts that follow from marks, typed and unsure ones.

What judging shares with all kinds of work is tested in tests/rounds.
"""

from functools import partial
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from argsum.counting.models import CountSheet
from cqa_site.rounds.drafts import content_of
from tests.argsum.counting.made_counting import marked_form
from tests.cast import sign_in
from tests.flat import flat
from tests.rounds.made_work import JSON, Sitting
from tests.worlds import built_once

world = built_once(partial(Sitting, "count"))


@pytest.fixture
def sheet(world):
    """Two references, three summaries."""
    return world.sheet


@pytest.fixture
def annotator(world):
    return sign_in(world.people[0])


def address(name, sheet):
    return reverse(name, args=[sheet.study.public_id, sheet.public_id])


def submit(client, sheet, **changed):
    fields = marked_form(base_version=str(sheet.version), client_key=f"k{sheet.pk}") | changed
    return client.post(address("count_submit", sheet), fields, **JSON)


def save(client, sheet, fields, *, page="p"):
    """A save as the script sends it: the whole form as one text."""
    sent = {"text": urlencode(fields, doseq=True), "base_version": 0}
    sent |= {"client": page, "sequence": 1}
    return client.post(address("count_save", sheet), sent, **JSON)


# Of `marked_form`.
FULL = {"level": "full", "by": [0, 2]}
MARKS = {
    "references": {"0": FULL, "1": {"level": "part", "by": [1]}},
    "groups": [[0], [1], [2]],
    "partly": [2],
    "empty": [],
}


def test_the_counts_follow_from_the_marks(annotator, sheet):
    assert (sheet.references, sheet.summaries) == (2, 3)
    assert submit(annotator, sheet).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.state, sheet.covered, sheet.unique) == ("submitted", 1.5, 2.5)
    assert (sheet.coverage, sheet.redundancy) == (0.75, pytest.approx(1 / 6))
    assert sheet.marks == MARKS
    assert (sheet.covered_is_typed, sheet.unique_is_typed) == (False, False)
    call_command("check_integrity")


TYPED = {"covered": 2, "unique": 1.5, "covered_is_typed": True, "unique_is_typed": True}
UNSURE = {"covered": None, "coverage": None, "covered_is_unsure": True, "covered_is_typed": False}


@pytest.mark.parametrize(
    ("changed", "stored", "marks"),
    [
        # A typed count overrides the marks, and both are stored.
        ({"covered": "2", "unique": "1,5"}, TYPED, {}),
        # An unsure count is kept apart and in no figure.
        (
            {"covered_unsure": "1", "covered": "1"},
            UNSURE | {"unique": 2.5, "unique_is_unsure": False},
            {},
        ),
        # A summary that says nothing adds nothing.
        (
            {"group-1": "0", "group-2": "A", "partly-2": ""},
            {"unique": 1},
            {"groups": [[0, 2]], "partly": [], "empty": [1]},
        ),
        # What covers a reference is forgotten with the cover.
        (
            {"level-1": "none"},
            {"covered": 1},
            {"references": {"0": FULL, "1": {"level": "none", "by": []}}},
        ),
    ],
)
def test_what_is_typed_unsure_or_not_marked_changes_counts(
    annotator, sheet, changed, stored, marks
):
    submit(annotator, sheet, **changed)
    sheet.refresh_from_db()
    assert {name: getattr(sheet, name) for name in stored} == stored
    assert sheet.marks == MARKS | marks
    call_command("check_integrity")


def test_a_typed_count_outside_the_half_steps_is_refused(annotator, sheet):
    for given in ("2.5", "-1", "0.3", "one", "nan", "inf", "1e999"):
        reply = submit(annotator, sheet, covered=given)
        assert (reply.status_code, "steps of 0.5" in reply.json()["detail"]) == (422, True), given
        sheet.refresh_from_db()
    assert not CountSheet.objects.filter(state="submitted").exists()


def test_a_count_that_is_none_keeps_nothing_else_from_being_stored(annotator, sheet):
    fields = marked_form(covered="2 of 5", unique="1.5", comment="Close call.")
    reply = save(annotator, sheet, fields)
    assert (reply.status_code, reply.json()["version"]) == (422, 1)
    assert "“2 of 5” is not a count" in reply.json()["detail"]
    sheet.refresh_from_db()
    stored = content_of(sheet)
    assert (stored.comment, stored.covered, stored.unique) == ("Close call.", None, 1.5)
    assert stored.marks["references"]["0"] == {"level": "full", "by": [0, 2]}
    assert 'value="2 of 5"' in annotator.get(address("count_form", sheet)).text
    assert submit(annotator, sheet, covered="2 of 5").status_code == 422
    assert submit(annotator, sheet, covered="2").status_code == 200
    assert not CountSheet.objects.filter(draft__isnull=False).exists()


def test_every_reference_and_summary_has_to_be_decided(annotator, sheet):
    for wrong in (
        {"by-0": ["7"]},
        {"group-0": "Z"},
        {"level-0": "mostly"},
        {"comment": "x" * 5001},
    ):
        assert submit(annotator, sheet, **wrong).status_code == 422, wrong
        sheet.refresh_from_db()
        assert (sheet.state, sheet.draft) == ("open", None), wrong
    reply = submit(annotator, sheet, **{"level-1": "", "group-2": ""})
    assert (reply.status_code, reply.json()["missing"]) == (422, ["reference-1", "summary-2"])
    sheet.refresh_from_db()
    # What was entered is the draft now, ticks included.
    assert sheet.draft["marks"]["references"]["1"] == {"level": "", "by": [1]}
    # Not every statement can repeat another.
    reply = submit(annotator, sheet, **{"group-0": "A", "group-1": "A", "group-2": "A"})
    assert (reply.status_code, reply.json()["missing"]) == (422, ["summary-2"])
    sheet.refresh_from_db()
    assert submit(annotator, sheet, **{"level-1": "", "covered": "1.5"}).status_code == 200


def test_drafts_come_back_with_their_running_counts(annotator, sheet):
    said = save(annotator, sheet, {"level-0": "full", "group-1": "B", "comment": "Hm."}).json()
    assert (said["version"], said["covered"], said["unique"]) == (1, 1.0, 1.0)
    sheet.refresh_from_db()
    assert (sheet.state, sheet.marks, sheet.covered) == ("open", {}, None)
    page = flat(annotator.get(address("count_form", sheet)).text)
    assert 'name="level-0" value="full" checked' in page
    assert "Hm.</textarea>" in page


def test_integrity_finds_counts_that_are_not_of_their_marks(annotator, sheet, capsys):
    submit(annotator, sheet)
    CountSheet.objects.update(covered=2, coverage=1)
    with pytest.raises(CommandError):
        call_command("check_integrity")
    said = "".join(capsys.readouterr())
    assert "its marks give 1.5" in said
    assert "other covered, coverage than its last submission" in said
