"""Tables of leaderboard, correlations and agreement, for files and print."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.leaderboard.methods import FIGURES, INDICES, SystemRow
from cqa_site.reproduction.tables import CellText, PaperTable, TableLayout, TableLine
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import LEAST_CLUSTERS
from cqa_site.stats.verdicts import RULES
from cqa_site.web.tables import DECIMALS, TableData, one_line

from .board import SummaryBoard
from .people_agreement import DimensionAgreement, PeopleAgreement
from .scores import MetricRow, ScoreSource, SetPoint

# The leaderboard, correlations and agreement as tables that people take away.


FIGURE_NAMES: dict[str, Any] = {
    "weighted": lazy("Weighted score"),
    "coverage": lazy("Coverage"),
    "redundancy": lazy("Redundancy"),
    "excluding": lazy("ARI without unclustered"),
    "including": lazy("ARI with unclustered"),
    "share": lazy("Share clustered"),
    "seconds": lazy("Seconds per cell"),
}
SELECTION_NAMES: dict[str, Any] = {
    "dev": lazy("chosen on the dev split"),
    "fixed": lazy("fixed setting, not chosen by any score"),
    "oracle": lazy("best per cell by the score itself (oracle)"),
    "only": lazy("the only setting"),
}
DIMENSION_NAMES: dict[str, Any] = {
    "coverage": lazy("Coverage"),
    "redundancy": lazy("Redundancy"),
}
CORRELATIONS = lazy(
    "Pearson with people's mean, after averaging each rater's judgements of a set; unsure "
    "counts are left out. Across: over all sets with both values. Within: mean and standard "
    "deviation (population) over cells. Cells in which the metric's or people's values do not "
    "vary have no correlation and are listed, as are cells with fewer than 3 sets."
)


def source_name(source: ScoreSource) -> str:
    """Return the name of a source on pages."""
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
        "Shown: coverage by %(coverage)s, redundancy by %(redundancy)s.\n\nRanked by: weighted "
        "score = %(weight).3f × coverage + %(rest).3f × (1 − redundancy).\n\nMeans: over %(n)d "
        "cells of “%(dataset)s”; 95 %% intervals by t over topics, corrected for skewness, for "
        "%(least)d topics or more.\n\nLeader: paired t over the topics of both systems, "
        "corrected for skewness; Holm over all pairs with %(paired)d topics or more. Both "
        "stances of a topic are one unit.\n\nLeft out: a cell in which fewer than %(share)d %% "
        "of the arguments are clustered has no ARI without unclustered arguments. The mean is "
        "over the other cells, whose number is given; next to it is the mean over all cells with "
        "clusters, counting such cells as 0.\n\nShare clustered: arguments in a cluster, out of "
        "the arguments that match exactly one reference. The share that ends up with a key point "
        "is different: it depends on the match with key points, not on the clusters."
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
    aside = _("Systems left out: those with “%s” in their names.") % choice.without
    notes = [note, *([aside] if choice.without else [])]
    return "\n\n".join([*notes, *oracle_notes(board), *unfinished_notes(board)])


def oracle_notes(board: SummaryBoard) -> list[str]:
    """Note that settings were chosen by the figure that judges them; else empty."""
    if not board.is_oracle:
        return []
    return [
        _(
            "Oracle: in each cell, the setting is the one that the score shown would choose, and "
            "each adjusted Rand index comes from the clustering that is best on that index."
        )
    ]


def unfinished_notes(board: SummaryBoard) -> list[str]:
    """Note that a judge did not answer all planned requests; else empty."""
    return [
        _(
            "The judge's run #%(number)d is not complete (%(state)s). Its means may be based on "
            "fewer replies or sets than planned."
        )
        % {"number": run.number, "state": run.get_state_display().lower()}
        for run in board.unfinished
    ]


def board_table(board: SummaryBoard) -> TableData:
    """Return one row per system; each figure has bounds and its number of cells."""
    columns = [_("System"), _("Setting"), _("How chosen")]
    for name in FIGURES:
        title = str(FIGURE_NAMES[name])
        columns += [
            title,
            *(template % title for template in (_("%s, low"), _("%s, high"), _("%s, n cells"))),
        ]
    columns.append(_("%s, 0 for cells with too few clustered") % FIGURE_NAMES["excluding"])
    rows = [
        [
            row.system,
            row.setting if row.setting is not None else _("differs by cell"),
            str(SELECTION_NAMES[row.selection]),
            *(part for name in FIGURES for part in _parts(row.figures[name])),
            row.excluding.with_zeros,
        ]
        for row in board.rows
    ]
    return TableData(columns, rows, _("Summarization systems"), board_note(board), "key-points")


def _parts(estimate: Estimate) -> list[float | int | None]:
    return [estimate.value, estimate.low, estimate.high, estimate.n_values]


def cells_table(board: SummaryBoard) -> TableData:
    """Return one row for every system and cell."""
    rows = []
    for row in board.rows:
        for cell in board.cells:
            values = row.by_cell.get(str(cell.pk))
            if values is None:
                continue
            own = row.chosen[str(cell.pk)]
            others = [row.clustering_setting(str(cell.pk), name) for name in INDICES]
            how = str(SELECTION_NAMES[row.selection])
            figures = [values[name] for name in FIGURES]
            rows.append([row.system, str(cell), own.setting, how, *figures, *others])
    columns = [_("System"), _("Cell"), _("Setting"), _("How chosen")]
    columns += [str(FIGURE_NAMES[figure]) for figure in FIGURES]
    columns += [_("%s: other setting") % FIGURE_NAMES[index] for index in INDICES]
    return TableData(columns, rows, _("Systems by cell"), board_note(board), "key-points-cells")


def correlation_table(rows: Sequence[MetricRow]) -> TableData:
    """Return every metric compared with people, across and within cells."""
    columns = [
        _("Metric"),
        _("Setting"),
        _("Against"),
        _("Across"),
        _("n sets"),
        _("Within, mean"),
        _("Within, sd"),
        _("n cells"),
        _("Constant cells"),
        _("Small cells"),
    ]
    table = [
        [
            ScoreSource(row.source.metric).__str__(),
            row.source.setting,
            str(DIMENSION_NAMES[row.source.dimension]),
            row.found.across,
            row.found.n,
            row.found.within_mean,
            row.found.within_sd,
            row.cells,
            "; ".join(row.found.constant_cells),
            "; ".join(row.found.small_cells),
        ]
        for row in rows
    ]
    note, name = str(CORRELATIONS), "metric-correlations"
    return TableData(columns, table, _("Metrics compared with people"), note, name)


def points_table(points: Sequence[SetPoint], source: ScoreSource) -> TableData:
    """Return the sets behind a correlation."""
    columns = [_("Cell"), _("System"), _("Setting"), str(source), _("People")]
    rows: list[list[Any]] = [
        [point.cell, point.system, point.setting, point.metric, point.people] for point in points
    ]
    return TableData(columns, rows, str(source), "", "metric-points")


def pairs_table(agreement: DimensionAgreement) -> TableData:
    """Return every pair of raters with the number of sets that both judged."""
    rows = [[pair.first, pair.second, pair.n, pair.value] for pair in agreement.pairs.pairs]
    rows += [[judge.first, judge.second, judge.n, judge.value] for judge in agreement.judges]
    return TableData(
        [_("First"), _("Second"), _("n sets"), _("Pearson")],
        rows,
        _("%s: agreement by pair") % DIMENSION_NAMES[agreement.dimension],
        _(
            "Pairwise Pearson over the sets that both raters judged; unsure counts are left out. "
            "The mean is over pairs of people; pairs with a language model are listed below."
        ),
        f"people-{agreement.dimension}",
    )


def raters_table(agreement: PeopleAgreement) -> TableData:
    """Return each rater's number of judgements and of unsure answers."""
    columns = [_("Rater"), _("Sets")]
    for name in DIMENSION_NAMES.values():
        columns += [_("%s: unsure") % name, _("%s: missing") % name]
    rows: list[list[Any]] = [
        [
            rater.name,
            rater.sets,
            *(
                part
                for name in DIMENSION_NAMES
                for part in (rater.unsure[name], rater.missing[name])
            ),
        ]
        for rater in agreement.raters
    ]
    return TableData(columns, rows, _("Sets judged by rater"), "", "people-raters")


def repeats_table(agreement: DimensionAgreement) -> TableData:
    """Compare all raters with their own first judgements."""
    rows = [[repeat.name, repeat.n, repeat.same, repeat.value] for repeat in agreement.repeats]
    return TableData(
        [_("Rater"), _("n sets"), _("Identical"), _("Pearson")],
        rows,
        _("%s: repeated sets") % DIMENSION_NAMES[agreement.dimension],
        _("Blind repeats within a round: first judgement compared with second."),
        f"repeats-{agreement.dimension}",
    )


# The tables of the leaderboard for a printed page: what has values, in few columns.
#
# The CSV files hold everything; LaTeX and Markdown hold what a reader of a paper needs.


# Seconds say more about a machine than about a system; the CSV has them.
PRINTED = tuple(name for name in FIGURES if name != "seconds")
FEWER_MARK = "†"
NOTHING = CellText("–")


def printed_board(board: SummaryBoard) -> PaperTable:
    """Return systems with all known figures, and the interval of the ranking figure."""
    names = [name for name in PRINTED if any(_is_known(row.figures[name]) for row in board.rows)]
    ranking = names[0] if names else ""
    has_settings = any(row.setting is not None for row in board.rows)
    stubs = [_("System"), *([_("Setting")] if has_settings else [])]
    columns = [_short(name) for name in names]
    if ranking:
        columns.insert(1, _("95 % interval"))
    lines, cells = [], []
    for row in board.rows:
        labels = [row.system, *([row.setting or _("by cell")] if has_settings else [])]
        filled = [_value(row.figures[name], len(board.cells)) for name in names]
        if ranking:
            filled.insert(1, _interval(row.figures[ranking]))
        lines.append(TableLine(tuple(labels), (None,) * len(filled)))
        cells.append(tuple(filled))
    notes = [board_note(board), *_fewer(cells)]
    caption = _("Summarization systems")
    return _table("key-points", caption, [*stubs, *columns], lines, cells, notes)


def printed_cells(board: SummaryBoard) -> PaperTable:
    """Return systems by cell, with all known figures."""
    places = {str(cell.pk): str(cell) for cell in board.cells}
    rows = [
        (row, key, row.by_cell[key]) for row in board.rows for key in places if key in row.by_cell
    ]
    names = [
        name for name in PRINTED if any(values[name] is not None for _row, _key, values in rows)
    ]
    has_settings = len({_setting(row, key) for row, key, _values in rows}) > 1
    heads = [_("System"), _("Cell"), *([_("Setting")] if has_settings else [])]
    lines = [
        TableLine(
            (row.system, places[key], *([_setting(row, key)] if has_settings else [])),
            (None,) * len(names),
        )
        for row, key, _values in rows
    ]
    cells = [tuple(_number(values[name]) for name in names) for _row, _key, values in rows]
    heads += [_short(name) for name in names]
    return _table(
        "key-points-cells", _("Systems by cell"), heads, lines, cells, [board_note(board)]
    )


def printed_correlations(rows: Sequence[MetricRow]) -> PaperTable:
    """Return metrics compared with people as in the paper: across, and within with its spread."""
    has_settings = any(row.source.setting for row in rows)
    lines, cells = [], []
    for row in rows:
        labels = [
            str(ScoreSource(row.source.metric)),
            *([row.source.setting] if has_settings else []),
            str(DIMENSION_NAMES[row.source.dimension]),
        ]
        within = NOTHING
        if row.found.within_mean is not None and row.found.within_sd is not None:
            mean, spread = (
                _number(number).text for number in (row.found.within_mean, row.found.within_sd)
            )
            within = CellText(f"{mean} ± {spread}")
        lines.append(TableLine(tuple(labels), (None,) * 3))
        cells.append((_number(row.found.across), within, CellText(f"{row.found.n:,}")))
    heads = [
        _("Metric"),
        *([_("Setting")] if has_settings else []),
        _("Against"),
        _("Across"),
        _("Within"),
        _("n sets"),
    ]
    note = _(
        "Pearson with people's mean. Within: mean ± population standard deviation over cells."
    )
    return _table(
        "metric-correlations", _("Metrics compared with people"), heads, lines, cells, [note]
    )


def _table(
    name: str,
    caption: str,
    heads: Sequence[str],
    lines: Iterable[TableLine],
    cells: Iterable[tuple[CellText, ...]],
    notes: Iterable[str],
) -> PaperTable:
    layout = TableLayout(name, caption, tuple(heads), tuple(lines))
    return PaperTable(layout, tuple(cells), tuple(notes))


def _short(name: str) -> str:
    shorter = {
        "weighted": _("Weighted"),
        "excluding": _("ARI, clustered"),
        "including": _("ARI, all"),
        "share": _("Clustered"),
    }
    return shorter.get(name, str(FIGURE_NAMES[name]))


def _is_known(estimate: Estimate) -> bool:
    return estimate.value is not None


def _value(estimate: Estimate, n_cells: int) -> CellText:
    text = _number(estimate.value)
    is_short = estimate.value is not None and estimate.n_values < n_cells
    return CellText(text.text, FEWER_MARK) if is_short else text


def _interval(estimate: Estimate) -> CellText:
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return CellText(f"[{_number(estimate.low).text}, {_number(estimate.high).text}]")


def _number(value: float | None) -> CellText:
    return NOTHING if value is None else CellText(f"{value:z,.{DECIMALS}f}".replace("-", "−"))


def _setting(row: SystemRow, key: str) -> str:
    return row.chosen[key].setting


def _fewer(cells: Iterable[Sequence[CellText]]) -> list[str]:
    if not any(cell.mark for row in cells for cell in row):
        return []
    return [_("%s Mean over fewer cells, because the others have no value.") % FEWER_MARK]
