"""Agreement of people and judges on the same answers, and a leaderboard of the judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pandas as pd

from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.stats.verdicts import LEVEL, RULES, holm
from .figures import (
    Agreement,
    AgreementFigure,
    AgreementRater,
    AgreementSettings,
    Alternative,
    ByCode,
    Consistency,
    JudgeAlphas,
    JudgeRow,
    Length,
    PointsColumn,
    RaterPairFigures,
    ReplacementVerdict,
)
from .grid import PEOPLE, PointsGrid, SheetRater, grid_of
from .jackknife import Jackknife, across_sums, difference_figure
from .pairs import KINDS, column_figures, compare
from .raters import length_figures, self_consistency, self_preference
from .replacement import (
    REPLACEMENT_RULES,
    Levels,
    alternative,
    by_agreement,
    by_alternative,
    by_bias,
    by_consistency,
    by_unscored,
    epsilon_of,
    leniency,
    people_together,
    points_of,
    unscored_of,
    verdict,
    with_people,
)

# Largest total of shared answers over all pairs; number of pairs that are always compared.
MOST_SHARED = 150_000
LEAST_PAIRS = 10


def chosen_pairs(
    grid: PointsGrid, judges: list[SheetRater], most: int
) -> tuple[list[tuple[SheetRater, SheetRater, str]], int]:
    """Return rater pairs, most shared answers first, and the number of omitted pairs.

    In mixed pairs, the judge is the first rater. A single person is left out of mixed pairs,
    because every judge is compared with the mean of people anyway.
    """
    alone = len(grid.people) == 1
    known = {rater.key: ~np.isnan(grid.column(rater.key, "total")) for rater in grid.raters}
    pairs = []
    for a, b in combinations([*grid.people, *judges], 2):
        if not b.is_judge and (a.is_consolidated or b.is_consolidated):
            continue  # A mean of people is not a second person.
        shared = int((known[a.key] & known[b.key]).sum())
        if not shared or (alone and a.is_judge != b.is_judge):
            continue
        kind = "judges" if a.is_judge else "judge_person" if b.is_judge else "persons"
        pairs.append((shared, (b, a, kind) if kind == "judge_person" else (a, b, kind)))
    pairs.sort(key=lambda candidate: -candidate[0])
    before, count = 0, 0
    for shared, _ in pairs[:most]:
        # The first pairs are always included, further pairs while the total cost is acceptable.
        if count >= LEAST_PAIRS and before + shared > MOST_SHARED:
            break
        before, count = before + shared, count + 1
    return [pair for _, pair in pairs[:count]], len(pairs) - count


def by_code(
    grid: PointsGrid, rubric: Rubric, counted: Mapping[int, float] | None, draws: Jackknife
) -> ByCode | None:
    """Compare the automatically counted criterion with every rater's scores for it."""
    criterion = next(
        (candidate for candidate in rubric.criteria if candidate.counted_by == "sentences"), None
    )
    if criterion is None or not counted:
        return None
    points = np.array([counted.get(int(key), np.nan) for key in grid.answers], dtype=float)
    return ByCode(
        criterion=criterion.key,
        answers=int((~np.isnan(points)).sum()),
        raters={
            key: column_figures(
                points, grid.column(key, criterion.key), grid.questions, criterion.maximum, draws
            )
            for key in (PEOPLE, *(rater.key for rater in grid.raters))
        },
    )


def column_list(grid: PointsGrid, rubric: Rubric) -> tuple[PointsColumn, ...]:
    names = {group.key: group.name for group in rubric.groups}
    names |= {criterion.key: criterion.name for criterion in rubric.criteria}
    kinds = ["total", *["group"] * len(rubric.groups), *["criterion"] * len(rubric.criteria)]
    return tuple(
        PointsColumn(key=key, name=names.get(key, ""), kind=kind, maximum=maximum)
        for key, kind, maximum in zip(grid.columns, kinds, grid.maxima, strict=True)
    )


def about_rater(rater: SheetRater) -> AgreementRater:
    return AgreementRater(**vars(rater), is_judge=rater.is_judge)


# Leaderboard of judges
#
# Judges are ranked by the interval alpha of their totals with people's. A rank range contains
# every position that the tests allow: a judge is certainly above another only if the difference
# on the questions they share is shown, corrected for all pairs of judges (Holm).

PER = 1_000
MICRO = 1_000_000


def judge_row(
    judge: SheetRater,
    sheets: pd.DataFrame,
    *,
    beside: JudgeAlphas,
    pair: RaterPairFigures,
    test: Alternative,
    consistency: Consistency,
    length: Length,
) -> JudgeRow:
    """Return one row of the leaderboard.

    Parameters
    ----------
    judge
        The judge in this row.
    sheets
        The judge's rows of the table, with `cost_micro` and `seconds` where known.
    beside, pair, test, consistency, length
        Figures computed elsewhere; `pair` compares the judge with the mean of people.
    """
    total, split = pair.columns["total"], consistency.columns["total"]
    return JudgeRow(
        key=judge.key,
        name=judge.name,
        kind=judge.kind,
        family=judge.family,
        sheets=judge.sheets,
        answers=int(sheets.loc[sheets["total"].notna(), "answer"].nunique()),
        agreement=beside.alpha_interval,
        pearson=total.pearson,
        within=pair.systems["pearson"].within,
        bias=total.bias,
        rho=test.rho,
        omega=test.omega,
        consistency=split.reliability,
        exact=split.exact,
        replicates=consistency.replicates,
        unscored=unscored_of(judge.unscored, judge.sheets, judge.replicates),
        length_slope=length.own.slope,
        cost=_per_thousand(sheets, "cost_micro", MICRO),
        seconds=_per_thousand(sheets, "seconds", 1),
    )


def judge_differences(
    grid: PointsGrid, judges: Sequence[SheetRater], draws: Jackknife
) -> dict[tuple[str, str], AgreementFigure]:
    """Map pairs of judges to the difference between their alphas with people, on shared answers.

    The alphas are for totals; a difference is first minus second. Only pairs that the rule
    "closest judge" allows are included; ``p_yes`` is two-sided.
    """
    points, least = points_of(grid, "total"), RULES["closest judge"].least
    by_people = ~np.isnan(points).all(axis=1)
    figures = {}
    for pair in combinations([judge.key for judge in judges], 2):
        totals = [grid.column(key, "total") for key in pair]
        use = by_people & ~np.isnan(totals).any(axis=0)
        known, codes = np.unique(grid.questions[use], return_inverse=True)
        if len(known) < least:
            continue
        first, second = (across_sums(points[use], own[use], codes, len(known)) for own in totals)
        difference = difference_figure(first, second, int(use.sum()), draws, least=least)
        if difference.p_yes is not None and difference.p_no is not None:
            p = min(1.0, 2 * min(difference.p_yes, difference.p_no))
            figures[pair] = replace(difference, p_yes=p, p_no=None)
    return figures


def ranked(
    rows: Sequence[JudgeRow], differences: dict[tuple[str, str], AgreementFigure]
) -> tuple[JudgeRow, ...]:
    """Return the rows, best judge first, with the range of ranks that the tests allow.

    Judges without an agreement figure are at the end and have no rank.

    Parameters
    ----------
    rows
        Rows in any order.
    differences
        Result of `judge_differences`.
    """
    known = [row for row in rows if row.agreement.value is not None]
    adjusted = holm(
        np.array([difference.p_yes for difference in differences.values()], dtype=float)
    )
    above = {
        pair if (figure.value or 0.0) > 0 else pair[::-1]
        for (pair, figure), p in zip(differences.items(), adjusted, strict=True)
        if p <= LEVEL
    }
    placed = [_placed(row, known, above) for row in rows]
    standings = sorted(placed, key=lambda row: (row.rank is None, row.rank or 0, row.name))
    # A two-sided test does not depend on the order of the pair.
    tests = differences | {pair[::-1]: test for pair, test in differences.items()}
    return tuple(
        replace(row, to_first=tests.get((standings[0].key, row.key))) for row in standings
    )


def _placed(row: JudgeRow, known: Sequence[JudgeRow], above: Set[tuple[str, str]]) -> JudgeRow:
    own = row.agreement.value
    if own is None:
        return row
    others = [judge for judge in known if judge.key != row.key]
    return replace(
        row,
        rank=1 + sum((judge.agreement.value or 0.0) > own for judge in others),
        rank_low=1 + sum((judge.key, row.key) in above for judge in others),
        rank_high=len(known) - sum((row.key, judge.key) in above for judge in others),
    )


def _per_thousand(sheets: pd.DataFrame, column: str, unit: int) -> float | None:
    """Return the value per 1,000 scored answers, based on the sheets that have a value.

    The result is None if these sheets cover no scored answers.
    """
    if column not in sheets.columns:
        return None
    known = sheets[sheets[column].notna()]
    scored = int(known.loc[known["total"].notna(), "answer"].nunique())
    spent = float(np.nansum(known[column].to_numpy(dtype=float)))
    return round(spent / unit / scored * PER, 6) if scored else None


# Agreement of all people and judges who scored the same answers by one rubric
#
# The figures for single columns (total, group, criterion) are sound. Figures with all criteria
# as items ("concatenated") are included because papers print them, always next to the same
# figure for shuffled sheets.
#
# Source: CompQA paper, section 4 (agreement of its judges with people); the recipe of each
# part is in its module.

# 2: consolidated sheets do not count as a person; the agreement rule uses a paired difference.
# 3: intervals leave out questions, and the "no" of a verdict is tested like its "yes".
VERSION = 3
MANY_QUESTIONS = 200


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """Options of the computation.

    Attributes
    ----------
    seed, confidence
        Seed for drawing groups of questions; confidence level of the intervals.
    epsilon
        Epsilon of the alternative-annotator test; if None, `epsilon_of` sets it.
    most_pairs, most_judges
        Largest numbers of rater pairs (most shared answers first) and of judges (most sheets
        first).
    families
        Name → family for names that suggest a wrong family.
    """

    seed: int = 0
    confidence: float = 0.95
    epsilon: float | None = None
    most_pairs: int = 40
    most_judges: int = 40
    families: Mapping[str, str] = field(default_factory=dict)


def agreement(
    table: pd.DataFrame,
    rubric: Rubric,
    options: AgreementOptions | None = None,
    counted: Mapping[int, float] | None = None,
) -> Agreement:
    """Return all agreement figures for the sheets of a table.

    Parameters
    ----------
    table
        The table described in `grid`, with only the sheets that count.
    rubric
        The rubric of all sheets.
    options
        See `AgreementOptions`.
    counted
        Key of an answer → points of the automatically counted criterion, treated as a further
        rater.
    """
    options = options or AgreementOptions()
    grid = grid_of(table, rubric, options.families)
    draws = Jackknife(options.seed, options.confidence)
    epsilon = epsilon_of(grid) if options.epsilon is None else options.epsilon
    rows = {str(key): part for key, part in table.groupby("rater_id")}
    judges = sorted(grid.judges, key=lambda rater: -rater.sheets)[: options.most_judges]
    pooled = {
        judge.key: compare(grid, judge.key, PEOPLE, "judge_people", draws) for judge in judges
    }
    # With many questions, only pairs with a person get all three kinds of correlation.
    kinds = KINDS if grid.questions.max(initial=0) < MANY_QUESTIONS else KINDS[:1]
    chosen, left_out = chosen_pairs(grid, judges, options.most_pairs)
    consistency = {
        rater.key: self_consistency(rows[rater.key], grid.columns, draws) for rater in grid.raters
    }
    length = {key: length_figures(grid, key, draws) for key in (PEOPLE, *rows)}
    beside = {judge.key: with_people(grid, judge, draws) for judge in judges}
    tests = {judge.key: alternative(grid, judge, epsilon) for judge in judges}
    between = (compare(grid, a.key, b.key, kind, draws, kinds) for a, b, kind in chosen)
    return Agreement(
        version=VERSION,
        options=_settings(options, epsilon),
        columns=column_list(grid, rubric),
        raters=tuple(about_rater(rater) for rater in grid.raters),
        answers=len(grid.answers),
        people=people_together(grid, draws),
        with_people=beside,
        alternative=tests,
        pairs=(*pooled.values(), *between),
        pairs_left_out=left_out,
        judges_left_out=len(grid.judges) - len(judges),
        consistency=consistency,
        preference=tuple(self_preference(grid, judge, draws) for judge in judges),
        length=length,
        by_code=by_code(grid, rubric, counted, draws),
        judges=ranked(
            [
                judge_row(
                    judge,
                    rows[judge.key],
                    beside=beside[judge.key]["total"],
                    pair=pooled[judge.key],
                    test=tests[judge.key]["total"],
                    consistency=consistency[judge.key],
                    length=length[judge.key],
                )
                for judge in judges
            ],
            judge_differences(grid, judges, draws),
        ),
        verdict={
            judge.key: {
                name: column_verdict(
                    grid,
                    judge,
                    name,
                    Levels.of(name, len(grid.columns), len(judges)),
                    test=tests[judge.key][name],
                    difference=beside[judge.key][name].difference,
                    bias=leniency(grid, judge, name, draws),
                    repeats=consistency[judge.key],
                )
                for name in grid.columns
            }
            for judge in judges
        },
    )


def column_verdict(
    grid: PointsGrid,
    judge: SheetRater,
    column: str,
    levels: Levels,
    *,
    test: Alternative,
    difference: AgreementFigure,
    bias: AgreementFigure,
    repeats: Consistency,
) -> ReplacementVerdict:
    """Return the verdict on whether this judge can replace people on one column."""
    return verdict(
        {
            "alternative": by_alternative(test, len(grid.persons), levels),
            "agreement": by_agreement(difference, levels),
            "bias": by_bias(bias, levels),
            "unscored": by_unscored(judge.unscored, judge.sheets, levels, judge.replicates),
            "consistency": by_consistency(repeats, column, levels),
        }
    )


def _settings(options: AgreementOptions, epsilon: float) -> AgreementSettings:
    return AgreementSettings(
        seed=options.seed,
        confidence=options.confidence,
        epsilon=epsilon,
        most_pairs=options.most_pairs,
        rules=REPLACEMENT_RULES,
    )
