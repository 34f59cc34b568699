"""Find the themes of an analysis with their key points, and key points that few people make."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count

from argsum.analysis.models import Analysis, FoundPoint
from .analyses import StatementSearch
from .mentions import NarrowedCounts, PointCounts, theme_counts
from .points import PointRow, counted_figures, narrowed_points, point_rows, points_of
from .voices import COMMENTS, sure_of

State = FoundPoint.State
# Numbers of key points per theme, and of rare key points, on the page of all themes.
MOST_NESTED, MOST_RARE = 6, 20
# Key points in less than this share of the comments are said by few.
FEW = 0.02


@dataclass(frozen=True)
class ThemeRow:
    """One theme with its counts. A comment that makes two of its key points counts once.

    Attributes
    ----------
    name
        Empty for key points without a theme.
    counted, sure, mentions, share, sure_share
        As in `PointRow`.
    points
        The key points on the page.
    rare, more
        Counts of the theme's other key points: those that few people make, and the rest.
    is_open
        Whether the page shows the key points.
    """

    name: str
    counted: int
    sure: int
    mentions: str
    share: float | None
    sure_share: float | None
    points: Sequence[PointRow]
    rare: int
    more: int
    is_open: bool

    @property
    def number(self) -> int:
        """Number of key points of the theme."""
        return len(self.points) + self.rare + self.more


@dataclass(frozen=True)
class ThemePage:
    """The themes of an analysis, most comments first, and the key points that few people make."""

    themes: Sequence[ThemeRow]
    rare: Sequence[PointRow]
    more_rare: int

    @property
    def named(self) -> int:
        """Number of themes, not counting the row of key points without a theme."""
        return sum(bool(theme.name) for theme in self.themes)


def theme_figures(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the names, numbers of key points and counts of themes, most comments first."""
    shown = analysis.points.filter(state=State.SHOWN).order_by().values_list("theme")
    counts = theme_counts(analysis)
    themes = [
        {"name": name, "key_points": n, **asdict(counts.get(name, PointCounts()))}
        for name, n in shown.annotate(n=Count("pk"))
    ]
    return sorted(themes, key=lambda row: (not row["name"], -row["comments"], row["name"]))


def themes_of(
    analysis: Analysis,
    narrow: StatementSearch,
    counts: NarrowedCounts | None,
    total: int,
    *,
    opened: frozenset[str] = frozenset(),
) -> ThemePage:
    """Return all themes with the key points to show, using at most four queries.

    ``counts`` are the counts under a filter, if one is set. ``opened`` are themes that show their
    key points.
    """
    every = points_of(analysis, State.SHOWN, narrow.unit)
    points = narrowed_points(every, counts, narrow.unit) if counts else list(every)
    usual: dict[str, Any] = {"narrow": narrow, "counts": counts, "total": total}
    rows = point_rows(analysis, points, **usual, has_quotes=False)
    few = said_by_few(analysis, points, narrow.unit)
    rare = {point.pk for point in few}
    nested: dict[str, list[PointRow]] = {}
    for row in rows:
        nested.setdefault(row.point.theme, []).append(row)
    figures = counts.themes if counts else theme_counts(analysis)
    themes = [
        ThemeRow(
            name,
            **counted_figures(analysis, figures.get(name, PointCounts()), narrow.unit, total),
            points=own[:MOST_NESTED],
            rare=len(mine) - len(own),
            more=max(0, len(own) - MOST_NESTED),
            is_open=name in opened,
        )
        for name, mine in nested.items()
        for own in [[row for row in mine if row.point.pk not in rare]]
    ]
    # Key points without a theme come last.
    themes.sort(key=lambda theme: (not theme.name, -theme.counted, theme.name))
    shown = point_rows(analysis, few[:MOST_RARE], **usual) if few else []
    return ThemePage(themes, shown, len(few) - len(shown))


def said_by_few(
    analysis: Analysis, points: Sequence[FoundPoint], unit: str = COMMENTS
) -> list[FoundPoint]:
    """Return key points found in under 2 % of all comments or voices, most distinctive first.

    A key point with a single statement is included only if the placement is sure.
    """
    limit = FEW * getattr(analysis, unit)
    few = [
        point
        for point in points
        if 0 < getattr(point, unit) < limit
        and (point.statements > 1 or sure_of(analysis, point, unit))
    ]
    return sorted(few, key=lambda point: (-(point.distinctness or 0.0), point.position))
