"""What boards of key points, metrics and people come to, in a sentence, and how sure that is."""

from collections.abc import Mapping, Sequence

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.leaderboard.methods.system_board import FIGURES, SystemRow
from argsum.leaderboard.reports.board import SummaryBoard
from argsum.leaderboard.reports.correlation import MetricRow
from argsum.leaderboard.reports.people_agreement import PeopleAgreement
from argsum.leaderboard.reports.tables import DIMENSION_NAMES, FIGURE_NAMES
from argsum.metrics.methods.correlation import Correlations
from cqa_site.results.finding import Finding, in_words, level_of, listed, why_less
from cqa_site.stats.clustered import TOO_FEW_CLUSTERS
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import NO_SPREAD
from cqa_site.web.tables import text_of

# Intervals that resample fewer cells than these are rough, and tend to be too narrow.
FEW_CELLS = 10


def board_finding(board: SummaryBoard) -> Finding | None:
    """Which system leads, by the first figure that any of them has."""
    known = {each for row in board.rows for each in FIGURES if _value(row, each) is not None}
    name = next((each for each in FIGURES if each in known), None)
    if name is None:
        return None
    rows = sorted(
        (row for row in board.rows if _value(row, name) is not None),
        key=lambda row: -(_value(row, name) or 0.0),
    )
    best = rows[0]
    said = {"name": best.system, "figure": str(FIGURE_NAMES[name]).lower(),
            "value": in_words(best.figures[name])}  # fmt: skip
    if board.is_oracle:
        says = _("%(name)s reaches most, at best: %(figure)s %(value)s.")
        sure = _(
            "An upper bound: every setting was chosen by the very score that is shown, which no "
            "system can know beforehand."
        )
        return Finding(says % said, sure, "warn")
    if len(rows) == 1:
        says = _("%(name)s has %(figure)s %(value)s.") % said
    else:
        says = _("%(name)s leads: %(figure)s %(value)s.") % said
    return Finding(says, " ".join([*_next(rows, name), *_ground(board)]))


def _value(row: SystemRow, name: str) -> float | None:
    return row.figures[name].value


def _next(rows: Sequence[SystemRow], name: str) -> list[str]:
    """The second system, and whether the intervals of both overlap."""
    if len(rows) == 1:
        return [_("It is the only system here.")]
    first, second = rows[0].figures[name], rows[1].figures[name]
    said = [_("Next: %(name)s, %(value)s.") % {"name": rows[1].system, "value": in_words(second)}]
    if first.low is None or second.high is None:
        said += _without_interval(rows[:2], name)
    elif first.low <= second.high:
        said.append(_("The intervals overlap, so the order may be chance."))
    return said


def _without_interval(rows: Sequence[SystemRow], name: str) -> list[str]:
    """Which systems have no interval of a figure, by the reason why."""
    why = {row.system: why_no_interval(row.figures[name]) for row in rows}
    text = _("There is no interval for %(names)s: %(reason)s.")
    return [
        text % {"names": listed([each for each in why if why[each] == reason]), "reason": reason}
        for reason in dict.fromkeys(why.values())
        if reason
    ]


def why_no_interval(figure: Estimate) -> str:
    """Why a figure with a value has no interval; empty where it has one."""
    if figure.value is None or figure.low is not None:
        return ""
    # What statistics call clusters are cells here.
    words = {
        TOO_FEW_CLUSTERS: _("fewer than 3 cells have a value"),
        NO_SPREAD: _("all cells have the same value"),
    }
    return words.get(figure.reason or "", figure.reason or "")


def _ground(board: SummaryBoard) -> list[str]:
    n = len(board.cells)
    if n >= FEW_CELLS:
        return [_("Intervals resample %d cells (topic and side).") % n]
    text = ngettext(
        "There is %d cell (topic and side): intervals that resample so few are rough, and tend to "
        "be too narrow.",
        "There are only %d cells (topic and side): intervals that resample so few are rough, and "
        "tend to be too narrow.",
        n,
    )
    return [text % n]


def metrics_finding(rows: Sequence[MetricRow]) -> Finding | None:
    """The metric that says best what people say, of each dimension."""
    best = [
        (name, max(own, key=lambda row: row.rank))
        for dimension, name in DIMENSION_NAMES.items()
        if (own := [each for each in rows
                    if each.source.dimension == dimension and each.found.across is not None])
    ]  # fmt: skip
    if not best:
        if not rows:
            return None
        needed = _("It needs sets with both, and values that are not all alike.")
        return Finding(_("No metric correlates with people yet."), needed, "warn")
    says = "; ".join(
        _("%(metric)s comes closest to people's %(dimension)s: Pearson %(r)s")
        % {
            "metric": row.source,
            "dimension": str(name).lower(),
            "r": text_of(row.found.across or 0.0, 2),
        }
        for name, row in best
    )
    sure = (_within(row.found, str(name).lower()) for name, row in best)
    return Finding(f"{says}.", " ".join(sure))


def metric_finding(found: Correlations, metric: str) -> Finding | None:
    """How one metric goes with people."""
    if found.across is None:
        return None
    said = {"metric": metric, "r": text_of(found.across, 2)}
    return Finding(_("%(metric)s and people correlate at %(r)s.") % said, _within(found))


def _within(found: Correlations, dimension: str = "") -> str:
    """What is left of a correlation where sets of one cell alone are compared."""
    said = {"n": f"{found.n:,}", "what": dimension or _("Pearson")}
    if found.within_mean is None:
        return capfirst(_("%(what)s: over %(n)s sets.") % said)
    text = _("%(what)s: over %(n)s sets; within cells %(mean)s ± %(sd)s.")
    spread = {"mean": text_of(found.within_mean, 2), "sd": text_of(found.within_sd or 0.0, 2)}
    return capfirst(text % (said | spread))


def people_finding(found: PeopleAgreement) -> Finding | None:
    """How far people agree about each dimension."""
    known: Mapping[str, Estimate] = {
        each.dimension: each.alpha for each in found.dimensions if each.alpha.value is not None
    }
    if not known:
        if not found.sets:
            return None
        needed = _("Two people have to judge the same sets.")
        return Finding(_("How far people agree cannot be said yet."), needed, "warn")
    lowest = min(known.values(), key=lambda each: each.value or 0.0)
    level, mark = level_of(lowest)
    figures = ", ".join(
        f"{str(DIMENSION_NAMES[name]).lower()} {in_words(alpha)}" for name, alpha in known.items()
    )
    says = _("People agree %(level)s about sets of key points.") % {"level": level}
    sure = _("Interval alpha: %(figures)s. No metric can be expected to agree with people better.")
    said = f"{sure % {'figures': figures}} {why_less(lowest)}"
    return Finding(says, said.strip(), mark)
