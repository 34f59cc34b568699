"""The demo's comments: what is kept of their analysis fits them, and its pages show it."""

import json

import pytest

from argsum.analysis.models import Analysis
from argsum.datasets.reports.datasets import dataset_rows
from argsum.demo.actions.comments import FOUND, add_comments, raw_comments
from cqa_site.people.models import Role
from tests import cast
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


class Demo:
    """The demo's comments in a study with a researcher."""

    def __init__(self):
        self.study = cast.make_study()
        self.boss = cast.make_member(self.study, "researcher")
        add_comments(study=self.study, users={Role.RESEARCHER: self.boss})
        self.analysis = Analysis.objects.get()


demo = built_once(Demo)


@pytest.fixture
def analysis(demo):
    return demo.analysis


def test_the_comments_are_the_same_every_time():
    found = raw_comments()
    assert found == raw_comments()
    assert len(found) == len({each.text for each in found}) == 80


def test_what_is_kept_fits_the_statements(analysis):
    (row,) = dataset_rows([analysis.cell.dataset])
    assert (row.comments, row.kept, row.analyses) == (80, 85, 1)
    found = json.loads(FOUND.read_text(encoding="utf-8"))
    kept = analysis.cell.arguments.filter(left_out="").order_by("position")
    assert list(kept.values_list("text", flat=True)) == list(found["placed"])
    points = list(analysis.points.order_by("position"))
    assert [each.written for each in points] == found["points"]
    assert len(found["themes"]) == len(found["distinct"]) == len(points)
    moved, hidden, *themed = analysis.changes.order_by("revision")
    assert (moved.verb, moved.number, hidden.verb) == ("moved", 2, "hidden")
    assert [each.verb for each in themed] == ["themed"] * 4
    shown = [each.theme for each in points if each.state == "shown"]
    assert len(shown) == 9
    assert set(shown) == {
        "Prices",
        "Water and rooms",
        "Bus and opening hours",
        "Staff and café",
        "Slide",
        "Lanes",
    }
    assert [each.state for each in points].count("hidden") == 1
    now = dict(analysis.placements.values_list("argument__text", "point__written"))
    kept_at = {text: at for text, (at, _score, _sure) in found["placed"].items()}
    elsewhere = {
        text
        for text, at in kept_at.items()
        if now[text] != (None if at is None else found["points"][at])
    }
    assert len(elsewhere) == 2
    lanes = "The lanes are crowded."
    assert all("lane" in text and now[text] == lanes for text in elsewhere)
