"""Corrected shares of groups and periods, from the pairs of the audit that fall into them."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from argsum.analysis.methods.audit import BANDS, ELSEWHERE, AnsweredStratum, corrected_share
from argsum.analysis.models import Analysis
from argsum.analysis.reports.corrections import CorrectedShare, Parts
from argsum.auditing.models import AuditRound
from cqa_site.stats.estimate import Bounded

from .figures import AuditReading, corrections
from .frame import AuditFrame, frame_of, state_of


class AuditCorrections:
    """Shares corrected by audits; see `argsum.analysis.reports.corrections`."""

    def of_all(self, analysis: Analysis) -> Mapping[int, CorrectedShare]:
        """Map key points to corrected shares of all comments."""
        return corrections(analysis)

    def of_parts(self, analysis: Analysis, parts: Parts) -> dict[tuple[int, str], CorrectedShare]:
        """Map key points and parts to corrected shares, where the answers give an interval.

        The pairs of a band that fall into a part are a random sample of the band's pairs there,
        so the estimate is the same as for all comments. Only samples of the present placements
        count: how many comments of a part were in each band earlier is not known.
        """
        state = state_of(analysis)
        rounds = AuditRound.objects.filter(analysis=analysis, frame__state=state)
        reading = AuditReading(analysis, list(rounds.exclude(state=AuditRound.State.DRAFT)))
        own = {point for point in reading.own.get(state, ()) if point in reading.points}
        if not own or not reading.pairs:
            return {}
        frame, part_of = frame_of(analysis), parts()
        sizes = Counter(part_of[unit] for unit in frame.units if unit in part_of)
        answers: dict[tuple[int, str, str], list[float]] = defaultdict(list)
        for pair in reading.pairs:
            point, unit = pair.key
            if unit in part_of:
                answers[point, part_of[unit], pair.band].append(pair.hit)
        shares = {}
        for point in own:
            banded = _banded(frame, point, part_of)
            for part, size in sizes.items():
                counts = {band: banded[band, part] for band in BANDS}
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


def _banded(frame: AuditFrame, point: int, part_of: Mapping[int, str]) -> Counter[tuple[str, str]]:
    """Count the comments of a key point's first two bands in each part."""
    return Counter(
        (band, part_of[frame.units[at]])
        for band, places in frame.counted[point].items()
        for at in places.tolist()
        if frame.units[at] in part_of
    )


AUDIT_CORRECTIONS = AuditCorrections()
