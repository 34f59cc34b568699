"""Computing metrics, and correlating them with people; every number is computed by hand."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from django.urls import reverse

from argsum.leaderboard.reports.people_agreement import people_agreement
from argsum.leaderboard.reports.scores import (
    ScoreSource,
    metric_points,
    metric_rows,
    sets_left_out,
)
from argsum.metrics.actions import metrics as metric_similarities
from argsum.metrics.actions.metrics import (
    MetricPlan,
    MetricsRefused,
    SetSelection,
    request_metrics,
)
from argsum.metrics.models import MetricScore
from cqa_site.people.models import Rater
from cqa_site.runs.jobs import drain
from tests.argsum.made_cells import make_count, make_dataset, make_scorer, make_set

pytestmark = pytest.mark.django_db


def compute(study, *functions, **chosen):
    job = request_metrics(
        study=study, plan=MetricPlan(functions, **chosen), choice=SetSelection(), actor=None
    )
    drain()
    job.refresh_from_db()
    return job


def test_rouge_of_every_set_once(study):
    cell = make_dataset(study).cells.first()
    make_set(cell, texts=("Night buses keep people safe", "Trams"))
    compute(study, "rouge_1")
    values = dict(MetricScore.objects.values_list("metric", "value"))
    # The first reference is met in full; the second shares "night" and "buses" of five words.
    assert values["rouge_1:recall"] == pytest.approx((1 + 0.4) / 2)
    assert values["rouge_1:precision"] == 0.5
    assert values["rouge_1:f1"] == pytest.approx(2 * 0.7 * 0.5 / 1.2)
    first = set(MetricScore.objects.values_list("pk", "at"))
    make_set(cell, texts=("Trams",), system="Later")
    assert compute(study, "rouge_1").total == 1
    assert first < set(MetricScore.objects.values_list("pk", "at"))
    assert MetricScore.objects.count() == 6


def nine_on_the_diagonal(rows, columns, *, topic=""):
    """References × summaries: .9 on the diagonal, .2 elsewhere."""
    return np.where(np.eye(len(rows), len(columns)) == 1, 0.9, 0.2).astype(np.float32)


def test_coverage_score_by_a_scorer_and_a_threshold(study, monkeypatch):
    model = SimpleNamespace(matrix=nine_on_the_diagonal)
    monkeypatch.setattr(metric_similarities, "match_scorer_of", lambda _scorer: model)
    scorer = make_scorer(study, threshold=0.5)
    make_set(make_dataset(study).cells.first(), texts=("A",))
    compute(study, "coverage_score", scorer=scorer)
    compute(study, "coverage_score", "embedding", scorer=scorer, threshold=0.95)
    values = {(each.metric, each.setting): each.value for each in MetricScore.objects.all()}
    assert values["coverage_score", "MiniLM > 0.5"] == 0.5
    assert values["coverage_score", "MiniLM > 0.95"] == 0
    assert values["embedding:recall", "MiniLM"] == pytest.approx(0.55)


def test_a_model_that_is_not_there_gives_a_reason(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "bert_score", SimpleNamespace(BERTScorer=None))
    monkeypatch.setitem(sys.modules, "bert_score.utils", SimpleNamespace(model2layers={}))
    make_set(make_dataset(study).cells.first())
    job = compute(study, "rouge_1", "bert_score_f", model="no-such-model")
    row = MetricScore.objects.get(metric="bert_score_f:recall")
    assert (job.state, row.value) == ("failed", None)
    assert "no-such-model" in job.error
    assert "no-such-model" in row.reason
    assert MetricScore.objects.get(metric="rouge_1:recall").value is not None


@pytest.mark.long
def test_bert_score_with_the_packaged_model(study):
    cell = make_dataset(study).cells.first()
    make_set(cell, texts=tuple(cell.key_points.values_list("text", flat=True)))
    assert compute(study, "bert_score_f").error == ""
    row = MetricScore.objects.get(metric="bert_score_f:recall")
    assert row.setting == "all-MiniLM-L6-v2"
    # Every reference stands among the summaries.
    assert row.value == pytest.approx(1, abs=1e-4)


def test_asking_twice_asks_once_and_other_metrics_wait(study, settings):
    for functions in ((), ("coverage_score",)):
        with pytest.raises(MetricsRefused):
            MetricPlan(functions)
    plan = MetricPlan(("rouge_1",))
    ask = {"study": study, "choice": SetSelection(), "actor": None}
    with pytest.raises(MetricsRefused):
        request_metrics(plan=plan, **ask)
    make_set(make_dataset(study).cells.first())
    settings.JOBS_INLINE = False
    assert request_metrics(plan=plan, **ask) == request_metrics(plan=plan, **ask)
    with pytest.raises(MetricsRefused, match="when they are finished"):
        request_metrics(plan=MetricPlan(("rouge_2",)), **ask)


def test_systems_that_the_paper_leaves_out_are_in_no_correlation(study, client, program):
    rater = Rater.objects.create(study=study, name="A")
    cell = make_dataset(study).cells.first()
    for place, system in enumerate(("S1", "S2", "S3", "summetix_20")):
        each = make_set(cell, system=system)
        make_count(each, rater, covered=(0, 0.5, 1, 2)[place])
        MetricScore.objects.create(
            summary_set=each, metric="menli:recall", value=(0.1, 0.2, 0.3, 0)[place]
        )
    assert (metric_rows(study)[0].found.n, sets_left_out(study)) == (3, 1)
    row = metric_rows(study)[0]
    assert (row.cells, row.found.constant_cells) == (1, ())
    assert (row.found.across, row.found.within_mean) == (pytest.approx(1), pytest.approx(1))
    assert (metric_rows(study, without="")[0].found.n, sets_left_out(study, without="")) == (4, 0)
    systems = [each.system for each in metric_points(study, ScoreSource("menli:recall"))]
    assert systems == ["S1", "S2", "S3"]
    url = reverse("summary_metrics", args=[study.public_id])
    assert "“summetix” is left out" in client.get(url).text
    everything = client.get(url + "?without=").text
    assert "left out" not in everything
    # Whoever asked for all systems keeps them on the pages behind.
    assert "&amp;without=" in everything
    api = f"/api/v1/studies/{study.public_id}/key-points/correlations/"
    found = program.get(api).json()
    assert (found["without"], found["left_out"], found["metrics"][0]["n"]) == ("summetix", 1, 3)
    assert program.get(api + "?without=").json()["metrics"][0]["n"] == 4


def test_people_agree_and_are_unsure(study):
    a, b = (Rater.objects.create(study=study, name=name) for name in "AB")
    cell = make_dataset(study).cells.first()
    for first, second in ((0, 0), (1, 0.5), (2, 1)):
        each = make_set(cell, system=f"S{first}")
        make_count(each, a, covered=first)
        make_count(each, b, covered=second)
    make_count(make_set(cell, system="S4"), a, coverage=None, covered_is_unsure=True)
    found = people_agreement(study)
    coverage = found.dimensions[0]
    assert coverage.pairs.mean == pytest.approx(1)
    assert coverage.pairs.pairs[0].n == coverage.alpha.n_pairable_items == 3
    assert [each.unsure["coverage"] for each in found.raters] == [1, 0]
    assert [each.missing["coverage"] for each in found.raters] == [0, 0]
