"""People as the reference, and the rules for replacing them with a judge."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cqa_site.stats.agreement_coefficients import krippendorff_alpha
from cqa_site.stats.alternative_annotator import (
    EPSILON,
    LEAST_HUMANS,
    LEAST_ITEMS,
    alternative_annotator_test,
)
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import NO_OVERLAP
from cqa_site.stats.intervals import clopper_pearson_interval
from cqa_site.stats.verdicts import LEVEL, MOST_NEEDED, RULES, corrected_level, more_needed
from .figures import (
    AGREEMENT_MARGIN,
    BIAS_MARGIN,
    UNSCORED_MARGIN,
    AgreementFigure,
    Alphas,
    Alternative,
    Consistency,
    JudgeAlphas,
    PeopleCounts,
    ReplacementVerdict,
    Result,
    RuleOutcome,
    Steadiness,
    UnscoredShare,
    WinningRate,
    joined,
)
from .grid import PEOPLE, PointsGrid, SheetRater
from .jackknife import (
    Jackknife,
    across_sums,
    alpha_figure,
    difference_figure,
    figure,
    figure_of,
    least_for,
    tested,
    within_sums,
)
from .pairs import ordinal_alpha, ratings_of
from .raters import spearman_brown

# Agreement among people, as the reference, and of each judge with people
#
# A judge is compared with the points of individual people, not with their mean. The mean of
# several people is more reliable than one person, so a judge would seem closer to it than people
# are to each other. For the same reason, consolidated sheets are compared with judges only.

NO_SECOND = "no answer was scored by both the judge and two people"


def people_together(grid: PointsGrid, draws: Jackknife) -> PeopleCounts:
    """Return the interval and ordinal alphas of all people for each column."""
    counts = (~np.isnan(points_of(grid, "total", grid.persons))).sum(axis=1)
    made_one = [
        grid.column(person.key, "total") for person in grid.people if person.is_consolidated
    ]
    return PeopleCounts(
        raters=len(grid.persons),
        answers=int((counts >= 1).sum()),
        shared=int((counts >= 2).sum()),
        consolidated=int((~np.isnan(made_one)).any(axis=0).sum()) if made_one else 0,
        columns={name: _alphas(grid, name, draws) for name in grid.columns},
    )


def _alphas(grid: PointsGrid, name: str, draws: Jackknife) -> Alphas:
    points = points_of(grid, name, grid.persons)
    ordinal = figure_of(krippendorff_alpha(ratings_of(points), "ordinal", draws.confidence))
    codes, n_questions = _codes(grid, (~np.isnan(points)).sum(axis=1) >= 2)
    interval = alpha_figure(within_sums(points, codes, n_questions), ordinal.n, draws, points)
    if interval.value is None:
        interval = figure(None, n=ordinal.n, reason=ordinal.reason or "")
    return Alphas(alpha_interval=interval, alpha_ordinal=ordinal)


def with_people(grid: PointsGrid, judge: SheetRater, draws: Jackknife) -> dict[str, JudgeAlphas]:
    """Compare the judge's points with all people's points, for each column."""
    people = {}
    for name in grid.columns:
        points, own = points_of(grid, name), grid.column(judge.key, name)
        ordinal = ordinal_alpha(points, own, grid.questions, draws)
        codes, n_questions = _codes(grid, ~np.isnan(own) & ~np.isnan(points).all(axis=1))
        sums = across_sums(points, own, codes, n_questions)
        interval = alpha_figure(sums, ordinal.n, draws, np.column_stack([points, own]))
        if interval.value is None:
            interval = figure(None, n=ordinal.n, reason=ordinal.reason or "")
        people[name] = JudgeAlphas(
            alpha_interval=interval,
            alpha_ordinal=ordinal,
            difference=alpha_difference(grid, own, name, draws),
        )
    return people


def alpha_difference(
    grid: PointsGrid, judge: FloatArray, name: str, draws: Jackknife
) -> AgreementFigure:
    """Return the judge's interval alpha with people minus people's alpha, on the same answers."""
    points = points_of(grid, name, grid.persons)
    use = ~np.isnan(judge) & ((~np.isnan(points)).sum(axis=1) >= 2)
    n = int(use.sum())
    if not n:
        return figure(None, n=0, reason=NO_SECOND)
    points = np.where(use[:, None], points, np.nan)
    codes, n_questions = _codes(grid, use)
    across = across_sums(points, judge, codes, n_questions)
    within = within_sums(points, codes, n_questions)
    least = max(RULES["agreement of a judge"].least, least_for(points[use]))
    return difference_figure(across, within, n, draws, margin=AGREEMENT_MARGIN, least=least)


def leniency(grid: PointsGrid, judge: SheetRater, name: str, draws: Jackknife) -> AgreementFigure:
    """Return the judge's leniency compared with people, with the p values of its rule.

    "Yes" means that the leniency is within the margin on both sides; "no" means that it exceeds
    the margin on one side.
    """
    apart = grid.column(judge.key, name) - grid.column(PEOPLE, name)
    use = ~np.isnan(apart)
    if not use.any():
        return figure(None, n=0, reason=NO_OVERLAP)
    codes = np.unique(grid.questions[use], return_inverse=True)[1]
    shares = apart[use] / grid.maxima[grid.columns.index(name)]
    totals = np.asarray(np.bincount(codes, weights=shares), dtype=np.float64)
    sums = totals, np.bincount(codes).astype(np.float64)
    bias, without = draws.ratio(*sums, int(use.sum())), draws.ratios(*sums)
    least, m = RULES["mean of a judge"].least, BIAS_MARGIN
    above = tested(bias, without, least, above=-m, below=-m)
    below = tested(bias, without, least, above=m, below=m)
    if above.p_yes is None or above.p_no is None or below.p_yes is None or below.p_no is None:
        return above
    return replace(above, p_yes=max(above.p_yes, below.p_no), p_no=min(below.p_yes, above.p_no))


def _codes(grid: PointsGrid, use: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the question code of each answer and the number of questions used.

    Codes of used questions start at 0 and have no gaps.
    """
    known = np.unique(grid.questions[use])
    # Answers that are not used contribute nothing, whatever their code.
    codes = np.minimum(np.searchsorted(known, grid.questions), max(0, len(known) - 1))
    return codes, len(known)


def alternative(
    grid: PointsGrid, judge: SheetRater, epsilon: float, level: float = 0.05
) -> dict[str, Alternative]:
    """Run the alternative-annotator test for each column, over questions."""
    alternatives = {}
    questions: dict[Hashable, Hashable] = dict(enumerate(grid.questions.tolist()))
    for name in grid.columns:
        outcome = alternative_annotator_test(
            ratings_of(points_of(grid, name, grid.persons)),
            pd.Series(grid.column(judge.key, name)),
            epsilon=epsilon,
            level=level,
            clusters=questions,
        )
        alternatives[name] = Alternative(
            passed=outcome.passed,
            omega=outcome.omega,
            rho=None if outcome.rho is None else round(outcome.rho, 6),
            n=outcome.n_items,
            each=tuple(sorted((human.n_items for human in outcome.humans), reverse=True)),
            tested=sum(human.p is not None for human in outcome.humans),
            beaten=sum(bool(human.is_beaten) for human in outcome.humans),
            questions=outcome.n_clusters,
            p_yes=outcome.p_passed,
            p_no=outcome.p_failed,
            caution=outcome.caution,
            reason=outcome.reason,
        )
    return alternatives


def epsilon_of(grid: PointsGrid) -> float:
    """Return the allowed advantage of a person over the judge.

    It is higher for experts, because they cost more than trained raters: 0.2 if all people are
    experts or released consolidated scores, else 0.15. People who passed a qualification in
    fifteen criteria are not crowd workers.
    """
    kinds = {person.kind for person in grid.people}
    dear = bool(kinds) and kinds <= {"expert", "reference"}
    return EPSILON["expert" if dear else "skilled"]


def points_of(
    grid: PointsGrid, column: str, people: tuple[SheetRater, ...] | None = None
) -> FloatArray:
    """Return one column's points by the given people (default: all), shape (n, n_people)."""
    chosen = grid.people if people is None else people
    parts = [grid.column(rater.key, column) for rater in chosen]
    return np.column_stack(parts) if parts else np.full((len(grid.answers), 0), np.nan)


# Rules that decide whether a judge can replace people, and for which criteria
#
# | rule | yes | no | source |
# |---|---|---|---|
# | alternative | as close as half of the people or more, after epsilon | farther than more than
# half of them, by more than epsilon | Calderon et al. (2025) |
# | agreement | alpha with people minus people's own, same answers, above -.1 | below -.1 |
# non-inferiority (Westlake 1972) |
# | bias | mean within 5 % of the maximum | outside | equivalence (Westlake 1972) |
# | unscored | at most 5 % of the replies | above 5 % | 95 % coverage, as for boards |
# | consistency | reliability of used points above .8 | below .667 | Krippendorff's marks |
#
# "Yes" and "no" are one-sided tests. If neither is shown, the outcome is "not proven", with the
# data needed to decide. One "no" makes the verdict no, so the tests of "no" share one level: for
# the total over its rules, for all other columns over their rules and columns. A yes verdict needs
# a yes from every rule and therefore no correction for rules (Berger 1982). Rules that involve
# people are corrected for the number of judges shown, because the first judge is the closest.

REPLACEMENT_RULES = ("alternative", "agreement", "bias", "unscored", "consistency")


@dataclass(frozen=True, kw_only=True)
class Levels:
    """One-sided significance levels for "yes" and "no" on one column.

    ``one`` is the level of "yes" for rules that do not involve people.
    """

    yes: float
    no: float
    one: float = LEVEL / 2

    @classmethod
    def of(cls, column: str, n_columns: int, n_judges: int) -> Levels:
        """Return the levels, corrected for the columns on a page and the judges in a study."""
        others = 1 if column == "total" else n_columns - 1
        return cls(
            yes=corrected_level(LEVEL / 2, n_judges),
            no=corrected_level(LEVEL, len(REPLACEMENT_RULES) * others),
        )


def verdict(rules: dict[str, RuleOutcome]) -> ReplacementVerdict:
    return ReplacementVerdict(result=joined(rules), rules=rules)


def by_alternative(test: Alternative, n_people: int, levels: Levels) -> RuleOutcome:
    """Apply the rule "alternative" to one column; "yes" also needs `Alternative.passed`.

    ``missing`` has the number of missing people, and of answers that two people and the judge must
    still score.
    """
    rate = WinningRate(omega=test.omega, rho=test.rho, n=test.n, caution=test.caution)
    if test.p_yes is None or test.p_no is None:
        second = test.each[LEAST_HUMANS - 1] if len(test.each) >= LEAST_HUMANS else 0
        missing = {
            "people": max(0, LEAST_HUMANS - n_people),
            "answers": max(0, LEAST_ITEMS - second),
        }
        if not any(missing.values()):
            missing["questions"] = max(0, RULES["judge as a person"].least - test.questions)
        return _outcome("not_shown", rate, missing, test.reason)
    p_yes = test.p_yes if test.passed else max(test.p_yes, 2 * levels.yes)
    return _decided(rate, (p_yes, test.p_no), levels, test.n, test.questions)


def by_agreement(difference: AgreementFigure, levels: Levels) -> RuleOutcome:
    """Apply the rule "agreement": the judge's interval alpha with people minus people's alpha.

    The difference on the same answers is tested, because overlapping intervals do not show
    whether the alphas differ.
    """
    return _by_figure(difference, "agreement of a judge", levels)


def by_bias(leniency: AgreementFigure, levels: Levels) -> RuleOutcome:
    """Apply the rule "bias": the judge's mean minus people's mean, as a share of the maximum."""
    return _by_figure(leniency, "mean of a judge", levels)


def unscored_of(unscored: int, sheets: int, replicates: int = 1) -> UnscoredShare:
    """Return the share of replies without usable points, with its exact interval over answers.

    Replicates of an answer may all be lost for the same reason, so they count once.
    """
    if not sheets:
        return UnscoredShare(unscored=unscored, sheets=sheets, value=None)
    lost, n = _answers_lost(unscored, sheets, replicates)
    low, high = (round(bound, 6) for bound in clopper_pearson_interval(lost, n))
    return UnscoredShare(
        unscored=unscored, sheets=sheets, value=unscored / sheets, low=low, high=high
    )


def by_unscored(unscored: int, sheets: int, levels: Levels, replicates: int = 1) -> RuleOutcome:
    """Apply the rule "unscored": the share of requested replies without usable points."""
    from scipy import special

    share = unscored_of(unscored, sheets, replicates)
    if not sheets:
        return _outcome("not_shown", share, {"replies": LEAST_ITEMS})
    lost, n = _answers_lost(unscored, sheets, replicates)
    p_yes = float(special.bdtr(lost, n, UNSCORED_MARGIN))
    p_no = float(special.bdtrc(lost - 1, n, UNSCORED_MARGIN)) if lost else 1.0
    if p_yes <= levels.one:
        return _outcome("yes", share)
    if p_no <= levels.no:
        return _outcome("no", share)
    more = replicates * _answers_needed(lost, n, levels.one)
    return _outcome("not_shown", share, {"replies": more})


def by_consistency(repeats: Consistency, column: str, levels: Levels) -> RuleOutcome:
    """Apply the rule "consistency": the reliability of the points that count.

    These points are means over the usual number of sheets for an answer. Replicates of a few
    answers show how reliable one sheet is, but do not make single sheets of other answers better.
    """
    split, k = repeats.columns[column], repeats.each
    figure = split.reliability
    single = figure.value
    steadiness = Steadiness(n=split.n, exact=split.exact, single=single, k=k, value=None)
    if single is not None and k is not None:
        steadiness = replace(steadiness, value=round(spearman_brown(single, k), 6))
    if split.n < LEAST_ITEMS:
        return _outcome("not_shown", steadiness, {"repeated": LEAST_ITEMS - split.n})
    outcome = _by_figure(figure, "consistency of a judge", replace(levels, yes=levels.one))
    missing = {"repeated": outcome.missing.get("answers", 0), **outcome.missing}
    return _outcome(outcome.result, steadiness, missing | {"answers": 0}, outcome.reason)


def _by_figure(figure: AgreementFigure, rule: str, levels: Levels) -> RuleOutcome:
    if figure.p_yes is None or figure.p_no is None:
        missing = {"answers": max(0, LEAST_ITEMS - figure.n)}
        if not any(missing.values()):
            missing["questions"] = max(0, RULES[rule].least - (figure.units or 0))
        return _outcome("not_shown", figure, missing, figure.reason)
    if figure.n < LEAST_ITEMS:
        return _outcome("not_shown", figure, {"answers": LEAST_ITEMS - figure.n})
    return _decided(figure, (figure.p_yes, figure.p_no), levels, figure.n, figure.units or 0)


def _decided(
    figure: AgreementFigure | WinningRate,
    p: tuple[float, float],
    levels: Levels,
    n: int,
    units: int,
) -> RuleOutcome:
    """Return "yes", "no", or how many more answers would show the more likely outcome."""
    p_yes, p_no = p
    if p_yes <= levels.yes:
        return _outcome("yes", figure)
    if p_no <= levels.no:
        return _outcome("no", figure)
    nearer = (p_yes, levels.yes) if p_yes < p_no else (p_no, levels.no)
    return _outcome("not_shown", figure, {"answers": more_needed(n, nearer[0], units, nearer[1])})


def _outcome(
    result: Result,
    figure: AgreementFigure | WinningRate | UnscoredShare | Steadiness,
    missing: dict[str, int] | None = None,
    reason: str | None = None,
) -> RuleOutcome:
    """Return a rule's outcome; missing counts of 0 are left out."""
    lacking = {name: number for name, number in (missing or {}).items() if number}
    return RuleOutcome(result=result, numbers=figure, missing=lacking, reason=reason or "")


def _answers_lost(unscored: int, sheets: int, replicates: int) -> tuple[int, int]:
    """Return the counts of lost replies and of all replies, counting one reply per answer."""
    n = max(1, round(sheets / replicates))
    return min(n, round(unscored * n / sheets)), n


def _answers_needed(lost: int, n: int, level: float) -> int:
    """Return how many more replies would show "yes" at this loss rate; 0 if no number would."""
    from scipy import special

    if lost >= UNSCORED_MARGIN * n:
        return 0
    more = 1
    while more < MOST_NEEDED:
        whole = n + more
        if special.bdtr(round(lost * whole / n), whole, UNSCORED_MARGIN) <= level:
            return more
        more += max(1, more // 10)
    return MOST_NEEDED
