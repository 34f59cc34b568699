"""Compute corrected shares for groups and periods from the audited pairs in each."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from argsum.analysis.methods.audit import BANDS, ELSEWHERE, AnsweredStratum, corrected_share
from argsum.analysis.models import Analysis
from argsum.analysis.reports.counts import kept
from argsum.analysis.reports.extensions import CorrectedShare, Parts
from argsum.auditing.models import AuditRound
from argsum.datasets.models import Comment
from cqa_site.stats.estimate import Bounded
from .figures import AuditReading, corrections
from .frame import frame_of, state_of


class AuditCorrections:
    """Shares corrected by audits; see `argsum.analysis.reports.extensions`."""

    def of_all(self, analysis: Analysis) -> Mapping[int, CorrectedShare]:
        """Map key points to corrected shares of all comments."""
        return corrections(analysis)

    def of_parts(
        self, analysis: Analysis, name: str, parts: Parts
    ) -> dict[tuple[int, str], CorrectedShare]:
        """Map key points and parts to corrected shares, if the answers give an interval.

        The drawn pairs of a band in a part are a random sample of all the band's pairs there, so
        the estimator is the same as for all comments. Only samples from the current placements
        count, because earlier numbers of comments in each band of a part are unknown.
        """
        state = state_of(analysis)
        rounds = AuditRound.objects.filter(analysis=analysis, frame__state=state)
        reading = AuditReading(analysis, list(rounds.exclude(state=AuditRound.State.DRAFT)))
        own = {point for point in reading.own.get(state, ()) if point in reading.points}
        if not own or not reading.pairs:
            return {}
        comments = Comment.objects.filter(cell=analysis.cell_id).order_by()
        totals: PartTotals = kept(
            f"audit-{name}", analysis, lambda: totals_of(analysis, parts(comments))
        )
        part_of = parts(comments.filter(pk__in={pair.key[1] for pair in reading.pairs}))
        answers: dict[tuple[int, str, str], list[float]] = defaultdict(list)
        for pair in reading.pairs:
            point, unit = pair.key
            if unit in part_of:
                answers[point, part_of[unit], pair.band].append(pair.hit)
        shares = {}
        for point in own:
            for part, size in totals.sizes.items():
                counts = {band: totals.banded[point, band, part] for band in BANDS}
                counts[ELSEWHERE] = size - sum(counts.values())
                strata = [
                    AnsweredStratum(number, len(hits), sum(hits))
                    for band, number in counts.items()
                    if number
                    for hits in [answers[point, part, band]]
                ]
                share = corrected_share([strata], comments=size)
                if share.low is not None:
                    bounds = Bounded(value=share.value, low=share.low, high=share.high)
                    shares[point, part] = CorrectedShare(bounds, share.answers)
        return shares


@dataclass(frozen=True)
class PartTotals:
    """Counts of comments in each part, and of those in each key point's first two bands."""

    sizes: Counter[str]
    banded: Counter[tuple[int, str, str]]


def totals_of(analysis: Analysis, part_of: Mapping[int, str]) -> PartTotals:
    """Count the comments of each part, reading the whole frame."""
    frame = frame_of(analysis)
    parts = [part_of.get(unit) for unit in frame.units]
    return PartTotals(
        Counter(part for part in parts if part is not None),
        Counter(
            (point, band, part)
            for point, counted in frame.counted.items()
            for band, places in counted.items()
            for at in places.tolist()
            if (part := parts[at]) is not None
        ),
    )


AUDIT_CORRECTIONS = AuditCorrections()
