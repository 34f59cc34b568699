"""Shares of key points that answers of people correct; a later room registers where they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from django.db.models import QuerySet

from argsum.analysis.models import Analysis
from argsum.datasets.models import Comment
from cqa_site.stats.estimate import Bounded

# Comments → their group or period, by primary key; read only where somebody audited.
Parts = Callable[[QuerySet[Comment]], Mapping[int, str]]


@dataclass(frozen=True)
class CorrectedShare:
    """The share of comments that make a key point, 0–1, and the pairs it rests on."""

    share: Bounded
    pairs: int


class CorrectionSource(Protocol):
    """A source of corrected shares. Key points are given by primary key."""

    def of_all(self, analysis: Analysis) -> Mapping[int, CorrectedShare]:
        """Map key points to their shares of all comments."""

    def of_parts(
        self, analysis: Analysis, name: str, parts: Parts
    ) -> Mapping[tuple[int, str], CorrectedShare]:
        """Map key points and groups or periods to the share of the comments in it.

        ``name`` tells the parts from others of the same comments.
        """


SOURCES: list[CorrectionSource] = []


def corrections_of(analysis: Analysis) -> dict[int, CorrectedShare]:
    """Map key points to their corrected shares; only those with an interval are there."""
    return {point: share for source in SOURCES for point, share in source.of_all(analysis).items()}


def corrections_by_part(
    analysis: Analysis, name: str, parts: Parts
) -> dict[tuple[int, str], CorrectedShare]:
    """Map key points and groups or periods to corrected shares; only those with an interval."""
    corrected = (source.of_parts(analysis, name, parts) for source in SOURCES)
    return {at: share for shares in corrected for at, share in shares.items()}
