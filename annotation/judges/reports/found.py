"""What figures about judges come to; loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cqa_site.stats.estimate import Estimate

if TYPE_CHECKING:
    from cqa_site.stats.reliability.replacement import Replacement


@dataclass(frozen=True, kw_only=True)
class PeopleFigures:
    """What `People` have said: final labels, votes on items, and agreement among the votes."""

    final: int
    votes: int
    raters: int
    items: int
    scale: list[int]
    agreement: Estimate


@dataclass(frozen=True)
class Common:
    """Arguments that every judge labelled, and whether only they count."""

    is_on: bool
    n: int


@dataclass(frozen=True, kw_only=True)
class JudgeFigures:
    """One judge, as `Judge` and `Comparison` have it.

    Attributes
    ----------
    is_low
        Whether it has too few labels for a rank.
    is_demonstration
        Whether its labels are those of the model in the box.
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
        """Model, prompt version and run; the name of a rater that is no run."""
        return f"{self.model} v{self.prompt_number} #{self.run_number}" if self.run else self.name

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """In the order of tables."""
        return self.ordinal, self.interval, self.with_votes, self.difference


@dataclass(frozen=True)
class BestJudge:
    """The judge with the highest ordinal alpha of the ``n`` that are ranked.

    ``difference`` is as `Comparison` has it, at the level corrected for the choice (Bonferroni).
    """

    key: str
    n: int
    difference: Estimate


@dataclass(frozen=True)
class Confusion:
    """Labels of people (rows) against those of a judge; shares are of the row."""

    values: list[int]
    cells: list[list[int]]
    sums: list[int]
    shares: list[list[float | None]]


@dataclass(frozen=True)
class LabelFigures:
    """One label: how many of each, and what is not defined None."""

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
    """Final label and votes, and what the judge and a second one said and why."""

    votes: list[int]
    final: int
    judge: int
    reasons: list[str]
    other: int | None
    other_reasons: list[str]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Every figure; judges best first, those of low coverage last, two keys of those looked at."""

    people: PeopleFigures
    common: Common
    judges: list[JudgeFigures]
    best: BestJudge | None
    chosen: str | None
    other: str | None
    confusion: Confusion | None
    per_label: list[LabelFigures]
    hardest: list[Disagreement]

    @property
    def is_mixed(self) -> bool:
        """Whether figures rest on different arguments, because judges labelled others."""
        return not self.common.is_on and any(row.labelled > self.common.n for row in self.judges)

    def named(self, key: str | None) -> JudgeFigures | None:
        """The figures of one judge."""
        return next((row for row in self.judges if row.key == key), None)


@dataclass(frozen=True, kw_only=True)
class TrainedFigures:
    """A version of the trained judge out of fold, as it is stored."""

    n: int
    pairs: int
    folds: int
    ordinal: Estimate
    interval: Estimate
    exact: float | None
    bias: float | None
    per_label: tuple[LabelFigures, ...]
    predicted: int
