"""Cards and cells of a board's page."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from benchmark.leaderboard.methods.figures import (
    CalibratedStanding,
    PaperCell,
    PaperRow,
    ScoreBoard,
    ScoreCell,
    StandingRow,
)
from benchmark.leaderboard.reports.standings import (
    BoardLine,
    CellView,
    ConditionChoice,
    board_rows,
    column_name,
    conditions_of,
    earlier_version,
    judge_name,
    ranking_of,
)
from benchmark.leaderboard.reports.summary import CHARTS, board_finding, ground_of
from benchmark.leaderboard.reports.tables import RECIPE, TABLES, board_table_of, paper_rows
from cqa_site.results.boards import (
    NOT_RANKED,
    NOTHING,
    Board,
    BoardCell,
    BoardColumn,
    BoardRow,
    Conclusion,
    PageTable,
    figure_cell,
    joined,
    turned,
    with_columns,
)
from cqa_site.results.figures import Figure
from cqa_site.runs.templatetags.ledger import money
from cqa_site.web.charts.points import chart_of
from cqa_site.web.tables import text_of
from cqa_site.web.templatetags.pages import percent
from .context import BoardView

# With more judges than this, columns of other judges are hidden by default.
MOST_JUDGES = 3


def leaderboard(board: ScoreBoard, judge: str, *, is_ticked: bool) -> Board:
    """Return the systems as ranked by one judge; if ``is_ticked``, two can be selected."""
    reason = ranking_of(board, judge).reason
    columns = [BoardColumn("mean", _("Mean"), lambda row: _mean(row.row), word="interval")]
    if any(estimate.judge == judge and estimate.mean is not None for estimate in board.calibrated):
        columns.append(BoardColumn("calibrated", _("Calibrated to people"), _calibrated))
    columns += [*_scenarios(board, _scenario), *_others(board, judge), *_details(board)]
    rows = [
        BoardRow(
            name=row.name,
            about="" if reason else row.remark,
            cells=[column.cell(row) for column in columns],
            tick=row.id if row.standing else "",
            is_low=row.row.is_low,
            place=row.standing or NOT_RANKED,
        )
        for row in board_rows(board, judge)
    ]
    return Board(columns=columns, rows=rows, is_ticked=is_ticked)


def _details(board: ScoreBoard) -> list[BoardColumn]:
    columns = [
        BoardColumn("answers", _("Answers"), lambda row: _answers(row.row)),
        BoardColumn("length", _("Length-controlled"), _length, is_shown=False),
    ]
    if any(system.n for system in board.costs.systems):
        columns.append(BoardColumn("cost", _("Time and cost per answer"), _cost, is_shown=False))
    return columns


def paper_board(board: ScoreBoard, judge: str, *, is_ticked: bool) -> Board:
    """Return the systems by the paper's recipe, without ranks and intervals."""
    columns = [
        BoardColumn("mean", _("Mean ± sd"), lambda row: _with_sd(row.row)),
        *_scenarios(board, _paper_cell, is_shown=True),
        BoardColumn("sheets", _("Sheets"), lambda row: BoardCell(f"{row.row.n:,}")),
    ]
    rows = [
        BoardRow(name=row.name, cells=[column.cell(row) for column in columns], tick=row.id)
        for row in paper_rows(board, judge)
    ]
    return Board(columns=columns, rows=rows, is_ranked=False, is_ticked=is_ticked)


def _scenarios(
    board: ScoreBoard, draw: Callable[[Any], BoardCell], *, is_shown: bool = False
) -> list[BoardColumn]:
    """Return a column for each scenario if there are several."""
    if len(board.scenarios) < 2:
        return []
    return [
        BoardColumn(
            f"scenario-{scenario}",
            _("Scenario %d") % scenario if scenario else _("No scenario"),
            partial(_drawn, draw, "cells", at),
            is_shown=is_shown,
        )
        for at, scenario in enumerate(board.scenarios)
    ]


def _others(board: ScoreBoard, judge: str) -> list[BoardColumn]:
    """Return a column per other judge, keyed by position because public pages hide rater keys."""
    others = [(at, other) for at, other in enumerate(board.judges) if other.key != judge]
    is_shown = len(board.judges) <= MOST_JUDGES
    return [
        BoardColumn(
            f"judge-{at}",
            judge_name(other),
            partial(_drawn, _other, "others", place),
            is_shown=is_shown,
        )
        for place, (at, other) in enumerate(others)
    ]


def _drawn(draw: Callable[[Any], BoardCell], part: str, at: int, row: Any) -> BoardCell:
    """Return the cell at position ``at`` in the attribute ``part`` of a row."""
    return draw(getattr(row, part)[at])


def _estimate(
    cell: StandingRow | ScoreCell | CalibratedStanding, *details: str, notes: Sequence[str] = ()
) -> BoardCell:
    """Return a mean with its interval, or with a note that the interval is missing."""
    lacks = cell.low is None and cell.reason
    remarks = [_("no interval") if lacks else "", *notes]
    return figure_cell(cell, notes=remarks, details=details)


def _mean(row: StandingRow) -> BoardCell:
    notes = []
    if not row.is_common and row.mean is not None:
        text = ngettext("%d own question", "%d own questions", row.n_used)
        notes.append(text % row.n_used)
    return _estimate(row, notes=notes)


def _calibrated(row: BoardLine) -> BoardCell:
    estimate = row.calibrated
    if estimate is None or estimate.mean is None:
        return BoardCell("", notes=[estimate.reason] if estimate and estimate.reason else [])
    more = estimate.to_halve
    label = _("score %s more answers to halve the interval") % f"{more:,}" if more else ""
    return _estimate(estimate, _("%d scored by both") % estimate.n_both, label)


def _scenario(cell_view: CellView | None) -> BoardCell:
    if cell_view is None:
        return BoardCell()
    cell = cell_view.cell
    n = f"n {cell.n_answers:,}"
    css = "low" if cell.is_low else ""
    if cell.is_thin:
        notes = [_("too few"), *_conditions(cell_view.several)]
        return BoardCell("", notes=notes, details=[n], css=css)
    share = f"{percent(cell.coverage, 1)} · " if cell.coverage < 1 else ""
    spread = f", sd {text_of(cell.sd, 2)}" if cell.sd is not None else ""
    worst = ""
    if cell.is_low:
        bounds = {name: text_of(getattr(cell, name), 1) for name in ("worst", "best")}
        worst = _("%(worst)s to %(best)s") % bounds
    notes = [*_conditions(cell_view.several), worst]
    return replace(_estimate(cell, f"{share}{n}{spread}", notes=notes), css=css)


def _conditions(several: ConditionChoice | None) -> list[str]:
    """Return the condition that a cell shows, and the number of other conditions."""
    if several is None:
        return []
    n = len(several.others)
    return [several.shown, ngettext("%d other condition", "%d other conditions", n) % n]


def _other(row: StandingRow | None) -> BoardCell:
    return _estimate(row, f"n {row.n_answers:,}") if row else BoardCell()


def _answers(row: StandingRow) -> BoardCell:
    words = {"share": percent(row.coverage, 1), "n": f"{row.asked:,}"}
    notes = [_("%(share)s of %(n)s") % words] if row.coverage < 1 else []
    notes += [_("too few to rank")] if row.is_low else []
    return BoardCell(f"{row.n_answers:,}", notes=notes)


def _length(row: BoardLine) -> BoardCell:
    rank = row.length
    if not rank:
        return BoardCell()
    return figure_cell(rank, details=[_("rank %d") % rank.rank] if rank.rank else [])


def _cost(row: BoardLine) -> BoardCell:
    cost = row.cost
    if not cost.n:
        return BoardCell()
    return BoardCell(
        f"{text_of(cost.seconds, 1)} s" if cost.seconds is not None else NOTHING,
        notes=[money(cost.micro)] if cost.micro is not None else [],
    )


def _with_sd(cell: PaperCell | PaperRow, *notes: str, details: Sequence[str] = ()) -> BoardCell:
    if cell.mean is None:
        return BoardCell()
    spread = "" if cell.sd is None else f" ± {text_of(cell.sd, 2)}"
    text = f"{text_of(cell.mean, 2)}{spread}"
    return BoardCell(text, notes=notes, details=details)


def _paper_cell(cell: PaperCell | None) -> BoardCell:
    if not cell:
        return BoardCell()
    notes = [_("%d outside the scale") % cell.off_scale] if cell.off_scale else []
    notes += [_("%d left out") % cell.dropped] if cell.dropped else []
    return _with_sd(cell, *notes, details=[f"n {cell.n:,}"])


# Cards below the leaderboard; other figures are available only as files.
CARDS = (
    "thin", "conditions", "scenarios", "groups", "criteria", "distributions", "beside", "judges",
)  # fmt: skip

WIDE = ("conditions", "criteria", "judges", "paper-cells")
MEANS = ("groups", "criteria")
PAPER_CARDS = ("paper-cells",)
# With more systems than this, the chart of points shows only the first and the last.
MOST_SPREAD = 2
# Figures with a term in the glossary.
WORDS = {"thin": "thin cell"}


def board_context(board_view: BoardView) -> dict[str, Any]:
    if board_view.snapshot is None or board_view.board is None:
        return {"shown": board_view, "snapshot": board_view.snapshot}
    board, judge = board_view.board, board_view.judge
    return {
        "shown": board_view,
        "snapshot": board_view.snapshot,
        "board": board,
        "n_several": len(conditions_of(board)),
        "earlier_version": earlier_version(board),
        "ranking": ranking_of(board, judge) if judge else None,
        "finding": _finding(board_view, board) if judge and not board_view.is_paper else None,
        "chosen": next((candidate for candidate in board.judges if candidate.key == judge), None),
        "main": _main(board_view),
        "leaderboard": _leaderboard(board_view, board) if judge else None,
        "cards": board_cards(board_view) if judge else [],
    }


def _finding(board_view: BoardView, board: ScoreBoard) -> Conclusion:
    """Return the finding, with a link to the missing steps if no system can be ranked."""
    finding = board_finding(board, board_view.judge)
    snapshot = board_view.found[0]
    is_ranked = any(standing.rank for standing in ranking_of(board, board_view.judge).standings)
    if is_ranked or board_view.is_public:
        return finding
    address = reverse("study", args=[snapshot.study.public_id])
    return replace(finding, way=(_("See the missing steps"), f"{address}?path=answers"))


def board_cards(board_view: BoardView) -> list[Figure]:
    """Return the figures below the leaderboard, in page order."""
    slugs = PAPER_CARDS if board_view.is_paper else CARDS
    hidden = () if conditions_of(board_view.found[1]) else ("conditions",)
    figures = [figure_of(board_view, slug) for slug in slugs if slug not in hidden]
    recipe = board_view.found[0].recipe
    return [_as_shown(figure, recipe) for figure in figures if _says_something(figure)]


def _says_something(figure: Figure) -> bool:
    """Whether the figure has rows or, for a figure of means, at least one mean."""
    cells = (cell for row in figure.table.rows for cell in row)
    if figure.slug in MEANS:
        return any(isinstance(cell, float) for cell in cells)
    return bool(figure.table.rows)


def _main(board_view: BoardView) -> Figure:
    """Return the leaderboard figure, with its sources and further files."""
    if board_view.is_paper:
        figure = figure_of(board_view, "paper")
        return replace(figure, title=TABLES["board"].title, recipe=RECIPE)
    figure = figure_of(board_view, "board")
    if board_view.judge:
        ground = ground_of(board_view.found[1], board_view.judge)
        source = _("Source: %s") % figure.table.caption.removeprefix(f"{figure.title}. ")
        figure = replace(figure, recipe="\n\n".join((ground, str(figure.recipe), source)))
    if board_view.is_public:
        return figure
    tables = {"cells": _("cells (CSV)"), "pairs": _("pairs (CSV)")}
    more = [
        link
        for slug, words in tables.items()
        for link in figure_of(board_view, slug).links_as({"csv": words})
    ]
    rows = reverse("board_file", args=[*figure.files.ids, "rows.csv"])
    return replace(figure, more=[*more, (_("underlying sheets (CSV)"), rows)])


def figure_of(board_view: BoardView, slug: str) -> Figure:
    """Return one figure of the shown board; raises KeyError if it is unknown."""
    entry, judge, (snapshot, board) = TABLES[slug], board_view.judge, board_view.found
    table = board_table_of(snapshot, board, judge, board_view.filters, slug)
    is_part = slug == "distributions" and len(table.rows) > MOST_SPREAD
    return Figure(
        slug=slug,
        anchor=f"board-{slug}",
        title=entry.title,
        word=WORDS.get(slug, ""),
        about=_("first and last system only; the table shows all") if is_part else "",
        recipe=entry.recipe,
        table=table,
        files=board_view.files,
        is_wide=slug in WIDE,
        **chart_of(CHARTS, slug, board, judge, snapshot.recipe),
    )


def _leaderboard(board_view: BoardView, board: ScoreBoard) -> Board:
    build_table = paper_board if board_view.is_paper else leaderboard
    table = build_table(board, board_view.judge, is_ticked=not board_view.is_public)
    return with_columns(table, board_view.columns)


def _as_shown(figure: Figure, recipe: dict[str, Any]) -> Figure:
    """Return a figure in page form, with criteria as named rows because there are many."""
    table = joined(figure.table)
    if figure.slug not in ("groups", "criteria") or not isinstance(table, PageTable):
        return figure
    table = _counted(table)
    if figure.slug == "groups":
        return replace(figure, shown=table)
    names = {key: column_name(recipe, key) for key in table.columns if key[1:].isdigit()}
    named = [names.get(column, column) for column in table.columns[1:]]
    return replace(figure, shown=turned(replace(table, columns=[_("Criterion"), *named])))


def _counted(table: PageTable) -> PageTable:
    """Merge the last two columns, the lowest and highest number of answers, into one."""
    rows = [
        [*row[:-2], row[-1] if row[-2] == row[-1] else f"{row[-2]}–{row[-1]}"]
        for row in table.rows
    ]
    columns = [*table.columns[:-2], _("Answers n")]
    return replace(table, columns=columns, rows=rows, numeric=table.numeric[:-1])
