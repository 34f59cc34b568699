"""The CompQA paper's tables from the score sheets of a live study.

Scores are those of the leaderboard's switch to the paper's recipe: every sheet counts by itself,
also where one answer has several. Agreement is about answers: there, replicates of a judge and
sheets of several people for one answer are averaged first. A system under a scenario means the one
condition that its leaderboard cell shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db.models import Count

from annotation.corpus.models import Argument, Question
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.reports.sheets import counted_sheets
from cqa_site.people.models import Study
from cqa_site.reproduction.figures import ReproducedValue, compare
from cqa_site.reproduction.reproduced import Reproduction
from .layouts import PEOPLE

if TYPE_CHECKING:
    import pandas as pd

    from benchmark.leaderboard.methods.options import BoardOptions


class NothingScored(Exception):
    """Raised if the study has no sheets that count."""


def study_reproduction(study: Study) -> Reproduction:
    """Return the paper's tables for the study's rubric version with the most sheets.

    Raises
    ------
    NothingScored
        If no answer of the study has been scored.
    """
    from benchmark.leaderboard.reports.snapshot import board_table
    from .layouts import study_layouts
    from .paper import agreement_values, score_values
    from .release import pair_values

    version = most_used_rubric(study)
    rubric = version.rubric
    # Answers from useless arguments, say, are answers to another task.
    table = _of_one_condition(board_table(version)[0])
    sheets = single_sheets(table, rubric)
    values = pair_values(*_pairs(study)) | score_values(sheets, rubric)
    values |= agreement_values(averaged_sheets(table, rubric), rubric)
    figures = compare({key: ReproducedValue(ours=value) for key, value in values.items()})
    rows = sheets[["system", "scenario"]].drop_duplicates().sort_values(["system", "scenario"])
    places = [(str(system), int(scenario)) for system, scenario in rows.to_numpy()]
    raters = [str(rater) for rater in sheets["rater"].unique()]
    return Reproduction(tuple(figures), study_layouts(raters, places, version.rubric))


def most_used_rubric(study: Study) -> RubricVersion:
    """Return the rubric version with the most sheets; the newest if several are equal."""
    versions = list(RubricVersion.objects.filter(study=study).order_by("-created_at", "-pk"))
    used = {version: counted_sheets(version).count() for version in versions}
    if not any(used.values()):
        raise NothingScored(f"No answer of the study {study.name!r} has been scored.")
    return max(versions, key=lambda version: used[version])


def single_sheets(table: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Return one row per sheet in the format of `cell_scores`; people share one name.

    Points outside the scale are those that were given. ``table`` is that of `board_table`, of one
    condition a cell.
    """
    import pandas as pd

    from benchmark.leaderboard.methods.data import judge_keys
    from benchmark.leaderboard.methods.paper import OFF_SCALE, paper_sheets, with_totals

    judges, systems = _names(table)
    sheets = paper_sheets(table, _options(rubric)).reset_index(drop=True)
    points = sheets[list(rubric.keys)].astype(float)
    for at in sheets.index[sheets["is_off"]]:
        points.loc[at] = pd.Series(json.loads(sheets.at[at, OFF_SCALE])).reindex(points.columns)
    about = points.assign(
        system=sheets["system_id"].map(systems),
        scenario=sheets["scenario"].astype(int),
        question=sheets["question_id"],
        choice=sheets.index,
        position=sheets["answer_id"],
        rater=judge_keys(sheets).map(judges),
        has_aspect=sheets["aspect"].astype(bool),
    )
    return with_totals(about, rubric)


def averaged_sheets(table: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Return one row per answer and judge with the means of their sheets.

    People count as one judge.

    ``table`` is as for `single_sheets`.
    """
    import pandas as pd

    from benchmark.leaderboard.methods.data import read_scores
    from benchmark.leaderboard.methods.paper import with_totals

    judges, systems = _names(table)
    options = _options(rubric)
    scored, parts = read_scores(table, options), options.parts
    aspects = dict(zip(table["question_id"], table["aspect"], strict=True))
    questions = [scored.questions[code] for code in scored.question]
    sheets = pd.DataFrame(scored.parts, columns=list(parts)).assign(
        system=[systems[scored.systems[code]] for code in scored.system],
        scenario=[scored.scenarios[code] for code in scored.scenario],
        question=questions,
        choice=scored.answer,
        position=scored.answer,
        rater=[judges[scored.judges[code]] for code in scored.judge],
        has_aspect=[bool(aspects[question]) for question in questions],
    )
    # A sheet without all criteria has no total, and neither has an answer with such sheets only.
    return with_totals(sheets, rubric).assign(total=scored.value)


def _of_one_condition(table: pd.DataFrame) -> pd.DataFrame:
    """Return the sheets that the cells of the leaderboard cover."""
    from benchmark.leaderboard.methods.board import choose_conditions
    from benchmark.leaderboard.methods.data import system_order

    return choose_conditions(table, system_order(table))[0]


def _options(rubric: Rubric) -> BoardOptions:
    from benchmark.leaderboard.methods.options import BoardOptions

    parts = {criterion.key: float(criterion.maximum) for criterion in rubric.criteria}
    return BoardOptions(maximum=float(rubric.maximum), parts=parts)


def _names(table: pd.DataFrame) -> tuple[dict[str, str], dict[str, str]]:
    """Return names of judges (people as one) and of systems, by key."""
    from benchmark.leaderboard.methods.data import judge_keys

    judges = _distinct(dict(zip(judge_keys(table), table["rater_name"], strict=True)))
    systems = _distinct(dict(zip(table["system_id"], table["system"], strict=True)))
    return judges | {PEOPLE: PEOPLE}, systems


def _pairs(
    study: Study,
) -> tuple[dict[tuple[str, str], bool], Mapping[tuple[str, str], int] | None]:
    """Return pairs, whether any of their questions has an aspect, and their argument counts."""
    pair = ("comparison__object1", "comparison__object2")
    aspects: dict[tuple[str, str], bool] = {}
    for first, second, aspect in Question.objects.filter(study=study).values_list(*pair, "aspect"):
        aspects[first, second] = aspects.get((first, second), False) or bool(aspect)
    counted = Argument.objects.filter(study=study).values_list(*pair).annotate(Count("pk"))
    arguments = {(first, second): number for first, second, number in counted}
    return aspects, arguments or None


def _distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Return names by key; names shared by several keys get the start of their key."""
    shared = {name for name, number in Counter(names.values()).items() if number > 1}
    return {key: f"{name} ({key[:8]})" if name in shared else name for key, name in names.items()}
