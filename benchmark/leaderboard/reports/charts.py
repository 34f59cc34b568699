"""The figures of a board as charts, each with its numbers in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from benchmark.leaderboard.methods.figures import Board
from cqa_site.web.charts.bars import grouped_bars
from cqa_site.web.charts.beside import beside
from cqa_site.web.charts.chart import MOST, Chart, distinct, of_all
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.intervals import parts
from cqa_site.web.charts.ranked import ranked_dots
from cqa_site.web.tables import text_of

from .view import BoardLine, board_rows, judge_name, scenario_names

Rows = list[dict[str, Any]]
Recipe = dict[str, Any]


def _named(board: Board, judge: str) -> list[tuple[str, BoardLine]]:
    """The best rows under names that differ."""
    rows = board_rows(board, judge)[:MOST]
    return list(zip(distinct(row.name for row in rows), rows, strict=True))


def _rank_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    """The ranked systems; where nobody has a rank, all that have a mean."""
    named = _named(board, judge)
    ranked = [(name, row) for name, row in named if row.standing]
    return [
        {
            "name": name,
            "value": row.row.mean,
            "low": row.row.low,
            "high": row.row.high,
            "group": row.standing.tie_group if row.standing else None,
        }
        for name, row in ranked or named
        if row.row.mean is not None
    ]


def _ranks(board: Board, judge: str, recipe: Recipe, size: str) -> Spec:
    return ranked_dots(
        _rank_rows(board, judge, recipe), title=_("Mean points, 95 % interval"), size=size
    )


def _scenario_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    names = dict(zip(board.scenarios, scenario_names(board), strict=True))
    return [
        {"system": name, "points": one.cell.mean, "scenario": names[one.cell.scenario]}
        for name, row in _named(board, judge)
        for one in row.cells
        if one and one.cell.mean is not None and not one.cell.is_thin
    ]


def _scenarios(board: Board, judge: str, recipe: Recipe, size: str) -> Spec:
    rows = _scenario_rows(board, judge, recipe)
    known = {row["scenario"] for row in rows}
    names = [name for name in scenario_names(board) if name in known]
    return parts(
        rows,
        x="points",
        y="system",
        series="scenario",
        names=names,
        title=of_all(_("Mean points"), len(board_rows(board, judge))),
        highest=board.options.maximum,
        size=size,
    )


def _group_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    groups = [each for each in recipe["columns"] if each["kind"] == "group"]
    found = (
        (name, group, board.parts[judge][group["key"]][row.place].mean)
        for name, row in _named(board, judge)
        for group in groups
    )
    return [
        {"system": name, "share": mean / group["maximum"], "group": group["name"]}
        for name, group, mean in found
        if mean is not None
    ]


def _groups(board: Board, judge: str, recipe: Recipe, size: str) -> Spec:
    rows = _group_rows(board, judge, recipe)
    return parts(
        rows,
        x="share",
        y="system",
        series="group",
        names=list(dict.fromkeys(row["group"] for row in rows)),
        title=of_all(_("Share of the group's points"), len(board_rows(board, judge))),
        highest=1,
        size=size,
    )


def _spread_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    """The first and the last ranked system; where nobody has a rank, of all that have answers."""
    rows = [(name, row) for name, row in _named(board, judge) if row.row.n_answers]
    rows = [(name, row) for name, row in rows if row.standing] or rows
    ends = rows[:1] + rows[-1:] if len(rows) > 1 else rows
    return [
        {"points": str(at), "answers": n, "system": name}
        for name, row in ends
        for at, n in enumerate(board.distributions[judge][row.place])
    ]


def _spread(board: Board, judge: str, recipe: Recipe, size: str) -> Spec:
    return grouped_bars(
        _spread_rows(board, judge, recipe),
        x="points",
        y="answers",
        series="system",
        titles=(_("Points"), _("Scored answers")),
        size=size,
    )


def _beside_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    return [
        {
            "people": each.people,
            "judge": each.value,
            "name": board.systems[each.system].name
            + (f" {each.scenario}" if each.scenario else ""),
        }
        for each in board.beside
        if each.judge == judge
    ]


def _beside(board: Board, judge: str, recipe: Recipe, size: str) -> Spec:
    name = next(judge_name(each) for each in board.judges if each.key == judge)
    return beside(
        _beside_rows(board, judge, recipe),
        x="people",
        y="judge",
        text="name",
        titles=(_("Mean points by people"), _("Mean points by %s") % name),
        highest=board.options.maximum,
        size=size,
    )


Read = Callable[[Board, str, Recipe], Rows]


def _chart(draw: Callable[..., Spec], read: Read, words: Callable[[Any], str]) -> Chart:
    """A chart whose words are those of its rows."""

    def alt(board: Board, judge: str, recipe: Recipe) -> str:
        return "; ".join(words(row) for row in read(board, judge, recipe)[: 4 * MOST])

    return Chart(draw, alt, read)


CHARTS = {
    "board": _chart(
        _ranks,
        _rank_rows,
        lambda row: f"{row['name']}: {row['value']:.2f}",
    ),
    "scenarios": _chart(
        _scenarios,
        _scenario_rows,
        lambda row: f"{row['system']}, {row['scenario']}: {row['points']:.2f}",
    ),
    "groups": _chart(
        _groups,
        _group_rows,
        lambda row: f"{row['system']}, {row['group']}: {text_of(100 * row['share'], 0)} %",
    ),
    "distributions": _chart(
        _spread, _spread_rows, lambda row: f"{row['system']}, {row['points']}: {row['answers']}"
    ),
    "beside": _chart(
        _beside,
        _beside_rows,
        lambda row: f"{row['name']}: {row['people']:.2f} / {row['judge']:.2f}",
    ),
}
