"""Figures of agreement as stored in snapshots, and verdicts of older snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cqa_site.stats.estimate import ONLY_IF_KNOWN, Bounded, RankPosition

# Types of the stored figures, without heavy imports so that pages can use them
#
# Figures are keyed by judge or rater, then by column.

Result = Literal["yes", "not_shown", "no"]
# Largest shortfall of a judge's alpha with people against people's own alpha; largest difference
# of its mean from theirs, as a share of the maximum; largest share of lost replies.
AGREEMENT_MARGIN, BIAS_MARGIN, UNSCORED_MARGIN = 0.1, 0.05, 0.05


@dataclass(frozen=True, kw_only=True)
class AgreementFigure(Bounded):
    """A value with its interval, for ``n`` pairs or answers.

    If a rule uses the value, there are p values for "yes" and "no" over ``units`` questions.
    """

    n: int
    p_yes: float | None = field(default=None, metadata=ONLY_IF_KNOWN)
    p_no: float | None = field(default=None, metadata=ONLY_IF_KNOWN)
    units: int | None = field(default=None, metadata=ONLY_IF_KNOWN)


@dataclass(frozen=True, kw_only=True)
class AgreementSettings:
    seed: int
    confidence: float
    epsilon: float
    most_pairs: int
    rules: tuple[str, ...]
    # Only in version 2.
    n_resamples: int | None = field(default=None, metadata=ONLY_IF_KNOWN)


@dataclass(frozen=True, kw_only=True)
class PointsColumn:
    """The total, a group or a criterion, according to ``kind``, with its maximum points."""

    key: str
    name: str
    kind: str
    maximum: float


@dataclass(frozen=True, kw_only=True)
class AgreementRater:
    key: str
    name: str
    kind: str
    family: str | None
    is_judge: bool
    sheets: int
    unscored: int
    replicates: int


@dataclass(frozen=True, kw_only=True)
class Alphas:
    alpha_interval: AgreementFigure
    alpha_ordinal: AgreementFigure


@dataclass(frozen=True, kw_only=True)
class PeopleCounts:
    """Counts of people and of scored, shared (scored by two or more) and consolidated answers."""

    raters: int
    answers: int
    shared: int
    consolidated: int
    columns: dict[str, Alphas]


@dataclass(frozen=True, kw_only=True)
class JudgeAlphas(Alphas):
    """A judge's alphas with people, and the difference from people's alpha on the same answers."""

    difference: AgreementFigure


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """The alternative-annotator test; ``each`` has each person's number of answers, largest first.

    Before version 3, the test had no p values for "yes" and "no" over ``questions``.
    """

    passed: bool | None
    omega: float | None
    rho: float | None
    n: int
    each: tuple[int, ...]
    tested: int
    beaten: int
    questions: int = 0
    p_yes: float | None = None
    p_no: float | None = None
    caution: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ColumnAgreement:
    """Agreement of two raters, with bias (first minus second) and leniency (bias / maximum)."""

    n: int
    n_questions: int
    exact: float | None
    alpha_interval: AgreementFigure
    alpha_ordinal: AgreementFigure
    pearson: AgreementFigure
    spearman: AgreementFigure
    kendall: AgreementFigure
    bias: AgreementFigure
    leniency: AgreementFigure


@dataclass(frozen=True, kw_only=True)
class TooFew:
    """Replacement for a `ConcatenatedAlpha` of fewer than two answers."""

    n: int
    value: None
    reason: str


@dataclass(frozen=True, kw_only=True)
class ConcatenatedAlpha:
    """Interval alpha of whole sheets with criteria as items, and of the same sheets shuffled."""

    n: int
    value: float | None
    shuffled: float | None
    shuffled_sd: float | None
    repeats: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class SystemAgreement:
    """Correlation of totals across systems, and its mean within questions."""

    across: AgreementFigure
    within: AgreementFigure
    within_sd: float | None
    skipped: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class BlandAltmanPlot:
    """Plot of totals; ``points``: (mean, difference, number of answers) on a grid of ``step``."""

    bias: AgreementFigure
    lower: AgreementFigure
    upper: AgreementFigure
    slope: AgreementFigure
    points: tuple[tuple[float, float, int], ...]
    step: float


@dataclass(frozen=True, kw_only=True)
class PointsConfusion:
    """Counts of pairs of points for one criterion, with the first rater in the rows."""

    values: tuple[float, ...]
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class RaterPairFigures:
    """Figures for two raters by column and by system, and totals by aspect ("with", "without")."""

    first: str
    second: str
    kind: str
    columns: dict[str, ColumnAgreement]
    aspect: dict[str, ColumnAgreement]
    concatenated: ConcatenatedAlpha | TooFew
    systems: dict[str, SystemAgreement]
    bland_altman: BlandAltmanPlot
    confusion: dict[str, PointsConfusion]


@dataclass(frozen=True, kw_only=True)
class MeanOf:
    """Reliability of the mean of ``k`` sheets, and its standard error in points."""

    k: float
    reliability: float
    error: float
    is_present: bool


@dataclass(frozen=True, kw_only=True)
class VarianceComponents:
    """Variances between and within answers, and the share of answers with identical sheets."""

    n: int
    exact: float | None
    between: float | None
    within: float | None
    curve: tuple[MeanOf, ...]
    reliability: AgreementFigure


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """Number of answers with several sheets, and their mean number of sheets, ``replicates``.

    ``each`` is the harmonic mean of the number of sheets over all answers, because the error of a
    mean falls with the inverse of its number of sheets.
    """

    answers: int
    replicates: float | None
    each: float | None
    columns: dict[str, VarianceComponents]


@dataclass(frozen=True, kw_only=True)
class Surplus(AgreementFigure):
    """Surplus in points for answers from a judge's own family; ``own`` counts these answers."""

    own: int


@dataclass(frozen=True, kw_only=True)
class Preference:
    """A judge's surplus for its own family, against people and judges from other families."""

    key: str
    family: str | None
    against_people: Surplus
    against_judges: Surplus


@dataclass(frozen=True, kw_only=True)
class LengthOf:
    """Totals against length; ``slope`` is in points per 100 characters, within questions."""

    n: int
    pearson: AgreementFigure
    spearman: AgreementFigure
    slope: AgreementFigure


@dataclass(frozen=True, kw_only=True)
class Length:
    """Effect of length on a rater's totals, for all answers and for those people scored too."""

    own: LengthOf
    common: LengthOf


@dataclass(frozen=True, kw_only=True)
class ByCode:
    """The automatically counted criterion, compared with the scores of all its raters."""

    criterion: str
    answers: int
    raters: dict[str, ColumnAgreement]


@dataclass(frozen=True, kw_only=True)
class UnscoredShare(Bounded):
    """Share of replies without usable points; it has an interval if there are replies."""

    unscored: int
    sheets: int


@dataclass(frozen=True, kw_only=True)
class JudgeRow(RankPosition):
    """One row of the judge leaderboard, based on totals; cost and seconds are per 1,000 answers.

    ``to_first`` is the test of the first judge against this judge on the answers that both scored.
    """

    key: str
    name: str
    kind: str
    family: str | None
    sheets: int
    answers: int
    agreement: AgreementFigure
    pearson: AgreementFigure
    within: AgreementFigure
    bias: AgreementFigure
    rho: float | None
    omega: float | None
    consistency: AgreementFigure
    exact: float | None
    replicates: float | None
    unscored: UnscoredShare
    length_slope: AgreementFigure
    cost: float | None
    seconds: float | None
    to_first: AgreementFigure | None = field(default=None, metadata=ONLY_IF_KNOWN)


@dataclass(frozen=True, kw_only=True)
class WinningRate:
    """Figures for the rule "alternative"."""

    omega: float | None
    rho: float | None
    n: int
    caution: str


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """Figures for the rule "consistency": reliability of one sheet, and of the mean of ``k``."""

    n: int
    exact: float | None
    single: float | None
    k: float | None
    value: float | None


@dataclass(frozen=True, kw_only=True)
class RuleOutcome:
    """Outcome of a rule: the result, its numbers, the amounts of missing data, and the reason."""

    result: Result
    numbers: AgreementFigure | WinningRate | UnscoredShare | Steadiness
    missing: dict[str, int]
    reason: str


@dataclass(frozen=True, kw_only=True)
class ReplacementVerdict:
    """Whether a judge can replace people on one column, with the outcome of each rule."""

    result: Result
    rules: dict[str, RuleOutcome]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All agreement figures; the first pairs compare each judge with the mean of people.

    Before version 3, every rule that was not passed counted as a "no".
    """

    version: int
    options: AgreementSettings
    columns: tuple[PointsColumn, ...]
    raters: tuple[AgreementRater, ...]
    answers: int
    people: PeopleCounts
    with_people: Mapping[str, Mapping[str, JudgeAlphas]]
    alternative: dict[str, dict[str, Alternative]]
    pairs: tuple[RaterPairFigures, ...]
    pairs_left_out: int
    judges_left_out: int
    consistency: dict[str, Consistency]
    preference: tuple[Preference, ...]
    length: dict[str, Length]
    by_code: ByCode | None
    judges: tuple[JudgeRow, ...]
    verdict: dict[str, dict[str, ReplacementVerdict]]


def is_closest(rows: Sequence[JudgeRow]) -> bool:
    """Whether the first judge is shown to agree with people more than every other judge does."""
    return len(rows) > 1 and rows[0].rank_high == 1 and rows[1].rank is not None


# Verdicts of snapshots before version 3, in which "no" was not tested

TESTED = 3
# Every outcome that did not pass was a "no", and consistency had no interval.
UNTESTED = {("alternative", "no"), ("consistency", "yes"), ("consistency", "no")}
REASON = "this snapshot is older than this test; create a new snapshot"


def without_untested(figures: Agreement) -> Agreement:
    """Return the figures with each untested outcome in the verdicts set to "not shown"."""
    if figures.version >= TESTED:
        return figures
    verdicts = {
        judge: {column: _tested(verdict) for column, verdict in columns.items()}
        for judge, columns in figures.verdict.items()
    }
    return replace(figures, verdict=verdicts)


def _tested(verdict: ReplacementVerdict) -> ReplacementVerdict:
    rules = {
        name: replace(rule, result="not_shown", missing={}, reason=REASON)
        if (name, rule.result) in UNTESTED
        else rule
        for name, rule in verdict.rules.items()
    }
    return ReplacementVerdict(result=joined(rules), rules=rules)


def joined(rules: dict[str, RuleOutcome]) -> Result:
    """Combine the outcomes of the rules: a single "no" gives "no", and "yes" needs all rules."""
    results = {outcome.result for outcome in rules.values()}
    return "no" if "no" in results else "yes" if results == {"yes"} else "not_shown"
