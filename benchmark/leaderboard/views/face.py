"""The leaderboard as a page shows it: what stands in each cell of it."""

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.leaderboard.methods.figures import Board as Figures
from benchmark.leaderboard.methods.figures import Calibrated, Cell, Cost, PaperCell, PaperRow, Row
from benchmark.leaderboard.reports.paper import paper_rows
from benchmark.leaderboard.reports.view import (
    LengthRank,
    Several,
    ShownCell,
    board_rows,
    judge_name,
    ranking_of,
)
from cqa_site.results.boards import NOTHING, Board, BoardCell, BoardColumn, BoardRow, figure_cell
from cqa_site.runs.templatetags.ledger import money
from cqa_site.web.tables import text_of
from cqa_site.web.templatetags.figures import percent

# Among more judges than these, the columns of the others are left to choice.
MOST_JUDGES = 3


def leaderboard(board: Figures, judge: str, *, is_ticked: bool) -> Board:
    """The systems as one judge ranks them; with ``is_ticked`` two can be chosen."""
    has_scenarios = len(board.scenarios) > 1
    has_costs = any(each.n for each in board.costs.systems)
    is_calibrated = any(each.judge == judge and each.mean is not None for each in board.calibrated)
    reason = ranking_of(board, judge).reason
    columns = [BoardColumn("mean", _("Mean"), word="interval")]
    columns += [BoardColumn("calibrated", _("Calibrated to people"))] if is_calibrated else []
    columns += [*_scenarios(board), *_others(board, judge)]
    columns += [
        BoardColumn("answers", _("Answers")),
        BoardColumn("length", _("Without length"), is_shown=False),
    ]
    rows = []
    for each in board_rows(board, judge):
        standing, cells = each.standing, [_mean(each.row)]
        cells += [_calibrated(each.calibrated)] if is_calibrated else []
        cells += [_scenario(one) for one in each.cells] if has_scenarios else []
        cells += [_other(other) for other in each.others]
        cells += [_answers(each.row), _length(each.length)]
        cells += [_cost(each.cost)] if has_costs else []
        places = ("rank", "rank_low", "rank_high", "tie_group")
        rows.append(
            BoardRow(
                name=each.name,
                about="" if reason else each.remark,
                cells=cells,
                tick=each.id if standing else "",
                is_low=each.row.is_low,
                **({name: getattr(standing, name) for name in places} if standing else {}),
            )
        )
    columns += [BoardColumn("cost", _("Per answer"), is_shown=False)] if has_costs else []
    return Board(columns=columns, rows=rows, is_ticked=is_ticked)


def paper_board(board: Figures, judge: str, *, is_ticked: bool) -> Board:
    """The systems by the paper's recipe: no ranks, no intervals."""
    has_scenarios = len(board.scenarios) > 1
    rows = [
        BoardRow(
            name=each.name,
            cells=[
                _with_sd(each.row),
                *(map(_paper_cell, each.cells) if has_scenarios else ()),
                BoardCell(f"{each.row.n:,}"),
            ],
            tick=each.id,
        )
        for each in paper_rows(board, judge)
    ]
    columns = [BoardColumn("mean", _("Mean ± sd")), *_scenarios(board, is_shown=True)]
    columns += [BoardColumn("sheets", _("Sheets"))]
    return Board(columns=columns, rows=rows, is_ranked=False, is_ticked=is_ticked)


def _scenarios(board: Figures, *, is_shown: bool = False) -> list[BoardColumn]:
    """Headings of scenarios, where there are several."""
    if len(board.scenarios) < 2:
        return []
    return [
        BoardColumn(
            f"scenario-{each}",
            _("Scenario %d") % each if each else _("No scenario"),
            is_shown=is_shown,
        )
        for each in board.scenarios
    ]


def _others(board: Figures, judge: str) -> list[BoardColumn]:
    """Headings of the other judges, by their places: public pages name nobody's key."""
    return [
        BoardColumn(f"judge-{at}", judge_name(each), is_shown=len(board.judges) <= MOST_JUDGES)
        for at, each in enumerate(board.judges)
        if each.key != judge
    ]


def _estimate(
    cell: Row | Cell | Calibrated, *details: str, notes: Sequence[str] = ()
) -> BoardCell:
    """A mean with its interval, or that it has none."""
    lacks = cell.low is None and cell.reason
    said = [_("no interval") if lacks else "", *notes]
    return figure_cell(cell.mean, cell.low, cell.high, notes=said, details=details)


def _mean(row: Row) -> BoardCell:
    notes = []
    if not row.is_common and row.mean is not None:
        text = ngettext("its own %d question", "its own %d questions", row.n_used)
        notes.append(text % row.n_used)
    return _estimate(row, notes=notes)


def _calibrated(found: Calibrated | None) -> BoardCell:
    if found is None or found.mean is None:
        return BoardCell("", notes=[found.reason] if found and found.reason else [])
    more = found.to_halve
    label = _("label %s more to halve it") % f"{more:,}" if more else ""
    return _estimate(found, _("%d by both") % found.n_both, label)


def _scenario(one: ShownCell | None) -> BoardCell:
    if one is None:
        return BoardCell()
    cell = one.cell
    n = f"n {cell.n_answers:,}"
    css = "low" if cell.is_low else ""
    if cell.is_thin:
        notes = [_("too few"), *_conditions(one.several)]
        return BoardCell("", notes=notes, details=[n], css=css)
    share = f"{percent(cell.coverage, 1)} · " if cell.coverage < 1 else ""
    spread = f", sd {text_of(cell.sd, 2)}" if cell.sd is not None else ""
    worst = ""
    if cell.is_low:
        bounds = {name: text_of(getattr(cell, name), 1) for name in ("worst", "best")}
        worst = _("%(worst)s to %(best)s") % bounds
    notes = [*_conditions(one.several), worst]
    return replace(_estimate(cell, f"{share}{n}{spread}", notes=notes), css=css)


def _conditions(several: Several | None) -> list[str]:
    """Which of several conditions a cell shows."""
    if several is None:
        return []
    n = len(several.others)
    return [
        several.shown,
        ngettext("%d other condition", "%d other conditions", n) % n,
    ]


def _other(found: Row | None) -> BoardCell:
    return _estimate(found, f"n {found.n_answers:,}") if found else BoardCell()


def _answers(row: Row) -> BoardCell:
    said = {"share": percent(row.coverage, 1), "n": f"{row.asked:,}"}
    notes = [_("%(share)s of %(n)s") % said] if row.coverage < 1 else []
    notes += [_("too few to rank")] if row.is_low else []
    return BoardCell(f"{row.n_answers:,}", notes=notes)


def _length(found: LengthRank | None) -> BoardCell:
    if not found:
        return BoardCell()
    details = [_("rank %d") % found.rank] if found.rank else []
    return figure_cell(found.mean, found.low, found.high, details=details)


def _cost(cost: Cost) -> BoardCell:
    if not cost.n:
        return BoardCell()
    return BoardCell(
        f"{text_of(cost.seconds, 1)} s" if cost.seconds is not None else NOTHING,
        notes=[money(cost.micro)] if cost.micro is not None else [],
    )


def _with_sd(cell: PaperCell | PaperRow, *notes: str, details: Sequence[str] = ()) -> BoardCell:
    if cell.mean is None:
        return BoardCell()
    if cell.sd is None:
        return figure_cell(cell.mean, notes=notes, details=details)
    text = f"{text_of(cell.mean, 2)} ± {text_of(cell.sd, 2)}"
    return BoardCell(text, notes=notes, details=details)


def _paper_cell(cell: PaperCell | None) -> BoardCell:
    if not cell:
        return BoardCell()
    notes = [_("%d off the scale") % cell.off_scale] if cell.off_scale else []
    notes += [_("%d left out") % cell.dropped] if cell.dropped else []
    return _with_sd(cell, *notes, details=[f"n {cell.n:,}"])
