"""Shares of key points that answers of people correct; a later room registers where they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from argsum.analysis.models import Analysis
from cqa_site.stats.estimate import Bounded


@dataclass(frozen=True)
class CorrectedShare:
    """The share of all comments that make a key point, 0–1, and the pairs it rests on."""

    share: Bounded
    pairs: int


# Key points by primary key.
Corrections = Callable[[Analysis], Mapping[int, CorrectedShare]]
_SOURCES: list[Corrections] = []


def correct_with(source: Corrections) -> None:
    """Register what corrects shares, once."""
    if source not in _SOURCES:
        _SOURCES.append(source)


def corrections_of(analysis: Analysis) -> dict[int, CorrectedShare]:
    """Map key points to their corrected shares; only those with an interval are there."""
    return {point: share for source in _SOURCES for point, share in source(analysis).items()}
