"""The figures of a board: its recipe, and from the table of sheets every figure.

Whatever a recipe says is enough to compute the figures of a table again, without a database.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from benchmark.leaderboard.methods.options import TOTAL, BoardOptions
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion

from .filters import AGREEMENT, Filters, narrowed

if TYPE_CHECKING:
    import pandas as pd

# Offered as filters; a study rarely has more files of answers.
MOST_DATASETS = 500
# 2: means over what systems share, thin cells apart, the paper's recipe beside them, several
# sheets that were made one are no person in agreement. 3: intervals, ranges of ranks and groups of
# the leaderboard from tests instead of percentiles. Frozen ones keep the number they had.
RECIPE_VERSION = 3
CONFIDENCE, SEED, LEAST_COVERAGE = 0.95, 1, 0.8
# A mean over fewer questions says too little to be compared.
LEAST_QUESTIONS = 5
PACKAGES = ("numpy", "pandas", "scipy", "pyarrow")


def recipe_of(
    rubric: RubricVersion, table: pd.DataFrame, draws: dict[int, dict[str, float]]
) -> dict[str, Any]:
    """How the figures of a table are made: options, rubric, packages."""
    return {
        "version": RECIPE_VERSION,
        "counted": "submitted sheets and unscored replies; no examples of a qualification, no "
        "sheets beyond a round's number, no excluded raters, no judges that obeyed a canary",
        "rubric": {
            "name": rubric.name,
            "number": rubric.number,
            "sha256": rubric.sha256,
            "id": str(rubric.public_id),
        },
        "columns": columns_of(rubric.rubric),
        "confidence": CONFIDENCE,
        "seed": SEED,
        "least_coverage": LEAST_COVERAGE,
        "least_questions": LEAST_QUESTIONS,
        "draws": {str(key): value for key, value in sorted(draws.items())},
        "datasets": sorted(set(table["dataset"]) - {""})[:MOST_DATASETS],
        "conditions": _conditions(table),
        "packages": {name: version(name) for name in PACKAGES},
    }


def _conditions(table: pd.DataFrame) -> list[dict[str, Any]]:
    """What the answers were written under; offered as filters."""
    names = ["condition_id", "condition", "scenario"]
    rows = table.drop_duplicates("condition_id").sort_values(["scenario", "condition"])
    found = rows[names].itertuples(index=False, name=None)
    return [
        {"id": key, "name": name, "scenario": int(scenario)}
        for key, name, scenario in list(found)[:MOST_DATASETS]
    ]


def columns_of(rubric: Rubric) -> list[dict[str, Any]]:
    """Everything that can be ranked by: the total, each group, each criterion."""
    total = {"key": TOTAL, "name": "", "kind": TOTAL, "maximum": rubric.maximum}
    groups = [
        {
            "key": each.key,
            "name": each.name,
            "kind": "group",
            "maximum": each.maximum,
            "criteria": [criterion.key for criterion in rubric.of_group(each.key)],
        }
        for each in rubric.groups
    ]
    criteria = [
        {"key": each.key, "name": each.name, "kind": "criterion", "maximum": each.maximum}
        for each in rubric.criteria
    ]
    return [total, *groups, *criteria]


def options_of(
    recipe: dict[str, Any], column: str = TOTAL, *, is_part: bool = False
) -> BoardOptions:
    """What the methods need to know of a recipe."""
    maxima = {each["key"]: float(each["maximum"]) for each in recipe["columns"]}
    return BoardOptions(
        column=column,
        maximum=maxima[column],
        parts={key: value for key, value in maxima.items() if key != TOTAL},
        criteria=_criteria(recipe),
        confidence=recipe["confidence"],
        least_coverage=recipe["least_coverage"],
        least_questions=recipe["least_questions"],
        draws={int(key): value for key, value in recipe["draws"].items()},
        is_part=is_part,
    )


def _criteria(recipe: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Sums → their criteria."""
    columns = recipe["columns"]
    every = tuple(each["key"] for each in columns if each["kind"] == "criterion")
    groups = {each["key"]: tuple(each["criteria"]) for each in columns if "criteria" in each}
    return {TOTAL: every, **groups}


def board_figures(
    table: pd.DataFrame, recipe: dict[str, Any], filters: Filters | None = None
) -> dict[str, Any]:
    """The leaderboard of the sheets that the filters leave."""
    from benchmark.leaderboard.methods.board import make_board

    chosen = filters or Filters()
    options = options_of(recipe, chosen.column, is_part=chosen.narrows)
    return make_board(narrowed(table, chosen), options).as_dict()


def without_bounds(board: dict[str, Any]) -> dict[str, Any]:
    """A stored board whose means of parts and scenarios, kept as lists, are without bounds."""
    parts = {
        judge: {name: [each[:2] for each in means] for name, means in own.items()}
        for judge, own in board["parts"].items()
    }
    profile = {judge: [each[:2] for each in means] for judge, means in board["profile"].items()}
    return board | {"parts": parts, "profile": profile, "options": {}}


def slice_figures(
    table: pd.DataFrame, rubric: Rubric, recipe: dict[str, Any], filters: Filters
) -> dict[str, Any]:
    """Leaderboard or agreement of the sheets that the filters leave, whichever they are of."""
    if filters.of != AGREEMENT:
        return board_figures(table, recipe, filters)
    from benchmark.agreement.reports.agreement import compute

    return compute(narrowed(table, filters), rubric, recipe)


def all_figures(table: pd.DataFrame, rubric: Rubric, recipe: dict[str, Any]) -> dict[str, Any]:
    """Leaderboard and agreement of a snapshot."""
    from benchmark.agreement.reports.agreement import compute

    return {
        "board": board_figures(table, recipe),
        "agreement": compute(table, rubric, recipe),
    }
