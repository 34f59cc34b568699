"""Pages of the leaderboard: what they show, what they cost, what goes away as a file."""

import hashlib
import json
import re
import uuid
from functools import partial
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse

from annotation.answers.models import Answer
from annotation.generation.actions.answer_runs import condition
from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.part_tables import with_scenario
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from tests.benchmark.made_scores import (
    as_earlier_version,
    make_rater,
    make_scored_answers,
    make_sheets,
)
from tests.cast import make_study
from tests.flat import flat

pytestmark = pytest.mark.django_db

NAMES = ("Alpha <b>", "Beta", "Gamma")


def scored_study():
    """A study with sheets of a person and a judge and their board."""
    study = make_study()
    answers = make_scored_answers(
        study, systems=NAMES, questions=8, scenarios=(1, 2), aspect="price"
    )
    people = [make_rater(study, "Ada Annotator")]
    make_sheets(study, answers, [*people, make_rater(study, "Judge", Rater.Kind.MODEL)])
    snapshots.refresh(BOARDS, default_rubric(study))
    return study


@pytest.fixture
def study(built, request, db):
    """The study with sheets for a test that asks for its rubric, else an empty one."""
    return built.copy() if "rubric" in request.fixturenames else make_study()


@pytest.fixture
def rubric(request, study):
    """With its board for a test that asks for that."""
    if "live" not in request.fixturenames:
        BoardSnapshot.objects.all().delete()
    return default_rubric(study)


@pytest.fixture
def live(rubric):
    return BoardSnapshot.objects.get(rubric=rubric)


def address(name, study, *args, query=""):
    return reverse(name, args=[study.public_id, *args]) + query


def page(client, *args, **kwargs):
    response = client.get(address(*args, **kwargs))
    assert response.status_code == 200
    return response.text


@pytest.mark.long
def test_without_sheets_the_page_says_what_to_do(study, client):
    said = page(client, "scores", study)
    assert "No score sheets yet" in said
    assert reverse("imports", args=[study.public_id]) in said
    assert page(client, "boards", study).count("No snapshots yet") == 1


def test_the_first_look_asks_for_the_board(study, rubric, client, inline):
    with inline():
        said = page(client, "scores", study)
    assert "first figures are being computed" in said
    assert (rubric.snapshots.get().number, study.jobs.get().state) == (1, "done")
    fragment = client.get(address("scores_fragment", study, query="?seen=none-stale"))
    assert fragment["HX-Refresh"] == "true"


def test_the_page_shows_everybody_in_few_queries(
    study, live, client, django_assert_max_num_queries
):
    with django_assert_max_num_queries(11):
        said = page(client, "scores", study, query="?judge=1")
    assert "Alpha &lt;b&gt;" in said
    assert "Alpha <b>" not in said
    assert said.count('name="system"') == 3
    assert "Ada Annotator" not in said
    assert "Up to date" in said
    for part in ("Scores by scenario", "Scores by group", "People and judge", "Judges<"):
        assert part in said
    assert "first and last system only; the table shows all" in said
    # Its source ends with one full stop.
    assert "UTC." in flat(said)
    assert "UTC.." not in flat(said)


@pytest.mark.long
def test_a_part_is_computed_when_first_asked_for_and_follows_the_sheets(
    study, live, client, rubric, inline
):
    query = "?column=C3"
    with inline():
        assert "are being computed" in page(client, "scores", study, query=query)
    assert "C3" in page(client, "scores", study, query=query)
    assert client.get(address("board", study, 1, query=query)).status_code == 200
    ids = "&".join(f"system={each['id']}" for each in live.figures["board"]["systems"][:2])
    pair = address("board_figure", study, 1, "pair", "svg", query=f"?{ids}")
    before = client.get(pair)["ETag"]
    ScoreSheet.objects.filter(pk=ScoreSheet.objects.first().pk).update(state="void")
    newest = snapshots.refresh(BOARDS, rubric).recipe["figures_sha256"][:12]
    # Browsers keep no picture of older sheets.
    groups = address("board_figure", study, 1, "groups", "svg", query=f"{query}&v={newest}")
    with inline():
        assert "immutable" not in client.get(groups)["Cache-Control"]
        assert client.get(pair)["ETag"] != before
        assert "Updating" in page(client, "scores", study, query=query)
    assert "Up to date" in page(client, "scores", study, query=query)
    assert "immutable" in client.get(groups)["Cache-Control"]
    assert live.slices.get().figures["counts"]["sheets"] == 95


@pytest.mark.long
def test_two_systems_differ_by_their_means_and_everything_is_a_file_of_the_snapshot(
    study, live, client, django_assert_max_num_queries
):
    board = live.figures["board"]
    ids = [each["id"] for each in board["systems"][:2]]
    judge = board["judges"][0]["key"]
    query = f"?judge={judge}&system={ids[0]}&system={ids[1]}"
    with django_assert_max_num_queries(6):
        said = page(client, "board_pair", study, 1, query=query)
    assert "Common questions" in said
    assert "8 common questions" not in said
    one, other = [each["mean"] for each in board["rows"] if each["judge"] == judge][:2]
    high, low = max(one, other), min(one, other)
    assert f"Means on the leaderboard: {high:.2f} − {low:.2f}." in said
    assert f"<strong>+{high - low:.2f}</strong>" in said
    table = client.get(address("board_figure", study, 1, "pair", "csv", query=query))
    assert len(table.content.splitlines()) == 9
    # Who is named twice is not compared with itself.
    again = address("board_figure", study, 1, "pair", "csv", query=f"?system={ids[0]}&{query[1:]}")
    assert client.get(again).content == table.content
    # Fewer than two are no pair, and who is not ranked is not there.
    for few in ("", "?system=x"):
        assert "Select two ranked systems" in page(client, "board_pair", study, 1, query=few)
    unknown = address("board_pair", study, 1, query="?system=x&system=y")
    assert client.get(unknown).status_code == 404
    for figure in ("board", "cells", "groups", "criteria", "pairs", "judges"):
        called = "board" if figure == "board" else f"board-{figure}"
        for kind in ("csv", "tex", "md"):
            response = client.get(address("board_figure", study, 1, figure, kind))
            assert response["Content-Disposition"].endswith(f'"{called}-snapshot-1.{kind}"')
            if kind == "tex":
                assert rb"\toprule" in response.content
                assert live.sha256[:12].encode() in response.content
    rows = client.get(address("board_file", study, 1, "rows.csv")).content
    assert hashlib.sha256(rows).hexdigest() == live.sha256
    manifest = json.loads(client.get(address("board_file", study, 1, "manifest.json")).content)
    assert manifest["rows"] == {"file": "rows.csv", "sha256": live.sha256, "count": 96}
    assert manifest["recipe"]["rubric"]["sha256"]
    assert set(manifest["recipe"]["packages"]) >= {"numpy", "pandas", "scipy"}
    parquet = client.get(address("board_file", study, 1, "rows.parquet"))
    assert parquet.content.startswith(b"PAR1")
    assert client.get(address("board_file", study, 1, "archive.zip")).content[:2] == b"PK"
    assert client.get(address("board_file", study, 1, "other.zip")).status_code == 404
    # The page in one file needs nothing else and names nobody.
    said = client.get(address("board_file", study, 1, "board.html")).text
    assert "Beta" in said
    assert "Ada" not in said
    for outside in ("http://", "https://", 'src="/', 'href="/', "<script", str(study.public_id)):
        assert outside not in said.replace("http://www.w3.org", ""), outside


@pytest.mark.long
def test_a_system_without_scenarios_is_said_to_stand_by_its_own_answers(study, client):
    names = ("Alpha", "People who write")
    make_scored_answers(study, systems=names, questions=6, scenarios=(1, 2))
    people = Answer.objects.filter(system__name=names[1])
    people.filter(scenario=2).delete()
    people.update(scenario=0, condition=condition(study, scenario=0))
    make_sheets(study, list(study.answers.all()), [make_rater(study, "Ada Annotator")])
    snapshots.refresh(BOARDS, default_rubric(study))
    said = page(client, "scores", study)
    assert "in scenarios 1, 2 for systems that have scenarios" in said
    assert "counts with its own answers" in said
    assert "that all ranked systems share." not in said


def test_freezing_publishing_and_withdrawing(study, live, client):
    said = client.post(address("board_publish", study, 1), follow=True).text
    assert "Only a frozen snapshot" in said
    client.post(address("board_freeze", study, 1), {"note": "Table 2"})
    said = page(client, "board", study, 1)
    assert "Rosa Researcher" in said
    frozen = BoardSnapshot.objects.get()
    cited = f"{study.name}, CompQA v1, snapshot #1, frozen {frozen.frozen_at:%-d %B %Y}, "
    assert f'value="{cited}rows SHA-256 {frozen.sha256[:16]}…, made with Counterpoint"' in said
    client.post(address("board_publish", study, 1))
    token = BoardSnapshot.objects.get().public_token
    assert str(token) in page(client, "board", study, 1)
    client.post(address("board_withdraw", study, 1))
    for name, rest in (("public_board", ()), ("public_board_figure", ("groups", "svg"))):
        assert Client().get(reverse(name, args=[token, *rest])).status_code == 404
    again = client.post(address("board_freeze", study, 1), follow=True).text
    assert "already frozen" in again


@pytest.fixture
def public(study, live, researcher):
    snapshots.freeze(BOARDS, owner=study, number=1, note="For reviewers", actor=researcher)
    return snapshots.publish(BOARDS, owner=study, number=1, actor=researcher)


def test_anybody_reads_a_public_board_and_nothing_else(study, public, researcher):
    where = reverse("public_board", args=[public.public_token])
    response = Client().get(where)
    said = response.text
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert "noindex" in said
    assert "Beta" in said
    assert "For reviewers" in said
    rater_ids = [str(each) for each in study.raters.values_list("public_id", flat=True)]
    system_ids = [str(each) for each in study.systems.values_list("public_id", flat=True)]
    hidden = [str(study.public_id), study.name, "Rosa", "Ada", str(public.public_id)]
    for secret in (*hidden, *rater_ids, *system_ids):
        assert secret not in said, secret
    figure = partial(reverse, "public_board_figure")
    for judge in ("0", "1"):
        chart = Client().get(figure(args=[public.public_token, "groups", "svg"]), {"judge": judge})
        assert b"<svg" in chart.content
        table = Client().get(figure(args=[public.public_token, "board", "csv"]), {"judge": judge})
        assert b"Beta" in table.content
    assert "As in the CompQA paper" in said
    said = Client().get(f"{where}?recipe=paper").text
    assert "for comparison with it, without intervals or ranks" in said
    assert "&amp;recipe=paper" in said
    table = Client().get(figure(args=[public.public_token, "paper", "csv"]))
    assert b"Beta" in table.content


def test_the_papers_recipe_is_a_switch_on_board_and_pair(study, live, client, researcher):
    systems = live.figures["board"]["systems"]
    said = flat(page(client, "scores", study, query="?recipe=paper"))
    assert "for comparison with it, without intervals or ranks" in said
    assert 'value="paper" selected' in said
    assert 'name="recipe" value="paper"' in said
    assert "group 1" not in said
    query = f"?recipe=paper&judge=1&system={systems[0]['id']}&system={systems[1]['id']}"
    pair = page(client, "board_pair", study, 1, query=query)
    assert "computed as in the CompQA paper" in pair
    rows = client.get(address("board_figure", study, 1, "pair", "csv", query=query))
    assert len(rows.content.splitlines()) == 4
    chart = address("board_figure", study, 1, "pair", "svg", query=query)
    assert client.get(chart).status_code == 404
    table = client.get(address("board_figure", study, 1, "paper-cells", "csv", query="?judge=1"))
    paper = live.figures["board"]["paper"]["cells"]
    assert len(table.content.splitlines()) == 1 + sum(
        each["judge"] == paper[-1]["judge"] for each in paper
    )


def test_a_cell_without_a_scenario_is_named_as_on_every_page():
    column = with_scenario("name")[1]
    rows = [Mock(scenario=scenario) for scenario in (0, 4)]
    assert [column.cells(row) for row in rows] == [["No scenario"], ["4"]]


@pytest.mark.long
def test_freezing_and_publishing_say_what_is_thin(study, rubric, client):
    answers = make_scored_answers(study, systems=NAMES[:1], questions=1, scenarios=(4,))
    make_sheets(study, answers, list(study.raters.filter(kind="person")))
    snapshots.refresh(BOARDS, rubric)
    said = page(client, "board", study, 1)
    assert "Limitations to check before you freeze" in said
    assert "1 thin cell is left out of every mean (Alpha &lt;b&gt; 4)" in said
    assert "too few" in said
    assert re.search(r'popovertarget="term-\d+">Thin cells, left out of every mean<', said)
    client.post(address("board_freeze", study, 1), {"note": ""})
    assert "Limitations to check before you publish" in page(client, "board", study, 1)
    client.post(address("board_publish", study, 1))
    token = BoardSnapshot.objects.get(number=1).public_token
    public = Client().get(reverse("public_board", args=[token])).text
    assert "1 thin cell is left out of every mean" in public
    file = client.get(address("board_file", study, 1, "board.html")).text
    assert "1 thin cell is left out of every mean" in file


@pytest.mark.long
def test_a_board_of_an_earlier_version_is_shown_and_says_what_it_is(
    study, live, researcher, client
):
    as_earlier_version(live)
    snapshots.freeze(BOARDS, owner=study, number=1, note="", actor=researcher)
    token = snapshots.publish(BOARDS, owner=study, number=1, actor=researcher).public_token
    ids = "&".join(f"system={each['id']}" for each in live.figures["board"]["systems"][:2])
    for query in ("", "?recipe=paper"):
        said = page(client, "board", study, 1, query=query)
        assert "frozen by version 2 of the leaderboard" in said
        # Its groups and ranges say more than the tests.
        assert "group 1" not in said
    assert "Common questions" in page(client, "board_pair", study, 1, query=f"?{ids}")
    for figure in ("board", "cells", "groups", "criteria", "scenarios", "thin", "paper"):
        assert client.get(address("board_figure", study, 1, figure, "csv")).status_code == 200
    public = Client().get(reverse("public_board", args=[token])).text
    assert "frozen by version 2 of the leaderboard" in public
    assert client.get(address("board_file", study, 1, "board.html")).status_code == 200


@pytest.mark.long
def test_cells_name_their_condition_and_another_can_be_chosen(study, rubric, client, inline):
    plain = condition(study, scenario=1)
    warm = condition(study, scenario=1, filters={"relevance": "2-3"})
    answers = list(study.answers.filter(system__name="Beta", scenario=1).order_by("pk")[:6])
    for answer in answers:
        answer.pk, answer.public_id, answer.condition = None, uuid.uuid4(), warm
        answer.choice, answer.source = 2, "warm.json"
        answer.save()
    make_sheets(study, answers, list(study.raters.filter(kind="person")), seed=5)
    live = snapshots.refresh(BOARDS, rubric)
    said = page(client, "scores", study, query="?judge=people")
    assert "In 1 cell, answers were written under several conditions" in said
    assert "1 other condition" not in said
    said = page(client, "scores", study, query="?judge=people&show=scenario-1")
    assert "1 other condition" in said
    assert str(warm) in said
    listed = live.figures["board"]["conditions"]
    names = {(each["name"], each["is_shown"]) for each in listed if each["scenario"] == 1}
    assert names == {(str(plain), True), (str(warm), False)}
    query = f"?condition={warm.public_id}&judge=people"
    with inline():
        page(client, "scores", study, query=query)
    said = page(client, "scores", study, query=query)
    assert "Alpha" not in said.split("board-main")[1]
    part = live.slices.get(key=f"condition={warm.public_id}").figures
    assert [each["name"] for each in part["systems"]] == ["Beta"]
    assert part["counts"]["answers"] == 6


@pytest.mark.long
def test_a_frozen_page_says_what_moved(study, public, researcher, client, rubric):
    ScoreSheet.objects.filter(rater__kind="person").update(state="void")
    snapshots.refresh(BOARDS, rubric)
    snapshots.freeze(BOARDS, owner=study, number=2, note="", actor=researcher)
    said = page(client, "board", study, 2)
    assert "Changes since snapshot #1" in said
    assert "48 removed" in said
    assert "Judge removed" in said
    assert page(client, "boards", study).count("Frozen</span>") == 1
