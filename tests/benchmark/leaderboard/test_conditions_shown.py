"""Condition as a column and filter: agreement, the rows behind it, sheets, training data."""

import csv
import io
import json

import pytest
from django.urls import reverse

from annotation.answers.models import Answer
from annotation.generation.actions.answer_runs import condition
from benchmark.agreement.reports.agreement import compute
from benchmark.distillation.forms import PairsForm
from benchmark.distillation.reports import choose, datasheet, records
from benchmark.leaderboard.actions import BOARDS, SLICE_JOB
from benchmark.leaderboard.models import BoardSlice
from benchmark.leaderboard.reports.snapshot import read_rows
from benchmark.rubrics.models import default_rubric
from cqa_site.results import snapshots
from cqa_site.runs import jobs
from cqa_site.stats.estimate import to_json
from tests.api.conftest import client_of
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_member, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.agreement]
NAME = "Scenario 1 · labels 0–1"


def scored_study():
    """Answers of two systems, those of Beta from useless arguments, their sheets and board."""
    study = make_study()
    answers = make_scored_answers(study, questions=4)
    probe = condition(study, scenario=1, filters={"relevance": "0-1"})
    Answer.objects.filter(system__name="Beta").update(condition=probe)
    people = [make_rater(study, name) for name in ("Ada", "Bo")]
    make_sheets(study, answers, [*people, make_rater(study, "Judge", "model")])
    snapshots.refresh(BOARDS, default_rubric(study))
    return study


@pytest.fixture
def study(built, db):
    return built.copy()


@pytest.fixture
def probe(study):
    return str(study.conditions.get(is_plain=False).public_id)


@pytest.fixture
def board(study):
    """With its agreement, which takes longest."""
    rubric = default_rubric(study)
    return snapshots.store_live(BOARDS, rubric, BOARDS.compute(rubric))


def address(study, name, *args):
    return reverse(name, args=[study.public_id, *args])


PAGES = ("score_agreement", "score_replace", "score_judges")


@pytest.mark.long
def test_agreement_of_one_condition_is_made_once_in_the_background(
    study, client, probe, board, django_assert_max_num_queries
):
    asked = {"condition": probe}
    watch = address(study, "score_watch"), asked | {"snapshot": str(board.public_id)}
    for name in PAGES:
        together = client.get(address(study, name)).text
        assert "Answers from 2 conditions combined." in together
        assert "being computed" in client.get(address(study, name), asked).text
    file = address(study, "score_agreement_figure", "pairs", "md")
    assert client.get(file, asked).status_code == 404
    assert client.get(*watch).status_code == 204
    assert study.jobs.filter(kind=SLICE_JOB).count() == 1
    jobs.drain()
    assert client.get(*watch)["HX-Refresh"] == "true"
    for name in PAGES:
        with django_assert_max_num_queries(10):
            page = client.get(address(study, name), asked)
        assert NAME in page.text
        assert page.context["figures"].answers == 4
    rows = read_rows(bytes(board.rows))
    alone = rows[rows["condition_id"] == probe]
    assert to_json(page.context["figures"]) == json.loads(
        json.dumps(compute(alone, default_rubric(study).rubric, board.recipe))
    )
    assert NAME in client.get(file, asked).text


@pytest.mark.long
def test_a_part_of_a_board_its_agreement_and_its_rows_are_of_one_condition(
    study, client, probe, board
):
    client.get(address(study, "score_agreement"), {"condition": probe})
    client.get(address(study, "board", board.number), {"condition": probe})
    jobs.drain()
    kept = {each.key: set(each.figures) for each in BoardSlice.objects.all()}
    assert len(kept) == 2
    assert sum("pairs" in names and "people" in names for names in kept.values()) == 1
    rows = address(study, "score_rows")
    page = client.get(rows, {"condition": probe})
    assert [row["condition"] for row in page.context["rows"]] == [NAME] * 4
    assert f'value="{probe}" selected' in page.text
    text = client.get(rows, {"condition": probe, "format": "csv"}).content.decode("utf-8-sig")
    assert [row["Condition"] for row in csv.DictReader(io.StringIO(text))] == [NAME] * 4
    assert len(client.get(rows).context["rows"]) == 8


def test_sheets_go_away_with_their_condition_and_training_pairs_are_of_plain_answers(
    study, client, probe
):
    asked = {"rubric": default_rubric(study).public_id, "sheets": "all", "format": "csv"}

    def taken(**chosen):
        response = client.get(address(study, "score_sheets_export"), asked | chosen)
        text = b"".join(response.streaming_content).decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))

    assert len(taken()) == len(taken(conditions="all")) == 24
    assert [row["condition_name"] for row in taken(conditions=probe)] == [NAME] * 12
    refused = client.get(address(study, "score_sheets_export"), asked | {"conditions": "other"})
    assert refused.status_code == 422
    Answer.objects.update(text="A kayak is faster.")
    rubric = default_rubric(study)
    plain = choose(rubric, rules(study))
    assert plain.chosen.left_out == {"under another condition": 4}
    assert [row[:3] for row in plain.systems] == [("Alpha", "Scenario 1", 4)]
    chosen = choose(rubric, rules(study, conditions=[probe]))
    assert [row[:3] for row in chosen.systems] == [("Beta", NAME, 4)]
    assert f"Conditions of the answers: {NAME}." in datasheet(chosen)
    assert {each["about"]["condition"] for each in records(chosen)} == {NAME}
    both = choose(rubric, rules(study, conditions=["all"]))
    assert (both.chosen.left_out, len(both.chosen.pairs)) == ({}, 8)
    assert "Conditions of the answers: all." in datasheet(both)
    empty = make_study("Empty")
    assert choose(default_rubric(empty), rules(empty)).chosen.pairs.empty


def rules(study, **chosen):
    given = {"rubric": default_rubric(study).public_id, "basis": "judges", "least_total": 0}
    form = PairsForm(given | {"validation": 0, "seed": 1} | chosen, study=study)
    assert form.is_valid(), form.errors
    return form.rules()


@pytest.mark.long
def test_the_api_has_agreement_sheets_and_training_data_of_a_condition(study, probe, board):
    Answer.objects.update(text="A kayak is faster.")
    client = client_of(make_member(study, "researcher"))

    def asks(rest, **query):
        reply = client.get(f"/api/v1/studies/{study.public_id}/{rest}/", query)
        return reply.status_code, reply.json()

    assert asks("score-agreement")[1]["condition"] == ""
    assert asks("score-agreement", condition="x")[0] == 400
    status, job = asks("score-agreement", condition=probe)
    assert (status, job["kind"]) == (202, SLICE_JOB)
    jobs.drain()
    status, found = asks("score-agreement", condition=probe)
    assert (status, found["condition"], found["figures"]["answers"]) == (200, probe, 4)
    _status, found = asks("score-sheets", condition=probe)
    assert [row["condition_name"] for row in found["results"]] == [NAME] * 12
    assert {row["condition"] for row in found["results"]} == {probe}
    assert asks("score-sheets", is_plain="true")[1]["count"] == 12
    asked = {"basis": "judges", "least_total": 0, "widest_gap": 80}
    _status, plain = asks("training-data", **asked)
    assert (plain["count"], plain["left_out"]) == (4, {"under another condition": 4})
    _status, chosen = asks("training-data", **asked, conditions=[probe])
    assert {each["about"]["condition"] for each in chosen["pairs"]} == {NAME}
    assert asks("training-data", **asked, conditions=["other"])[0] == 400
