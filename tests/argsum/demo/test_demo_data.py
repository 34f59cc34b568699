"""The demo's arguments and comments: what is kept of them fits them, and each other."""

import json

from argsum.analysis.models import Analysis
from argsum.counting.models import CountingRound, CountSheet
from argsum.datasets.models import Dataset
from argsum.datasets.reports.datasets import cell_rows, dataset_rows
from argsum.demo.actions.arguments import add_arguments
from argsum.demo.actions.comments import POOL_ANALYSIS, add_comments, raw_comments
from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Rater, Role
from cqa_site.rounds.lifecycle import find_violations


def test_what_is_kept_of_comments_fits_the_statements(study, researcher):
    # The comments are the same every time.
    found = raw_comments()
    assert found == raw_comments()
    assert len(found) == len({each.text for each in found}) == 80
    add_comments(study=study, users={Role.RESEARCHER: researcher})
    analysis = Analysis.objects.get()
    (row,) = dataset_rows([analysis.cell.dataset])
    assert (row.comments, row.kept, row.analyses) == (80, 85, 1)
    content = json.loads(POOL_ANALYSIS.read_text(encoding="utf-8"))
    kept = analysis.cell.arguments.filter(left_out="").order_by("position")
    assert list(kept.values_list("text", flat=True)) == list(content["placed"])
    points = list(analysis.points.order_by("position"))
    assert [each.written for each in points] == content["points"]
    assert len(content["themes"]) == len(content["distinct"]) == len(points)
    moved, hidden, *themed = analysis.changes.order_by("revision")
    assert (moved.verb, moved.number, hidden.verb) == ("moved", 2, "hidden")
    assert [each.verb for each in themed] == ["themed"] * 4
    shown = [each.theme for each in points if each.state == "shown"]
    themes = {"Prices", "Water and rooms", "Bus and opening hours", "Staff and café", "Slide"}
    assert (len(shown), set(shown)) == (9, themes | {"Lanes"})
    assert [each.state for each in points].count("hidden") == 1
    now = dict(analysis.placements.values_list("argument__text", "point__written"))
    written = [*content["points"], None]
    elsewhere = {
        text
        for text, (at, _score, _sure) in content["placed"].items()
        if now[text] != written[-1 if at is None else at]
    }
    assert len(elsewhere) == 2
    assert all("lane" in text and now[text] == "The lanes are crowded." for text in elsewhere)


def test_arguments_of_every_kind_with_sets_counts_and_a_round(study, researcher):
    add_arguments(study=study, users={Role.RESEARCHER: researcher})
    dataset = Dataset.objects.get()
    (row,) = dataset_rows([dataset])
    assert (row.cells, row.key_points, row.runs) == (6, 24, 2)
    for each in cell_rows(list(dataset.cells.all())):
        assert 30 <= each.arguments <= 40
        assert each.reasons == {"": 28, "key_points": 2, "no_key_point": 3, "sentences": 2}
    sets = SummarySet.objects.all()
    for each in sets:
        summaries = list(each.summaries.all())
        shares = [row.prevalence for row in summaries]
        assert shares == sorted(shares, reverse=True)
        assert shares == [each.assigned.count(row.position) for row in summaries]
        assert len(each.arguments) == len(each.scores) == len(each.clusters) == 28
    assert (len(sets), CountSheet.objects.count()) == (12, 24)
    assert Rater.objects.filter(external_id__startswith="demo-counter").count() == 2
    assert list(find_violations()) == []
    # A round waits for members.
    waiting = CountingRound.objects.get()
    assert (waiting.state, waiting.slots.filter(state="open").count()) == ("open", 12)
    assert waiting.items.values("summary_set__system").distinct().count() == 2
