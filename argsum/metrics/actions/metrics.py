"""Jobs that compute metrics of sets, and the similarities behind them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.utils.translation import gettext as _

from argsum.datasets.models import ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from argsum.metrics.methods import (
    BERT_SCORE,
    COVERAGE_SCORE,
    EMBEDDING,
    FUNCTIONS,
    PARTS,
    ROUGE,
    coverage_score,
    rouge_matrix,
    soft_name,
    soft_scores,
)
from argsum.metrics.models import MetricScore
from argsum.scorers.actions.models import ScorerRefused, resolve
from argsum.scorers.actions.scorers import match_scorer_of
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable, require_packages
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue
from cqa_site.runs.models import Job
from cqa_site.stats.arrays import FloatArray
from .bert_scores import BertScores

# Requested metrics, and the similarities behind them

CHOICES = (*FUNCTIONS, COVERAGE_SCORE)
# Default if neither the scorer nor the form has a threshold; the paper's threshold for BarH.
THRESHOLD = 0.856


class MetricsRefused(Exception):
    """The metrics cannot be computed; the message gives the reason."""


@dataclass(frozen=True)
class MetricPlan:
    """Metrics to compute.

    Attributes
    ----------
    functions
        Names from `CHOICES`.
    scorer
        Match scorer for embedding cosine and Coverage Score.
    threshold
        Threshold of the Coverage Score.
    model
        Model for BERTScore.
    """

    functions: tuple[str, ...]
    scorer: Scorer | None = None
    threshold: float | None = None
    model: str = PACKAGED_MODEL

    def __post_init__(self) -> None:
        unknown = [name for name in self.functions if name not in CHOICES]
        if unknown or not self.functions:
            raise MetricsRefused(_("Choose at least one metric."))
        needs = [name for name in (EMBEDDING, COVERAGE_SCORE) if name in self.functions]
        if needs and (self.scorer is None or self.scorer.task != Scorer.Task.MATCH):
            raise MetricsRefused(_("Embedding cosine and Coverage Score need a match scorer."))
        if self.threshold is not None and not -1 <= self.threshold <= 1:
            raise MetricsRefused(_("A threshold must be between -1 and 1."))

    @property
    def cut(self) -> float:
        """Requested threshold or, failing that, the scorer's or the paper's threshold."""
        if self.threshold is not None:
            return self.threshold
        own = self.scorer.threshold if self.scorer else None
        return THRESHOLD if own is None else own

    def setting(self, function: str) -> str:
        """Return the setting, which distinguishes a function's scores by how they are computed."""
        if function == BERT_SCORE:
            return self.model
        if function == EMBEDDING and self.scorer:
            return self.scorer.name
        if function == COVERAGE_SCORE and self.scorer:
            return f"{self.scorer.name} > {self.cut:g}"
        return ""

    def as_payload(self) -> dict[str, Any]:
        return {
            "functions": list(self.functions),
            "scorer": str(self.scorer.public_id) if self.scorer else None,
            "threshold": self.threshold,
            "model": self.model,
        }


def plan_of(study: Study, payload: Mapping[str, Any]) -> MetricPlan:
    """Read the plan of a job; raise MetricsRefused if its scorer was deleted."""
    scorer = None
    if payload["scorer"]:
        scorer = study.scorers.filter(public_id=payload["scorer"]).first()
        if scorer is None:
            raise MetricsRefused(_("The scorer no longer exists."))
    return MetricPlan(tuple(payload["functions"]), scorer, payload["threshold"], payload["model"])


class Similarity(Protocol):
    """Similarity of references and summaries."""

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """Return the similarities, shape (references, summaries); a scorer may use the topic."""
        ...


class Rouge:
    """A variant of ROUGE."""

    def __init__(self, function: str) -> None:
        self.function = function

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """Return F-measures, shape (references, summaries)."""
        return rouge_matrix(self.function, references, summaries)


class Matches:
    """A match scorer applied to summaries instead of arguments."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = match_scorer_of(scorer)

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """Return match scores, shape (references, summaries)."""
        scores = self._scorer.matrix(summaries, references, topic=topic)
        return np.asarray(scores, dtype=np.float64).T


def similarity_of(plan: MetricPlan, function: str) -> Similarity:
    """Return the similarity for a function; models are loaded when the first score is computed."""
    if function in ROUGE:
        return Rouge(function)
    if function == BERT_SCORE:
        return BertScores(plan.model, resolve(plan.model))
    if plan.scorer is None:
        raise MetricsRefused(_("Embedding cosine and Coverage Score need a match scorer."))
    return Matches(plan.scorer)


JOB = "summary_metrics"
# Number of sets of a cell to compare at once; each distinct text is compared only once.
AT_ONCE = 200
OPPOSITE_SIGNS = "precision and recall differ in sign"


@dataclass(frozen=True)
class SetSelection:
    """Selection of sets by dataset, split and systems; empty values select all sets."""

    dataset: str = ""
    split: str = ""
    systems: tuple[str, ...] = ()

    def as_payload(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "split": self.split, "systems": list(self.systems)}


def request_metrics(
    *, study: Study, plan: MetricPlan, choice: SetSelection, actor: User | None
) -> Job:
    """Queue metrics; a study has at most one active metrics job.

    Raises
    ------
    MetricsRefused
        If no set matches, or if the study is computing other metrics.
    """
    if not scorable_sets(study, choice).exists():
        raise MetricsRefused(_("No matching sets have key points and references."))
    payload = {"plan": plan.as_payload(), "choice": choice.as_payload()}
    job = enqueue(study=study, kind=JOB, key=str(study.pk), actor=actor, **payload)
    if job.payload != payload:
        raise MetricsRefused(
            _("Other metrics are being computed. Try again when they are finished.")
        )
    return job


def latest_job(study: Study) -> Job | None:
    """Return the newest metrics job."""
    return Job.objects.filter(study=study, kind=JOB).order_by("-pk").first()


def scorable_sets(study: Study, choice: SetSelection) -> QuerySet[SummarySet]:
    """Return the sets with key points in cells with references."""
    texts = SystemSummary.objects.filter(summary_set=OuterRef("pk"))
    references = ReferenceKeyPoint.objects.filter(cell=OuterRef("cell"))
    rows = study.summary_sets.filter(
        Exists(texts), Exists(references), state=SummarySet.State.DONE
    )
    if choice.dataset:
        rows = rows.filter(cell__dataset__public_id=choice.dataset)
    if choice.split:
        rows = rows.filter(cell__split=choice.split)
    if choice.systems:
        rows = rows.filter(system__in=choice.systems)
    return rows


def make_metrics(work: JobContext) -> None:
    """Compute missing metrics; stored values survive a worker failure."""
    selection = work.payload["choice"]
    choice = SetSelection(selection["dataset"], selection["split"], tuple(selection["systems"]))
    try:
        plan = plan_of(work.study, work.payload["plan"])
        problems = [_make(work, plan, choice, function) for function in plan.functions]
    except MetricsRefused as problem:
        raise JobRefused(str(problem)) from None
    reasons = [problem for problem in problems if problem]
    if reasons:
        raise JobRefused(" ".join(reasons))


def _make(work: JobContext, plan: MetricPlan, choice: SetSelection, function: str) -> str:
    """Compute one function for all sets that lack it; return "" or the reason for a failure."""
    setting = plan.setting(function)
    last = COVERAGE_SCORE if function == COVERAGE_SCORE else soft_name(function, PARTS[0])
    known = MetricScore.objects.filter(
        summary_set=OuterRef("pk"), metric=last, setting=setting, value__isnull=False
    )
    sets = scorable_sets(work.study, choice).filter(~Exists(known))
    keys = list(sets.order_by("cell", "pk").values_list("pk", "cell"))
    work.progress(0, len(keys), function)
    done = 0
    try:
        require_packages()
        similarity = similarity_of(plan, function)
        for chunk in _chunks(keys):
            started = perf_counter()
            rows = _load_sets(chunk)
            references = [key_point.text for key_point in rows[0].cell.key_points.all()]
            texts = list(
                dict.fromkeys(summary.text for row in rows for summary in row.summaries.all())
            )
            matrix = similarity.matrix(references, texts, topic=rows[0].cell.topic)
            seconds = (perf_counter() - started) / len(rows)
            _store(plan, function, rows, (matrix, texts), seconds)
            done += len(chunk)
            work.progress(done, len(keys), function)
    except (EmbeddingsUnavailable, ScorerRefused) as problem:
        _store_reason(plan, function, [pk for pk, _key in keys[done:]], str(problem))
        return str(problem)
    return ""


def _chunks(keys: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield chunks of primary keys of sets, each from one cell."""
    for _key, group in groupby(keys, key=lambda pair: pair[1]):
        mine = [pk for pk, _key in group]
        for start in range(0, len(mine), AT_ONCE):
            yield mine[start : start + AT_ONCE]


def _load_sets(keys: Sequence[int]) -> list[SummarySet]:
    """Return the sets of one cell with their texts, using three queries."""
    rows = SummarySet.objects.filter(pk__in=keys).select_related("cell").order_by("pk")
    rows = rows.defer("arguments", "clusters", "assigned", "scores")
    summaries = SystemSummary.objects.order_by("position")
    references = ReferenceKeyPoint.objects.order_by("position")
    return list(
        rows.prefetch_related(
            Prefetch("summaries", summaries), Prefetch("cell__key_points", references)
        )
    )


def _store(
    plan: MetricPlan,
    function: str,
    rows: Sequence[SummarySet],
    compared: tuple[FloatArray, list[str]],
    seconds: float,
) -> None:
    matrix, texts = compared
    place = {text: number for number, text in enumerate(texts)}
    scores = []
    for row in rows:
        columns = [place[summary.text] for summary in row.summaries.all()]
        values = metric_values(function, np.ascontiguousarray(matrix[:, columns]), plan.cut)
        details = {"references": len(matrix), "summaries": len(columns)}
        for metric, value in values.items():
            scores.append(
                _score(plan, function, row.pk, metric)
                | {"value": value, "seconds": seconds, "details": details}
                | {"reason": "" if value is not None else OPPOSITE_SIGNS}
            )
    upsert(MetricScore(**score) for score in scores)


def metric_values(function: str, similarity: FloatArray, cut: float) -> dict[str, float | None]:
    """Map a set's metrics to values; ``similarity`` has shape (references, summaries)."""
    if function == COVERAGE_SCORE:
        return {COVERAGE_SCORE: coverage_score(similarity, cut)}
    scores = soft_scores(similarity)
    return {soft_name(function, part): getattr(scores, part) for part in PARTS}


def _score(plan: MetricPlan, function: str, key: int, metric: str) -> dict[str, Any]:
    is_by_scorer = plan.setting(function) and plan.scorer and function != "bert_score_f"
    return {
        "summary_set_id": key,
        "metric": metric,
        "setting": plan.setting(function)[:200],
        "scorer": plan.scorer if is_by_scorer else None,
    }


def _store_reason(plan: MetricPlan, function: str, keys: Sequence[int], reason: str) -> None:
    """Store the reason for all sets without a value."""
    names = (
        [COVERAGE_SCORE]
        if function == COVERAGE_SCORE
        else [soft_name(function, part) for part in PARTS]
    )
    scores = (
        MetricScore(**_score(plan, function, key, metric), reason=reason[:200])
        for key in keys
        for metric in names
    )
    upsert(scores)


def upsert(scores: Iterator[MetricScore]) -> None:
    """Store scores and replace existing scores of the same set, metric and setting."""
    MetricScore.objects.bulk_create(
        scores,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["summary_set", "metric", "setting"],
        update_fields=["value", "reason", "scorer", "run", "source", "details", "seconds", "at"],
    )
