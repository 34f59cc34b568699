"""Snapshots of a board: filters, rows, recipe, figures and freshness marker."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from django.db.models import Count, OuterRef, QuerySet, Subquery

from annotation.answers.models import LearnedComparison
from benchmark.leaderboard.methods.options import TOTAL, BoardOptions
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreEvent, ScoreSheet, ScoringItem, ScoringRun
from benchmark.scoring.reports.sheets import counted_sheets, sheet_table, with_costs
from cqa_site.people.models import Study
from cqa_site.results.models import pack, plain
from cqa_site.rounds.models import Place
from cqa_site.web.templatetags.pages import pseudonym

if TYPE_CHECKING:
    import pandas as pd


# Filters for a snapshot's sheets, and the column to rank by

ASPECTS = ("with", "without")
LONGEST_KEY = 200
# Kinds of figures.
BOARD, AGREEMENT = "board", "agreement"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Filters of a board; empty values do not filter."""

    column: str = TOTAL
    aspect: str = ""
    scenario: str = ""
    dataset: str = ""
    condition: str = ""
    of: str = BOARD

    @classmethod
    def from_query(cls, query: Mapping[str, Any], recipe: dict[str, Any]) -> Filters:
        """Read the filters from a query string, ignoring values that the recipe does not list."""
        columns = {spec["key"] for spec in recipe["columns"]}
        column, scenario = query.get("column", TOTAL), query.get("scenario", "")
        aspect, dataset = query.get("aspect", ""), query.get("dataset", "")
        filters = cls(
            column=column if column in columns else TOTAL,
            aspect=aspect if aspect in ASPECTS else "",
            scenario=scenario if scenario in ("0", "1", "2", "3", "4") else "",
            dataset=dataset if dataset in recipe["datasets"] else "",
            condition=known_condition(query.get("condition", ""), recipe),
        )
        return filters if len(filters.key) <= LONGEST_KEY else cls(column=filters.column)

    @classmethod
    def from_key(cls, key: str) -> Filters:
        """Read the text that `key` returns."""
        return cls(**dict(parse_qsl(key)))

    @property
    def narrows(self) -> bool:
        """Whether some sheets are left out."""
        return bool(self.aspect or self.scenario or self.dataset or self.condition)

    @property
    def key(self) -> str:
        """Canonical text of the filters; empty for the whole board."""
        default = Filters()
        chosen = {
            name: value for name, value in vars(self).items() if value != getattr(default, name)
        }
        return urlencode(sorted(chosen.items()))


def narrowed(table: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """Return the rows that pass the filters."""
    if filters.aspect:
        table = table[(table["aspect"] != "") == (filters.aspect == "with")]
    if filters.scenario:
        table = table[table["scenario"] == int(filters.scenario)]
    if filters.dataset:
        table = table[table["dataset"] == filters.dataset]
    if filters.condition:
        table = table[table["condition_id"] == filters.condition]
    return table


def conditions_of_rows(recipe: dict[str, Any]) -> dict[str, str]:
    """Map ids to names of the conditions of a snapshot's answers."""
    return {condition["id"]: condition["name"] for condition in recipe["conditions"]}


def known_condition(wanted: str, recipe: dict[str, Any]) -> str:
    """Return the condition if the snapshot has it, or an empty string otherwise."""
    return wanted if wanted in conditions_of_rows(recipe) else ""


# The recipe of a board, and all figures from the table of sheets
#
# A recipe is sufficient to recompute the figures of a table without a database.

# Most datasets offered as filters; a study rarely has more files of answers.
MOST_DATASETS = 500
# 2: means over shared questions, thin cells separate, the paper's recipe added, consolidated
# sheets not a person in agreement. 3: intervals, rank ranges and groups of the leaderboard from
# tests instead of percentiles. Frozen snapshots keep their version.
RECIPE_VERSION = 3
CONFIDENCE, SEED, LEAST_COVERAGE = 0.95, 1, 0.8
# A mean over fewer questions is too uncertain for comparisons.
LEAST_QUESTIONS = 5
PACKAGES = ("numpy", "pandas", "scipy", "pyarrow")


def recipe_of(
    rubric: RubricVersion, table: pd.DataFrame, draws: dict[int, dict[str, float]]
) -> dict[str, Any]:
    """Return the recipe of a table's figures: options, rubric and packages."""
    return {
        "version": RECIPE_VERSION,
        "counted": "submitted sheets and unscored replies, without qualification examples, sheets "
        "beyond a round's number, excluded raters and judges that obeyed a canary",
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
    """Return the conditions of the answers, offered as filters."""
    names = ["condition_id", "condition", "scenario"]
    rows = table.drop_duplicates("condition_id").sort_values(["scenario", "condition"])
    records = rows[names].itertuples(index=False, name=None)
    return [
        {"id": key, "name": name, "scenario": int(scenario)}
        for key, name, scenario in list(records)[:MOST_DATASETS]
    ]


def columns_of(rubric: Rubric) -> list[dict[str, Any]]:
    """Return all columns to rank by: the total, each group, each criterion."""
    total = {"key": TOTAL, "name": "", "kind": TOTAL, "maximum": rubric.maximum}
    groups = [
        {
            "key": group.key,
            "name": group.name,
            "kind": "group",
            "maximum": group.maximum,
            "criteria": [criterion.key for criterion in rubric.of_group(group.key)],
        }
        for group in rubric.groups
    ]
    criteria = [
        {
            "key": rubric_criterion.key,
            "name": rubric_criterion.name,
            "kind": "criterion",
            "maximum": rubric_criterion.maximum,
        }
        for rubric_criterion in rubric.criteria
    ]
    return [total, *groups, *criteria]


def options_of(
    recipe: dict[str, Any], column: str = TOTAL, *, is_part: bool = False
) -> BoardOptions:
    """Return the options for the methods, read from a recipe."""
    maxima = {spec["key"]: float(spec["maximum"]) for spec in recipe["columns"]}
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
    """Map the total and each group to their criteria."""
    columns = recipe["columns"]
    every = tuple(column["key"] for column in columns if column["kind"] == "criterion")
    groups = {
        column["key"]: tuple(column["criteria"]) for column in columns if "criteria" in column
    }
    return {TOTAL: every, **groups}


def board_figures(
    table: pd.DataFrame, recipe: dict[str, Any], filters: Filters | None = None
) -> dict[str, Any]:
    """Return the leaderboard for sheets that pass the filters."""
    from benchmark.leaderboard.methods.board import make_board

    chosen = filters or Filters()
    options = options_of(recipe, chosen.column, is_part=chosen.narrows)
    return make_board(narrowed(table, chosen), options).as_dict()


def without_bounds(board: dict[str, Any]) -> dict[str, Any]:
    """Return a stored board without the bounds of part and scenario means."""
    parts = {
        judge: {name: [mean[:2] for mean in means] for name, means in own.items()}
        for judge, own in board["parts"].items()
    }
    profile = {judge: [mean[:2] for mean in means] for judge, means in board["profile"].items()}
    return board | {"parts": parts, "profile": profile, "options": {}}


def slice_figures(
    table: pd.DataFrame, rubric: Rubric, recipe: dict[str, Any], filters: Filters
) -> dict[str, Any]:
    """Return the leaderboard or agreement (``filters.of``) for sheets that pass the filters."""
    if filters.of != AGREEMENT:
        return board_figures(table, recipe, filters)
    from benchmark.agreement.reports.agreement import compute

    return compute(narrowed(table, filters), rubric, recipe)


def all_figures(table: pd.DataFrame, rubric: Rubric, recipe: dict[str, Any]) -> dict[str, Any]:
    """Return the leaderboard and agreement figures of a snapshot."""
    from benchmark.agreement.reports.agreement import compute

    return {"board": board_figures(table, recipe), "agreement": compute(table, rubric, recipe)}


# The table of sheets in a board snapshot: building, packing and reading
#
# The table is UTF-8 CSV with one row per sheet in the order of their keys, the columns of
# `sheet_table` and those added here. Its sha256 is that of the uncompressed bytes, so that anyone
# with the file can check a citation. People appear under pseudonyms.

WHOLE = (
    "answer", "question", "scenario", "choice", "characters", "rater", "round", "run", "replicate",
    "is_plain",
)  # fmt: skip
TEXT = (
    "sheet", "answer_id", "question_id", "object1", "object2", "aspect", "system", "system_id",
    "system_kind", "model", "condition_id", "condition", "dataset", "rater_id", "rater_kind",
    "rater_name", "source", "state", "reason", "off_scale_points",
)  # fmt: skip
# Kinds of raters whose names are replaced by pseudonyms.
NAMED = ("person", "expert")


def board_table(rubric: RubricVersion) -> tuple[pd.DataFrame, dict[int, dict[str, float]]]:
    """Return all counted sheets with costs and probabilities, and the draws of answers."""
    table = with_costs(sheet_table(counted_sheets(rubric), rubric.rubric), rubric)
    named = table["rater_kind"].isin(NAMED)
    table.loc[named, "rater_name"] = table.loc[named, "rater_id"].map(pseudonym)
    return _with_draws(table)


def pack_rows(table: pd.DataFrame) -> tuple[bytes, str]:
    """Compress the table; return it with the sha256 of the uncompressed bytes."""
    from pyarrow import Table, csv as arrow

    # Arrow writes a hundred thousand rows ten times as fast as pandas.
    file = io.BytesIO()
    options = arrow.WriteOptions(quoting_style="needed")
    arrow.write_csv(Table.from_pandas(table, preserve_index=False), file, options)
    return pack([file.getvalue()])


def read_rows(packed: bytes) -> pd.DataFrame:
    """Read a packed table; see `read_csv`."""
    return read_csv(plain(packed))


def rows_parquet(packed: bytes) -> bytes:
    file = io.BytesIO()
    read_rows(packed).to_parquet(file, index=False)
    return file.getvalue()


def read_csv(content: bytes) -> pd.DataFrame:
    """Read the CSV with keys and counts as integers, texts unchanged and the rest as floats."""
    import csv

    from pyarrow import csv as arrow, float64, int64, string

    first = content.split(b"\n", 1)[0].decode()
    names = next(csv.reader([first]))
    kinds: dict[str, Any] = dict.fromkeys(names, float64())
    kinds |= dict.fromkeys(WHOLE, int64()) | dict.fromkeys(TEXT, string())
    table = arrow.read_csv(
        io.BytesIO(content),
        parse_options=arrow.ParseOptions(newlines_in_values=True),
        convert_options=arrow.ConvertOptions(
            column_types={name: kinds[name] for name in names},
            null_values=[""],
            strings_can_be_null=False,
        ),
    )
    return table.to_pandas()


def _with_draws(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[int, dict[str, float]]]:
    """Add the column ``probability``, and return the draw of each round's answers."""
    import pandas as pd

    rounds = [int(number) for number in table["round"].unique() if number]
    items = list(
        ScoringItem.objects.filter(round__in=rounds, key_points__isnull=True).values_list(
            "round", "answer", "probability"
        )
        if rounds
        else ()
    )
    probabilities = pd.DataFrame.from_records(items, columns=["round", "answer", "probability"])
    probabilities = probabilities.astype(
        {"round": "int64", "answer": "int64", "probability": "float64"}
    )
    draws = {
        int(name): _draw(group["probability"]) for name, group in probabilities.groupby("round")
    }
    return table.merge(probabilities, how="left", on=["round", "answer"]), draws


def _draw(chances: pd.Series) -> dict[str, float]:
    known = chances.dropna()
    return {
        "drawn": len(chances),
        "known": len(known),
        "stands_for": round(float((1 / known).sum()), 6),
    }


def board_marker(rubric: RubricVersion) -> str:
    """Return a digest of all inputs of the figures, using five indexed queries.

    New sheets and changed states change the counts, and revised scores add an event. Exclusions,
    control items, trust in runs and comparisons that systems were trained on are read directly.
    """
    sheets = ScoreSheet.objects.filter(study=rubric.study_id, rubric=rubric)
    states = sheets.order_by("state", "rater").values_list("state", "rater").annotate(Count("pk"))
    in_study = ScoreSheet.objects.filter(study=OuterRef("pk"), submitted_at__isnull=False)
    events = ScoreEvent.objects.filter(sheet__study=OuterRef("pk"))
    learned = LearnedComparison.objects.filter(system__study=OuterRef("pk"))
    newest = Study.objects.filter(pk=rubric.study_id).values_list(
        _first(in_study.order_by("-submitted_at"), "submitted_at"),
        _first(events.order_by("-pk"), "pk"),
        _first(learned.order_by("-pk"), "pk"),
    )
    excluded = Place.objects.filter(round__scoringround__rubric=rubric, excluded_at__isnull=False)
    controls = ScoringItem.objects.filter(
        round__rubric=rubric, round__n_controls__gt=0, known__isnull=False
    )
    runs = ScoringRun.objects.filter(rubric=rubric)
    parts = (
        (RECIPE_VERSION, rubric.sha256),
        [row for row in states if row[0] != ScoreSheet.State.OPEN],
        newest.get(),
        list(excluded.order_by("pk").values_list("round", "rater")),
        list(controls.order_by("pk").values_list("pk", flat=True)),
        list(runs.order_by("pk").values_list("run", "trust", "run__state")),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _first(rows: QuerySet, field: str) -> Subquery:
    return Subquery(rows.values(field)[:1])
