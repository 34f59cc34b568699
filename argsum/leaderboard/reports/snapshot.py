"""Snapshots of the leaderboard: stored rows, their figures and tables."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from argsum.counting.models import CountEvent, CountSheet
from argsum.counting.reports import sheets_of_people
from argsum.datasets.models import KeyPointMatch
from argsum.leaderboard.methods import FIGURES, SetFigures, SystemRow, Terms, board
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.metrics.methods import RaterPair
from argsum.metrics.models import MetricScore
from cqa_site.rounds.models import Place
from cqa_site.stats.estimate import Estimate, from_json, to_json
from cqa_site.web.tables import TableData
from cqa_site.web.templatetags.figures import pseudonym

from .board import RECIPE_VERSION, BoardChoice, dev_sets, scored_sets, unfinished_runs
from .people_agreement import (
    DIMENSIONS,
    DimensionAgreement,
    OneRater,
    Repeats,
    SnapshotSheet,
    agreement_of,
    judges_of,
)
from .scores import Source
from .tables import DIMENSION_NAMES, FIGURE_NAMES, SELECTION_NAMES, source_name

# What a snapshot of key points keeps, beside the rows that it is made from.


@dataclass(frozen=True)
class SnapshotCell:
    """The set that stands for a system in a cell, and its figures."""

    cell: str
    summary_set: str
    setting: str
    values: dict[str, float | None]


@dataclass(frozen=True)
class SnapshotSystem:
    """One system, as `SystemRow` has it."""

    system: str
    selection: str
    criterion: str
    setting: str | None
    settings: int
    figures: dict[str, Estimate]
    cells: tuple[SnapshotCell, ...]


@dataclass(frozen=True)
class SnapshotBoard:
    """Systems in order, and the cells that their means are over."""

    cells: tuple[str, ...]
    has_dev: bool
    is_oracle: bool
    rows: tuple[SnapshotSystem, ...]


@dataclass(frozen=True)
class SnapshotDimension:
    """Agreement about one dimension, as `DimensionAgreement` has it."""

    dimension: str
    mean_pearson: float | None
    pairs: tuple[RaterPair, ...]
    judges: tuple[RaterPair, ...]
    repeats: tuple[Repeats, ...]
    alpha: Estimate


@dataclass(frozen=True)
class SnapshotAgreement:
    """The people who judged, and how far they agree."""

    sets: int
    raters: tuple[OneRater, ...]
    dimensions: tuple[SnapshotDimension, ...]


@dataclass(frozen=True)
class SnapshotFigures:
    """Leaderboard and agreement."""

    board: SnapshotBoard
    agreement: SnapshotAgreement


# The rows that a snapshot of key points holds, and every figure that follows from them.
#
# UTF-8 CSV. ``row`` says what a row is: ``cell`` (all cells of the split, in order), ``set`` and
# ``dev`` (a set's figures on the split and on the dev split, in the order in which they count),
# ``sheet`` (one person's judgement of a set; people stand under pseudonyms) and ``judge`` (what a
# run of a language model says of a set; ``rater`` is the run). Empty cells are unknown values.


VALUES = ("coverage", "redundancy", "excluding", "including", "share", "seconds")
UNSURE = ("covered_is_unsure", "unique_is_unsure")
SAID_OF = ("row", "cell", "topic", "set", "system", "setting", "rater", "round", "replicate")
COLUMNS = (*SAID_OF, *VALUES, *UNSURE)
Row = dict[str, Any]


def kept_rows(choice: BoardChoice) -> bytes:
    """Everything that a choice is computed from, as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_rows(choice))
    return file.getvalue().encode()


def recipe_of(choice: BoardChoice, rows: bytes) -> dict[str, Any]:
    """How the figures of a choice are made."""
    return {
        "version": RECIPE_VERSION,
        "dataset": {"id": str(choice.chosen.public_id), "name": choice.chosen.name},
        "split": choice.split,
        "query": choice.query,
        "coverage": choice.coverage.key,
        "redundancy": choice.redundancy.key,
        "weight": choice.terms.weight,
        "selection": choice.terms.selection,
        "least_share": choice.terms.least_share,
        # Of judges that did not answer everything when this was computed.
        "unfinished_runs": [run.number for run in unfinished_runs(choice)],
        "sheets": sum(each["row"] == "sheet" for each in _read(rows)),
    }


def figures_of(rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
    """The leaderboard, and the agreement of the people who judged its sets."""
    found = _read(rows)
    figures: dict[str, Any] = to_json(SnapshotFigures(_board(found, recipe), _agreement(found)))
    return figures


def marker(choice: BoardChoice) -> str:
    """Digest of the choice and of everything that its figures depend on; six queries."""
    dataset = choice.dataset
    sets = choice.study.summary_sets.filter(cell__dataset=dataset)
    scores = MetricScore.objects.filter(summary_set__in=sets.order_by().values("pk"))
    sheets = CountSheet.objects.filter(summary_set__in=sets.order_by().values("pk"))
    states = sheets.order_by("state", "is_extra").values_list("state", "is_extra")
    matches = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    excluded = Place.objects.filter(
        round__countinground__study=choice.study, excluded_at__isnull=False
    )
    parts = (
        (RECIPE_VERSION, choice.query),
        list(sets.order_by("state").values_list("state").annotate(Count("pk"), Max("pk"))),
        scores.aggregate(Count("pk"), Max("at")),
        list(states.annotate(Count("pk"), Max("pk"), Max("submitted_at"))),
        CountEvent.objects.filter(sheet__study=choice.study).aggregate(Max("pk")),
        (matches.count(), list(excluded.order_by("pk").values_list("pk", flat=True))),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _rows(choice: BoardChoice) -> Iterator[Row]:
    cells = choice.chosen.cells.order_by("position")
    names = {str(cell.pk): str(cell) for cell in cells}
    for cell in cells:
        if cell.split == choice.split:
            yield {"row": "cell", "cell": names[str(cell.pk)], "topic": cell.topic}
    sets, ids = scored_sets(choice, choice.split)
    for kind, found in (("set", sets), ("dev", dev_sets(choice))):
        for each in found:
            values = {name: getattr(each, name) for name in VALUES}
            own = {"cell": names[each.cell], "system": each.system, "setting": each.setting}
            yield {"row": kind, "set": ids.get(each.key, each.key), **own, **_known(values)}
    yield from _sheet_rows(ids)
    for dimension, runs in judges_of(choice.study, set(ids)).items():
        for run, counts in runs.items():
            for key, value in counts.items():
                yield {"row": "judge", "set": ids[key], "rater": run, dimension: value}


def _sheet_rows(ids: dict[int, str]) -> Iterator[Row]:
    names = ("summary_set", "rater__public_id", "round", "replicate", *DIMENSIONS, *UNSURE)
    sheets = sheets_of_people(CountSheet.objects.filter(summary_set__in=ids))
    for row in sheets.order_by("pk").values_list(*names):
        found = dict(zip(names, row, strict=True))
        own = {
            "row": "sheet",
            "set": ids[found.pop("summary_set")],
            "rater": pseudonym(str(found.pop("rater__public_id"))),
        }
        yield own | _known(found | {name: int(found[name]) for name in UNSURE})


def _known(values: Row) -> Row:
    return {name: value for name, value in values.items() if value is not None}


def _read(rows: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(rows.decode(), newline="")))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _board(rows: list[Row], recipe: dict[str, Any]) -> SnapshotBoard:
    terms = Terms(recipe["weight"], recipe["selection"], recipe["least_share"])
    cells = [each["cell"] for each in rows if each["row"] == "cell"]
    # Rows before version 2 have none.
    topics = {each["cell"]: each["topic"] for each in rows if each.get("topic")}
    sets, dev = (
        [_scored(key, each) for key, each in enumerate(rows) if each["row"] == kind]
        for kind in ("set", "dev")
    )
    found = board(sets, dev, cells, terms, topics)
    return SnapshotBoard(
        cells=tuple(cells),
        has_dev=bool(dev),
        is_oracle=any(row.selection == "oracle" for row in found),
        rows=tuple(_snapshot_system(row, rows) for row in found),
    )


def _scored(key: int, row: Row) -> SetFigures:
    values = {name: _number(row[name]) for name in VALUES}
    return SetFigures(key, row["system"], row["setting"], row["cell"], **values)


def _snapshot_system(row: SystemRow, rows: list[Row]) -> SnapshotSystem:
    return SnapshotSystem(
        row.system,
        row.selection,
        row.criterion,
        row.setting,
        row.settings,
        figures={name: row.figures[name] for name in FIGURES},
        cells=tuple(
            SnapshotCell(cell, rows[each.key]["set"], each.setting, row.by_cell[cell])
            for cell, each in row.chosen.items()
        ),
    )


def _agreement(rows: list[Row]) -> SnapshotAgreement:
    keys = {each["set"]: place for place, each in enumerate(rows) if each["row"] == "set"}
    sheets = [each for each in rows if each["row"] == "sheet"]
    names = sorted({each["rater"] for each in sheets})
    judges: dict[str, dict[str, dict[int, float]]] = {}
    for each in rows:
        if each["row"] == "judge":
            for name in DIMENSIONS:
                if each[name]:
                    own = judges.setdefault(name, {}).setdefault(each["rater"], {})
                    own[keys[each["set"]]] = float(each[name])
    kept = [_sheet(each, keys[each["set"]], names.index(each["rater"])) for each in sheets]
    cells = {key: rows[key]["cell"] for key in keys.values()}
    found = agreement_of(kept, dict(enumerate(names)), judges, cells)
    dimensions = tuple(_dimension(each) for each in found.dimensions)
    return SnapshotAgreement(found.sets, tuple(found.raters), dimensions)


def _sheet(row: Row, key: int, rater: int) -> SnapshotSheet:
    return SnapshotSheet(
        rater,
        key,
        int(row["round"]) if row["round"] else None,
        int(row["replicate"]),
        _number(row["coverage"]),
        _number(row["redundancy"]),
        row["covered_is_unsure"] == "1",
        row["unique_is_unsure"] == "1",
    )


def _dimension(found: DimensionAgreement) -> SnapshotDimension:
    return SnapshotDimension(
        found.dimension,
        found.pairs.mean,
        found.pairs.pairs,
        found.judges,
        found.repeats,
        found.alpha,
    )


# The figures of a snapshot of key points as tables.


def kept_tables(snapshot: KeyPointSnapshot) -> list[TableData]:
    """Systems, then for each dimension the pairs of raters that a snapshot has."""
    found = from_json(SnapshotFigures, snapshot.figures)
    note = _note(snapshot.recipe, found.board)
    pairs = (_pairs(each) for each in found.agreement.dimensions)
    return [_systems(found.board, note), _counts(found.board), *pairs]


def _systems(board: SnapshotBoard, note: str) -> TableData:
    columns = [_("System"), _("Setting"), _("How chosen")]
    columns += [str(FIGURE_NAMES[name]) for name in FIGURES]
    columns.insert(4, _("95 % interval"))
    rows = [_system_cells(row) for row in board.rows]
    return TableData(columns, rows, _("Systems"), note, "key-points")


def _system_cells(row: SnapshotSystem) -> list[Any]:
    figures = [row.figures[name].value for name in FIGURES]
    first = row.figures[FIGURES[0]]
    interval = "" if first.low is None else f"{first.low:.3f}–{first.high:.3f}"
    setting = row.setting if row.setting is not None else _("differs by cell")
    how = str(SELECTION_NAMES[row.selection])
    return [row.system, setting, how, figures[0], interval, *figures[1:]]


def _counts(board: SnapshotBoard) -> TableData:
    """In how many cells each figure is known."""
    rows: list[list[Any]] = [
        [row.system, *(row.figures[name].n_values for name in FIGURES)] for row in board.rows
    ]
    columns = [_("System"), *(str(FIGURE_NAMES[name]) for name in FIGURES)]
    note = _("Each mean is over these cells, out of %d.") % len(board.cells)
    return TableData(columns, rows, _("Cells per mean"), note, "key-points-cells")


def _pairs(found: SnapshotDimension) -> TableData:
    rows = [
        [each.first, each.second, each.n, each.value] for each in (*found.pairs, *found.judges)
    ]
    said = [
        _("Krippendorff's alpha, interval: %s.") % _decimals(found.alpha.value),
        _("Mean Pearson over pairs of people: %s.") % _decimals(found.mean_pearson),
    ]
    columns = [_("First"), _("Second"), _("n sets"), _("Pearson")]
    title = _("%s: agreement by pair") % DIMENSION_NAMES[found.dimension]
    return TableData(columns, rows, title, " ".join(said), f"people-{found.dimension}")


def _decimals(value: float | None) -> str:
    return _("not defined") if value is None else f"{value:.3f}"


def _note(recipe: dict[str, Any], board: SnapshotBoard) -> str:
    said = [
        _("Coverage by %(coverage)s, redundancy by %(redundancy)s; weight %(weight).3f.")
        % {
            "coverage": _source(recipe["coverage"]),
            "redundancy": _source(recipe["redundancy"]),
            "weight": recipe["weight"],
        },
        (
            _("Means over %d cells; 95 %% intervals resample cells.")
            if recipe["version"] < 2
            else _("Means over %d cells; 95 %% intervals over topics.")
        )
        % len(board.cells),
    ]
    if board.is_oracle:
        said.append(_("Oracle: for each cell, the setting that the score itself would choose."))
    said += [
        _("Run #%d of the judge was not complete when this was computed.") % number
        for number in recipe["unfinished_runs"]
    ]
    return " ".join(said)


def _source(key: str) -> str:
    metric, _bar, setting = key.partition("|")
    return source_name(Source(metric, setting))
