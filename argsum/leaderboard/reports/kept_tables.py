"""The figures of a snapshot of key points as tables."""

from typing import Any

from django.utils.translation import gettext as _

from argsum.leaderboard.methods.system_board import FIGURES
from argsum.leaderboard.models import KeyPointSnapshot
from cqa_site.stats.as_json import from_json
from cqa_site.web.tables import TableData

from .kept_figures import KeptBoard, KeptDimension, KeptFigures, KeptSystem
from .set_scores import Source
from .tables import DIMENSION_NAMES, FIGURE_NAMES, SELECTION_NAMES, source_name


def kept_tables(snapshot: KeyPointSnapshot) -> list[TableData]:
    """Systems, then for each dimension the pairs of raters that a snapshot has."""
    found = from_json(KeptFigures, snapshot.figures)
    note = _note(snapshot.recipe, found.board)
    pairs = (_pairs(each) for each in found.agreement.dimensions)
    return [_systems(found.board, note), _counts(found.board), *pairs]


def _systems(board: KeptBoard, note: str) -> TableData:
    columns = [_("System"), _("Setting"), _("How chosen")]
    columns += [str(FIGURE_NAMES[name]) for name in FIGURES]
    columns.insert(4, _("95 % interval"))
    rows = [_system(row) for row in board.rows]
    return TableData(columns, rows, _("Systems"), note, "key-points")


def _system(row: KeptSystem) -> list[Any]:
    figures = [row.figures[name].value for name in FIGURES]
    first = row.figures[FIGURES[0]]
    interval = "" if first.low is None else f"{first.low:.3f}–{first.high:.3f}"
    setting = row.setting if row.setting is not None else _("differs by cell")
    how = str(SELECTION_NAMES[row.selection])
    return [row.system, setting, how, figures[0], interval, *figures[1:]]


def _counts(board: KeptBoard) -> TableData:
    """In how many cells each figure is known."""
    rows: list[list[Any]] = [
        [row.system, *(row.figures[name].n_values for name in FIGURES)] for row in board.rows
    ]
    columns = [_("System"), *(str(FIGURE_NAMES[name]) for name in FIGURES)]
    note = _("Each mean is over these cells; there are %d.") % len(board.cells)
    return TableData(columns, rows, _("Cells behind each mean"), note, "key-points-cells")


def _pairs(found: KeptDimension) -> TableData:
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


def _note(recipe: dict[str, Any], board: KeptBoard) -> str:
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
        said.append(_("Oracle: of every cell the setting that the score itself would choose."))
    said += [
        _("Run #%d of the judge was not complete when this was computed.") % number
        for number in recipe["unfinished_runs"]
    ]
    return " ".join(said)


def _source(key: str) -> str:
    metric, _bar, setting = key.partition("|")
    return source_name(Source(metric, setting))
