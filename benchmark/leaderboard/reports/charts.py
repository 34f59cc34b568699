"""The figures of a board as charts, each with its numbers in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from benchmark.leaderboard.methods.figures import Board
from cqa_site.web.charts import drawing as charts
from cqa_site.web.charts import scores as score_charts
from cqa_site.web.charts.chart import Chart, short, short_names
from cqa_site.web.charts.ranked import ranked_dots

from .view import BoardLine, board_rows, judge_name

Rows = list[dict[str, Any]]
Recipe = dict[str, Any]
MOST = 30


def _named(board: Board, judge: str) -> list[tuple[str, BoardLine]]:
    """The best rows under names that differ even where they are cut."""
    rows = board_rows(board, judge)[:MOST]
    return list(zip(short_names(row.name for row in rows), rows, strict=True))


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


def _ranks(board: Board, judge: str, recipe: Recipe, size: str) -> charts.Spec:
    return ranked_dots(
        _rank_rows(board, judge, recipe), title=_("Mean points, 95 % interval"), size=size
    )


def _scenario_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    return [
        {"system": name, "points": one.cell.mean, "mark": str(one.cell.scenario or "–")}
        for name, row in _named(board, judge)
        for one in row.cells
        if one and one.cell.mean is not None and not one.cell.is_thin
    ]


def _scenarios(board: Board, judge: str, recipe: Recipe, size: str) -> charts.Spec:
    return score_charts.marked_ranges(
        _scenario_rows(board, judge, recipe),
        x="points",
        y="system",
        text="mark",
        title=[_("Mean points"), _("digit: scenario; –: none")],
        highest=board.options.maximum,
        size=size,
    )


def _group_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    groups = [each for each in recipe["columns"] if each["kind"] == "group"]
    marks = _marks([each["name"] for each in groups])
    made = []
    for name, row in _named(board, judge):
        for group, mark in zip(groups, marks, strict=True):
            mean = board.parts[judge][group["key"]][row.place].mean
            if mean is not None:
                share = mean / group["maximum"]
                made.append({"system": name, "share": share, "mark": mark, "group": group["name"]})
    return made


def _marks(names: list[str]) -> list[str]:
    """A letter for each name: its first, or a number where two begin alike."""
    letters = [name[:1].upper() for name in names]
    is_clear = len(set(letters)) == len(letters)
    return letters if is_clear else [str(at) for at in range(1, len(names) + 1)]


def _groups(board: Board, judge: str, recipe: Recipe, size: str) -> charts.Spec:
    rows = _group_rows(board, judge, recipe)
    marks = {row["mark"]: row["group"] for row in rows}
    legend = ", ".join(f"{mark} {name}" for mark, name in marks.items())
    return score_charts.marked_ranges(
        rows,
        x="share",
        y="system",
        text="mark",
        title=[_("Share of the group's points"), legend],
        highest=1,
        size=size,
    )


def _spread_rows(board: Board, judge: str, recipe: Recipe) -> Rows:
    """The first and the last system of the board."""
    rows = [(name, row) for name, row in _named(board, judge) if row.row.n_answers]
    ends = rows[:1] + rows[-1:] if len(rows) > 1 else rows
    return [
        {"points": str(at), "answers": n, "system": name}
        for name, row in ends
        for at, n in enumerate(board.distributions[judge][row.place])
    ]


def _spread(board: Board, judge: str, recipe: Recipe, size: str) -> charts.Spec:
    return score_charts.grouped_bars(
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
            "name": short(board.systems[each.system].name)
            + (f" {each.scenario}" if each.scenario else ""),
        }
        for each in board.beside
        if each.judge == judge
    ]


def _beside(board: Board, judge: str, recipe: Recipe, size: str) -> charts.Spec:
    name = next(judge_name(each) for each in board.judges if each.key == judge)
    return score_charts.beside(
        _beside_rows(board, judge, recipe),
        x="people",
        y="judge",
        text="name",
        titles=(_("Mean points by people"), _("Mean points by %s") % short(name)),
        highest=board.options.maximum,
        size=size,
    )


Read = Callable[[Board, str, Recipe], Rows]


def _chart(draw: Callable[..., charts.Spec], read: Read, words: Callable[[Any], str]) -> Chart:
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
        lambda row: f"{row['system']} {row['mark']}: {row['points']:.2f}",
    ),
    "groups": _chart(
        _groups,
        _group_rows,
        lambda row: f"{row['system']}, {row['group']}: {100 * row['share']:.0f} %",
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
