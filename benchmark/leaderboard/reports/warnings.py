"""What is thin about a board: said before it is frozen or published, and to who reads it then."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.leaderboard.methods.figures import Board
from benchmark.leaderboard.methods.options import VERSION

from .view import conditions_of, judge_name, ranking_of, thin_cells

SHOWN_NAMES = 5


def board_warnings(board: Board) -> list[str]:
    """Sentences, judge by judge; empty where every mean has its interval and its rank."""
    found = []
    if earlier := earlier_version(board):
        found.append(earlier)
    several = len(conditions_of(board))
    if several:
        text = ngettext(
            "In %d cell answers under other conditions are left out.",
            "In %d cells answers under other conditions are left out.",
            several,
        )
        found.append(text % several)
    for judge in board.judges:
        for said in _of_judge(board, judge.key):
            found.append(f"{judge_name(judge)}: {said}")
    return found


def earlier_version(board: Board) -> str:
    """The limits of a frozen board of an earlier version; empty for a board of this one."""
    version = board.options.version
    if version == VERSION:
        return ""
    said = _(
        "These figures were frozen by version %s of the leaderboard: intervals are percentiles "
        "of resampled questions, too narrow for few questions. Its ranges of ranks and its groups "
        "are not shown: they said more than the tests."
    )
    return said % version


def _of_judge(board: Board, judge: str) -> list[str]:
    rows = [each for each in board.rows if each.judge == judge]
    ranking = ranking_of(board, judge)
    ranked = {int(each.system) for each in ranking.standings if each.rank is not None}
    names = [each.name for each in board.systems]
    found = []
    thin = thin_cells(board, judge)
    if thin:
        cells = [f"{names[each.system]} {each.scenario or '–'}" for each in thin]
        text = ngettext(
            "%(n)d thin cell is in no mean (%(which)s).",
            "%(n)d thin cells are in no mean (%(which)s).",
            len(thin),
        )
        found.append(text % {"n": len(thin), "which": _listed(cells)})
    bare = [names[row.system] for row in rows if row.low is None]
    if bare:
        found.append(_("without mean or interval: %s.") % _listed(bare))
    if ranking.reason:
        found.append(
            _("nobody is ranked (%s); means are over each system's own questions.")
            % ranking.reason
        )
        return found
    others = [names[row.system] for row in rows if row.system not in ranked]
    if others:
        text = _("without a rank, and with a mean over their own questions at most: %s.")
        found.append(text % _listed(others))
    return found


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return shown if more <= 0 else _("%(names)s and %(n)d more") % {"names": shown, "n": more}
