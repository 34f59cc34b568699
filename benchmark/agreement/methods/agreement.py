"""Agreement of everybody who scored the same answers by one rubric: people and judges.

The sound figures are those of single columns (total, group, criterion). All criteria taken
together as items ("concatenated") are there because papers print them, always beside what
shuffled sheets reach.

Source: CompQA paper, section 4 (agreement of its judges with people); recipes of each part stand
in its module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from benchmark.rubrics.methods.rubric import Rubric

from .columns import KINDS
from .families import self_preference
from .figures import Agreement, Alternative, Consistency, Figure, Settings, Verdict
from .grid import PEOPLE, Grid, SheetRater, grid_of
from .jackknife import Jackknife
from .judges import judge_differences, judge_row, ranked
from .length import length_figures
from .pairs import compare
from .parts import about_rater, by_code, chosen_pairs, column_list
from .people import alternative, epsilon_of, leniency, people_together, with_people
from .repeats import self_consistency
from .verdict import (
    RULES,
    Levels,
    by_agreement,
    by_alternative,
    by_bias,
    by_consistency,
    by_unscored,
    verdict,
)

# 2: consolidated sheets are no person, and the rule of agreement is a paired difference.
# 3: intervals leave out questions, and "no" of a verdict is tested as "yes" is.
VERSION = 3
MANY_QUESTIONS = 200


@dataclass(frozen=True, kw_only=True)
class Options:
    """How figures are made.

    Attributes
    ----------
    seed, confidence
        Of the groups of questions; of the intervals.
    epsilon
        Of the alternative-annotator test; None for `epsilon_of`.
    most_pairs, most_judges
        Pairs of raters, those with most answers in common first; judges with most sheets.
    families
        Name → family where the name alone misleads.
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
    options: Options | None = None,
    counted: Mapping[int, float] | None = None,
) -> Agreement:
    """Every figure of agreement for the sheets of a table.

    Parameters
    ----------
    table
        As `score_agreement_grid` describes it; sheets that do not count are not in it.
    rubric
        By which all of them were scored.
    options
        See `Options`.
    counted
        Key of an answer → points of the criterion that code can count, as a further rater.
    """
    options = options or Options()
    grid = grid_of(table, rubric, options.families)
    draws = Jackknife(options.seed, options.confidence)
    epsilon = epsilon_of(grid) if options.epsilon is None else options.epsilon
    rows = {str(key): part for key, part in table.groupby("rater_id")}
    judges = sorted(grid.judges, key=lambda each: -each.sheets)[: options.most_judges]
    pooled = {each.key: compare(grid, each.key, PEOPLE, "judge_people", draws) for each in judges}
    # Question by question: with many of them, the three kinds stand beside people only.
    kinds = KINDS if grid.questions.max(initial=0) < MANY_QUESTIONS else KINDS[:1]
    chosen, left_out = chosen_pairs(grid, judges, options.most_pairs)
    consistency = {
        each.key: self_consistency(rows[each.key], grid.columns, draws) for each in grid.raters
    }
    length = {key: length_figures(grid, key, draws) for key in (PEOPLE, *rows)}
    beside = {each.key: with_people(grid, each, draws) for each in judges}
    tests = {each.key: alternative(grid, each, epsilon) for each in judges}
    between = (compare(grid, a.key, b.key, kind, draws, kinds) for a, b, kind in chosen)
    return Agreement(
        version=VERSION,
        options=_settings(options, epsilon),
        columns=column_list(grid, rubric),
        raters=tuple(about_rater(each) for each in grid.raters),
        answers=len(grid.answers),
        people=people_together(grid, draws),
        with_people=beside,
        alternative=tests,
        pairs=(*pooled.values(), *between),
        pairs_left_out=left_out,
        judges_left_out=len(grid.judges) - len(judges),
        consistency=consistency,
        preference=tuple(self_preference(grid, each, draws) for each in judges),
        length=length,
        by_code=by_code(grid, rubric, counted, draws),
        judges=ranked(
            [
                judge_row(
                    each,
                    rows[each.key],
                    beside=beside[each.key]["total"],
                    pair=pooled[each.key],
                    test=tests[each.key]["total"],
                    consistency=consistency[each.key],
                    length=length[each.key],
                )
                for each in judges
            ],
            judge_differences(grid, judges, draws),
        ),
        verdict={
            each.key: {
                name: column_verdict(
                    grid,
                    each,
                    name,
                    Levels.of(name, len(grid.columns), len(judges)),
                    test=tests[each.key][name],
                    difference=beside[each.key][name].difference,
                    bias=leniency(grid, each, name, draws),
                    repeats=consistency[each.key],
                )
                for name in grid.columns
            }
            for each in judges
        },
    )


def column_verdict(
    grid: Grid,
    judge: SheetRater,
    column: str,
    levels: Levels,
    *,
    test: Alternative,
    difference: Figure,
    bias: Figure,
    repeats: Consistency,
) -> Verdict:
    """May this judge take the place of people on one column."""
    return verdict(
        {
            "alternative": by_alternative(test, len(grid.persons), levels),
            "agreement": by_agreement(difference, levels),
            "bias": by_bias(bias, levels),
            "unscored": by_unscored(judge.unscored, judge.sheets, levels, judge.replicates),
            "consistency": by_consistency(repeats, column, levels),
        }
    )


def _settings(options: Options, epsilon: float) -> Settings:
    return Settings(
        seed=options.seed,
        confidence=options.confidence,
        epsilon=epsilon,
        most_pairs=options.most_pairs,
        rules=RULES,
    )
