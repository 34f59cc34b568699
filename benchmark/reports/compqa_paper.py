"""Every figure of the CompQA paper and its release that the released scores support.

GPT-4o is the one judge whose judgements are at hand. Points are averaged as the paper does, with
the values that are off the scale: nothing here is a leaderboard to publish.
"""

from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.methods import score_recipes as recipes
from benchmark.methods.compqa_rubric import COMPQA
from cqa_site.stats.bland_altman import bland_altman
from cqa_site.stats.correlation import correlation
from cqa_site.stats.shuffled import concatenated_alpha, shuffled_baseline

from .compqa_compare import Figure, Key, Measured, compare
from .compqa_counts import count_values
from .compqa_published import JUDGE_NAME, PEOPLE_NAME, cell_name
from .compqa_release import (
    JUDGE,
    PEOPLE,
    paired_sheets,
    read_release,
    release_sheets,
)

Values = dict[Key, Measured]
NAMES = {JUDGE: JUDGE_NAME, PEOPLE: PEOPLE_NAME}
# The paper's charts show people, and a judge that is not at hand.
CHART = {JUDGE: "as figure ", PEOPLE: "figure "}
N_SHUFFLES = 50


def compqa_figures(data: Path) -> list[Figure]:
    """Read the release below a folder and compute every figure, in the order of the paper's list.

    Raises
    ------
    ReleaseMissing, UnreadableFile
        As `read_release` does.
    """
    release = read_release(data)
    sheets = release_sheets(release)
    values = {
        **count_values(release),
        **leaderboard_values(sheets),
        **aspect_values(sheets),
        **scenario_values(sheets),
        **agreement_values(*paired_sheets(release, sheets)),
    }
    return compare(values)


def leaderboard_values(sheets: pd.DataFrame) -> Values:
    """Table 5, every cell with its sample sd, and table 3, mean of cell means ± mean of sds."""
    cells = recipes.cell_scores(sheets)
    rows = recipes.system_scores(cells)
    return {
        **{("table 5", cell_name(NAMES[at[0]], *at[1:])): each for at, each in _pairs(cells)},
        **{("table 3", cell_name(NAMES[at[0]], *at[1:])): each for at, each in _pairs(rows)},
    }


def aspect_values(sheets: pd.DataFrame) -> Values:
    """Table 4: people's scores with and without an aspect, over cells and over answers."""
    human = sheets[sheets["rater"] == PEOPLE]
    cells = recipes.aspect_scores(human, human["has_aspect"])
    answers = recipes.aspect_scores(human, human["has_aspect"], over="answers")
    names = {True: "with an aspect", False: "without"}
    return {
        **{("table 4", f"{names[at[1]]}, by people"): each for at, each in _pairs(cells)},
        **{
            ("as table 4", f"{names[at[1]]}, each answer once"): each
            for at, each in _pairs(answers)
        },
    }


def scenario_values(sheets: pd.DataFrame) -> Values:
    """Figures 6 and 7: means of each scenario over all answers, of totals and of groups."""
    totals = recipes.scenario_scores(sheets)
    groups = recipes.group_scores(sheets, COMPQA)
    found: Values = {}
    for (rater, scenario), each in totals.iterrows():
        cell = f"scenario {scenario}, total, by {NAMES[rater]}"
        found[CHART[rater] + "6", cell] = Measured((each["mean"],), int(each["n"]))
    for (group, rater, scenario), each in groups.iterrows():
        cell = f"scenario {scenario}, {group}, by {NAMES[rater]}"
        found[CHART[rater] + "7", cell] = Measured((each["mean"],), int(each["n"]))
    return found


def agreement_values(judge: pd.DataFrame, people: pd.DataFrame) -> Values:
    """Judge and people on the linked answers: totals, and all scores put end to end.

    The shuffled figure is what the alpha of all scores comes to when sheets are dealt at random.
    """
    totals = judge["total"].to_numpy(), people["total"].to_numpy()
    keys = list(COMPQA.keys)
    sheets = judge[keys].to_numpy(dtype=float), people[keys].to_numpy(dtype=float)
    alpha = shuffled_baseline(concatenated_alpha, *sheets, n_repeats=N_SHUFFLES)
    found = {
        ("agreement", "totals: alpha, interval"): concatenated_alpha(*totals),
        ("agreement", "totals: Pearson"): correlation(*totals).value,
        ("agreement", "totals: Spearman"): correlation(*totals, kind="spearman").value,
        ("agreement", "all scores concatenated: alpha, interval"): alpha.observed,
        ("agreement", "… with the answers shuffled"): alpha.mean,
        ("agreement", "mean of judge − people, points"): bland_altman(*totals).bias.value,
    }
    ends = [np.ravel(each) for each in sheets]
    found |= {
        ("table 2", "GPT-4o, separately: alpha"): alpha.observed,
        ("table 2", "GPT-4o, separately: Spearman"): _spearman(*ends),
        ("table 2", "GPT-4o, final score: alpha"): found["agreement", "totals: alpha, interval"],
        ("table 2", "GPT-4o, final score: Spearman"): found["agreement", "totals: Spearman"],
    }
    return {at: Measured((each,), len(judge)) for at, each in found.items() if each is not None}


def _spearman(x: np.ndarray, y: np.ndarray) -> float | None:
    # One cluster: an interval over scores of one sheet would say nothing.
    return correlation(x, y, [0] * len(x), kind="spearman").value


def _pairs(scores: pd.DataFrame) -> list[tuple[tuple[Hashable, ...], Measured]]:
    """Mean and sd of each row of a table of scores."""
    return [
        (at, Measured((each["mean"], each["sd"]), int(each["n"])))
        for at, each in scores.iterrows()
    ]
