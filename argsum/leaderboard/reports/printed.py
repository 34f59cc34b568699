"""The tables of the leaderboard for a printed page: what has values, in few columns.

The CSV files hold everything; LaTeX and Markdown hold what a reader of a paper needs.
"""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from argsum.leaderboard.methods.system_board import FIGURES, SystemRow
from cqa_site.reproduction.tables import Filled, Layout, Line, PaperTable
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import DECIMALS

from .board import SummaryBoard
from .correlation import MetricRow
from .set_scores import Source
from .tables import DIMENSION_NAMES, FIGURE_NAMES, board_note

# Seconds say more about a machine than about a system; the CSV has them.
PRINTED = tuple(name for name in FIGURES if name != "seconds")
FEWER_MARK = "†"
NOTHING = Filled("–")


def printed_board(found: SummaryBoard) -> PaperTable:
    """Systems with the figures that any of them has, and the interval of the one that ranks."""
    shown = [name for name in PRINTED if any(_is_known(row.figures[name]) for row in found.rows)]
    ranking = shown[0] if shown else ""
    has_settings = any(row.setting is not None for row in found.rows)
    stubs = [_("System"), *([_("Setting")] if has_settings else [])]
    columns = [_short(name) for name in shown]
    if ranking:
        columns.insert(1, _("95 % interval"))
    lines, cells = [], []
    for row in found.rows:
        labels = [row.system, *([row.setting or _("by cell")] if has_settings else [])]
        filled = [_value(row.figures[name], len(found.cells)) for name in shown]
        if ranking:
            filled.insert(1, _interval(row.figures[ranking]))
        lines.append(Line(tuple(labels), (None,) * len(filled)))
        cells.append(tuple(filled))
    notes = [board_note(found), *_fewer(cells)]
    caption = _("Summarization systems")
    return _table("key-points", caption, [*stubs, *columns], lines, cells, notes)


def printed_cells(found: SummaryBoard) -> PaperTable:
    """Systems by cell, with the figures that any of them has."""
    places = {str(cell.pk): str(cell) for cell in found.cells}
    rows = [
        (row, key, row.by_cell[key]) for row in found.rows for key in places if key in row.by_cell
    ]
    shown = [
        name for name in PRINTED if any(values[name] is not None for _row, _key, values in rows)
    ]
    has_settings = len({_setting(row, key) for row, key, _values in rows}) > 1
    heads = [_("System"), _("Cell"), *([_("Setting")] if has_settings else [])]
    lines = [
        Line(
            (row.system, places[key], *([_setting(row, key)] if has_settings else [])),
            (None,) * len(shown),
        )
        for row, key, _values in rows
    ]
    cells = [tuple(_number(values[name]) for name in shown) for _row, _key, values in rows]
    heads += [_short(name) for name in shown]
    return _table(
        "key-points-cells", _("Systems by cell"), heads, lines, cells, [board_note(found)]
    )


def printed_correlations(rows: Sequence[MetricRow]) -> PaperTable:
    """Metrics against people, as the paper has them: across, and within with its spread."""
    has_settings = any(row.source.setting for row in rows)
    lines, cells = [], []
    for row in rows:
        labels = [
            str(Source(row.source.metric)),
            *([row.source.setting] if has_settings else []),
            str(DIMENSION_NAMES[row.source.dimension]),
        ]
        within = NOTHING
        if row.found.within_mean is not None and row.found.within_sd is not None:
            mean, spread = (
                _number(each).text for each in (row.found.within_mean, row.found.within_sd)
            )
            within = Filled(f"{mean} ± {spread}")
        lines.append(Line(tuple(labels), (None,) * 3))
        cells.append((_number(row.found.across), within, Filled(f"{row.found.n:,}")))
    heads = [
        _("Metric"),
        *([_("Setting")] if has_settings else []),
        _("Against"),
        _("Across"),
        _("Within"),
        _("n sets"),
    ]
    note = _(
        "Pearson with the mean of people. Within: mean ± population standard deviation over cells."
    )
    return _table("metric-correlations", _("Metrics against people"), heads, lines, cells, [note])


def _table(
    name: str,
    caption: str,
    heads: Sequence[str],
    lines: Iterable[Line],
    cells: Iterable[tuple[Filled, ...]],
    notes: Iterable[str],
) -> PaperTable:
    layout = Layout(name, caption, tuple(heads), tuple(lines))
    return PaperTable(layout, tuple(cells), tuple(notes))


def _short(name: str) -> str:
    shorter = {
        "weighted": _("Weighted"),
        "excluding": _("ARI, clustered"),
        "including": _("ARI, all"),
        "share": _("Clustered"),
    }
    return shorter.get(name, str(FIGURE_NAMES[name]))


def _is_known(each: Estimate) -> bool:
    return each.value is not None


def _value(each: Estimate, n_cells: int) -> Filled:
    text = _number(each.value)
    is_short = each.value is not None and each.n_values < n_cells
    return Filled(text.text, FEWER_MARK) if is_short else text


def _interval(each: Estimate) -> Filled:
    if each.low is None or each.high is None:
        return NOTHING
    return Filled(f"[{_number(each.low).text}, {_number(each.high).text}]")


def _number(value: float | None) -> Filled:
    return NOTHING if value is None else Filled(f"{value:z,.{DECIMALS}f}".replace("-", "−"))


def _setting(row: SystemRow, key: str) -> str:
    return row.chosen[key].setting


def _fewer(cells: Iterable[Sequence[Filled]]) -> list[str]:
    if not any(each.mark for row in cells for each in row):
        return []
    return [_("%s Mean over fewer cells, as the others have no value.") % FEWER_MARK]
