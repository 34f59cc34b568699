"""Figures about judges, the state of the data behind them, model cards and calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.consensus.reports import MACHINES
from annotation.corpus.models import Argument
from annotation.figures.reports.snapshots import marker
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.models import Assignment, LabelRound, label_rounds_of
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Titles
from cqa_site.runs.models import Call
from cqa_site.stats.estimate import Estimate

if TYPE_CHECKING:
    from cqa_site.stats.disagreement import Replacement


@dataclass(frozen=True, kw_only=True)
class PeopleFigures:
    """Labels by people: final labels, votes on items, and agreement among the votes."""

    final: int
    votes: int
    raters: int
    items: int
    scale: list[int]
    agreement: Estimate


@dataclass(frozen=True)
class Common:
    """Number of arguments that every judge labelled, and whether only those count."""

    is_on: bool
    n: int


@dataclass(frozen=True, kw_only=True)
class JudgeFigures:
    """One judge, with the values of `Judge` and `JudgeComparison`.

    Attributes
    ----------
    is_low
        Whether the judge has too few labels to be ranked.
    is_demonstration
        Whether its labels come from the built-in model.
    """

    key: str
    name: str
    kind: str
    at: str
    model: str
    prompt: str
    prompt_number: int | None
    run: str | None
    run_number: int | None
    is_active: bool
    trained: str | None
    trained_number: int | None
    planned: int
    labelled: int
    unscored: int
    coverage: float
    is_low: bool
    replicates: int
    consistency: Estimate | None
    per_thousand: float | None
    is_out_of_fold: bool
    n: int
    exact: float | None
    bias: float | None
    error: float | None
    ordinal: Estimate
    interval: Estimate
    with_votes: Estimate
    difference: Estimate
    replacement: Replacement
    is_demonstration: bool = False

    @property
    def short_name(self) -> str:
        """Model, prompt version and run, or the rater's name if the judge is not a run."""
        return f"{self.model} v{self.prompt_number} #{self.run_number}" if self.run else self.name

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Estimates in the order of the tables."""
        return self.ordinal, self.interval, self.with_votes, self.difference


@dataclass(frozen=True)
class BestJudge:
    """The judge with the highest ordinal alpha among the ``n`` ranked judges.

    ``difference`` is the `JudgeComparison.difference`, corrected for the selection (Bonferroni).
    """

    key: str
    n: int
    difference: Estimate


@dataclass(frozen=True)
class JudgeConfusion:
    """Labels by people (rows) against a judge's labels (columns), with shares of the row."""

    values: list[int]
    cells: list[list[int]]
    sums: list[int]
    shares: list[list[float | None]]


@dataclass(frozen=True)
class LabelFigures:
    """Figures of one label: counts, recall and precision, or None if undefined."""

    label: int
    final: int
    judge: int
    recall: float | None
    precision: float | None
    mean_judge: float | None


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """An argument in a list, with the beginning of its text."""

    argument: str
    object1: str
    object2: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Disagreement(Sentence):
    """Final label and votes, with the labels and reasons of one or two judges."""

    votes: list[int]
    final: int
    judge: int
    reasons: list[str]
    other: int | None
    other_reasons: list[str]


@dataclass(frozen=True, kw_only=True)
class JudgeResults:
    """All figures (best judges first, low coverage last), and the keys of the selected judges."""

    people: PeopleFigures
    common: Common
    judges: list[JudgeFigures]
    best: BestJudge | None
    chosen: str | None
    other: str | None
    confusion: JudgeConfusion | None
    per_label: list[LabelFigures]
    hardest: list[Disagreement]

    @property
    def is_mixed(self) -> bool:
        """Whether the figures of judges are based on different arguments."""
        return not self.common.is_on and any(row.labelled > self.common.n for row in self.judges)

    def named(self, key: str | None) -> JudgeFigures | None:
        """Return the figures of one judge, or None if it has none."""
        return next((row for row in self.judges if row.key == key), None)


@dataclass(frozen=True, kw_only=True)
class TrainedFigures:
    """Stored out-of-fold figures of a trained judge's version."""

    n: int
    pairs: int
    folds: int
    ordinal: Estimate
    interval: Estimate
    exact: float | None
    bias: float | None
    per_label: tuple[LabelFigures, ...]
    predicted: int


# State of votes, final labels and judges that a set of figures shows
#
# This part imports nothing heavy, because open pages poll the state every few seconds.

RECIPE_VERSION = 4


@dataclass(frozen=True, kw_only=True)
class JudgeSelection:
    """One or two selected judges, and whether to use only arguments that all judges labelled."""

    judge: str = ""
    other: str = ""
    is_common: bool = False

    @classmethod
    def from_query(cls, query: QueryDict) -> Self:
        """Read a selection from a URL query."""
        return cls(
            judge=query.get("judge", "")[:80],
            other=query.get("other", "")[:80],
            is_common=query.get("common") == "1",
        )

    @property
    def query(self) -> str:
        """Selection as a URL query."""
        chosen = QueryDict(mutable=True)
        named = {"judge": self.judge, "other": self.other, "common": "1" if self.is_common else ""}
        chosen.update({name: value for name, value in named.items() if value})
        return chosen.urlencode()


def state_of(label_round: LabelRound) -> str:
    """Return a short key that changes with votes, final labels or judges' labels."""
    labels = JudgeLabel.objects.filter(label_round=label_round).order_by("run", "trained")
    judged = labels.values_list("run", "trained").annotate(Count("pk"), Count("label"), Max("at"))
    ids = Sum("argument", output_field=BigIntegerField())
    final = (
        label_round.final_labels.order_by("label").values_list("label").annotate(Count("pk"), ids)
    )
    runs = label_round.judge_runs.order_by("run").values_list("run", "run__state")
    seen = [RECIPE_VERSION, marker(label_round), list(judged), list(final), list(runs)]
    return hashlib.sha256(json.dumps(seen, default=str).encode()).hexdigest()[:16]


def judged_rounds(study: Study) -> QuerySet[LabelRound]:
    """Return rounds with machine labels and ``judged_at``, newest first, with one query."""
    labels = JudgeLabel.objects.filter(label_round=OuterRef("pk"), label__isnull=False)
    imported = Assignment.objects.filter(
        rater__study=study, rater__kind__in=MACHINES, state=Assignment.State.ANSWERED
    )
    newest = Subquery(labels.order_by("-pk").values("at")[:1])
    return (
        label_rounds_of(study)
        .filter(Q(Exists(labels)) | Q(pk__in=imported.values("round")))
        .annotate(judged_at=Coalesce(newest, "created_at"))
        .order_by("-pk")
    )


def least_sure_first(label_round: LabelRound) -> list[int]:
    """Return ordinary items by descending uncertainty, then items without a prediction by rank.

    The result is empty if no judge was trained for the round.
    """
    import numpy as np

    from annotation.judges.methods.probabilities import uncertainty

    newest = label_round.trained_judges.order_by("-number").values("pk")[:1]
    predicted = JudgeLabel.objects.filter(trained__in=newest, probabilities__isnull=False)
    rows = list(predicted.values_list("argument", "probabilities"))
    if not rows:
        return []
    doubts = uncertainty(np.array([probabilities for _argument, probabilities in rows]))
    doubt = dict(zip((argument for argument, _p in rows), doubts.tolist(), strict=True))
    ordinary = label_round.items.filter(control_label__isnull=True).order_by("rank")
    items = ordinary.values_list("pk", "argument")
    # Sorting is stable, so equal items stay in random order.
    return [pk for pk, argument in sorted(items, key=lambda item: -doubt.get(item[1], -1.0))]


# Model card of one version of the trained judge, as plain values

FORMAT = 1


def model_card(version: TrainedJudge) -> dict[str, Any]:
    """Return data counts, recipe, library versions and figures, but no texts or labels."""
    return {
        "format": FORMAT,
        "name": str(version),
        "kind": version.kind,
        "label_round": {
            "id": str(version.label_round.public_id),
            "name": version.label_round.name,
        },
        "id": str(version.public_id),
        "number": version.number,
        "made_at": version.created_at.isoformat(),
        "model_sha256": version.sha256,
        **version.recipe,
        "figures": version.figures,
    }


def recipe_rows(version: TrainedJudge) -> list[tuple[str, str]]:
    names = {
        "labels_from": _("Final labels from"),
        "labels_by_value": _("Labels by value"),
        "labels_by_origin": _("Labels by origin"),
        "scale": _("Scale"),
        "guideline": _("Guideline"),
        "embedding": _("Sentence embeddings"),
        "held_back": _("Held out together"),
        "label": _("Label given"),
        "seed": _("Seed"),
        "versions": _("Versions"),
    }
    return [(name, _text(version.recipe.get(key))) for key, name in names.items()]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "–" if value is None else str(value)


def _sentences(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    keys = {pk for call in calls for pk in call.subject_ids}
    arguments = study.arguments.select_related("comparison").in_bulk(keys)
    labels = JudgeLabel.objects.filter(call__in=[call.pk for call in calls])
    judge_labels = {(label.call_id, label.argument_id): label for label in labels}
    return {
        call.pk: [
            _sentence(arguments.get(pk), judge_labels.get((call.pk, pk)))
            for pk in call.subject_ids
        ]
        for call in calls
    }


def _sentence(argument: Argument | None, label: JudgeLabel | None) -> RequestItem | None:
    if argument is None:
        return None
    details: dict[str, Any] = {}
    if label is not None:
        value = "" if label.label is None else str(label.label)
        details = {"value": value, "note": label.rationale, "reason": label.reason}
    return RequestItem(argument.text, str(argument.comparison), **details)


RELEVANCE_CALLS = CallSubjects(
    Titles(lazy("Sentence"), lazy("Label"), lazy("The judge's reason")), _sentences
)
