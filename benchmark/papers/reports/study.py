"""Tables of the CompQA paper from the score sheets of a study.

Scores follow the paper's recipe, as on the leaderboard: every sheet counts separately, even if an
answer has several. Agreement is computed over answers: replicates by a judge and sheets by several
people for one answer are averaged first. For each system and scenario, only the condition shown in
its leaderboard cell is used.
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
    # Another condition, such as useless arguments, would make it a different task.
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
    """Return the rubric version with the most sheets; the newest wins ties."""
    versions = list(RubricVersion.objects.filter(study=study).order_by("-created_at", "-pk"))
    used = {version: counted_sheets(version).count() for version in versions}
    if not any(used.values()):
        raise NothingScored(f"No answer of the study {study.name!r} has been scored.")
    return max(versions, key=lambda version: used[version])


def single_sheets(table: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Return one row per sheet in the format of `cell_scores`; people share one name.

    Points outside the scale are used as given. ``table`` comes from `board_table`, with a single
    condition in each cell.
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
    """Return one row per answer and judge, with the means of their sheets.

    People count as one judge.

    See `single_sheets` for ``table``.
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
    # An incomplete sheet has no total; nor does an answer that has only incomplete sheets.
    return with_totals(sheets, rubric).assign(total=scored.value)


def _of_one_condition(table: pd.DataFrame) -> pd.DataFrame:
    """Return the sheets used in the leaderboard cells."""
    from benchmark.leaderboard.methods.board import choose_conditions
    from benchmark.leaderboard.methods.data import system_order

    return choose_conditions(table, system_order(table))[0]


def _options(rubric: Rubric) -> BoardOptions:
    from benchmark.leaderboard.methods.options import BoardOptions

    parts = {criterion.key: float(criterion.maximum) for criterion in rubric.criteria}
    return BoardOptions(maximum=float(rubric.maximum), parts=parts)


def _names(table: pd.DataFrame) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of judges (people count as one) and of systems, by key."""
    from benchmark.leaderboard.methods.data import judge_keys

    judges = _distinct(dict(zip(judge_keys(table), table["rater_name"], strict=True)))
    systems = _distinct(dict(zip(table["system_id"], table["system"], strict=True)))
    return judges | {PEOPLE: PEOPLE}, systems


def _pairs(
    study: Study,
) -> tuple[dict[tuple[str, str], bool], Mapping[tuple[str, str], int] | None]:
    """Return, for each pair, whether any question has an aspect, and the number of arguments."""
    pair = ("comparison__object1", "comparison__object2")
    aspects: dict[tuple[str, str], bool] = {}
    for first, second, aspect in Question.objects.filter(study=study).values_list(*pair, "aspect"):
        aspects[first, second] = aspects.get((first, second), False) or bool(aspect)
    counted = Argument.objects.filter(study=study).values_list(*pair).annotate(Count("pk"))
    arguments = {(first, second): number for first, second, number in counted}
    return aspects, arguments or None


def _distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Return names by key; a name shared by several keys is followed by the start of its key."""
    shared = {name for name, number in Counter(names.values()).items() if number > 1}
    return {key: f"{name} ({key[:8]})" if name in shared else name for key, name in names.items()}
