"""Edits of key points: what they change, who wins, and that each can be taken back."""

import pytest

from argsum.analysis.actions.edits import (
    EditConflict,
    EditRefused,
    add_point,
    merge_points,
    move_statements,
    rename_point,
    set_state,
    split_point,
    undo_change,
)
from argsum.analysis.actions.jobs import ask_to_split
from argsum.analysis.models import Analysis, FoundPoint
from cqa_site.people.models import AuditEvent, Role
from cqa_site.runs.models import Job
from tests.cast import make_member, make_study
from tests.worlds import built_once

from .made_comments import fill, make_cell, say, word_engine, work, write_analysis

pytestmark = pytest.mark.django_db
__all__ = ["word_engine"]


class Lab:
    """An analysis of three key points: 3, 3 and 3 statements, and two that fit none."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, Role.RESEARCHER, "Ada")
        self.other = make_member(self.study, Role.RESEARCHER, "Ben")
        self.cell = make_cell(self.study)
        fill(self.cell)
        self.analysis = write_analysis(self.study, self.cell)
        self.first, self.second, self.third = self.analysis.points.order_by("position")

    @property
    def seen(self):
        return Analysis.objects.get(pk=self.analysis.pk).revision

    def do(self, action, *, actor=None, **given):
        usual = {"analysis": self.analysis, "actor": actor or self.boss}
        if action is not add_point:
            usual["seen"] = self.seen
        return action(**usual | given)

    def undo(self, change, actor=None):
        return undo_change(analysis=self.analysis, actor=actor or self.boss, change=change)

    def at(self, point):
        rows = self.analysis.placements.filter(point=point)
        return list(rows.order_by("argument").values_list("argument", flat=True))

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
    change = lab.do(rename_point, point=lab.first, text="  It is\nquiet. ")
    lab.first.refresh_from_db()
    assert (lab.first.text, lab.first.written) == ("It is quiet.", "First point.")
    assert (change.revision, change.verb, change.point) == (1, "renamed", lab.first)
    assert change.before["points"] == {str(lab.first.pk): {"text": "First point."}}
    event = AuditEvent.objects.get(verb="key_points_edited")
    assert event.details["edit"] == "renamed"
    assert event.actor == lab.boss


@pytest.mark.parametrize(
    ("text", "said"),
    [("  ", "Enter the text"), ("x" * 501, "at most 500"), ("Second point.", "Merge the two")],
)
def test_a_text_that_makes_no_sense_is_refused(lab, text, said):
    before = lab.state()
    with pytest.raises(EditRefused, match=said):
        lab.do(rename_point, point=lab.first, text=text)
    with pytest.raises(EditRefused, match=said):
        lab.do(add_point, text=text)
    assert lab.state() == before
    assert lab.seen == 0


def test_who_was_faster_wins_and_the_other_one_reads_why(lab):
    seen = lab.seen
    lab.do(rename_point, point=lab.first, text="By Ada", seen=seen)
    with pytest.raises(EditConflict, match=r"changed in the meantime \(renamed, Ada\)"):
        lab.do(rename_point, actor=lab.other, point=lab.first, text="By Ben", seen=seen)
    with pytest.raises(EditConflict):
        lab.do(merge_points, points=[lab.first, lab.second], seen=seen)
    with pytest.raises(EditConflict):
        lab.do(set_state, points=[lab.first], verb="hidden", seen=seen)
    assert lab.analysis.changes.count() == 1
    # What nobody touched can still be changed from the page as it was.
    lab.do(rename_point, actor=lab.other, point=lab.second, text="By Ben", seen=seen)
    lab.do(rename_point, actor=lab.other, point=lab.first, text="Now by Ben")


def test_several_key_points_become_one(lab):
    before = lab.state()
    moved = {*lab.at(lab.second), *lab.at(lab.third)}
    own = set(lab.at(lab.first))
    points = [lab.second, lab.third, lab.first]
    change = lab.do(merge_points, points=points, into=lab.first, text="All")
    assert set(lab.at(lab.first)) == own | moved
    lab.first.refresh_from_db()
    lab.second.refresh_from_db()
    assert (lab.first.text, lab.first.statements) == ("All", 9)
    # Two comments say two of these things each, and count once.
    assert lab.first.comments == len(comments_of(lab, own | moved))
    merged = (lab.second.state, lab.second.merged_into, lab.second.statements)
    assert merged == ("merged", lab.first, 0)
    assert change.number == 6
    with pytest.raises(EditRefused, match="is merged"):
        lab.do(rename_point, point=lab.second, text="Gone")
    lab.undo(change)
    assert lab.state() == before


def comments_of(lab, statements):
    return set(lab.cell.comments.filter(statements__argument__in=statements).distinct())


def test_merging_keeps_the_one_with_most_comments_and_its_hand_placed_statements(lab):
    lab.do(move_statements, point=None, statements=lab.at(None), to=lab.second)
    hand = lab.analysis.placements.filter(is_by_hand=True).count()
    lab.do(merge_points, points=[lab.first, lab.second])
    largest = lab.analysis.points.filter(state="shown").order_by("-comments").first()
    assert lab.analysis.placements.filter(point=largest, is_by_hand=True).count() == hand == 2
    with pytest.raises(EditRefused, match="at least two"):
        lab.do(merge_points, points=[largest])
    with pytest.raises(EditRefused, match="at least one"):
        lab.do(merge_points, points=[])


def test_a_part_becomes_a_key_point_and_goes_back(lab):
    before = lab.state()
    chosen = lab.at(lab.first)[:2]
    change = lab.do(split_point, point=lab.first, statements=chosen, text="A part")
    made = lab.analysis.points.get(text="A part")
    assert (made.state, made.origin, made.statements) == ("shown", "person", 2)
    assert lab.at(made) == chosen
    assert lab.analysis.placements.filter(point=made, is_by_hand=True).count() == 2
    lab.first.refresh_from_db()
    assert lab.first.statements == 1
    lab.undo(change)
    assert lab.state() == before


def test_statements_move_and_what_was_moved_meanwhile_is_told(lab):
    before = lab.state()
    chosen = lab.at(lab.first)[:2]
    change = lab.do(move_statements, point=lab.first, statements=chosen, to=lab.second)
    assert set(chosen) < set(lab.at(lab.second))
    with pytest.raises(EditConflict, match="2 of the statements were moved"):
        lab.do(move_statements, point=lab.first, statements=chosen, to=None)
    with pytest.raises(EditConflict):
        lab.do(split_point, point=lab.first, statements=chosen, text="New")
    assert not lab.analysis.points.filter(text="New").exists()
    with pytest.raises(EditRefused, match="already there"):
        lab.do(move_statements, point=lab.second, statements=chosen, to=lab.second)
    with pytest.raises(EditRefused, match="at least one"):
        lab.do(move_statements, point=lab.second, statements=[], to=lab.first)
    none = lab.do(move_statements, point=lab.second, statements=chosen, to=None)
    assert set(chosen) < set(lab.at(None))
    lab.undo(none)
    lab.undo(change)
    assert lab.state() == before


def test_key_points_are_hidden_shown_taken_and_declined(lab):
    lab.do(set_state, points=[lab.first, lab.second], verb="hidden")
    assert set(lab.analysis.points.filter(state="hidden")) == {lab.first, lab.second}
    with pytest.raises(EditRefused, match="is hidden"):
        lab.do(set_state, points=[lab.first], verb="taken")
    lab.do(set_state, points=[lab.first], verb="shown")
    FoundPoint.objects.filter(pk__in=[lab.second.pk, lab.third.pk]).update(state="proposed")
    lab.do(set_state, points=[lab.second], verb="taken")
    own, before = lab.at(lab.third), lab.state()
    change = lab.do(set_state, points=[lab.third], verb="declined")
    assert set(own) < set(lab.at(None))
    states = dict(lab.analysis.points.values_list("text", "state"))
    assert states == {"First point.": "shown", "Second point.": "shown", "Third point.": "removed"}
    lab.undo(change)
    assert lab.state() == before


def test_the_last_edit_is_undone_and_the_undoing_too(lab):
    change = lab.do(rename_point, point=lab.first, text="Once")
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


def test_an_earlier_edit_is_undone_only_if_nothing_later_touched_it(lab):
    renamed = lab.do(rename_point, point=lab.first, text="Once")
    other = lab.do(rename_point, point=lab.second, text="Other")
    lab.undo(renamed)
    moved = lab.do(
        move_statements, point=lab.first, statements=lab.at(lab.first)[:1], to=lab.second
    )
    lab.do(merge_points, points=[lab.first, lab.third], into=lab.third)
    # Back behind a key point that is merged now.
    with pytest.raises(EditRefused, match="still has statements"):
        lab.undo(moved)
    lab.do(rename_point, point=lab.second, text="Later")
    with pytest.raises(EditRefused, match="later edit"):
        lab.undo(other)
    assert lab.analysis.changes.filter(verb="undone").count() == 1


def test_a_key_point_that_got_more_statements_is_not_unmade(lab):
    change = lab.do(split_point, point=lab.first, statements=lab.at(lab.first)[:1], text="Part")
    part = lab.analysis.points.get(text="Part")
    lab.do(move_statements, point=None, statements=lab.at(None)[:1], to=part)
    before = lab.state()
    with pytest.raises(EditRefused, match="“Part” would be removed"):
        lab.undo(change)
    assert lab.state() == before


def test_only_key_points_of_an_analysis_that_is_done_are_edited(lab):
    second = write_analysis(lab.study, lab.cell, number=2)
    with pytest.raises(EditRefused, match="does not have that key point"):
        lab.do(rename_point, point=second.points.first(), text="Elsewhere")
    Analysis.objects.update(state="running")
    with pytest.raises(EditRefused, match="not finished yet"):
        lab.do(rename_point, point=lab.first, text="Early")


@pytest.mark.usefixtures("word_engine")
def test_a_key_point_is_split_by_itself(lab):
    lab.do(merge_points, points=[lab.first, lab.second, lab.third], into=lab.first)
    lab.do(move_statements, point=None, statements=lab.at(None)[:1], to=lab.first)
    hand = lab.analysis.placements.get(is_by_hand=True)
    say(lab.cell, "One more is quiet.")
    before = lab.state()
    ask_to_split(analysis=lab.analysis, actor=lab.boss, point=lab.first, seen=lab.seen)
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
        ask_to_split(analysis=lab.analysis, actor=lab.boss, point=lab.first, seen=lab.seen)
    quiet = list(
        lab.analysis.placements.filter(argument__text__endswith="quiet.", point__isnull=False)
    )
    for each in quiet:
        if each.point_id != lab.first.pk:
            lab.do(move_statements, point=each.point, statements=[each.argument_id], to=lab.first)
    lab.analysis.placements.update(is_by_hand=False)
    others = lab.analysis.placements.filter(point=lab.first).exclude(
        argument__text__endswith="quiet."
    )
    keys = list(others.values_list("argument", flat=True))
    lab.do(move_statements, point=lab.first, statements=keys, to=lab.second)
    lab.do(move_statements, point=None, statements=lab.at(None), to=lab.first)
    job = ask_to_split(analysis=lab.analysis, actor=lab.boss, point=lab.first, seen=lab.seen)
    work(lab.analysis)
    assert Job.objects.get(pk=job.pk).state == "failed"
    assert "No separate parts were found" in Job.objects.get(pk=job.pk).error


def test_an_edit_takes_as_many_queries_however_much_moves(lab, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        change = lab.do(merge_points, points=[lab.first, lab.second, lab.third])
    with django_assert_max_num_queries(35):
        lab.undo(change)
