"""Which metrics were asked for, and the similarities that they are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from django.utils.translation import gettext as _

from argsum.metrics.methods.names import BERT_SCORE, COVERAGE_SCORE, EMBEDDING, FUNCTIONS, ROUGE
from argsum.metrics.methods.text_similarity import rouge_matrix
from argsum.scorers.actions.models import resolve
from argsum.scorers.actions.scorers import match_scorer_of
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.people.models import Study
from cqa_site.stats.arrays import FloatArray

from .bert_scores import BertScores

CHOICES = (*FUNCTIONS, COVERAGE_SCORE)
# Where neither the scorer nor the form has one; the paper's for BarH.
THRESHOLD = 0.856


class MetricsRefused(Exception):
    """These metrics cannot be computed; the message says why."""


@dataclass(frozen=True)
class MetricPlan:
    """What is computed.

    Attributes
    ----------
    functions
        Of `CHOICES`.
    scorer
        A match scorer, for embedding cosine and Coverage Score.
    threshold
        Of the Coverage Score.
    model
        Of BERTScore.
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
            raise MetricsRefused(_("A threshold lies between -1 and 1."))

    @property
    def cut(self) -> float:
        """The threshold asked for, else the scorer's own, else the paper's."""
        if self.threshold is not None:
            return self.threshold
        own = self.scorer.threshold if self.scorer else None
        return THRESHOLD if own is None else own

    def setting(self, function: str) -> str:
        """What tells scores of one function apart that were made differently."""
        if function == BERT_SCORE:
            return self.model
        if function == EMBEDDING and self.scorer:
            return self.scorer.name
        if function == COVERAGE_SCORE and self.scorer:
            return f"{self.scorer.name} > {self.cut:g}"
        return ""

    def as_payload(self) -> dict[str, Any]:
        """The plan as a job carries it."""
        return {
            "functions": list(self.functions),
            "scorer": str(self.scorer.public_id) if self.scorer else None,
            "threshold": self.threshold,
            "model": self.model,
        }


def plan_of(study: Study, payload: Mapping[str, Any]) -> MetricPlan:
    """A plan from what a job carries; raises MetricsRefused if its scorer is gone."""
    scorer = None
    if payload["scorer"]:
        scorer = study.scorers.filter(public_id=payload["scorer"]).first()
        if scorer is None:
            raise MetricsRefused(_("The scorer is gone."))
    return MetricPlan(tuple(payload["functions"]), scorer, payload["threshold"], payload["model"])


class Similarity(Protocol):
    """Compares references with summaries."""

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """Shape (references, summaries); a scorer may have been trained with the topic."""
        ...


class Rouge:
    """A variant of ROUGE."""

    def __init__(self, function: str) -> None:
        self.function = function

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """F-measures, shape (references, summaries)."""
        return rouge_matrix(self.function, references, summaries)


class Matches:
    """A match scorer, which reads a summary where it usually reads an argument."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = match_scorer_of(scorer)

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """Match scores, shape (references, summaries)."""
        found = self._scorer.matrix(summaries, references, topic=topic)
        return np.asarray(found, dtype=np.float64).T


def similarity_of(plan: MetricPlan, function: str) -> Similarity:
    """What compares texts for a function; models load when a score is first asked for."""
    if function in ROUGE:
        return Rouge(function)
    if function == BERT_SCORE:
        return BertScores(plan.model, resolve(plan.model))
    if plan.scorer is None:
        raise MetricsRefused(_("Embedding cosine and Coverage Score need a match scorer."))
    return Matches(plan.scorer)
