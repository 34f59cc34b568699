"""The demo's arguments: all kinds of them, sets, counts and an open round."""

import pytest

from argsum.counting.models import CountingRound, CountSheet
from argsum.datasets.models import Dataset
from argsum.datasets.reports.datasets import cell_rows, dataset_rows
from argsum.demo.actions.arguments import add_arguments
from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Rater, Role
from cqa_site.rounds.lifecycle import find_violations
from tests import cast
from tests.worlds import built_once

pytestmark = pytest.mark.usefixtures("study")


def make_demo():
    made = cast.make_study()
    add_arguments(study=made, users={Role.RESEARCHER: cast.make_member(made, "researcher")})
    return made


study = built_once(make_demo)


def test_every_cell_has_arguments_of_every_kind():
    dataset = Dataset.objects.get()
    (row,) = dataset_rows([dataset])
    assert (row.cells, row.key_points, row.runs) == (6, 24, 2)
    for each in cell_rows(list(dataset.cells.all())):
        assert 30 <= each.arguments <= 40
        assert each.reasons == {"": 28, "key_points": 2, "no_key_point": 3, "sentences": 2}


def test_sets_and_counts_fit_each_other():
    sets = SummarySet.objects.all()
    assert len(sets) == 12
    for each in sets:
        summaries = list(each.summaries.all())
        shares = [row.prevalence for row in summaries]
        assert shares == sorted(shares, reverse=True)
        assert shares == [each.assigned.count(row.position) for row in summaries]
        assert len(each.arguments) == len(each.scores) == len(each.clusters) == 28
    assert CountSheet.objects.count() == 24
    assert Rater.objects.filter(external_id__startswith="demo-counter").count() == 2
    assert list(find_violations()) == []


def test_a_round_waits_for_members():
    waiting = CountingRound.objects.get()
    assert (waiting.state, waiting.slots.filter(state="open").count()) == ("open", 12)
    assert waiting.items.values("summary_set__system").distinct().count() == 2
