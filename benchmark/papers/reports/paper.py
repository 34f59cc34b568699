"""Reproduction of every figure of the CompQA paper from score sheets."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmark.imports.methods.individual_sheets import OwnSheets, shared_sheets
from benchmark.leaderboard.methods import paper as recipes
from benchmark.rubrics.methods.rubric import COMPQA, Rubric
from cqa_site.reproduction.figures import (
    Key,
    MeasuredFigure,
    PaperFigure,
    ReproducedValue,
    compare,
)
from cqa_site.reproduction.reproduced import Reproduction
from cqa_site.stats.correlation import bland_altman, correlation
from cqa_site.stats.cross_alpha import concatenated_alpha, shuffled_baseline
from .layouts import (
    ALPHA,
    FINALLY,
    PEARSON,
    PEOPLE,
    SEPARATELY,
    SPEARMAN,
    agreement_name,
    aspect_name,
    cell_name,
    layouts,
    scenario_name,
)
from .release import (
    PRINTED,
    AnswerRelease,
    absent_reasons,
    count_values,
    our_sheets,
    paper_sheets,
    read_release,
)

# Figures of the CompQA paper from score sheets, those of its release or those of a study.
#
# Sheets are rows as in `leaderboard.methods.recipes`, with totals, ``position`` (the answer's
# number within its system and scenario) and ``has_aspect``. The rater `PEOPLE` stands for all
# human raters; all other raters are judges.

Values = dict[Key, MeasuredFigure]
N_SHUFFLES = 50
PLACE = ["system", "scenario", "position"]
TWO_PEOPLE = "section 3"


def sheet_values(sheets: pd.DataFrame, rubric: Rubric = COMPQA) -> Values:
    """Return tables 2 to 5 and figures 6 and 7 for all available raters."""
    return score_values(sheets, rubric) | agreement_values(sheets, rubric)


def score_values(sheets: pd.DataFrame, rubric: Rubric) -> Values:
    """Return tables 3 to 5 and figures 6 and 7: mean scores by rater."""
    return {
        **leaderboard_values(sheets),
        **aspect_values(sheets),
        **scenario_values(sheets, rubric),
    }


def leaderboard_values(sheets: pd.DataFrame) -> Values:
    """Return tables 5 and 3.

    Table 5 has the mean and sample sd of every cell; table 3 has the mean of cell means ± mean of
    sds.
    """
    cells = recipes.cell_scores(sheets)
    rows = recipes.system_scores(cells)
    return {
        **{("table 5", cell_name(*at)): value for at, value in _pairs(cells)},
        **{("table 3", cell_name(*at)): value for at, value in _pairs(rows)},
    }


def aspect_values(sheets: pd.DataFrame) -> Values:
    """Return table 4: scores with and without an aspect, averaged over cells and over answers."""
    cells = recipes.aspect_scores(sheets, sheets["has_aspect"])
    answers = recipes.aspect_scores(sheets, sheets["has_aspect"], over="answers")
    return {
        **{("table 4", aspect_name(*at)): value for at, value in _pairs(cells)},
        **{
            ("table 4", f"{aspect_name(*at)}, each answer once"): value
            for at, value in _pairs(answers)
        },
    }


def scenario_values(sheets: pd.DataFrame, rubric: Rubric = COMPQA) -> Values:
    """Return figures 6 and 7: means of each scenario over all answers, for totals and groups."""
    if not sheets["scenario"].isin(range(1, 5)).any():
        return {}
    values: Values = {}
    for (rater, scenario), row in recipes.scenario_scores(sheets).iterrows():
        mean = MeasuredFigure((row["mean"],), int(row["n"]))
        values["figure 6", scenario_name(rater, scenario, "total")] = mean
    for (group, rater, scenario), row in recipes.group_scores(sheets, rubric).iterrows():
        mean = MeasuredFigure((row["mean"],), int(row["n"]))
        values["figure 7", scenario_name(rater, scenario, group)] = mean
    return values


def agreement_values(sheets: pd.DataFrame, rubric: Rubric = COMPQA) -> Values:
    """Return table 2: agreement of each judge with people on the answers that both scored."""
    values: Values = {}
    people = sheets[sheets["rater"] == PEOPLE].dropna(subset="total")
    for judge in sheets["rater"].unique():
        if judge == PEOPLE or people.empty:
            continue
        scored = sheets[sheets["rater"] == judge].dropna(subset="total")
        both = people.merge(scored, on=PLACE, suffixes=("_people", "_judge"))
        if len(both) > 1:
            values |= _agreement(str(judge), both, list(rubric.keys))
    return values


def people_values(own: Iterable[OwnSheets], *, is_sound: bool) -> Values:
    """Return the figures of section 3: agreement of two people on the answers that both scored.

    The paper's recipe counts an empty cell as 0 in totals and ignores it in single scores; the
    sound recipe leaves out answers with a sheet that is incomplete or outside the scale.
    """
    values: Values = {}
    for first, second in combinations(own, 2):
        sheets, other, is_whole = shared_sheets(first, second)
        if is_sound:
            sheets, other = sheets[is_whole], other[is_whole]
        if len(sheets) > 1:
            values |= _two_people(sheets, other)
    return values


def _two_people(frame: pd.DataFrame, other: pd.DataFrame) -> Values:
    n = len(frame)
    columns = list(frame.columns)
    single = [concatenated_alpha(frame[key].to_numpy(), other[key].to_numpy()) for key in columns]
    numbers: dict[str, float] = {
        "answers scored by both": n,
        "two annotators, total: alpha": concatenated_alpha(_total(frame), _total(other)),
        "two annotators, all scores: alpha": concatenated_alpha(
            frame.to_numpy(), other.to_numpy()
        ),
        "two annotators, mean of the alphas of the criteria": float(np.nanmean(single)),
    }
    return {(TWO_PEOPLE, cell): MeasuredFigure((number,), n) for cell, number in numbers.items()}


def _total(points: pd.DataFrame) -> np.ndarray:
    return points.fillna(0).sum(axis=1).to_numpy()


def _agreement(judge: str, both: pd.DataFrame, keys: list[str]) -> Values:
    """Compare the totals and all concatenated scores, and compute the alpha of shuffled sheets."""
    totals = both["total_people"].to_numpy(), both["total_judge"].to_numpy()
    scores = tuple(
        both[[f"{key}_{side}" for key in keys]].to_numpy(dtype=float)
        for side in ("people", "judge")
    )
    alpha = shuffled_baseline(concatenated_alpha, *scores, n_repeats=N_SHUFFLES)
    first, second = (np.ravel(score).tolist() for score in scores)
    numbers: dict[tuple[str, str], Any] = {
        (SEPARATELY, ALPHA): alpha.observed,
        (SEPARATELY, SPEARMAN): correlation(first, second, "spearman"),
        (SEPARATELY, PEARSON): correlation(first, second),
        (SEPARATELY, "alpha with the answers shuffled"): alpha.mean,
        (FINALLY, ALPHA): concatenated_alpha(*totals),
        (FINALLY, SPEARMAN): correlation(*totals, "spearman"),
        (FINALLY, PEARSON): correlation(*totals),
        (FINALLY, "mean of judge − people, points"): bland_altman(*totals[::-1]).bias.value,
    }
    return {
        ("table 2", agreement_name(judge, *which)): MeasuredFigure((number,), len(both))
        for which, number in numbers.items()
        if number is not None
    }


def _pairs(scores: pd.DataFrame) -> list[tuple[Any, MeasuredFigure]]:
    """Return the mean and sd in each row of a score table; rows without values are left out."""
    return [
        (at, MeasuredFigure((row["mean"], row["sd"]), int(row["n"]), "±"))
        for at, row in scores.iterrows()
        if row["n"]
    ]


# Figures of the CompQA paper that its release supports, and the paper's tables.
#
# Released values follow the paper's recipe, which includes values outside the scale and answers
# that occur twice in the human rows. Our values leave these out or average them, as an import
# does.

OURS = "without {} sheets: incomplete, outside the scale or repeated"


def compqa_reproduction(data: Path) -> Reproduction:
    """Read the release in a folder, compute every figure and lay out the paper's tables.

    Raises
    ------
    AnswerReleaseMissing, UnreadableFile
        See `read_release`.
    """
    release = read_release(data)
    raters = [*release.judged, *([PEOPLE] if release.people else [])]
    return Reproduction(tuple(compqa_figures(release)), layouts(raters))


def compqa_figures(release: AnswerRelease) -> list[PaperFigure]:
    """Return every figure in the order of the list of printed values."""
    paper = sheet_values(paper_sheets(release)) | people_values(release.own_sheets, is_sound=False)
    ours = sheet_values(our_sheets(release)) | people_values(release.own_sheets, is_sound=True)
    counts = {key: ReproducedValue(released=value) for key, value in count_values(release).items()}
    return compare({**counts, **beside(paper, ours)}, PRINTED, reasons=absent_reasons(release))


def beside(paper: Values, ours: Values) -> Mapping[Key, ReproducedValue]:
    """Combine the values of both recipes; a note counts the rows that our recipe leaves out."""
    return {key: _found(value, ours.get(key)) for key, value in paper.items()}


def _found(paper: MeasuredFigure, ours: MeasuredFigure | None) -> ReproducedValue:
    if ours is None or paper.n == ours.n:
        return ReproducedValue(paper, ours)
    return ReproducedValue(paper, ours, OURS.format((paper.n or 0) - (ours.n or 0)))
