"""Tables of the leaderboard, correlations and agreement, for files and print."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.leaderboard.methods import FIGURES, INDICES, SystemRow
from cqa_site.reproduction.tables import CellText, PaperTable, TableLayout, TableLine
from cqa_site.results.figures import Column, table_of, value_of
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import LEAST_CLUSTERS
from cqa_site.stats.verdicts import RULES
from cqa_site.web.tables import TableData, interval_text, one_line, text_of
from .board import SummaryBoard
from .people_agreement import DimensionAgreement, PeopleAgreement
from .scores import MetricRow, ScoreSource, SetPoint

FIGURE_NAMES: dict[str, Any] = {
    "weighted": lazy("Weighted score"),
    "coverage": lazy("Coverage"),
    "redundancy": lazy("Redundancy"),
    "excluding": lazy("ARI without unclustered arguments"),
    "including": lazy("ARI with unclustered arguments"),
    "share": lazy("Share clustered"),
    "seconds": lazy("Seconds per cell"),
}
SELECTION_NAMES: dict[str, Any] = {
    "dev": lazy("chosen on the dev split"),
    "fixed": lazy("fixed setting, not chosen by any score"),
    "oracle": lazy("best per cell by the score itself (oracle)"),
    "only": lazy("the only setting"),
}
DIMENSION_NAMES: dict[str, Any] = {"coverage": lazy("Coverage"), "redundancy": lazy("Redundancy")}
CORRELATIONS = lazy(
    "Pearson correlation with people's mean, after averaging each rater's judgements of a set; "
    "unsure counts are left out. Across: over all sets with both values. Within: mean and "
    "standard deviation (population) over cells. Cells in which the metric's or people's values "
    "do not vary have no correlation and are listed, as are cells with fewer than 3 sets."
)


def source_name(source: ScoreSource) -> str:
    """Return a source's name as shown on pages."""
    if source.metric == "people":
        return _("people (mean over raters)")
    return _("nothing") if source.metric == "none" else str(source)


def board_note(board: SummaryBoard) -> str:
    """Return the note below a leaderboard on how its numbers were computed."""
    return one_line(board_method(board))


def board_method(board: SummaryBoard) -> str:
    """Return the method of a leaderboard in named paragraphs."""
    choice = board.choice
    note = _(
        "Shown: coverage by %(coverage)s, redundancy by %(redundancy)s.\n\nRanked by: "
        "weighted score = %(weight).3f × coverage + %(rest).3f × (1 − "
        "redundancy).\n\nMeans: over %(n)d cells of “%(dataset)s”; 95 %% intervals by t "
        "over topics, corrected for skewness, for %(least)d topics or more.\n\nLeader: "
        "paired t over the topics of both systems, corrected for skewness; Holm over "
        "all pairs with %(paired)d topics or more. Both stances of a topic are one "
        "unit.\n\nLeft out: a cell in which fewer than %(share)d %% of the arguments "
        "are clustered has no ARI without unclustered arguments. The mean is over the "
        "other cells, and their number is given; next to it is the mean over all "
        "cells with clusters, counting such cells as 0.\n\nShare clustered: arguments "
        "in a cluster, out of the arguments that match exactly one reference. The "
        "share that ends up with a key point is different: it depends on the match "
        "with key points, not on the clusters."
    ) % {
        "coverage": source_name(choice.coverage),
        "redundancy": source_name(choice.redundancy),
        "weight": choice.terms.weight,
        "rest": 1 - choice.terms.weight,
        "n": len(board.cells),
        "least": LEAST_CLUSTERS,
        "paired": RULES["difference"].least,
        "dataset": choice.dataset or "",
        "share": round(100 * choice.terms.least_share),
    }
    aside = _("Systems with “%s” in their names are left out.") % choice.without
    notes = [note, *([aside] if choice.without else [])]
    return "\n\n".join([*notes, *oracle_notes(board), *unfinished_notes(board)])


def oracle_notes(board: SummaryBoard) -> list[str]:
    """Return a note if settings were chosen by the figure that judges them, or [] otherwise."""
    if not board.is_oracle:
        return []
    return [
        _(
            "Oracle: in each cell, the setting is the one that the score shown would choose, and "
            "each adjusted Rand index comes from the clustering that is best on that index."
        )
    ]


def unfinished_notes(board: SummaryBoard) -> list[str]:
    """Return a note for each judge's run that is not complete."""
    return [
        _(
            "The judge's run #%(number)d is not complete (%(state)s). Its means may be based on "
            "fewer replies or sets than planned."
        )
        % {"number": run.number, "state": run.get_state_display().lower()}
        for run in board.unfinished
    ]


SYSTEM_COLUMNS = (
    Column(lazy("System"), "system"),
    Column(
        lazy("Setting"), lambda row: _("differs by cell") if row.setting is None else row.setting
    ),
    Column(lazy("Choice of setting"), lambda row: str(SELECTION_NAMES[row.selection])),
)


def board_table(board: SummaryBoard) -> TableData:
    """Return one row per system; each figure has bounds and its number of cells."""
    columns = list(SYSTEM_COLUMNS)
    for name in FIGURES:
        title, path = FIGURE_NAMES[name], f"figures.{name}"
        columns += [
            Column(title, f"{path}.value"),
            Column(_("%s, low") % title, f"{path}.low"),
            Column(_("%s, high") % title, f"{path}.high"),
            Column(_("%s, n cells") % title, f"{path}.n_values"),
        ]
    title = _("%s (0 for cells with too few clustered arguments)") % FIGURE_NAMES["excluding"]
    columns.append(Column(title, "excluding.with_zeros"))
    about = {"caption": _("Summarization systems"), "note": board_note(board)}
    return table_of(columns, board.rows, **about, name="key-points")


def cells_table(board: SummaryBoard) -> TableData:
    """Return one row for every system and cell."""
    columns = [
        Column(_("System"), "0.system"),
        Column(_("Cell"), "1"),
        Column(_("Setting"), lambda row: row[0].chosen[row[2]].setting),
        Column(_("Choice of setting"), lambda row: str(SELECTION_NAMES[row[0].selection])),
        *(Column(FIGURE_NAMES[name], f"3.{name}") for name in FIGURES),
        *(
            Column(_("%s: other setting") % FIGURE_NAMES[name], partial(_other_setting, name))
            for name in INDICES
        ),
    ]
    about = {"caption": _("Systems by cell"), "note": board_note(board)}
    return table_of(columns, _by_cell(board), **about, name="key-points-cells")


def _by_cell(board: SummaryBoard) -> list[tuple[SystemRow, str, str, Mapping[str, Any]]]:
    """Return each system in each of its cells: row, name and key of the cell, and figures."""
    return [
        (row, str(cell), key, row.by_cell[key])
        for row in board.rows
        for cell in board.cells
        if (key := str(cell.pk)) in row.by_cell
    ]


def _other_setting(name: str, row: tuple[SystemRow, str, str, Any]) -> Any:
    return row[0].clustering_setting(row[2], name)


_OF_METRIC = (
    Column(lazy("Metric"), lambda row: str(ScoreSource(row.source.metric))),
    Column(lazy("Setting"), "source.setting"),
    Column(lazy("Against"), lambda row: str(DIMENSION_NAMES[row.source.dimension])),
    Column(lazy("Across"), "found.across"),
)
CORRELATION_COLUMNS = (
    *_OF_METRIC,
    Column(lazy("n sets"), "found.n"),
    Column(lazy("Mean within"), "found.within_mean"),
    Column(lazy("SD within"), "found.within_sd"),
    Column(lazy("n cells"), "cells"),
    Column(lazy("Constant cells"), lambda row: "; ".join(row.found.constant_cells)),
    Column(lazy("Small cells"), lambda row: "; ".join(row.found.small_cells)),
)


def correlation_table(rows: Sequence[MetricRow]) -> TableData:
    """Return the correlation of every metric with people's scores, across and within cells."""
    about = {"caption": _("Metrics compared with people"), "note": str(CORRELATIONS)}
    return table_of(CORRELATION_COLUMNS, rows, **about, name="metric-correlations")


def points_table(points: Sequence[SetPoint], source: ScoreSource) -> TableData:
    """Return the sets behind a correlation."""
    columns = (
        Column(_("Cell"), "cell"),
        Column(_("System"), "system"),
        Column(_("Setting"), "setting"),
        Column(source, "metric"),
        Column(_("People"), "people"),
    )
    return table_of(columns, points, caption=str(source), name="metric-points")


PAIR_COLUMNS = (
    Column(lazy("First"), "first"),
    Column(lazy("Second"), "second"),
    Column(lazy("n sets"), "n"),
    Column(lazy("Pearson"), "value"),
)
REPEAT_COLUMNS = (
    Column(lazy("Rater"), "name"),
    Column(lazy("n sets"), "n"),
    Column(lazy("Identical"), "same"),
    Column(lazy("Pearson"), "value"),
)


def pairs_table(agreement: DimensionAgreement) -> TableData:
    """Return every pair of raters with the number of sets that both judged."""
    return table_of(
        PAIR_COLUMNS,
        [*agreement.pairs.pairs, *agreement.judges],
        caption=_("%s: agreement by pair") % DIMENSION_NAMES[agreement.dimension],
        note=_(
            "Pairwise Pearson over the sets that both raters judged; unsure counts are left out. "
            "The mean is over pairs of people; pairs with a language model are listed below."
        ),
        name=f"people-{agreement.dimension}",
    )


def raters_table(agreement: PeopleAgreement) -> TableData:
    """Return the number of judgements and the number of unsure answers for each rater."""
    columns = [Column(_("Rater"), "name"), Column(_("Sets"), "sets")]
    for key, name in DIMENSION_NAMES.items():
        columns.append(Column(_("%s: unsure") % name, f"unsure.{key}"))
        columns.append(Column(_("%s: missing") % name, f"missing.{key}"))
    caption = _("Judged sets by rater")
    return table_of(columns, agreement.raters, caption=caption, name="people-raters")


def repeats_table(agreement: DimensionAgreement) -> TableData:
    """Return the comparison of each rater's repeated judgements with the first ones."""
    return table_of(
        REPEAT_COLUMNS,
        agreement.repeats,
        caption=_("%s: repeated sets") % DIMENSION_NAMES[agreement.dimension],
        note=_("Blind repeats within a round: first judgement compared with second."),
        name=f"repeats-{agreement.dimension}",
    )


# Tables of the leaderboard for print: figures with values, in few columns
#
# The CSV files contain all values; LaTeX and Markdown contain what readers of a paper need.

# Seconds depend more on the machine than on the system; they are only in the CSV.
PRINTED = tuple(name for name in FIGURES if name != "seconds")
FEWER_MARK = "†"
FEWER = lazy("%s Mean over fewer cells, because the others have no value.")
NOTHING = CellText("–")


def printed_board(board: SummaryBoard) -> PaperTable:
    """Return the systems with all known figures, and the interval of the ranking figure."""
    names = [
        name for name in PRINTED if any(row.figures[name].value is not None for row in board.rows)
    ]
    setting = Column(_("Setting"), lambda row: row.setting or _("by cell"))
    stubs = [Column(_("System"), "system")]
    stubs += [setting] if any(row.setting is not None for row in board.rows) else []
    columns = [Column(_short(name), partial(_mean, name, len(board.cells))) for name in names]
    if names:
        columns.insert(1, Column(_("95 % interval"), lambda row: _interval(row.figures[names[0]])))
    note, caption = board_note(board), _("Summarization systems")
    table = _printed(stubs, columns, board.rows, caption, note, name="key-points")
    is_short = any(cell.mark for row in table.cells for cell in row)
    return replace(table, notes=(*table.notes, *([FEWER % FEWER_MARK] if is_short else [])))


def printed_cells(board: SummaryBoard) -> PaperTable:
    """Return the systems by cell, with all known figures."""
    rows = _by_cell(board)
    names = [name for name in PRINTED if any(row[3][name] is not None for row in rows)]
    setting = Column(_("Setting"), lambda row: row[0].chosen[row[2]].setting)
    stubs = [Column(_("System"), "0.system"), Column(_("Cell"), "1")]
    stubs += [setting] if len({value_of(setting.value, row) for row in rows}) > 1 else []
    columns = [Column(_short(name), f"3.{name}") for name in names]
    note, caption = board_note(board), _("Systems by cell")
    return _printed(stubs, columns, rows, caption, note, name="key-points-cells")


def printed_correlations(rows: Sequence[MetricRow]) -> PaperTable:
    """Return correlations with people's scores as in the paper, both across and within cells."""
    metric, setting, against, across = _OF_METRIC
    has_settings = any(row.source.setting for row in rows)
    note = _(
        "Pearson correlation with people's mean. Within: mean ± population standard deviation "
        "over cells."
    )
    return _printed(
        [metric, *([setting] if has_settings else []), against],
        [
            across,
            Column(_("Within"), lambda row: _with_spread(row.found)),
            Column(_("n sets"), "found.n"),
        ],
        rows,
        _("Metrics compared with people"),
        note,
        name="metric-correlations",
    )


def _printed(
    stubs: Sequence[Column],
    columns: Sequence[Column],
    rows: Sequence[Any],
    caption: str,
    note: str,
    *,
    name: str,
) -> PaperTable:
    heads = tuple(str(column.title) for column in (*stubs, *columns))
    lines = tuple(
        TableLine(tuple(value_of(stub.value, row) for stub in stubs), (None,) * len(columns))
        for row in rows
    )
    cells = (tuple(_text(value_of(column.value, row)) for column in columns) for row in rows)
    return PaperTable(TableLayout(name, caption, heads, lines), tuple(cells), (note,))


def _short(name: str) -> str:
    shorter = {
        "weighted": _("Weighted"),
        "excluding": _("ARI, clustered"),
        "including": _("ARI, all"),
        "share": _("Clustered"),
    }
    return shorter.get(name, str(FIGURE_NAMES[name]))


def _mean(name: str, n_cells: int, row: SystemRow) -> CellText:
    estimate = row.figures[name]
    is_short = estimate.value is not None and estimate.n_values < n_cells
    return CellText(_text(estimate.value).text, FEWER_MARK if is_short else "")


def _interval(estimate: Estimate) -> CellText:
    return CellText(interval_text(estimate)) if estimate.low is not None else NOTHING


def _with_spread(correlation: Any) -> CellText:
    mean, spread = correlation.within_mean, correlation.within_sd
    if mean is None or spread is None:
        return NOTHING
    return CellText(f"{_text(mean).text} ± {_text(spread).text}")


def _text(value: Any) -> CellText:
    """Return a table cell: numbers are formatted, and missing values are dashes."""
    if isinstance(value, CellText):
        return value
    return NOTHING if value is None else CellText(text_of(value))
