"""Pages of key point analysis: what they count, narrow, page, and how edits come back."""

import json
from datetime import date

import pytest

from argsum.analysis.actions.analyses import count_analysis
from argsum.analysis.models import FoundPoint, Placement
from argsum.analysis.reports.analyses import StatementSearch
from argsum.analysis.reports.mentions import BEST_FIRST, narrowed_counts
from argsum.datasets.models import CellArgument
from cqa_site.runs import jobs
from tests.argsum.made_cells import make_dataset
from tests.argsum.signed_in import page_text as flat
from tests.worlds import built_once
from .labs import PointsLab
from .made_comments import say

pytestmark = pytest.mark.django_db
ALTDORF = json.dumps(["town", "Altdorf"])


class Lab(PointsLab):
    def point(self, query=None, **more):
        return self.get("found_point", query, point_id=self.first.public_id, **more)

    def edit(self, given, **more):
        return self.post("analysis_edit", {"seen": self.seen} | given, **more)

    def edit_point(self, given, **more):
        given = {"seen": self.seen, **given}
        return self.post("found_point_edit", given, point_id=self.first.public_id, **more)

    def keys(self, point):
        rows = CellArgument.objects.filter(placements__point=point).order_by("pk")
        return [str(each.public_id) for each in rows]


lab = built_once(Lab)


def test_counts_are_of_what_a_page_is_narrowed_to(lab):
    page = lab.get("analysis")
    rows = page.context["rows"]
    assert [row.counted for row in rows] == sorted((row.counted for row in rows), reverse=True)
    assert sum(row.statements for row in rows) == 9
    assert all(len(row.quotes) == 3 for row in rows)
    words = flat(page)
    assert "13 comments · 11 different statements" in words
    assert "2 unmatched statements" in words
    assert "new comment" not in words
    # Counts are of what a page is narrowed to.
    quiet = lab.get("analysis", {"q": "quiet"})
    rows = {row.point.pk: row for row in quiet.context["rows"]}
    for point in (lab.first, lab.second, lab.third):
        own = Placement.objects.filter(point=point, argument__text__icontains="quiet").count()
        assert (rows[point.pk].statements if point.pk in rows else 0) == own
    town = lab.get("analysis", {"group": ALTDORF})
    assert town.context["total"] == 6
    for row in town.context["rows"]:
        said = lab.cell.comments.filter(
            statements__argument__placements__point=row.point, attributes__town="Altdorf"
        )
        assert row.counted == said.distinct().count()
    days = {"first": "2026-02-01", "last": "2026-02-28"}
    assert lab.get("analysis", days).context["total"] == 2
    nothing = lab.get("analysis", {"q": "xyz"})
    assert "No matching statements" in flat(nothing)
    # What is no choice narrows nothing and is said beside its field.
    wrong = lab.get("analysis", {"group": '["town", "Nowhere"]', "first": "never"})
    assert wrong.status_code == 200
    assert len(wrong.context["rows"]) == 3
    assert "Enter a valid date" in flat(wrong)


def test_a_page_costs_few_queries_however_many_key_points(lab, django_assert_max_num_queries):
    lab.client  # noqa: B018  signs in here, not below
    one = {"point_id": lab.first.public_id}
    for name, query, ids, most in (
        ("analysis", None, {}, 21), ("analysis", {"q": "quiet", "group": ALTDORF}, {}, 23),
        ("found_point", None, one, 18), ("analyses", None, {}, 12),
    ):  # fmt: skip
        with django_assert_max_num_queries(most):
            lab.get(name, query, **ids)


def test_filtered_counts_follow_edits_and_leave_out_later_comments(lab):
    quiet = StatementSearch(search="quiet")
    before = narrowed_counts(lab.analysis, quiet)
    own = before.points[lab.first.pk]
    best = lab.first.placements.filter(argument__text__contains="quiet").order_by(*BEST_FIRST)
    keys = list(best.values_list("argument", flat=True))
    assert before.best_of([lab.first.pk], 2) == {lab.first.pk: keys[:2]}
    say(lab.cell, best[0].argument.text, town="Altdorf")
    assert narrowed_counts(lab.analysis, quiet).points[lab.first.pk] == own
    lab.move(lab.first, keys, None)
    after = narrowed_counts(lab.fresh(), quiet).points
    assert lab.first.pk not in after
    assert after[None].statements == before.points[None].statements + len(keys)
    # All conditions are about the same comment.
    say(lab.cell, "One place.", day=date(2025, 1, 1), town="Altdorf")
    say(lab.cell, "One place.", day=date(2026, 1, 1), town="Neudorf")
    argument = lab.cell.arguments.get(text="One place.")
    Placement.objects.create(analysis=lab.analysis, argument=argument, point=lab.first)
    count_analysis(lab.analysis)
    about = {"search": "One place", "column": "town", "value": "Altdorf"}
    narrow = StatementSearch(**about, first=date(2026, 1, 1))
    assert narrowed_counts(lab.analysis, narrow).points == {}
    assert not narrow.of_statements(lab.analysis.placements.all()).exists()
    both = StatementSearch(**about, last=date(2025, 2, 1))
    assert narrowed_counts(lab.analysis, both).points[lab.first.pk].comments == 1


def test_a_statement_shows_its_comment_and_further_ones(lab):
    hall = Placement.objects.get(analysis=lab.analysis, argument__text="The hall is quiet.")
    one = {"point_id": hall.point.public_id} if hall.point else {}
    assert "This comment and 2 more" in lab.text("found_point" if one else "analysis_rest", **one)
    ids = {"statement_id": hall.argument.public_id}
    assert "The hall is quiet. Nobody finds parking." in lab.text("analysis_said", **ids)
    town = lab.get("analysis_said", {"group": ALTDORF}, **ids).context["comments"]
    assert {each.attributes["town"] for each in town} == {"Altdorf"}
    other = make_dataset(lab.study).cells.first().arguments.first()
    assert lab.get("analysis_said", statement_id=other.public_id).status_code == 404
    # Statements are paged and the page stays light.
    words = "A long statement that goes on and on so that its page has something to carry. " * 3
    made = CellArgument.objects.bulk_create(
        CellArgument(cell=lab.cell, position=100 + n, text=f"{words} {n}", sha256=f"{n:064d}")
        for n in range(300)
    )
    about = {"analysis": lab.analysis, "point": lab.first, "score": 0.1}
    Placement.objects.bulk_create(Placement(argument=each, **about) for each in made)
    FoundPoint.objects.filter(pk=lab.first.pk).update(statements=303)
    page = lab.point({"page": 7})
    assert len(page.context["rows"]) == 3
    assert page.context["page"].paginator.count == 303
    first = lab.point()
    assert len(first.context["rows"]) == 50
    assert len(first.content) < 200_000
    scores = [row.score for row in first.context["rows"]]
    assert scores == sorted(scores, reverse=True)


def test_an_edit_is_undone_where_it_was_made(lab):
    before = lab.first.text
    words = flat(lab.edit_point({"verb": "rename", "text": "Better said."}, htmx=True))
    assert "The key point was renamed." in words
    assert f'action="{lab.url("analysis_undo", revision=1)}?"' in words
    given = {"from": str(lab.first.public_id)}
    assert f'name="from" value="{given["from"]}"' in words
    undone = lab.post("analysis_undo", given, htmx=True, revision=1)
    assert undone.text.lstrip().startswith('<div id="statements"')
    assert "The edit was undone." in flat(undone)
    assert f"<h1>{before}</h1>" in flat(undone)
    again = lab.post("analysis_undo", given, htmx=True, revision=1)
    assert again.status_code == 422
    assert "already been undone" in flat(again)
    rest = {"verb": "split", "text": "Rest", "statement": lab.keys(None), "seen": lab.seen}
    made = lab.post("analysis_rest_edit", rest, htmx=True)
    assert 'name="from" value="rest"' in flat(made)
    lab.post("analysis_undo", {"from": "rest"}, htmx=True, revision=lab.seen)
    assert lab.analysis.points.get(text="Rest").state == "removed"
    # And in the list.
    chosen = [str(lab.first.public_id), str(lab.second.public_id)]
    given = {"verb": "merge", "point": chosen, "text": "Both"}
    page = lab.edit(given, htmx=True)
    assert page.status_code == 200
    assert page.text.lstrip().startswith('<div id="points"')
    assert [row.point.text for row in page.context["rows"]] == ["Both", "Third point."]
    undone = lab.post("analysis_undo", {"from": "points"}, htmx=True, revision=lab.seen)
    assert "The edit was undone" in flat(undone)
    assert len(undone.context["rows"]) == 3
    assert lab.edit(given)["Location"] == lab.url("analysis")


def test_a_conflict_is_told_and_what_was_typed_and_chosen_stays(lab):
    seen = lab.seen
    lab.rename(lab.first, "Ben's", actor=lab.other)
    chosen = [str(lab.first.public_id), str(lab.second.public_id)]
    page = lab.edit({"verb": "merge", "point": chosen, "text": "Mine", "seen": seen}, htmx=True)
    assert page.status_code == 422
    words = flat(page)
    assert "was changed in the meantime (renamed, Ben)" in words
    assert 'value="Mine"' in page.text
    assert page.text.count(" checked") == 2
    renamed = lab.edit_point({"verb": "rename", "text": "Mine", "seen": seen}, htmx=True)
    assert renamed.status_code == 422
    assert 'value="Mine"' in renamed.text
    lab.first.refresh_from_db()
    assert lab.first.text == "Ben's"
    again = lab.edit_point({"verb": "rename", "text": "Mine"})
    assert again.status_code == 302
    lab.first.refresh_from_db()
    assert lab.first.text == "Mine"


def test_statements_move_and_split_by_choice_and_by_search(lab):
    own = lab.keys(lab.first)
    page = lab.edit_point(
        {"verb": "move", "statement": own[:1], "to": str(lab.second.public_id)}, htmx=True
    )
    assert "1 statement was moved" in flat(page)
    assert lab.keys(lab.first) == own[1:]
    back = {"verb": "move", "statement": own[:1], "to": "none", "seen": lab.seen}
    lab.post("found_point_edit", back, point_id=lab.second.public_id)
    assert own[0] in lab.keys(None)
    text = CellArgument.objects.get(public_id=own[1]).text
    lab.edit_point({"verb": "split", "text": "A part", "every": "on"}, query=f"?q={text}")
    assert lab.analysis.points.get(text="A part").statements == 1
    rest = {"verb": "split", "text": "The rest", "statement": lab.keys(None), "seen": lab.seen}
    lab.post("analysis_rest_edit", rest)
    assert lab.analysis.points.get(text="The rest").statements == 3
    for given, said in (
        ({"verb": "move", "statement": lab.keys(lab.first)}, "Choose where"),
        ({"verb": "move", "to": "none"}, "at least one statement"),
        ({"verb": "split", "statement": lab.keys(lab.first), "text": ""}, "Enter the text"),
        ({"verb": "move", "statement": ["x"], "to": "none"}, "does not have that statement"),
        ({"verb": "dance"}, "Select a valid choice"),
        ({"verb": "move", "statement": [], "to": "none", "seen": "x"}, "whole number"),
    ):
        refused = lab.edit_point(given, htmx=True)
        assert refused.status_code == 422
        assert said in flat(refused)
    assert lab.analysis.placements.count() == 11


def test_proposed_and_hidden_ones_are_decided_on(lab):
    FoundPoint.objects.filter(pk=lab.second.pk).update(state="proposed", origin="proposed")
    page = lab.get("analysis")
    assert "1 key point proposed" in flat(page)
    taken = lab.edit({"verb": "taken", "point": [str(lab.second.public_id)]}, htmx=True)
    assert len(taken.context["rows"]) == 3
    hidden = lab.edit({"verb": "hidden", "point": [str(lab.third.public_id)]}, htmx=True)
    assert "1 hidden key point" in flat(hidden)
    lab.edit({"verb": "shown", "point": [str(lab.third.public_id)]}, htmx=True)
    added = lab.edit({"verb": "add", "text": "By hand"}, htmx=True)
    assert "By hand" in flat(added)
    assert set(lab.analysis.points.values_list("state", flat=True)) == {"shown"}
    history = lab.get("analysis_history")
    assert [each.verb for each in history.context["page"]] == ["added", "shown", "hidden", "taken"]
    names = {each["actor_name"] for each in lab.told("point_changes")["results"]}
    assert names == {str(lab.researcher)}
    assert lab.researcher.name in flat(history)
    lab.post("analysis_undo", revision=4)
    assert lab.analysis.points.get(text="By hand").state == "removed"
    refused = lab.client.post(lab.url("analysis_undo", revision=4), follow=True)
    assert "already been undone" in flat(refused)


@pytest.mark.usefixtures("word_engine")
def test_one_click_on_a_dataset_leads_to_its_key_points(lab):
    dataset = lab.cell.dataset
    page = lab.get("dataset", dataset_id=dataset.public_id)
    address = lab.url("analysis_dataset", dataset_id=dataset.public_id)
    assert f'action="{address}"' in page.text
    # Those that were found before come first.
    assert f'href="{lab.url("analyses")}?dataset={dataset.public_id}">Key points</a>' in flat(page)
    response = lab.client.post(address)
    made = lab.study.analyses.first()
    assert response["Location"] == lab.url("analysis", analysis_id=made.public_id)
    jobs.drain()
    assert len(lab.get("analysis", analysis_id=made.public_id).context["rows"]) == 3
    two = make_dataset(lab.study)
    response = lab.post("analysis_dataset", dataset_id=two.public_id)
    assert response["Location"] == lab.url("analyses") + f"?dataset={two.public_id}"
    listed = lab.get("analyses", {"dataset": str(two.public_id)})
    assert len(listed.context["page"]) == 2


def test_a_new_analysis_takes_one_click(lab, settings):
    settings.JOBS_INLINE = False
    make_dataset(lab.study, name="Debates that came later")
    page = lab.get("analysis_new")
    form = page.context["form"]
    # The newest comments are chosen; what has a usual value is folded away, and named.
    assert form["cell"].value() == lab.cell.pk
    match, quality = form.usual
    assert f"Default scorers: {match.name} and {quality.name}." in flat(page)
    lab.post("analysis_new", {field.name: field.value() or "" for field in form})
    made = lab.study.analyses.first()
    assert (made.cell, made.match_scorer, made.quality_scorer) == (lab.cell, match, quality)
    refused = lab.post("analysis_new", {"cell": lab.cell.pk, "match_scorer": "0"})
    assert refused.status_code == 422
    assert '<details class="advanced " open> <summary>Advanced' in flat(refused)
