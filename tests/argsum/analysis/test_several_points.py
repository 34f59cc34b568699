"""Statements that make several key points: edits of one place, undo, counts, page and file."""

import pytest
from django.db import IntegrityError, transaction

from argsum.analysis.actions.edits import (
    Edit,
    EditRefused,
    editing,
    merge_points,
    store,
)
from argsum.analysis.actions.placing import PlacementRow
from argsum.analysis.models import PointChange
from argsum.analysis.reports import report_files
from argsum.analysis.reports.points import overview_of
from tests.worlds import built_once
from .made_comments import say
from .test_edits import Lab

pytestmark = pytest.mark.django_db


class TwoPlaces(Lab):
    """The first statement of the first key point makes the second one, too."""

    def __init__(self):
        super().__init__()
        self.both = self.at(self.first)[0]
        self.added = self.place(self.second, self.both, score=0.4)

    def place(self, point, statement, score=0.0):
        row = PlacementRow(point.pk, False, True, score, statement)
        with editing(self.analysis) as held:
            return store(held, Edit(PointChange.Verb.MOVED, point, added=[row]), self.boss)

    def places(self, statement=None):
        rows = self.analysis.placements.filter(argument=statement or self.both)
        fields = ("point", "is_by_hand", "is_sure", "score")
        return set(rows.values_list(*fields))

    def points_of(self, statement=None):
        return {point for point, *_fields in self.places(statement)}


lab = built_once(TwoPlaces)


def test_moved_to_where_it_is_it_is_there_once_by_hand(lab):
    places = lab.places()
    change = lab.move(lab.first, [lab.both], lab.second)
    assert {(point, hand) for point, hand, *_rest in lab.places()} == {(lab.second.pk, True)}
    lab.second.refresh_from_db()
    assert lab.second.statements == 4
    again = lab.undo(change)
    assert lab.places() == places
    lab.undo(again)
    assert lab.points_of() == {lab.second.pk}


def test_taken_from_one_key_point_it_stays_at_the_other_and_no_undo_leaves_it_nowhere(lab):
    places = lab.places()
    first = lab.move(lab.first, [lab.both], None)
    assert lab.points_of() == {lab.second.pk}
    with pytest.raises(EditRefused, match="Undo that edit first"):
        lab.undo(lab.added)
    second = lab.move(lab.second, [lab.both], None)
    assert lab.points_of() == {None}
    with pytest.raises(EditRefused, match="Undo that edit first"):
        lab.undo(first)
    lab.undo(second)
    lab.undo(first)
    assert lab.places() == places
    lab.undo(lab.added)
    assert lab.points_of() == {lab.first.pk}


@pytest.mark.parametrize("field", ["is_sure", "is_by_hand"])
@pytest.mark.parametrize("surer", ["first", "second"])
@pytest.mark.parametrize("into", ["first", "second", "third"])
def test_merged_key_points_have_it_once_as_the_surer_of_two_rows(lab, into, surer, field):
    lab.analysis.placements.update(is_sure=False)
    rows = lab.analysis.placements.filter(argument=lab.both)
    rows.filter(point=getattr(lab, surer)).update(**{field: True})
    places, before = lab.places(), lab.state()
    points, target = [lab.first, lab.second, lab.third], getattr(lab, into)
    change = lab.do(merge_points, points=points, into=target)
    assert list(rows.values_list("point", field)) == [(target.pk, True)]
    target.refresh_from_db()
    assert target.statements == 9
    again = lab.undo(change)
    assert (lab.places(), lab.state()) == (places, before)
    lab.undo(again)
    assert list(rows.values_list(field, flat=True)) == [True]


def test_declined_key_points_leave_it_at_none_once(lab):
    lab.analysis.points.filter(pk__in=[lab.first.pk, lab.second.pk]).update(state="proposed")
    change = lab.put("declined", lab.first, lab.second)
    assert lab.points_of() == {None}
    assert lab.analysis.placements.filter(argument=lab.both).count() == 1
    lab.undo(change)
    assert lab.points_of() == {lab.first.pk, lab.second.pk}


def test_an_edit_is_not_undone_over_a_later_one(lab):
    change = lab.move(lab.first, [lab.both], lab.second)
    lab.place(lab.first, lab.both)
    places = lab.places()
    with pytest.raises(EditRefused, match="Undo that edit first"):
        lab.undo(lab.added)
    lab.undo(change)
    assert lab.points_of() == {lab.first.pk, lab.second.pk}
    assert lab.places() != places


def test_the_database_keeps_one_row_for_each_place(lab):
    for statement, point in ((lab.both, lab.first), (lab.at(None)[0], None)):
        with pytest.raises(IntegrityError), transaction.atomic():
            lab.analysis.placements.create(argument_id=statement, point=point)


def test_a_statement_counts_at_both_and_once_among_all(lab):
    page = lab.get("found_point", point_id=lab.first.public_id).text
    assert page.count("also:") == 1
    assert f'{lab.second.public_id}/">Second point.</a>' in page
    # A statement counts at both and once among all.
    lab.first.refresh_from_db()
    lab.second.refresh_from_db()
    assert (lab.first.statements, lab.second.statements) == (3, 4)
    lab.analysis.refresh_from_db()
    overview = overview_of(lab.analysis)
    assert (overview.covered, overview.rest) == (9, 2)
    lab.undo(lab.added)
    assert lab.points_of() == {lab.first.pk}


def test_the_file_has_a_row_for_each_place_whatever_the_pieces(lab, monkeypatch):
    say(lab.cell, lab.analysis.placements.filter(argument=lab.both)[0].argument.text)
    rows = list(report_files.statement_rows(lab.analysis, []))
    mentions = lab.analysis.placements.values_list("pk", "argument__said_in")
    assert len(rows) == mentions.count() > lab.analysis.placements.count()
    for piece in (1, 2, 5):
        monkeypatch.setattr(report_files, "PIECE", piece)
        assert list(report_files.statement_rows(lab.analysis, [])) == rows
