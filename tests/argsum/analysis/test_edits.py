"""Edits of key points: what they change, who wins, and that each can be taken back."""

import pytest

from argsum.analysis.actions.edits import (
    EditConflict,
    EditRefused,
    add_point,
    merge_points,
    set_state,
    split_point,
)
from argsum.analysis.actions.jobs import ask_to_split
from argsum.analysis.models import Analysis, FoundPoint
from cqa_site.people.models import AuditEvent
from cqa_site.runs.models import Job
from tests.worlds import built_once
from .labs import PointsLab
from .made_comments import say, work, write_analysis

pytestmark = pytest.mark.django_db


class Lab(PointsLab):
    """The same, and what an edit can change of it."""

    def state(self):
        """Everything an edit can change; of key points that are no more only that."""
        points = {
            each.pk: (each.text, each.state, each.merged_into_id, each.statements, each.comments)
            for each in self.analysis.points.exclude(state="removed")
        }
        placed = self.analysis.placements.order_by("argument", "point")
        return points, list(placed.values_list("argument", "point", "score", "is_by_hand"))


lab = built_once(Lab)


def test_a_key_point_is_renamed_and_its_first_text_stays(lab):
    change = lab.rename(lab.first, "  It is\nquiet. ")
    lab.first.refresh_from_db()
    assert (lab.first.text, lab.first.written) == ("It is quiet.", "First point.")
    assert (change.revision, change.verb, change.point) == (1, "renamed", lab.first)
    assert change.before["points"] == {str(lab.first.pk): {"text": "First point."}}
    event = AuditEvent.objects.get(verb="key_points_edited")
    assert event.details["edit"] == "renamed"
    assert event.actor == lab.boss
    # Only key points of an analysis that is done are edited.
    second = write_analysis(lab.study, lab.cell, number=2)
    with pytest.raises(EditRefused, match="does not have that key point"):
        lab.rename(second.points.first(), "Elsewhere")
    Analysis.objects.update(state="running")
    with pytest.raises(EditRefused, match="not finished yet"):
        lab.rename(lab.first, "Early")


def test_a_text_that_makes_no_sense_is_refused(lab):
    before = lab.state()
    texts = {"  ": "Enter the text", "x" * 501: "at most 500", "Second point.": "Merge the two"}
    for text, reason in texts.items():
        with pytest.raises(EditRefused, match=reason):
            lab.rename(lab.first, text)
        with pytest.raises(EditRefused, match=reason):
            add_point(analysis=lab.analysis, actor=lab.boss, text=text)
    assert (lab.state(), lab.seen) == (before, 0)


def test_who_was_faster_wins_and_the_other_one_reads_why(lab):
    seen = lab.seen
    lab.rename(lab.first, "By Ada", seen=seen)
    with pytest.raises(EditConflict, match=r"changed in the meantime \(renamed, Ada\)"):
        lab.rename(lab.first, "By Ben", actor=lab.other, seen=seen)
    with pytest.raises(EditConflict):
        lab.do(merge_points, points=[lab.first, lab.second], seen=seen)
    with pytest.raises(EditConflict):
        lab.do(set_state, points=[lab.first], verb="hidden", seen=seen)
    assert lab.analysis.changes.count() == 1
    # What nobody touched can still be changed from the page as it was.
    lab.rename(lab.second, "By Ben", actor=lab.other, seen=seen)
    lab.rename(lab.first, "Now by Ben", actor=lab.other)


def test_several_key_points_become_one(lab):
    before = lab.state()
    every = {*lab.at(lab.first), *lab.at(lab.second), *lab.at(lab.third)}
    points = [lab.second, lab.third, lab.first]
    change = lab.do(merge_points, points=points, into=lab.first, text="All")
    assert set(lab.at(lab.first)) == every
    lab.first.refresh_from_db()
    lab.second.refresh_from_db()
    assert (lab.first.text, lab.first.statements) == ("All", 9)
    # Two comments say two of these things each, and count once.
    saying = lab.cell.comments.filter(statements__argument__in=every)
    assert lab.first.comments == saying.distinct().count()
    merged = (lab.second.state, lab.second.merged_into, lab.second.statements)
    assert merged == ("merged", lab.first, 0)
    assert change.number == 6
    with pytest.raises(EditRefused, match="is merged"):
        lab.rename(lab.second, "Gone")
    lab.undo(change)
    assert lab.state() == before
    # Merging keeps the one with most comments and its hand placed statements.
    lab.move(None, lab.at(None), lab.second)
    hand = lab.analysis.placements.filter(is_by_hand=True).count()
    lab.do(merge_points, points=[lab.first, lab.second])
    largest = lab.analysis.points.filter(state="shown").order_by("-comments").first()
    assert lab.analysis.placements.filter(point=largest, is_by_hand=True).count() == hand == 2
    with pytest.raises(EditRefused, match="at least two"):
        lab.do(merge_points, points=[largest])
    with pytest.raises(EditRefused, match="at least one"):
        lab.do(merge_points, points=[])


def test_a_part_becomes_a_key_point_and_goes_back_unless_it_got_more_statements(lab):
    before = lab.state()
    chosen = lab.at(lab.first)[:2]
    change = lab.do(split_point, point=lab.first, statements=chosen, text="A part")
    part = lab.analysis.points.get(text="A part")
    assert (part.state, part.origin, part.statements) == ("shown", "person", 2)
    assert lab.at(part) == chosen
    assert lab.analysis.placements.filter(point=part, is_by_hand=True).count() == 2
    lab.first.refresh_from_db()
    assert lab.first.statements == 1
    moved = lab.move(None, lab.at(None)[:1], part)
    more = lab.state()
    with pytest.raises(EditRefused, match="would remove “A part”"):
        lab.undo(change)
    assert lab.state() == more
    lab.undo(moved)
    lab.undo(change)
    assert lab.state() == before


def test_statements_move_and_what_was_moved_meanwhile_is_told(lab, django_assert_max_num_queries):
    before = lab.state()
    chosen = lab.at(lab.first)[:2]
    change = lab.move(lab.first, chosen, lab.second)
    assert set(chosen) < set(lab.at(lab.second))
    with pytest.raises(EditConflict, match="2 of the statements were moved"):
        lab.move(lab.first, chosen, None)
    with pytest.raises(EditConflict):
        lab.do(split_point, point=lab.first, statements=chosen, text="New")
    assert not lab.analysis.points.filter(text="New").exists()
    with pytest.raises(EditRefused, match="already there"):
        lab.move(lab.second, chosen, lab.second)
    with pytest.raises(EditRefused, match="at least one"):
        lab.move(lab.second, [], lab.first)
    none = lab.move(lab.second, chosen, None)
    assert set(chosen) < set(lab.at(None))
    lab.undo(none)
    lab.undo(change)
    assert lab.state() == before
    # An edit takes as many queries however much moves.
    with django_assert_max_num_queries(30):
        change = lab.do(merge_points, points=[lab.first, lab.second, lab.third])
    with django_assert_max_num_queries(35):
        lab.undo(change)


def test_key_points_are_hidden_shown_taken_and_declined(lab):
    lab.put("hidden", lab.first, lab.second)
    assert set(lab.analysis.points.filter(state="hidden")) == {lab.first, lab.second}
    with pytest.raises(EditRefused, match="is hidden"):
        lab.put("taken", lab.first)
    lab.put("shown", lab.first)
    FoundPoint.objects.filter(pk__in=[lab.second.pk, lab.third.pk]).update(state="proposed")
    lab.put("taken", lab.second)
    own, before = lab.at(lab.third), lab.state()
    change = lab.put("declined", lab.third)
    assert set(own) < set(lab.at(None))
    states = dict(lab.analysis.points.values_list("text", "state"))
    assert states == {"First point.": "shown", "Second point.": "shown", "Third point.": "removed"}
    lab.undo(change)
    assert lab.state() == before


def test_the_last_edit_is_undone_and_the_undoing_too(lab):
    change = lab.rename(lab.first, "Once")
    again = lab.undo(change)
    lab.first.refresh_from_db()
    assert lab.first.text == "First point."
    change.refresh_from_db()
    assert change.undone_by == again
    with pytest.raises(EditRefused, match="already been undone"):
        lab.undo(change)
    lab.undo(again)
    lab.first.refresh_from_db()
    change.refresh_from_db()
    assert (lab.first.text, change.undone_by) == ("Once", None)
    assert lab.seen == 3
    # An earlier edit is undone only if nothing later touched it.
    renamed = lab.rename(lab.first, "Once")
    other = lab.rename(lab.second, "Other")
    lab.undo(renamed)
    moved = lab.move(lab.first, lab.at(lab.first)[:1], lab.second)
    lab.do(merge_points, points=[lab.first, lab.third], into=lab.third)
    # Back behind a key point that is merged now.
    with pytest.raises(EditRefused, match="still has statements"):
        lab.undo(moved)
    lab.rename(lab.second, "Later")
    with pytest.raises(EditRefused, match="later edit"):
        lab.undo(other)
    assert lab.analysis.changes.filter(verb="undone").count() == 3


@pytest.mark.usefixtures("word_engine")
def test_a_key_point_is_split_by_itself(lab):
    lab.do(merge_points, points=[lab.first, lab.second, lab.third], into=lab.first)
    lab.move(None, lab.at(None)[:1], lab.first)
    hand = lab.analysis.placements.get(is_by_hand=True)
    say(lab.cell, "One more is quiet.")
    before = lab.state()
    lab.do(ask_to_split, point=lab.first)
    work(lab.analysis)
    lab.first.refresh_from_db()
    parts = lab.analysis.points.filter(origin="person", state="shown")
    assert parts.count() == 2
    assert lab.first.text == "First point."
    hand.refresh_from_db()
    assert hand.point == lab.first
    change = lab.analysis.changes.first()
    assert (change.verb, change.actor) == ("split", lab.boss)
    assert change.number == sum(each.statements for each in parts)
    lab.undo(change)
    assert lab.state() == before


@pytest.mark.usefixtures("word_engine")
def test_what_cannot_be_split_says_so(lab):
    with pytest.raises(EditRefused, match="too few"):
        lab.do(ask_to_split, point=lab.first)
    # Behind it is nothing but one theme.
    for row in lab.analysis.placements.exclude(point=lab.first):
        if row.argument.text.endswith("quiet."):
            lab.move(row.point, [row.argument_id], lab.first)
    lab.analysis.placements.update(is_by_hand=False)
    others = lab.analysis.placements.filter(point=lab.first)
    others = others.exclude(argument__text__endswith="quiet.").values_list("argument", flat=True)
    lab.move(lab.first, list(others), lab.second)
    lab.move(None, lab.at(None), lab.first)
    job = lab.do(ask_to_split, point=lab.first)
    work(lab.analysis)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "No separate parts were found" in job.error
