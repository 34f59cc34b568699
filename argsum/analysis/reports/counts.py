"""Count comments by key point or theme, group and period."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.cache import cache
from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.voices import COMMENTS, VOICES, voices_by_comment
from argsum.datasets.models import Comment, CommentStatement
from cqa_site.stats.verdicts import RULES

if TYPE_CHECKING:
    import numpy as np


# Comparisons and trends use these counts, never the rows. Counting 100,000 comments takes seconds,
# so the page of a large analysis loads them in a second request.
KEPT_SECONDS = 7 * 24 * 3600
PIECE = 5_000
# With more comments than this, a page is shown before its figures are counted.
AT_ONCE = 10_000
# Limits for columns that form groups: numbers of values, and characters in a value.
FEWEST_VALUES, MOST_VALUES, LONGEST_VALUE = 2, 20, 120
# The number of columns that an import keeps.
MOST_COLUMNS = 50
# Smaller groups are not tested, see `prevalence`.
LEAST = RULES["groups"].least
# Reasons why a column forms no groups; reports explain them.
TOO_MANY, TOO_LONG, ONE_VALUE, TOO_FEW = "too_many", "too_long", "one_value", "too_few"
UNPLACED = -1
# Views of the counts, by key point or by theme, as in URLs, files and cache keys.
POINTS, THEMES = VIEWS = ("points", "themes")
NOUNS = {POINTS: (lazy("key point"), lazy("key points")), THEMES: (lazy("theme"), lazy("themes"))}


class NamedView:
    """Names for a view: key points or themes."""

    view: str

    @property
    def noun(self) -> str:
        """“key point” or “theme”."""
        return str(NOUNS[self.view][0])

    @property
    def nouns(self) -> str:
        """“key points” or “themes”."""
        return str(NOUNS[self.view][1])

    @property
    def heading(self) -> str:
        """The plural noun, capitalised."""
        return str(capfirst(self.nouns))


@dataclass(frozen=True)
class CountedTheme:
    """A theme in place of a key point. The name is empty for key points without a theme."""

    theme: str
    # Not the key of any key point, because audits do not cover themes.
    pk: ClassVar[int] = 0

    @property
    def text(self) -> str:
        """Name shown on pages."""
        return self.theme or _("No theme")


@dataclass
class CommentColumn:
    """A column of the comments, with counts by value.

    Attributes
    ----------
    values, sizes
        Values in natural order, and the number of comments with each.
    counts : shape (points, values)
        Number of comments with each value that mention the key point.
    without
        Number of comments without a value.
    barred
        Reason why the column forms no groups, or empty.
    """

    name: str
    values: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    without: int = 0
    barred: str = ""


@dataclass
class CommentCounts(NamedView):
    """Counts of the comments of an analysis, or of its voices.

    A comment counts once per theme, however many of the theme's key points it makes. A voice
    mentions every key point that any of its comments mentions. It counts once in every group with
    one of its comments, and, over time, on the date of its first comment.

    Attributes
    ----------
    unit, view
        Comments or voices; by key points or themes.
    points
        Primary keys of the shown key points, or names of their themes, the most frequent first.
        Key points without a theme come last.
    has_themes
        Whether any key point has a theme.
    comments, waiting
        Counted comments, and comments without any placed statement.
    columns, further
        Columns in the natural order of their names, and the number of further columns.
    dated, first, last
        Comments with a date, and the span of these dates.
    days
        (date, comments on that day, {number of a key point: comments that mention it}).
    """

    points: list[Any]
    comments: int = 0
    waiting: int = 0
    columns: list[CommentColumn] = field(default_factory=list)
    further: int = 0
    dated: int = 0
    days: list[tuple[date, int, dict[int, int]]] = field(default_factory=list)
    unit: str = COMMENTS
    view: str = POINTS
    has_themes: bool = False

    @property
    def rows(self) -> list[FoundPoint | CountedTheme]:
        """Key points (one query) or themes, in the order of ``points``."""
        if self.view == THEMES:
            return [CountedTheme(name) for name in self.points]
        rows = FoundPoint.objects.in_bulk(self.points)
        return [rows[pk] for pk in self.points]

    @property
    def first(self) -> date | None:
        """Earliest date; None if there are no dates."""
        return self.days[0][0] if self.days else None

    @property
    def last(self) -> date | None:
        """Latest date; None if there are no dates."""
        return self.days[-1][0] if self.days else None

    @property
    def comparable(self) -> list[CommentColumn]:
        """Columns whose groups can be compared."""
        return [column for column in self.columns if not column.barred]

    @property
    def barred(self) -> list[CommentColumn]:
        """Columns that form no groups, each with the reason."""
        return [column for column in self.columns if column.barred]


def state_of(analysis: Analysis) -> str:
    """Return a short key that changes with every edit and every newly placed comment."""
    at = analysis.placed_at or analysis.done_at
    placed = at.timestamp() if at else 0
    revisions = f"{analysis.revision}-{analysis.voices_revision}"
    return f"4-{revisions}-{placed:.3f}-{analysis.statements}-{analysis.comments}"


def kept(name: str, analysis: Analysis, compute: Callable[[], Any]) -> Any:
    """Return a cached value for the current state of an analysis, computing it if necessary."""
    key = f"analysis-{name}:{analysis.pk}:{state_of(analysis)}"
    return cache.get_or_set(key, compute, KEPT_SECONDS)


def counted(analysis: Analysis, unit: str = COMMENTS, view: str = POINTS) -> CommentCounts:
    """Return the counts, from the cache if possible."""
    name = f"counts-{unit}-{view}"
    counts: CommentCounts = kept(name, analysis, lambda: count(analysis, unit, view))
    return counts


def is_counted(analysis: Analysis, unit: str = COMMENTS, view: str = POINTS) -> bool:
    """Return whether the counts are cached or the comments are few enough to count at once."""
    if analysis.comments <= AT_ONCE:
        return True
    return f"analysis-counts-{unit}-{view}:{analysis.pk}:{state_of(analysis)}" in cache


def count(analysis: Analysis, unit: str = COMMENTS, view: str = POINTS) -> CommentCounts:
    """Count comments or voices, and placements, in four queries (five for voices)."""
    import numpy as np

    points = FoundPoint.objects.filter(analysis=analysis, state=FoundPoint.State.SHOWN)
    themes: dict[int, str] = dict(
        points.order_by(f"-{unit}", "position").values_list("pk", "theme")
    )
    counts = CommentCounts(list(themes), unit=unit, view=view, has_themes=any(themes.values()))
    if view == THEMES:
        counts.points = sorted(set(themes.values()))
    number = {key: at for at, key in enumerate(counts.points)}
    place = {pk: number[pk if view == POINTS else theme] for pk, theme in themes.items()}
    statements = CommentStatement.objects.filter(argument__placements__analysis=analysis)
    pairs = statements.order_by().values_list("comment", "argument__placements__point")
    comments, numbers = _pairs(pairs.iterator(PIECE), place)
    rows = Comment.objects.filter(cell=analysis.cell_id).order_by("position")
    waiting = _waiting(analysis, comments)
    keys, days, columns = _read(rows.values_list("pk", "attributes", "written_on"), waiting)
    voice = voices_by_comment(analysis) if unit == VOICES else {}
    units = np.array([voice.get(key, key) for key in keys.tolist()], dtype=np.int64)
    different, units = np.unique(units, return_inverse=True)
    counts.comments, counts.waiting = len(different), len(waiting)
    # Position of the comment of each pair. A comment mentions a key point only once.
    order = np.argsort(keys)
    comments, numbers = comments[numbers != UNPLACED], numbers[numbers != UNPLACED]
    at = order[np.searchsorted(keys, comments, sorter=order)]
    both = np.unique(at * (len(counts.points) + 1) + numbers)
    at, numbers = np.divmod(both, len(counts.points) + 1)
    if view == THEMES:
        numbers = _by_frequency(counts, units[at], numbers)
    counts.columns = [
        _column(column, at, numbers, units, len(counts.points)) for column in columns
    ]
    counts.further = max(0, len(counts.columns) - MOST_COLUMNS)
    del counts.columns[MOST_COLUMNS:]
    _days(counts, days, units, units[at], numbers)
    return counts


def _by_frequency(
    counts: CommentCounts, mentioning: np.ndarray, numbers: np.ndarray
) -> np.ndarray:
    """Sort the counted themes by frequency, and return the new numbers."""
    import numpy as np

    n = len(counts.points)
    totals = np.bincount(np.unique(mentioning * n + numbers) % max(1, n), minlength=n)
    names = counts.points
    order = sorted(range(n), key=lambda at: (not names[at], -totals[at], names[at]))
    counts.points = [names[at] for at in order]
    return np.argsort(order)[numbers]


def _pairs(
    rows: Iterable[tuple[int, int | None]], place: dict[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a comment and the number of a key point in it (-1 if it is not shown)."""
    import numpy as np

    pairs = [(comment, place.get(point or 0, UNPLACED)) for comment, point in rows]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _waiting(analysis: Analysis, placed: np.ndarray) -> set[int]:
    """Return comments added later, which have statements but no placements."""
    here = Placement.objects.filter(analysis=analysis).values("argument")
    rows = CommentStatement.objects.filter(argument__cell=analysis.cell_id, argument__left_out="")
    late = rows.exclude(argument__in=here).order_by()
    unplaced = set(late.values_list("comment_id", flat=True))
    return unplaced - set(placed.tolist()) if unplaced else unplaced


@dataclass
class _ColumnReading:
    """A column while it is being read, with the number of each comment's value."""

    name: str
    numbers: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, int]] = field(default_factory=list)
    barred: str = ""


def _read(
    rows: Any, waiting: set[int]
) -> tuple[np.ndarray, list[tuple[int, date]], list[_ColumnReading]]:
    """Return comment keys, dates of the dated comments, and columns."""
    import numpy as np

    keys: list[int] = []
    days: list[tuple[int, date]] = []
    columns: dict[str, _ColumnReading] = {}
    for key, attributes, day in rows.iterator(PIECE):
        if key in waiting:
            continue
        at = len(keys)
        keys.append(key)
        if day is not None:
            days.append((at, day))
        for name, value in attributes.items():
            if value:
                _note(columns.setdefault(name, _ColumnReading(name)), at, str(value))
    # Sorted, because PostgreSQL does not keep the order in the file.
    ordered = sorted(columns.values(), key=lambda column: _natural(column.name))
    return np.array(keys, dtype=np.int64), days, ordered


def _note(column: _ColumnReading, at: int, value: str) -> None:
    if column.barred:
        return
    number = column.numbers.setdefault(value, len(column.numbers))
    column.rows.append((at, number))
    if len(value) > LONGEST_VALUE:
        column.barred = TOO_LONG
    elif number >= MOST_VALUES:
        column.barred = TOO_MANY
    if column.barred:
        column.rows.clear()


def _column(
    read: _ColumnReading, at: np.ndarray, numbers: np.ndarray, units: np.ndarray, points: int
) -> CommentColumn:
    """Return a column with its groups. ``at`` and ``numbers`` pair comments with key points.

    ``units`` are the units of comments. A unit counts once in each group.
    """
    import numpy as np

    if read.barred:
        return CommentColumn(read.name, barred=read.barred)
    values = sorted(read.numbers, key=_natural)
    to = np.empty(len(values), dtype=np.int64)
    for place, value in enumerate(values):
        to[read.numbers[value]] = place
    rows = np.array(read.rows, dtype=np.int64).reshape(-1, 2)
    group = np.full(len(units), UNPLACED)
    group[rows[:, 0]] = to[rows[:, 1]]
    known, cells = group >= 0, points * len(values)
    members = np.unique(units[known] * len(values) + group[known])
    sizes = np.bincount(members % max(1, len(values)), minlength=len(values))
    here = known[at]
    mentions = units[at][here] * cells + numbers[here] * len(values) + group[at][here]
    counts = np.bincount(np.unique(mentions) % max(1, cells), minlength=cells)
    barred = ONE_VALUE if len(values) < FEWEST_VALUES else ""
    if not barred and (sizes >= LEAST).sum() < FEWEST_VALUES:
        barred = TOO_FEW
    return CommentColumn(
        name=read.name,
        values=values,
        sizes=sizes.tolist(),
        counts=counts.reshape(points, len(values)).tolist(),
        without=len(np.unique(units)) - len(np.unique(units[known])),
        barred=barred,
    )


def _days(
    counts: CommentCounts,
    days: list[tuple[int, date]],
    units: np.ndarray,
    mentioning: np.ndarray,
    numbers: np.ndarray,
) -> None:
    """Count units and mentions of key points for every day with comments.

    ``units`` are the units of comments. ``mentioning`` and ``numbers`` pair units with key points.
    """
    day_of: dict[int, date] = {}
    for comment, day in days:
        unit = int(units[comment])
        day_of[unit] = min(day, day_of.get(unit, day))
    counts.dated = len(day_of)
    sizes: dict[date, int] = {}
    for day in day_of.values():
        sizes[day] = sizes.get(day, 0) + 1
    hits: dict[date, dict[int, int]] = {day: {} for day in sizes}
    for unit, number in set(zip(mentioning.tolist(), numbers.tolist(), strict=True)):
        if unit in day_of:
            mine = hits[day_of[unit]]
            mine[number] = mine.get(number, 0) + 1
    counts.days = [(day, sizes[day], hits[day]) for day in sorted(sizes)]


def _natural(value: str) -> list[tuple[int, int, str]]:
    """Return a sort key that orders numbers in a text by size and ignores case."""
    parts = re.split(r"(\d+)", value.casefold())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def digest(*parts: object) -> str:
    """Return a short hash of choices for cache keys."""
    return sha256(repr(parts).encode()).hexdigest()[:16]
