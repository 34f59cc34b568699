"""Report key points over time, and draw conclusions about their rise and fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.models import Analysis, FoundPoint
from argsum.datasets.models import Comment
from cqa_site.results.boards import Conclusion, PageTable, WithInterval
from cqa_site.results.figures import Column, EstimateColumn, Figure, Files, table_of
from cqa_site.web.charts.points import distinct
from cqa_site.web.tables import TableData, one_line
from .counts import LEAST, POINTS, CommentCounts, CountedTheme, NamedView, kept
from .extensions import CorrectedShare, corrections_by_part
from .groups import (
    audited_columns,
    bounds,
    further_recipes,
    named_columns,
    p_value,
    percents,
    points_of,
    quoted,
    within_intervals,
)
from .share_charts import as_row, runs, trends_chart
from .voices import COMMENTS, VOICES, copies_note, counted_in_words

if TYPE_CHECKING:
    from argsum.analysis.methods.trends import Trend

# Maximum numbers of key points in a chart, and of rows in the table of all.
CHARTED, MOST_SHOWN = 6, 60
WORDS = {
    "day": lazy("day"),
    "week": lazy("week"),
    "month": lazy("month"),
    "quarter": lazy("quarter"),
    "year": lazy("year"),
}


@dataclass(frozen=True)
class PointTrend:
    """A key point or a theme with its figures over time."""

    point: FoundPoint | CountedTheme
    found: Trend

    @property
    def key(self) -> str:
        """The key point's public id, or the name of the theme."""
        point = self.point
        return point.theme if isinstance(point, CountedTheme) else str(point.public_id)


@dataclass(frozen=True)
class PointTrends(NamedView):
    """All key points or themes over periods.

    Attributes
    ----------
    period, choices
        The length of the periods, and all possible lengths.
    starts, sizes
        First days of the periods, and the number of comments in each.
    rows
        Key points or themes, the most frequent first.
    undated
        Number of comments without a date, which are in no period.
    unit, view
        Comments or voices; by key points or themes.
    corrected
        Shares corrected by an audit, by key point and first day of a period; empty for themes.
    """

    analysis: Analysis
    period: str
    choices: Sequence[str]
    starts: Sequence[date]
    sizes: Sequence[int]
    rows: Sequence[PointTrend]
    undated: int
    unit: str = COMMENTS
    view: str = POINTS
    corrected: Mapping[tuple[int, str], CorrectedShare] = field(default_factory=dict)

    @property
    def moving(self) -> list[PointTrend]:
        """Key points with a significant rise or fall, largest change first."""
        trends = [row for row in self.rows if row.found.moves and row.found.change is not None]
        return sorted(trends, key=lambda row: -abs(_distance(row)))


def over_time(
    analysis: Analysis, comment_counts: CommentCounts, wanted: str = ""
) -> PointTrends | None:
    """Return the counts by the requested or default period, using one query.

    Returns None unless the dates span at least two periods of some length.
    """
    from argsum.analysis.methods.trends import countable, trends_of, usual_period

    if comment_counts.first is None or comment_counts.last is None:
        return None
    choices = countable(comment_counts.first, comment_counts.last)
    if not choices:
        return None
    usual = usual_period(comment_counts.first, comment_counts.last, comment_counts.dated)
    usual = usual if usual in choices else choices[0]
    period = wanted if wanted in choices else usual
    starts, sizes, counts = _by_period(comment_counts, period)
    unit, view = comment_counts.unit, comment_counts.view
    figures = kept(f"trends-{unit}-{view}-{period}", analysis, lambda: trends_of(sizes, counts))
    rows = comment_counts.rows
    return PointTrends(
        analysis=analysis,
        period=period,
        choices=choices,
        starts=starts,
        sizes=sizes,
        rows=[PointTrend(rows[figure.point], figure) for figure in figures],
        undated=comment_counts.comments - comment_counts.dated,
        unit=unit,
        view=view,
        # Audits are about comments and key points.
        corrected=_corrected(analysis, period) if (unit, view) == (COMMENTS, POINTS) else {},
    )


def _by_period(
    comment_counts: CommentCounts, period: str
) -> tuple[list[date], list[int], list[list[int]]]:
    """Return, by period, the first day, the comment count, and the mentions of each key point."""
    from argsum.analysis.methods.trends import periods_between, start_of

    first, last = comment_counts.days[0][0], comment_counts.days[-1][0]
    starts = periods_between(first, last, period)
    place = {day: at for at, day in enumerate(starts)}
    sizes = [0] * len(starts)
    counts = [[0] * len(starts) for _point in comment_counts.points]
    for day, comments, hits in comment_counts.days:
        at = place[start_of(day, period)]
        sizes[at] += comments
        for number, times in hits.items():
            counts[number][at] += times
    return starts, sizes, counts


def named(start: date, period: str) -> str:
    """Return the display name of a period."""
    if period == "day":
        return start.isoformat()
    if period == "week":
        year, week, _day = start.isocalendar()
        return _("%(year)s week %(week)s") % {"year": year, "week": week}
    if period == "quarter":
        return _("%(year)s Q%(quarter)s") % {"year": start.year, "quarter": (start.month + 2) // 3}
    return date_format(start, "M Y") if period == "month" else str(start.year)


def trends_finding(trend: PointTrends) -> Conclusion:
    """Return a sentence on whether key points are mentioned more or less often over time."""
    n = sum(1 for row in trend.rows if row.found.p is not None)
    span = {
        "first": named(trend.starts[0], trend.period),
        "last": named(trend.starts[-1], trend.period),
        "noun": trend.noun,
        "nouns": trend.nouns,
    }
    moving = trend.moving
    if not moving:
        text = _("No %(noun)s is shown to rise or fall from %(first)s to %(last)s.")
        still = within_intervals(_("changes"), (row.found.change for row in trend.rows))
        return Conclusion(text % span, f"{still} {_sure(trend)}".strip())
    says = ngettext(
        "%(k)s of %(n)s %(nouns)s is shown to rise or fall from %(first)s to %(last)s",
        "%(k)s of %(n)s %(nouns)s are shown to rise or fall from %(first)s to %(last)s",
        len(moving),
    ) % {"k": len(moving), "n": n, **span}
    return Conclusion(f"{says}; {_first(trend, moving[0])}", _sure(trend))


def trends_table(trend: PointTrends) -> TableData:
    """Return a row for each key point or theme: its share, its linear change, and the test."""
    columns = (
        *named_columns(trend, "point"),
        Column("comments", "found.all.k"),
        EstimateColumn("share", "found.all"),
        Column("change", "found.change.value"),
        Column("change low", "found.change.low"),
        Column("change high", "found.change.high"),
        Column("p", "found.p_alone"),
        Column("p (Holm)", "found.p"),
        Column("test", lambda row: row.found.test or None),
    )
    return table_of(
        columns,
        trend.rows,
        caption=f"{trend.heading} over time: {trend.analysis.name}",
        note=one_line(trends_recipe(trend)),
        name=f"trends-{trend.analysis.number}",
    )


def periods_table(trend: PointTrends, rows: Sequence[PointTrend]) -> TableData:
    """Return a row for each period and key point or theme."""
    columns: tuple[Column, ...] = (
        Column("from", lambda row: row[0].isoformat()),
        Column(trend.period, lambda row: named(row[0], trend.period)),
        *named_columns(trend, "3"),
        Column(trend.unit, "1"),
        Column(f"with the {trend.noun}", "2.k"),
        EstimateColumn("share", "2"),
    )
    if trend.corrected:
        columns += audited_columns(
            lambda row: trend.corrected.get((row[3].pk, row[0].isoformat()))
        )
    return table_of(
        columns,
        (
            (*period, row.point)
            for row in rows
            for period in zip(trend.starts, trend.sizes, row.found.shares, strict=True)
        ),
        caption=f"{trend.heading} by {trend.period}: {trend.analysis.name}",
        note=one_line(trends_recipe(trend)),
        name=f"periods-{trend.analysis.number}",
    )


def _corrected(analysis: Analysis, period: str) -> dict[tuple[int, str], CorrectedShare]:
    from argsum.analysis.methods.trends import start_of

    def periods(comments: QuerySet[Comment]) -> dict[int, str]:
        rows = comments.values_list("pk", "written_on").iterator(5_000)
        return {pk: start_of(day, period).isoformat() for pk, day in rows if day}

    return corrections_by_part(analysis, f"period-{period}", periods)


def trends_recipe(trend: PointTrends) -> str:
    """Return named paragraphs on how the figures were computed."""
    parts = [
        _(
            "Share: comments from a %(period)s with at least one statement under the %(noun)s, "
            "divided by all comments from that %(period)s; exact 95 %% interval."
        )
        % {"period": WORDS[trend.period], "noun": trend.noun},
        _(
            "Change: along a straight line through all comments, from the first to the last "
            "period, in percentage points. The 95 %% interval is computed by leaving out one "
            "comment at a time (t, corrected for skewness). It is not computed if fewer than %d "
            "comments have or lack the %s, or if too few are far from the middle of the time "
            "span."
        )
        % (LEAST, trend.noun),
        _(
            "Cochran–Armitage test of the hypothesis that there is no linear trend (the "
            "score test of a logistic regression on time). If fewer than 100 comments "
            "have or lack the %(noun)s, it is replaced by 9,999 random permutations with "
            "a fixed seed. All p-values are Holm-corrected over all %(nouns)s. A rise "
            "followed by a fall is not a linear trend."
        )
        % {"noun": trend.noun, "nouns": trend.nouns},
        _("Small periods (fewer than %d comments) are marked with * and count like all others.")
        % LEAST,
    ]
    once = _("Near-duplicates are counted on the date of the first one.")
    return "\n\n".join([*parts, *further_recipes(trend, once)])


def trends_figures(trend: PointTrends, chosen: Sequence[PointTrend], files: Files) -> list[Figure]:
    """Return the chart and table of the chosen key points by period, and the full table."""
    return [
        Figure(
            slug="periods",
            title=_("Share of comments by %s") % WORDS[trend.period],
            recipe=trends_recipe(trend),
            table=periods_table(trend, chosen),
            shown=_periods_shown(trend, chosen),
            alt=_("Lines with bands: share of comments that mention each %s, in percent")
            % trend.noun
            if chosen
            else "",
            draw=partial(_chart, trend, chosen),
            files=files,
            is_wide=True,
        ),
        Figure(
            slug="trends",
            title=_("All %s") % trend.nouns,
            about=_("the %(n)d most frequent; the file has all %(nouns)s")
            % {"n": MOST_SHOWN, "nouns": trend.nouns}
            if len(trend.rows) > MOST_SHOWN
            else "",
            recipe=trends_recipe(trend),
            table=trends_table(trend),
            shown=_trends_shown(trend),
            files=files,
            is_wide=True,
        ),
    ]


def _trends_shown(trend: PointTrends) -> PageTable:
    rows = [
        [
            row.point.text,
            WithInterval(percents(row.found.all), bounds(row.found.all)),
            WithInterval(points_of(row.found.change), bounds(row.found.change)),
            p_value(row.found.p),
        ]
        for row in trend.rows[:MOST_SHOWN]
    ]
    columns = [trend.noun, _("share"), _("change, percentage points"), _("p (Holm)")]
    return PageTable(columns, rows, [False, True, True, True])


def _periods_shown(trend: PointTrends, chosen: Sequence[PointTrend]) -> PageTable:
    """Return a row for each period, with a column for each key point."""
    rows = [
        [
            named(start, trend.period),
            f"{size:,}" + ("*" if 0 < size < LEAST else ""),
            *(
                WithInterval(percents(share), bounds(share)) if share.n else "–"
                for share in (row.found.shares[at] for row in chosen)
            ),
        ]
        for at, (start, size) in enumerate(zip(trend.starts, trend.sizes, strict=True))
    ]
    unit = _("voices") if trend.unit == VOICES else _("comments")
    columns = [str(WORDS[trend.period]), unit, *(row.point.text for row in chosen)]
    return PageTable(columns, rows, [False, *(True for _column in columns[1:])])


def _distance(row: PointTrend) -> float:
    return 0.0 if row.found.change is None else row.found.change.value


def _first(trend: PointTrends, row: PointTrend) -> str:
    text = (
        _("largest change in these data: %(point)s, which rises (%(by)s).")
        if _distance(row) > 0
        else _("largest change in these data: %(point)s, which falls (%(by)s).")
    )
    change = row.found.change_among(len(trend.rows))
    by = _("%(points)s percentage points %(bounds)s, corrected for all %(nouns)s") % {
        "points": points_of(change),
        "bounds": bounds(change),
        "nouns": trend.nouns,
    }
    return text % {"point": quoted(row.point.text), "by": by}


def _sure(trend: PointTrends) -> str:
    n = sum(trend.sizes)
    text = _(
        "%(n)s in %(periods)s %(period)ss; linear trends only, p-values Holm-corrected "
        "over all %(nouns)s. Statements were placed automatically."
    )
    text %= {
        "nouns": trend.nouns,
        "n": counted_in_words(n, trend.unit),
        "periods": len(trend.starts),
        "period": WORDS[trend.period],
    }
    return f"{text} {copies_note(trend.analysis, trend.unit)}".strip()


def _chart(trend: PointTrends, chosen: Sequence[PointTrend], size: str) -> Any:
    texts = distinct(row.point.text for row in chosen)
    numbers = runs([n > 0 for n in trend.sizes])
    rows = [
        as_row(text, start, share, run)
        for text, row in zip(texts, chosen, strict=True)
        for start, share, run in zip(trend.starts, row.found.shares, numbers, strict=True)
        if share.n
    ]
    starts = [(start, named(start, trend.period)) for start in trend.starts]
    return trends_chart(rows, starts, size)
