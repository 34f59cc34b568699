"""Read the sampling frame of an audit: which comments are assigned to which key points."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet

from argsum.analysis.methods.audit import BANDS, BEHIND, ELSEWHERE, PERHAPS, SMALLER, Stratum
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.analyses import has_comments
from argsum.auditing.models import DRAWN, AuditPair, AuditRound
from argsum.datasets.models import Comment, CommentStatement
from cqa_site.stats.arrays import IntArray

# Primary keys of a key point and a comment (or a statement, without comments).
PairKey = tuple[int, int]


@dataclass(frozen=True)
class FrameSizes:
    """Counts of the pairs of an analysis.

    ``units`` counts comments, or statements if there are no comments. ``texts`` are those of the
    shown key points, largest first. ``counted`` contains, for each key point, the number of pairs
    in each of the first two bands.
    """

    units: int
    texts: dict[int, str]
    counted: dict[int, dict[str, int]]

    def size(self, point: int, band: str) -> int:
        """Return the number of pairs of a key point in a band."""
        if band != ELSEWHERE:
            return self.counted[point][band]
        return self.units - sum(self.counted[point].values())

    def strata(self, own: Collection[int]) -> dict[Stratum, int]:
        """Return the number of pairs in each stratum."""
        sizes: dict[Stratum, int] = defaultdict(int)
        for point in self.texts:
            for band in BANDS:
                sizes[Stratum(point if point in own else SMALLER, band)] += self.size(point, band)
        return dict(sizes)

    def stored(self, analysis: Analysis, own: Sequence[int]) -> dict[str, Any]:
        """Return the data for `AuditRound.frame`."""
        points = {
            str(point): [self.size(point, BEHIND), self.size(point, PERHAPS), text]
            for point, text in self.texts.items()
        }
        state = state_of(analysis)
        return {"state": state, "comments": self.units, "own": list(own), "points": points}


def sizes_of(analysis: Analysis) -> FrameSizes:
    """Return the sizes from the counts of key points, without reading comments or placements."""
    shown = FoundPoint.objects.filter(analysis=analysis, state=FoundPoint.State.SHOWN)
    has_bands = analysis.has_bands
    texts, counted = {}, {}
    for point in shown.order_by("-comments", "position"):
        behind = point.sure_comments if has_bands else point.comments
        texts[point.pk] = point.text
        counted[point.pk] = {BEHIND: behind, PERHAPS: point.comments - behind}
    return FrameSizes(analysis.comments, texts, counted)


@dataclass(frozen=True)
class AuditFrame:
    """All pairs of an analysis: as in `FrameSizes`, but with positions in ``units``, not counts.

    ``units`` are primary keys, and ``statements`` are the best statements of counted pairs, by key
    point and position.
    """

    units: list[int]
    texts: dict[int, str]
    counted: dict[int, dict[str, IntArray]]
    statements: dict[tuple[int, int], int]
    has_comments: bool


def frame_of(analysis: Analysis) -> AuditFrame:
    """Read the frame of an analysis in four queries."""
    shown = FoundPoint.objects.filter(analysis=analysis, state=FoundPoint.State.SHOWN)
    texts = dict(shown.order_by("-comments", "position").values_list("pk", "text"))
    comments = list(
        Comment.objects.filter(cell=analysis.cell_id).order_by("pk").values_list("pk", flat=True)
    )
    placed = Placement.objects.filter(analysis=analysis)
    units = comments or list(
        placed.order_by("argument").values_list("argument", flat=True).distinct()
    )
    place = {unit: at for at, unit in enumerate(units)}
    unit = "argument__said_in__comment" if comments else "argument"
    rows = placed.filter(point__in=list(texts)).order_by("-is_by_hand", "-score", "argument_id")
    bands: dict[int, dict[int, str]] = {point: {} for point in texts}
    statements: dict[tuple[int, int], int] = {}
    for point, key, argument, band in _banded(analysis, rows, unit):
        at = place.get(key)
        if at is None:
            continue
        if bands[point].get(at) != BEHIND and (band == BEHIND or at not in bands[point]):
            bands[point][at] = band
            statements[point, at] = argument
    counted = {
        point: {
            band: np.array([at for at, own in places.items() if own == band], dtype=np.int64)
            for band in (BEHIND, PERHAPS)
        }
        for point, places in bands.items()
    }
    return AuditFrame(units, texts, counted, statements, bool(comments))


def bands_of(analysis: Analysis, pairs: Collection[PairKey]) -> dict[PairKey, str]:
    """Return the current bands of pairs of shown key points.

    This reads only the statements of their comments, and the placements of these statements.
    """
    units = {unit for _point, unit in pairs}
    places: dict[int, list[int]] = {unit: [unit] for unit in units}
    if has_comments(analysis.cell):
        places = defaultdict(list)
        rows = CommentStatement.objects.filter(comment__in=units).values_list(
            "argument", "comment"
        )
        for argument, comment in rows:
            places[argument].append(comment)
    placed = Placement.objects.filter(analysis=analysis, argument__in=places)
    bands = dict.fromkeys(pairs, ELSEWHERE)
    for point, argument, _argument, band in _banded(analysis, placed, "argument"):
        for key in ((point, unit) for unit in places[argument]):
            if bands.get(key, BEHIND) != BEHIND:
                bands[key] = band
    return bands


def _banded(
    analysis: Analysis, rows: QuerySet[Placement], unit: str
) -> Iterator[tuple[int, int, int, str]]:
    """Yield the key point, unit, statement and band of each placement."""
    has_bands = analysis.has_bands
    values = rows.values_list("point", unit, "argument", "is_by_hand", "is_sure")
    for point, key, argument, is_by_hand, is_sure in values.iterator(5_000):
        band = PERHAPS if has_bands and not (is_by_hand or is_sure) else BEHIND
        yield point, key, argument, band


def state_of(analysis: Analysis) -> str:
    """Return a key that changes with every edit and every newly placed comment."""
    at = analysis.placed_at or analysis.done_at
    placed = at.timestamp() if at else 0
    return f"{analysis.revision}-{placed:.3f}-{analysis.statements}-{analysis.comments}"


def asked_before(analysis: Analysis, but: AuditRound | None) -> dict[PairKey, str]:
    """Return pairs that rounds drew from the current state of an analysis, with their bands.

    Control items and examples are not part of a sample and may come from another state.
    """
    pairs = AuditPair.objects.filter(
        DRAWN, round__analysis=analysis, round__frame__state=state_of(analysis)
    )
    if but is not None and but.pk:
        pairs = pairs.filter(~Q(round=but))
    rows = pairs.values_list("point", "comment", "argument", "band")
    return {(point, comment or argument): band for point, comment, argument, band in rows}
