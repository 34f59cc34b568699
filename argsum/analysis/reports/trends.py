"""Key points over time, and what can be said of their rise and fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from argsum.analysis.models import Analysis, FoundPoint
from cqa_site.results.boards import Finding, PageTable, WithInterval
from cqa_site.results.figures import Figure, Files
from cqa_site.web.charts.points import distinct
from cqa_site.web.tables import TableData

from .counts import LEAST, CommentCounts, as_row, kept, runs, trends_chart
from .groups import bounds, p_value, percents, points_bounds, points_of, quoted, within_intervals

if TYPE_CHECKING:
    from argsum.analysis.methods.prevalence import Share
    from argsum.analysis.methods.trends import Trend

# Key points of a chart; rows of the table that has all of them.
CHARTED, SHOWN = 6, 60
WORDS = {
    "day": lazy("day"),
    "week": lazy("week"),
    "month": lazy("month"),
    "quarter": lazy("quarter"),
    "year": lazy("year"),
}


@dataclass(frozen=True)
class PointTrend:
    """A key point with its figures over time."""

    point: FoundPoint
    found: Trend


@dataclass(frozen=True)
class OverTime:
    """All key points over periods.

    Attributes
    ----------
    period, choices
        The period that is shown, and all that can be.
    starts, sizes
        First days of the periods, and the comments of each.
    rows
        The most frequent key point first.
    undated
        Comments without a date, which are in no period.
    """

    analysis: Analysis
    period: str
    choices: Sequence[str]
    starts: Sequence[date]
    sizes: Sequence[int]
    rows: Sequence[PointTrend]
    undated: int

    @property
    def moving(self) -> list[PointTrend]:
        """Key points that are shown to rise or fall, those that move most first."""
        found = [row for row in self.rows if row.found.moves and row.found.change is not None]
        return sorted(found, key=lambda row: -abs(_distance(row)))


def over_time(analysis: Analysis, found: CommentCounts, wanted: str = "") -> OverTime | None:
    """Key points by the period asked for, or the usual one; None where there is no time.

    One query. Dates must span at least two periods of some length.
    """
    from argsum.analysis.methods.trends import countable, trends_of, usual_period

    if found.first is None or found.last is None:
        return None
    choices = countable(found.first, found.last)
    if not choices:
        return None
    usual = usual_period(found.first, found.last, found.dated)
    usual = usual if usual in choices else choices[0]
    period = wanted if wanted in choices else usual
    starts, sizes, counts = _by_period(found, period)
    figures = kept(f"trends-{period}", analysis, lambda: trends_of(sizes, counts))
    points = FoundPoint.objects.in_bulk(found.points)
    return OverTime(
        analysis=analysis,
        period=period,
        choices=choices,
        starts=starts,
        sizes=sizes,
        rows=[PointTrend(points[found.points[each.point]], each) for each in figures],
        undated=found.comments - found.dated,
    )


def _by_period(found: CommentCounts, period: str) -> tuple[list[date], list[int], list[list[int]]]:
    """First days, comments, and for each key point the comments that mention it."""
    from argsum.analysis.methods.trends import periods_between, start_of

    first, last = found.days[0][0], found.days[-1][0]
    starts = periods_between(first, last, period)
    place = {day: at for at, day in enumerate(starts)}
    sizes = [0] * len(starts)
    counts = [[0] * len(starts) for _point in found.points]
    for day, comments, hits in found.days:
        at = place[start_of(day, period)]
        sizes[at] += comments
        for number, times in hits.items():
            counts[number][at] += times
    return starts, sizes, counts


def named(start: date, period: str) -> str:
    """A period in words."""
    if period == "day":
        return start.isoformat()
    if period == "week":
        year, week, _day = start.isocalendar()
        return _("%(year)s week %(week)s") % {"year": year, "week": week}
    if period == "quarter":
        return _("%(year)s Q%(quarter)s") % {
            "year": start.year,
            "quarter": (start.month + 2) // 3,
        }
    return date_format(start, "M Y") if period == "month" else str(start.year)


def trends_finding(found: OverTime) -> Finding:
    """Whether key points are mentioned more or less often over time, and which most."""
    n = sum(1 for row in found.rows if row.found.p is not None)
    span = {
        "first": named(found.starts[0], found.period),
        "last": named(found.starts[-1], found.period),
    }
    moving = found.moving
    if not moving:
        text = _("No key point is shown to rise or fall from %(first)s to %(last)s.")
        still = within_intervals(_("changes"), (row.found.change for row in found.rows))
        return Finding(text % span, f"{still} {_sure(found)}".strip())
    says = ngettext(
        "%(k)s of %(n)s key points is shown to rise or fall from %(first)s to %(last)s",
        "%(k)s of %(n)s key points are shown to rise or fall from %(first)s to %(last)s",
        len(moving),
    ) % {"k": len(moving), "n": n, **span}
    return Finding(f"{says}; {_first(moving[0])}", _sure(found))


def trends_table(found: OverTime) -> TableData:
    """A row for each key point: its share, its change along a line, and the test of that."""
    rows: list[list[Any]] = []
    for row in found.rows:
        each, change = row.found, row.found.change
        rows.append(
            [
                row.point.text, each.all.k, each.all.value, each.all.low, each.all.high,
                *((change.value, change.low, change.high) if change else (None,) * 3),
                each.p_alone, each.p, each.test or None,
            ]
        )  # fmt: skip
    return TableData(
        columns=[
            "key point", "comments", "share", "low", "high", "change", "change low",
            "change high", "p", "p (Holm)", "test",
        ],
        rows=rows,
        caption=f"Key points over time: {found.analysis.name}",
        note=" ".join(trends_recipe(found).split()),
        name=f"trends-{found.analysis.number}",
    )  # fmt: skip


def periods_table(found: OverTime, rows: Sequence[PointTrend]) -> TableData:
    """A row for each period and key point."""
    cells: list[list[Any]] = [
        [
            start.isoformat(), named(start, found.period), row.point.text, size, share.k,
            share.value, share.low, share.high,
        ]
        for row in rows
        for start, size, share in zip(found.starts, found.sizes, row.found.shares, strict=True)
    ]  # fmt: skip
    return TableData(
        columns=[
            "from", found.period, "key point", "comments", "with the key point", "share", "low",
            "high",
        ],
        rows=cells,
        caption=f"Key points by {found.period}: {found.analysis.name}",
        note=" ".join(trends_recipe(found).split()),
        name=f"periods-{found.analysis.number}",
    )  # fmt: skip


def trends_recipe(found: OverTime) -> str:
    """How the figures were made, in named paragraphs."""
    parts = [
        _(
            "Share: comments of a %(period)s with at least one statement at the key point, "
            "divided by all comments of that %(period)s; exact 95 %% interval."
        )
        % {"period": WORDS[found.period]},
        _(
            "Change: along a straight line through all comments, from the first to the last "
            "period, in percentage points. The 95 %% interval leaves out one comment at a time "
            "(t, corrected for skewness). It is not computed if fewer than %d comments have or "
            "lack the key point, or if too few are far from the middle of the time span."
        )
        % LEAST,
        _(
            "Test of the hypothesis of no linear trend: Cochran–Armitage (the score test of a "
            "logistic regression on time). If fewer than 100 comments have or lack the key "
            "point: 9,999 random orders with a fixed seed. Holm-corrected over all key points. "
            "A rise followed by a fall is not a linear trend."
        ),
        _("Small periods (fewer than %d comments) are marked with * and count like all others.")
        % LEAST,
    ]
    return "\n\n".join(parts)


def trends_figures(found: OverTime, chosen: Sequence[PointTrend], files: Files) -> list[Figure]:
    """Chart of the chosen key points with their periods, and the table of all."""
    return [
        Figure(
            slug="periods",
            title=_("Share of comments by %s") % WORDS[found.period],
            recipe=trends_recipe(found),
            table=periods_table(found, chosen),
            shown=_periods_shown(found, chosen),
            alt=_("Lines with bands: share of comments that mention each key point, in percent")
            if chosen
            else "",
            draw=partial(_chart, found, chosen),
            files=files,
            is_wide=True,
        ),
        Figure(
            slug="trends",
            title=_("All key points"),
            about=_("the %d most frequent; the file has all") % SHOWN
            if len(found.rows) > SHOWN
            else "",
            recipe=trends_recipe(found),
            table=trends_table(found),
            shown=_trends_shown(found),
            files=files,
            is_wide=True,
        ),
    ]


def _trends_shown(found: OverTime) -> PageTable:
    rows = [
        [
            row.point.text,
            WithInterval(percents(row.found.all), bounds(row.found.all)),
            WithInterval(points_of(row.found.change), points_bounds(row.found.change)),
            p_value(row.found.p),
        ]
        for row in found.rows[:SHOWN]
    ]
    columns = [
        _("key point"),
        _("share"),
        _("change, percentage points"),
        _("p (Holm)"),
    ]
    return PageTable(columns, rows, [False, True, True, True])


def _periods_shown(found: OverTime, chosen: Sequence[PointTrend]) -> PageTable:
    """A row for each period, a column for each key point."""
    rows = [
        [
            named(start, found.period),
            f"{size:,}" + ("*" if 0 < size < LEAST else ""),
            *(_of_period(row.found.shares[at]) for row in chosen),
        ]
        for at, (start, size) in enumerate(zip(found.starts, found.sizes, strict=True))
    ]
    columns = [str(WORDS[found.period]), _("comments"), *(row.point.text for row in chosen)]
    return PageTable(columns, rows, [False, *(True for _column in columns[1:])])


def _of_period(share: Share) -> Any:
    return WithInterval(percents(share), bounds(share)) if share.n else "–"


def _distance(row: PointTrend) -> float:
    return 0.0 if row.found.change is None else row.found.change.value


def _first(row: PointTrend) -> str:
    text = (
        _("largest change in these data: %(point)s, which rises (%(by)s).")
        if _distance(row) > 0
        else _("largest change in these data: %(point)s, which falls (%(by)s).")
    )
    by = _("%(points)s percentage points %(bounds)s") % {
        "points": points_of(row.found.change),
        "bounds": points_bounds(row.found.change),
    }
    return text % {"point": quoted(row.point.text), "by": by}


def _sure(found: OverTime) -> str:
    n = sum(found.sizes)
    text = _(
        "%(n)s comments in %(periods)s %(period)ss; linear trends only, p-values Holm-corrected "
        "over all key points. Statements were placed automatically."
    )
    return text % {
        "n": f"{n:,}",
        "periods": len(found.starts),
        "period": WORDS[found.period],
    }


def _chart(found: OverTime, chosen: Sequence[PointTrend], size: str) -> Any:
    texts = distinct(row.point.text for row in chosen)
    numbers = runs([n > 0 for n in found.sizes])
    rows = [
        as_row(text, start, share, run)
        for text, row in zip(texts, chosen, strict=True)
        for start, share, run in zip(found.starts, row.found.shares, numbers, strict=True)
        if share.n
    ]
    starts = [(start, named(start, found.period)) for start in found.starts]
    return trends_chart(rows, starts, size)
