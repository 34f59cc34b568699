"""Snapshots of the leaderboard: stored rows, their figures and tables."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, Sum
from django.utils.translation import gettext as _

from argsum.counting.models import CountEvent, CountSheet
from argsum.counting.reports import sheets_of_people
from argsum.datasets.models import KeyPointMatch
from argsum.leaderboard.methods import FIGURES, SetFigures, SystemRow, Terms, board
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.metrics.methods import RaterPair
from argsum.metrics.models import MetricScore
from cqa_site.results.figures import Column, table_of
from cqa_site.rounds.models import Place
from cqa_site.stats.estimate import Estimate, from_json, to_json
from cqa_site.web.tables import TableData, interval_text
from cqa_site.web.templatetags.pages import pseudonym
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
from .scores import ScoreSource
from .tables import DIMENSION_NAMES, FIGURE_NAMES, PAIR_COLUMNS, SYSTEM_COLUMNS, source_name

# Figures that a snapshot stores in addition to its rows


@dataclass(frozen=True)
class SnapshotCell:
    """The set chosen for a system in a cell, with its figures."""

    cell: str
    summary_set: str
    setting: str
    values: dict[str, float | None]


@dataclass(frozen=True)
class SnapshotSystem:
    """One system, with the fields of `SystemRow`."""

    system: str
    selection: str
    criterion: str
    setting: str | None
    settings: int
    figures: dict[str, Estimate]
    cells: tuple[SnapshotCell, ...]


@dataclass(frozen=True)
class SnapshotBoard:
    """Systems in order, and the cells behind their means."""

    cells: tuple[str, ...]
    has_dev: bool
    is_oracle: bool
    rows: tuple[SnapshotSystem, ...]


@dataclass(frozen=True)
class SnapshotDimension:
    """Agreement on one dimension, with the fields of `DimensionAgreement`."""

    dimension: str
    mean_pearson: float | None
    pairs: tuple[RaterPair, ...]
    judges: tuple[RaterPair, ...]
    repeats: tuple[Repeats, ...]
    alpha: Estimate


@dataclass(frozen=True)
class SnapshotAgreement:
    """Human judges and their agreement."""

    sets: int
    raters: tuple[OneRater, ...]
    dimensions: tuple[SnapshotDimension, ...]


@dataclass(frozen=True)
class SnapshotFigures:
    """Leaderboard and agreement."""

    board: SnapshotBoard
    agreement: SnapshotAgreement


# Rows of a snapshot, and the figures computed from them
#
# UTF-8 CSV. ``row`` is the type of a row: ``cell`` (all cells of the split, in order), ``set`` and
# ``dev`` (a set's figures on the split and on the dev split, in order of priority), ``sheet`` (one
# person's judgement of a set, under a pseudonym) and ``judge`` (the score of a set by a run of a
# language model; ``rater`` is the run). Empty cells are unknown values.

VALUES = ("coverage", "redundancy", "excluding", "including", "share", "seconds")
UNSURE = ("covered_is_unsure", "unique_is_unsure")
SAID_OF = ("row", "cell", "topic", "set", "system", "setting", "rater", "round", "replicate")
COLUMNS = (*SAID_OF, *VALUES, *UNSURE)
Row = dict[str, Any]


def kept_rows(choice: BoardChoice) -> bytes:
    """Return all data behind a choice as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_rows(choice))
    return file.getvalue().encode()


def recipe_of(choice: BoardChoice, rows: bytes) -> dict[str, Any]:
    """Return the recipe that computes the figures of a choice."""
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
        # Judge runs that were not complete at the time of computation.
        "unfinished_runs": [run.number for run in unfinished_runs(choice)],
        "sheets": sum(row["row"] == "sheet" for row in _read(rows)),
    }


def figures_of(rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
    """Compute the leaderboard and the agreement of the people who judged its sets."""
    records = _read(rows)
    figures: dict[str, Any] = to_json(
        SnapshotFigures(_board(records, recipe), _agreement(records))
    )
    return figures


def marker(choice: BoardChoice) -> str:
    """Return a digest of the choice and of all data behind its figures, using six queries."""
    dataset = choice.dataset
    sets = choice.study.summary_sets.filter(cell__dataset=dataset)
    scores = MetricScore.objects.filter(summary_set__in=sets.order_by().values("pk"))
    sheets = CountSheet.objects.filter(summary_set__in=sets.order_by().values("pk"))
    states = sheets.order_by("state", "is_extra").values_list("state", "is_extra")
    ordinary = Sum("pk", filter=Q(known__isnull=True))
    matches = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    excluded = Place.objects.filter(
        round__countinground__study=choice.study, excluded_at__isnull=False
    )
    parts = (
        (RECIPE_VERSION, choice.query),
        list(sets.order_by("state").values_list("state").annotate(Count("pk"), Max("pk"))),
        scores.aggregate(Count("pk"), Max("at")),
        list(states.annotate(Count("pk"), Max("pk"), Max("submitted_at"), own=ordinary)),
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
    for kind, group in (("set", sets), ("dev", dev_sets(choice))):
        for figures in group:
            values = {name: getattr(figures, name) for name in VALUES}
            own = {
                "cell": names[figures.cell],
                "system": figures.system,
                "setting": figures.setting,
            }
            yield {"row": kind, "set": ids.get(figures.key, figures.key), **own, **_known(values)}
    yield from _sheet_rows(ids)
    for dimension, runs in judges_of(choice.study, set(ids)).items():
        for run, counts in runs.items():
            for key, value in counts.items():
                yield {"row": "judge", "set": ids[key], "rater": run, dimension: value}


def _sheet_rows(ids: dict[int, str]) -> Iterator[Row]:
    names = ("summary_set", "rater__public_id", "round", "replicate", *DIMENSIONS, *UNSURE)
    sheets = sheets_of_people(CountSheet.objects.filter(summary_set__in=ids))
    for row in sheets.order_by("pk").values_list(*names):
        sheet = dict(zip(names, row, strict=True))
        own = {
            "row": "sheet",
            "set": ids[sheet.pop("summary_set")],
            "rater": pseudonym(str(sheet.pop("rater__public_id"))),
        }
        yield own | _known(sheet | {name: int(sheet[name]) for name in UNSURE})


def _known(values: Row) -> Row:
    return {name: value for name, value in values.items() if value is not None}


def _read(rows: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(rows.decode(), newline="")))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _board(rows: list[Row], recipe: dict[str, Any]) -> SnapshotBoard:
    terms = Terms(recipe["weight"], recipe["selection"], recipe["least_share"])
    cells = [record["cell"] for record in rows if record["row"] == "cell"]
    # Rows before version 2 have no topic.
    topics = {record["cell"]: record["topic"] for record in rows if record.get("topic")}
    sets, dev = (
        [_scored(key, record) for key, record in enumerate(rows) if record["row"] == kind]
        for kind in ("set", "dev")
    )
    systems = board(sets, dev, cells, terms, topics)
    return SnapshotBoard(
        cells=tuple(cells),
        has_dev=bool(dev),
        is_oracle=any(row.selection == "oracle" for row in systems),
        rows=tuple(_snapshot_system(row, rows) for row in systems),
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
            SnapshotCell(cell, rows[figures.key]["set"], figures.setting, row.by_cell[cell])
            for cell, figures in row.chosen.items()
        ),
    )


def _agreement(rows: list[Row]) -> SnapshotAgreement:
    keys = {row["set"]: place for place, row in enumerate(rows) if row["row"] == "set"}
    sheets = [row for row in rows if row["row"] == "sheet"]
    names = sorted({sheet["rater"] for sheet in sheets})
    judges: dict[str, dict[str, dict[int, float]]] = {}
    for record in rows:
        if record["row"] == "judge":
            for name in DIMENSIONS:
                if record[name]:
                    own = judges.setdefault(name, {}).setdefault(record["rater"], {})
                    own[keys[record["set"]]] = float(record[name])
    snapshot_sheets = [
        _sheet(sheet, keys[sheet["set"]], names.index(sheet["rater"])) for sheet in sheets
    ]
    cells = {key: rows[key]["cell"] for key in keys.values()}
    agreement = agreement_of(snapshot_sheets, dict(enumerate(names)), judges, cells)
    dimensions = tuple(_dimension(dimension) for dimension in agreement.dimensions)
    return SnapshotAgreement(agreement.sets, tuple(agreement.raters), dimensions)


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


def _dimension(agreement: DimensionAgreement) -> SnapshotDimension:
    return SnapshotDimension(
        agreement.dimension,
        agreement.pairs.mean,
        agreement.pairs.pairs,
        agreement.judges,
        agreement.repeats,
        agreement.alpha,
    )


def kept_tables(snapshot: KeyPointSnapshot) -> list[TableData]:
    """Return the tables of a snapshot: systems, cells per mean, and pairs of raters."""
    figures = from_json(SnapshotFigures, snapshot.figures)
    note = _note(snapshot.recipe, figures.board)
    pairs = (_pairs(dimension) for dimension in figures.agreement.dimensions)
    return [_systems(figures.board, note), _counts(figures.board), *pairs]


def _systems(board: SnapshotBoard, note: str) -> TableData:
    columns = [
        *SYSTEM_COLUMNS,
        *(Column(FIGURE_NAMES[name], f"figures.{name}.value") for name in FIGURES),
    ]
    interval = Column(_("95 % interval"), lambda row: interval_text(row.figures[FIGURES[0]]))
    columns.insert(4, interval)
    return table_of(columns, board.rows, caption=_("Systems"), note=note, name="key-points")


def _counts(board: SnapshotBoard) -> TableData:
    """Return a table with the number of cells in which each figure is known."""
    columns = [Column(_("System"), "system")]
    columns += [Column(FIGURE_NAMES[name], f"figures.{name}.n_values") for name in FIGURES]
    note = _("Each mean is over these cells, out of %d.") % len(board.cells)
    about = {"caption": _("Cells per mean"), "note": note}
    return table_of(columns, board.rows, **about, name="key-points-cells")


def _pairs(dimension: SnapshotDimension) -> TableData:
    sentences = [
        _("Krippendorff's alpha, interval: %s.") % _decimals(dimension.alpha.value),
        _("Mean Pearson correlation over pairs of people: %s.")
        % _decimals(dimension.mean_pearson),
    ]
    return table_of(
        PAIR_COLUMNS,
        (*dimension.pairs, *dimension.judges),
        caption=_("%s: agreement by pair") % DIMENSION_NAMES[dimension.dimension],
        note=" ".join(sentences),
        name=f"people-{dimension.dimension}",
    )


def _decimals(value: float | None) -> str:
    return _("not defined") if value is None else f"{value:.3f}"


def _note(recipe: dict[str, Any], board: SnapshotBoard) -> str:
    sentences = [
        _("Coverage by %(coverage)s, redundancy by %(redundancy)s; weight %(weight).3f.")
        % {
            "coverage": _source(recipe["coverage"]),
            "redundancy": _source(recipe["redundancy"]),
            "weight": recipe["weight"],
        },
        (
            _("Means over %d cells; 95 %% intervals from resampling cells.")
            if recipe["version"] < 2
            else _("Means over %d cells; 95 %% intervals over topics.")
        )
        % len(board.cells),
    ]
    if board.is_oracle:
        sentences.append(
            _("Oracle: for each cell, the setting that the score itself would choose.")
        )
    sentences += [
        _("The judge's run #%d was not complete when this was computed.") % number
        for number in recipe["unfinished_runs"]
    ]
    return " ".join(sentences)


def _source(key: str) -> str:
    metric, _bar, setting = key.partition("|")
    return source_name(ScoreSource(metric, setting))
