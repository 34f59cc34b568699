"""Table of all mentions of key points in comments, from which pages compute counts.

A page with a filter queries the matching comments or statements, and counts key points and themes
in one pass over the table. For 100,000 comments, the table takes a few megabytes, so each analysis
caches only one, for its current state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models.functions import Coalesce

from argsum.analysis.models import Analysis, FoundPoint
from argsum.datasets.models import CellArgument, CommentStatement
from .analyses import StatementSearch, has_comments
from .counts import KEPT_SECONDS, PIECE, kept, state_of
from .voices import VOICES, voices_by_comment

if TYPE_CHECKING:
    import numpy as np

# The last field is the column, because `argument` would use the default order of statements.
BEST_FIRST = ("-is_by_hand", "-is_sure", "-score", "argument_id")


@dataclass(frozen=True)
class PointCounts:
    """Counts of statements, of comments that contain them, and of comments with a sure one."""

    statements: int = 0
    comments: int = 0
    voices: int = 0
    sure_comments: int = 0
    sure_voices: int = 0


@dataclass(frozen=True)
class Mentions:
    """Placements with the comments that contain them, as arrays of the same length.

    The placements of each key point are in the order `BEST_FIRST`.

    Attributes
    ----------
    statements, points, comments, voices
        Primary keys. The key point is 0 if the statement fits none, and comment and voice are 0 if
        no comment contains it. Voices are as in `voice_of`.
    sure
        Whether the placement is sure.
    """

    statements: np.ndarray
    points: np.ndarray
    comments: np.ndarray
    voices: np.ndarray
    sure: np.ndarray

    def where(self, is_left: np.ndarray) -> Mentions:
        """Return the rows for which ``is_left`` is true."""
        return Mentions(*(getattr(self, name)[is_left] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class NarrowedCounts:
    """Counts under a filter, by theme and by key point (None for statements that fit none).

    ``total`` is the number of comments or voices to which shares refer, which a search does not
    reduce. ``rows`` are the mentions that match.
    """

    points: Mapping[int | None, PointCounts]
    themes: Mapping[str, PointCounts]
    total: int
    rows: Mentions

    def best_of(self, points: Sequence[int], most: int) -> dict[int, list[int]]:
        """Map key points to their best statements under the filter, by primary key."""
        own = {point: self.rows.statements[self.rows.points == point] for point in points}
        return {point: list(dict.fromkeys(keys.tolist()))[:most] for point, keys in own.items()}


def narrowed_counts(analysis: Analysis, narrow: StatementSearch) -> NarrowedCounts:
    """Count key points and themes under a filter, using the cache and at most five queries."""
    import numpy as np

    rows, total = mentions_of(analysis), int(getattr(analysis, narrow.unit))
    if narrow.search:
        texts = CellArgument.objects.filter(
            cell=analysis.cell_id, text__icontains=narrow.search
        ).order_by()
        rows = rows.where(np.isin(rows.statements, _column(texts.values_list("pk"))))
    if narrow.is_about_comments:
        placed = narrow.comments_of(analysis.cell).filter(position__lte=analysis.comments)
        comments = _column(placed.values_list("pk"))
        rows, total = rows.where(np.isin(rows.comments, comments)), len(comments)
        if narrow.unit == VOICES:
            total = len(_different(_voices(analysis, comments)))
    points = _counted(rows, rows.points)
    by_point = {key or None: own for key, own in points.items()}
    return NarrowedCounts(by_point, _by_theme(analysis, rows), total, rows)


def theme_counts(analysis: Analysis) -> dict[str, PointCounts]:
    """Map themes of shown key points to their counts. An empty name means no theme.

    The counts are cached until the next edit or until comments are added.
    """
    counts: dict[str, PointCounts] = kept(
        "themes", analysis, lambda: _by_theme(analysis, mentions_of(analysis))
    )
    return counts


def mentions_of(analysis: Analysis) -> Mentions:
    """Return the table for the current state, from the cache if possible."""
    key, state = f"analysis-mentions:{analysis.pk}", state_of(analysis)
    known, rows = cache.get(key, ("", None))
    if known != state:
        rows = _read(analysis)
        cache.set(key, (state, rows), KEPT_SECONDS)
    return rows


def _read(analysis: Analysis) -> Mentions:
    """Join placements with their comments, three times as fast as the database would."""
    import numpy as np

    fields = ("argument", Coalesce("point", 0), "is_sure", "is_by_hand")
    # In the order of an index.
    placed = _table(analysis.placements.order_by("point", *BEST_FIRST).values_list(*fields), 4)
    links = np.repeat(_different(placed[:, 0]), 2).reshape(-1, 2)
    if has_comments(analysis.cell):
        rows = CommentStatement.objects.filter(
            comment__cell=analysis.cell_id, comment__position__lte=analysis.comments
        )
        links = _table(rows.order_by().values_list("argument", "comment"), 2)
    links = links[np.argsort(links[:, 0])]
    first = np.searchsorted(links[:, 0], placed[:, 0])
    times = np.searchsorted(links[:, 0], placed[:, 0], side="right") - first
    # Statements without a comment also have a row.
    size = np.maximum(times, 1)
    at = np.repeat(np.arange(len(placed)), size)
    place = first[at] + np.arange(len(at)) - np.repeat(np.cumsum(size) - size, size)
    comments = np.append(links[:, 1], 0)[np.where(times[at] > 0, place, len(links))]
    return Mentions(
        statements=_small(placed[at, 0]),
        points=_small(placed[at, 1]),
        comments=_small(comments),
        voices=_small(_voices(analysis, comments)),
        sure=(placed[at, 2] | placed[at, 3]) > 0,
    )


def _small(values: np.ndarray) -> np.ndarray:
    """Return numbers as 32-bit integers unless they are too large."""
    import numpy as np

    return values.astype(np.int32) if np.abs(values).max(initial=0) < 2**31 else values


def _voices(analysis: Analysis, comments: np.ndarray) -> np.ndarray:
    """Return the voice of each comment."""
    import numpy as np

    if analysis.voices == analysis.comments:
        return comments
    groups = np.array(sorted(voices_by_comment(analysis).items()), dtype=np.int64).reshape(-1, 2)
    members = np.append(groups[:, 0], 0)
    place = np.searchsorted(groups[:, 0], comments)
    return np.where(members[place] == comments, np.append(groups[:, 1], 0)[place], comments)


def _by_theme(analysis: Analysis, rows: Mentions) -> dict[str, PointCounts]:
    import numpy as np

    shown = analysis.points.filter(state=FoundPoint.State.SHOWN).order_by()
    themes: dict[int, str] = dict(shown.values_list("pk", "theme"))
    names = sorted(set(themes.values()))
    number = {name: at for at, name in enumerate(names)}
    keys = _different(rows.points)
    own = np.array([number[themes[key]] if key in themes else -1 for key in keys.tolist()])
    at = own[np.searchsorted(keys, rows.points)]
    counts = _counted(rows.where(at >= 0), at[at >= 0])
    return {names[place]: counted for place, counted in counts.items()}


def _counted(rows: Mentions, groups: np.ndarray) -> dict[int, PointCounts]:
    """Map distinct ``groups`` of rows to their counts. Each unit counts once per group."""
    import numpy as np

    keys = _different(groups)
    at, n = np.searchsorted(keys, groups), len(keys)

    def distinct(units: np.ndarray, is_in: Any) -> list[int]:
        pairs = _different(units[is_in].astype(np.int64) * n + at[is_in])
        return np.bincount(pairs % max(1, n), minlength=n).tolist()

    commented = rows.comments != 0
    sure = commented & rows.sure
    numbers = zip(
        distinct(rows.statements, slice(None)),
        distinct(rows.comments, commented),
        distinct(rows.voices, commented),
        distinct(rows.comments, sure),
        distinct(rows.voices, sure),
        strict=True,
    )
    return {key: PointCounts(*own) for key, own in zip(keys.tolist(), numbers, strict=True)}


def _different(values: np.ndarray) -> np.ndarray:
    """Return the sorted distinct values; `numpy.unique` takes thirty times as long."""
    import numpy as np

    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]


def _table(rows: Any, columns: int) -> np.ndarray:
    """Return rows of numbers and truth values as an array."""
    import numpy as np

    values = chain.from_iterable(rows.iterator(PIECE))
    return np.fromiter(values, dtype=np.int64).reshape(-1, columns)


def _column(rows: Any) -> np.ndarray:
    return _table(rows, 1)[:, 0]
