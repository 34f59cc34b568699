"""Judges beside people: figures against values by hand, the pages, and what they hide."""

import json
import random
from dataclasses import replace

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.consensus.models import FinalLabel
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.judges.reports.agreement import compare, final_labels_of, judges_of, people_of
from annotation.judges.reports.charts import judges_finding
from annotation.judges.reports.figures import compute_figures
from annotation.judges.reports.results import BestJudge, JudgeSelection, state_of
from annotation.judges.reports.tables import TABLES, judge_table
from annotation.labelling.models import Assignment
from cqa_site.people.models import Rater, Role
from cqa_site.rounds.lifecycle import open_round
from cqa_site.runs.models import Endpoint, Job
from cqa_site.stats.estimate import Estimate, to_json
from tests.annotation.voting import vote
from tests.cast import make_member, sign_in
from tests.runs.judging import Lab, good
from tests.runs.made_runs import carry_run
from tests.worlds import built_once

pytestmark = pytest.mark.django_db
WARM = {"temperature": 1, "max_tokens": 200}
SENTINEL = "SENTINEL-RATIONALE-7f3a"


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


def number_of(request) -> int:
    """Which of the invented sentences a prompt asks about."""
    return int(request.messages[-1]["content"].split("in point ")[1].split(".")[0])


def judge_says(number: int) -> int:
    """One too high on every fourth sentence, otherwise right."""
    return min(3, number % 4 + (number % 4 == 1))


class JudgedLab(Lab):
    """People voted twice on each of twenty sentences; final labels are number modulo 4."""

    def __init__(self):
        super().__init__(items=20)
        raters = [Rater.objects.create(study=self.study, name=f"Person {n}") for n in range(3)]
        dice = random.Random(4)
        for number, item in enumerate(self.label_round.items.order_by("rank")):
            for rater in raters:
                label = number % 4 if dice.random() < 0.8 else dice.randrange(4)
                vote(item, rater, label)
            FinalLabel.objects.create(
                label_round=self.label_round,
                argument=item.argument,
                label=number % 4,
                provenance="votes",
            )

    @property
    def client(self):
        return sign_in(self.researcher)

    def url(self, name, *args, query=""):
        place = [self.study.public_id, self.label_round.public_id, *args]
        return reverse(name, args=place) + query

    def figures(self, **choice):
        return to_json(compute_figures(self.label_round, JudgeSelection(**choice)))


def judge_all(lab, says=judge_says, **values):
    """Let a judge label everything."""

    def answer(request):
        return json.dumps({"reason": SENTINEL, "label": says(number_of(request))})

    return carry_run(lab.study, lab.researcher, answer, lab.plan(**values))


def build():
    """People's labels alone, and the same after one run."""
    judged = JudgedLab()
    judge_all(judged)
    Job.objects.all().delete()
    return JudgedLab(), judged


worlds = built_once(build)


@pytest.fixture
def lab(worlds) -> JudgedLab:
    return worlds[0]


@pytest.fixture
def judged(worlds) -> JudgedLab:
    """The lab after one run."""
    return worlds[1]


def test_figures_by_hand(judged):
    figures = judged.figures()
    (row,) = figures["judges"]
    # Five of twenty sentences have label 1 and got 2.
    assert (row["n"], row["planned"], row["unscored"], row["coverage"]) == (20, 20, 0, 1.0)
    assert row["exact"] == pytest.approx(15 / 20)
    assert row["bias"] == row["error"] == pytest.approx(5 / 20)
    assert row["ordinal"]["n_pairable_items"] == row["difference"]["n_pairable_items"] == 20
    # Interval alpha: observed 5 · 1² / 20 over pairs; expected from 40 values 0:10 1:5 2:15 3:10.
    expected = 2 * (50 * 1 + 150 * 4 + 100 * 9 + 75 * 1 + 50 * 4 + 150 * 1) / (40 * 39)
    assert row["interval"]["value"] == pytest.approx(1 - (5 / 20) / expected)
    assert row["replacement"]["n_items"] == 20
    people = figures["people"]["agreement"]["value"]
    assert row["difference"]["value"] == pytest.approx(row["with_votes"]["value"] - people)
    cells = [[5, 0, 0, 0], [0, 0, 5, 0], [0, 0, 5, 0], [0, 0, 0, 5]]
    assert figures["confusion"]["cells"] == cells
    rows = {row["label"]: row for row in figures["per_label"]}
    assert (rows[1]["recall"], rows[1]["precision"]) == (0, None)
    assert (rows[2]["recall"], rows[2]["precision"]) == (1, 0.5)
    assert rows[1]["mean_judge"] == 2
    assert {row["final"] for row in figures["hardest"]} == {1}
    assert figures["hardest"][0]["reasons"] == [SENTINEL]


def test_cost_counts_the_price_of_all_labels(judged):
    (judge,) = judges_of(judged.label_round)
    spent = judge.run.budget.spent_micro
    assert spent > 0
    assert judge.per_thousand == pytest.approx(spent / 1_000_000 / 20 * 1_000)
    # Reused replies do not make a judge look cheap.
    judge_all(judged)
    newest, _first = judges_of(judged.label_round)
    assert newest.run.reused == 20
    assert newest.per_thousand == pytest.approx(judge.per_thousand)


@pytest.mark.long
def test_unscored_replies_lower_the_coverage_and_the_rank(lab):
    def answer(request):
        return "no idea" if number_of(request) < 2 else good(number_of(request) % 4)

    carry_run(lab.study, lab.researcher, answer, lab.plan())
    judge_all(lab, params=WARM)
    best, worst = lab.figures()["judges"]
    assert (worst["unscored"], worst["n"], worst["coverage"]) == (2, 18, 0.9)
    assert worst["is_low"]
    assert worst["ordinal"]["value"] == 1
    assert not best["is_low"]
    page = lab.client.get(lab.url("judges")).content.decode()
    assert "too low to rank" in page
    common = lab.figures(is_common=True)
    assert common["common"] == {"is_on": True, "n": 18}
    assert [row["n"] for row in common["judges"]] == [18, 18]
    assert common["judges"][1]["coverage"] == 0.9


@pytest.mark.long
def test_what_is_undefined_has_a_reason(lab):
    FinalLabel.objects.all().delete()
    judge_all(lab, lambda number: 2)
    (row,) = lab.figures()["judges"]
    assert (row["n"], row["exact"], row["bias"]) == (0, None, None)
    assert row["ordinal"]["reason"]
    json.dumps(lab.figures(), allow_nan=False)
    page = lab.client.get(lab.url("judges"))
    assert page.status_code == 200
    assert "not defined" in page.content.decode()


def test_replicates_count_once_and_show_their_consistency(lab):
    judge_all(lab, replicates=2, params=WARM)
    (row,) = lab.figures()["judges"]
    assert (row["n"], row["planned"], row["replicates"]) == (20, 20, 2)
    assert row["consistency"]["value"] == 1


@pytest.mark.long
def test_labels_of_a_model_in_a_file_are_a_judge_and_no_votes(lab):
    recompute_final_labels(lab.label_round)
    before = final_labels_of(lab.label_round)
    model = Rater.objects.create(study=lab.study, kind="model", name="GPT-4")
    for number, item in enumerate(lab.label_round.items.order_by("rank")):
        vote(item, model, 3 if number < 10 else number % 4)
    recompute_final_labels(lab.label_round)
    people = people_of(lab.label_round)
    assert people.votes.n_raters == 3
    assert final_labels_of(lab.label_round).equals(before)
    (judge,) = judges_of(lab.label_round)
    assert (judge.kind, judge.name, judge.per_thousand) == ("imported", "GPT-4", None)
    comparison = compare(judge, people)
    assert comparison.n == 20
    assert "GPT-4" in lab.client.get(lab.url("judges")).content.decode()


def test_only_out_of_fold_labels_of_a_trained_judge_are_compared(lab):
    rater = Rater.objects.create(study=lab.study, kind="classifier", name="Trained judge")
    version = TrainedJudge.objects.create(label_round=lab.label_round, rater=rater, number=1)
    of = {"label_round": lab.label_round, "trained": version, "label": 0}
    for number, item in enumerate(lab.label_round.items.order_by("rank")):
        JudgeLabel.objects.create(argument=item.argument, is_out_of_fold=number < 12, **of)
    (row,) = lab.figures()["judges"]
    assert (row["n"], row["is_out_of_fold"], row["trained_number"]) == (12, True, 1)


def estimate(value, low, high):
    counts = {"n_items": 20, "n_pairable_items": 20, "n_raters": 2, "n_values": 40}
    return Estimate(value=value, low=low, high=high, statistic="", recipe="", **counts)


FINDINGS = {
    (-0.1, 0.3): "Not proven: the data cannot tell whether stub-1 v1 #1 agrees",
    (0.1, 0.3): "Yes: stub-1 v1 #1 agrees with people more",
    (-0.3, -0.1): "No: stub-1 v1 #1 agrees with people less",
}


def test_the_finding_begins_with_the_answer(judged):
    for kind, is_there in (("remote", False), ("embedded", True)):
        Endpoint.objects.filter(study=judged.study).update(kind=kind)
        figures = compute_figures(judged.label_round, JudgeSelection())
        (row,) = figures.judges
        for bounds, said in FINDINGS.items():
            best = BestJudge(row.key, 4, estimate(0.1, *bounds))
            finding = judges_finding(replace(figures, judges=[row], best=best))
            assert finding.says.startswith(said)
            assert "corrected for the choice among 4 judges" in finding.sure
            assert ("the built-in model answers at chance level" in finding.sure) == is_there


@pytest.mark.long
def test_every_table_goes_away_as_a_file(judged, subtests):
    client = judged.client
    figures = compute_figures(judged.label_round, JudgeSelection())
    for at, slug in enumerate(TABLES):
        form = ("csv", "tex", "md")[at % 3]
        with subtests.test(f"{slug}.{form}"):
            assert judge_table(judged.label_round, figures, slug, "x").rows
            reply = client.get(judged.url("judges_figure", slug, form))
            assert reply.status_code == 200
            assert f'filename="judges-{slug}.{form}"' in reply["Content-Disposition"]


@pytest.mark.long
def test_a_cell_leads_to_its_rows(judged):
    key = judged.figures()["chosen"]
    reply = judged.client.get(
        judged.url("judge_rows", query=f"?judge={key}&final=1&label=2")
    ).content.decode()
    assert "5 arguments" in reply
    assert "in point 1." in reply
    assert "in point 2." not in reply
    csv = judged.client.get(judged.url("judge_rows", query=f"?judge={key}&final=1&format=csv"))
    assert len(csv.content.decode().strip().splitlines()) == 6


@pytest.mark.long
def test_the_fragment_is_quiet_until_something_changes(judged):
    run = judged.study.runs.get()
    type(run).objects.update(state="running")
    state = state_of(judged.label_round)
    page = judged.client.get(judged.url("judges")).content.decode()
    assert f"seen={state}" in page
    seen = judged.client.get(judged.url("judges_fragment", query=f"?seen={state}"))
    assert seen.status_code == 204
    FinalLabel.objects.filter(label=0).update(label=1)
    assert state_of(judged.label_round) != state
    changed = judged.client.get(judged.url("judges_fragment", query=f"?seen={state}"))
    assert changed.status_code == 200
    type(run).objects.update(state="done")
    # The page asked for the final labels, too, because these are not what the votes say.
    assert "every 5s" in judged.client.get(judged.url("judges")).content.decode()
    Job.objects.filter(kind="final_labels").update(state="done", finished_at=timezone.now())
    assert "every 5s" not in judged.client.get(judged.url("judges")).content.decode()


@pytest.mark.long
def test_a_page_costs_a_fixed_number_of_queries(judged, django_assert_max_num_queries):
    for temperature in (0.1, 0.2, 0.3):
        judge_all(judged, params={"temperature": temperature, "max_tokens": 200})
    keys = [judge.key for judge in judges_of(judged.label_round)]
    with django_assert_max_num_queries(13):
        judged.figures(judge=keys[0], other=keys[1])
    cache.clear()
    client = judged.client
    for most, name in ((34, "judges"), (20, "judges"), (16, "judge_rows")):
        with django_assert_max_num_queries(most, info=name):
            client.get(judged.url(name))


def test_nothing_of_a_judge_reaches_an_annotator(judged):
    """Labels, names and reasons of judges are in no page, payload or answer annotators get."""
    judged.label_round.controls_per_block = 0
    judged.label_round.save()
    open_round(round_=judged.label_round, actor=judged.researcher)
    (judge,) = judges_of(judged.label_round)
    annotator = sign_in(make_member(judged.study, Role.ANNOTATOR))
    asks_json = {"Accept": "application/json"}
    replies = [
        annotator.get(judged.url("label")),
        annotator.get(judged.url("label_next"), headers=asks_json),
    ]
    row = Assignment.objects.filter(state="served").order_by("pk").first()
    body = {"item": str(row.public_id), "client_key": "k1", "label": 2}
    replies += [
        annotator.post(judged.url("label_answer"), body, headers=asks_json),
        annotator.get(judged.url("label_answers")),
        annotator.get(reverse("study", args=[judged.study.public_id])),
    ]
    for reply in replies:
        assert reply.status_code == 200
        text = reply.content.decode()
        for secret in (SENTINEL, judge.name, judge.key, "judge"):
            assert secret.lower() not in text.lower()
