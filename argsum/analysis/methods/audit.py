"""Samples of placements for people to check, and figures from their answers.

A *pair* is one comment and one key point. Its *band* is the machine's placement: the comment is
assigned to the key point, possibly assigned to it, or elsewhere (at other key points, or at none).
A *group* is one large key point, or all smaller key points together (0). Each band of each group
is a stratum, from which pairs are drawn at random without replacement. So every pair, including
those that the machine did not count, has a known probability of being drawn, and the share of
pairs whose comment makes the point is estimated in each stratum without assumptions about the
machine.

Pairs in the band "elsewhere" are drawn from all such pairs, not from those near the key point.
Near pairs contain more of the missed comments, but they provide no information about the other
pairs, which are more numerous.

Only "makes this point" counts as making it (1). "Partly", "does not" and "says the opposite" count
as 0. If two people answered, the pair counts as the mean of their answers.

Sources: Cochran (1977), Sampling Techniques, chapter 5 (strata); Korn and Graubard (1998), Survey
Methodology 24, 193–201 (exact interval at the effective sample size); Zou and Donner (2008),
Statistics in Medicine 27, 1693–1702 (joining intervals); Angelopoulos, Duchi and Zrnic (2023),
PPI++ (how much of the machine's count is used).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cqa_site.stats.arrays import IntArray
from cqa_site.stats.estimate import Bounded

BEHIND, PERHAPS, ELSEWHERE = "behind", "perhaps", "elsewhere"
BANDS = (BEHIND, PERHAPS, ELSEWHERE)
# Group of the key points that are too small for separate figures.
SMALLER = 0
# Minimum answers for an interval: in total, and in each stratum that was not drawn in full.
LEAST_ANSWERS, LEAST_IN_STRATUM = 10, 2
# With fewer answers than this, precision has no interval.
LEAST_FOR_PRECISION = 5
ROUNDING = 1e-9
CONFIDENCE = 0.95
# Share of each band in a group's answers.
WEIGHTS = {BEHIND: 0.4, PERHAPS: 0.15, ELSEWHERE: 0.45}
# Assumed shares of pairs that make the point before there are answers, used only for planning.
EXPECTED = {BEHIND: 0.8, PERHAPS: 0.4, ELSEWHERE: 0.03}
NO_ANSWERS = "some of these pairs have no answers yet"
TOO_FEW_ANSWERS = f"an interval needs {LEAST_ANSWERS} answers, {LEAST_IN_STRATUM} in each band"
TOO_FEW_BEHIND = f"an interval needs {LEAST_FOR_PRECISION} answers"
NOTHING_MADE = "no answer says that a comment makes the point"


class Stratum(NamedTuple):
    """A band of a group: the primary key of its key point, or `SMALLER`."""

    group: int
    band: str


@dataclass(frozen=True)
class AnsweredStratum:
    """Answers about the pairs of one stratum.

    Attributes
    ----------
    pairs
        Pairs in the stratum.
    answers
        Answered pairs drawn from the stratum.
    hits
        Number of answered pairs that make the point. A pair counts as half if two people disagree.
    """

    pairs: int
    answers: int
    hits: float


@dataclass(frozen=True, kw_only=True)
class AuditedShare(Bounded):
    """A share (0–1) based on ``answers`` answered pairs, of which ``hits`` make the point."""

    answers: int
    hits: float = 0.0


def own_groups(size: int, points: int) -> int:
    """Return how many of the largest key points get separate strata in a sample of pairs."""
    room = size // LEAST_ANSWERS
    return points if points <= room else max(room - 1, 1)


def allocate(pairs: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """Divide a sample among strata: equally among groups, then by `WEIGHTS` among bands.

    No stratum gets more pairs than it has. Every stratum gets at least `LEAST_IN_STRATUM` if the
    size allows.
    """
    strata = sorted(stratum for stratum, n in pairs.items() if n)
    drawn = dict.fromkeys(strata, 0)
    of_groups = dict.fromkeys((stratum.group for stratum in strata), 0)

    def turn(stratum: Stratum) -> tuple[int, bool, float, Stratum]:
        """Return the sort key: smallest group first, then thin bands, then the largest deficit."""
        n = drawn[stratum]
        is_enough = n >= LEAST_IN_STRATUM
        return of_groups[stratum.group], is_enough, (n + 0.5) / WEIGHTS[stratum.band], stratum

    for _number in range(min(size, sum(pairs.values()))):
        chosen = min((stratum for stratum in strata if drawn[stratum] < pairs[stratum]), key=turn)
        drawn[chosen] += 1
        of_groups[chosen.group] += 1
    return drawn


def draw_elsewhere(
    comments: int, counted: Sequence[IntArray], n: int, generator: np.random.Generator
) -> list[tuple[int, int]]:
    """Draw n pairs of a key point and a comment not in its list, and return their positions.

    ``counted`` contains, for each key point, the positions of comments that cannot be drawn. There
    must be at least n other pairs. All of these are equally likely to be drawn.
    """
    out = [set(places.tolist()) for places in counted]
    free = comments * len(out) - sum(map(len, out))
    if n * 4 > free:
        pairs = [
            (point, comment)
            for point, places in enumerate(out)
            for comment in range(comments)
            if comment not in places
        ]
        return [pairs[at] for at in generator.permutation(len(pairs))[:n]]
    drawn: dict[tuple[int, int], None] = {}
    while len(drawn) < n:
        point, comment = divmod(int(generator.integers(comments * len(out))), comments)
        if comment not in out[point]:
            drawn[point, comment] = None
    return list(drawn)


# Figures from the answers. A sample is a list of strata that share no pair. Several samples, each
# drawn from a later state of the analysis, are combined, weighted by their numbers of answers.
Sample = Sequence[AnsweredStratum]


def audited_precision(samples: Sequence[Sample]) -> AuditedShare:
    """Return the share of pairs in one band whose comment makes the point.

    ``samples`` are the strata of this band in each sample. The share has no interval with fewer
    than `LEAST_FOR_PRECISION` answers, and is undefined while any stratum has no answers.
    """
    parts = _weighted([samples[at] for at in _ready(samples)])
    answers, hits = _totals(parts)
    if not parts or any(not part.answers for part in parts):
        return AuditedShare(value=None, reason=NO_ANSWERS, answers=answers, hits=hits)
    value = _mean(parts)
    if answers < LEAST_FOR_PRECISION and not all(part.is_complete for part in parts):
        return AuditedShare(value=value, reason=TOO_FEW_BEHIND, answers=answers, hits=hits)
    low, high = _narrower(parts)
    return AuditedShare(value=value, low=low, high=high, answers=answers, hits=hits)


def corrected_share(samples: Sequence[Sample], *, comments: int = 0) -> AuditedShare:
    """Return the share of comments that make a key point, corrected using the answers.

    Parameters
    ----------
    samples
        All strata of the key point in each sample. Together they contain all comments.
    comments
        The number of comments, if they represent a larger population: the interval is then for the
        share in that population. By default, the interval is for the share of these comments.

    Returns
    -------
    The share, undefined while any stratum has no answers. It has no interval with fewer than
    `LEAST_ANSWERS` answers, or with fewer than `LEAST_IN_STRATUM` in any stratum.

    Notes
    -----
    The estimate is the machine's share, corrected by the mean difference between answer and
    machine in every stratum. Because the strata are the machine's bands, the estimate is the same
    for every weight of the machine (lambda of PPI++), so the weight only affects the interval. At
    weight 1, the exact intervals of the strata are combined (Zou and Donner). At weight 0, the
    result is one exact interval at the effective number of answers, as if there were no machine.
    The function returns the narrower of the two, so a useless machine does not widen the interval
    of the sample alone.

    `python -m benchmarks.verdicts --only audit` computes how often both intervals contain the
    true share.
    """
    parts = _weighted([samples[at] for at in _ready(samples, LEAST_IN_STRATUM)])
    answers, hits = _totals(parts)
    if not parts or any(not part.answers for part in parts):
        return AuditedShare(value=None, reason=NO_ANSWERS, answers=answers, hits=hits)
    value = _mean(parts)
    is_thin = any(part.answers < min(LEAST_IN_STRATUM, part.pairs) for part in parts)
    is_complete = all(part.is_complete for part in parts)
    if not is_complete and (answers < LEAST_ANSWERS or is_thin):
        return AuditedShare(value=value, reason=TOO_FEW_ANSWERS, answers=answers, hits=hits)
    low, high = _narrower(parts, comments)
    return AuditedShare(value=value, low=low, high=high, answers=answers, hits=hits)


def audited_recall(behind: Sequence[Sample], others: Sequence[Sample]) -> AuditedShare:
    """Return the recall: of all pairs that make the point, the share assigned to it.

    In each sample, ``behind`` are the strata of the first band, and ``others`` are the rest.
    Each part is bounded at half the error (Bonferroni), because a machine that is seldom wrong may
    miss many comments, and vice versa.
    """
    whole = [[*own, *rest] for own, rest in zip(behind, others, strict=True)]
    ready = _ready(whole)
    whole = [whole[at] for at in ready]
    own_part, rest_part = (
        _weighted([bands[at] for at in ready], of=whole) for bands in (behind, others)
    )
    parts = [*own_part, *rest_part]
    answers, hits = _totals(parts)
    if not parts or any(not part.answers for part in parts):
        return AuditedShare(value=None, reason=NO_ANSWERS, answers=answers, hits=hits)
    total = _mean(own_part) + _mean(rest_part)
    if total == 0:
        return AuditedShare(value=None, reason=NOTHING_MADE, answers=answers, hits=hits)
    value = _mean(own_part) / total
    if answers < LEAST_ANSWERS:
        return AuditedShare(value=value, reason=TOO_FEW_ANSWERS, answers=answers, hits=hits)
    level = (1 + CONFIDENCE) / 2
    found_low, found_high = _joined(own_part, level)
    missed_low, missed_high = _joined(rest_part, level)
    low = found_low / (found_low + missed_high) if found_low else 0.0
    high = found_high / (found_high + missed_low) if found_high else 0.0
    return AuditedShare(value=value, low=low, high=high, answers=answers, hits=hits)


def answers_needed(
    pairs: Mapping[str, int], half_width: float, known: Mapping[str, AnsweredStratum]
) -> dict[str, int]:
    """Return how many answers each band of a key point needs, including those so far.

    ``half_width`` is half the width of the interval of `corrected_share` (0–1). ``known`` are the
    answers so far, which predict later answers. If no smaller number is enough, all pairs are
    needed.
    """
    bands = [band for band in BANDS if pairs.get(band)]
    rates = {band: _expected(band, known.get(band)) for band in bands}
    spread = {band: pairs[band] * math.sqrt(rates[band] * (1 - rates[band])) for band in bands}
    total = sum(spread.values())

    def plan(size: int) -> dict[str, int]:
        wanted = {band: math.ceil(size * spread[band] / total) for band in bands}
        so_far = {band: known[band].answers if band in known else 0 for band in bands}
        least = {band: max(so_far[band], LEAST_IN_STRATUM, wanted[band]) for band in bands}
        return {band: min(least[band], pairs[band]) for band in bands}

    def is_enough(size: int) -> bool:
        n = plan(size)
        strata = [AnsweredStratum(pairs[band], n[band], rates[band] * n[band]) for band in bands]
        share = corrected_share([strata])
        if share.low is None or share.high is None:
            return False
        return share.high - share.low <= 2 * half_width

    low, high = LEAST_ANSWERS - 1, 4 * sum(pairs.values())
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return plan(high)


def _expected(band: str, answered: AnsweredStratum | None) -> float:
    """Return the expected share: the observed answers plus two answers at the usual share."""
    if answered is None:
        return EXPECTED[band]
    return (answered.hits + 2 * EXPECTED[band]) / (answered.answers + 2)


@dataclass(frozen=True)
class _Part:
    """A stratum with its weight in the estimate. The weights of all strata sum to 1."""

    weight: float
    pairs: int
    answers: int
    hits: float

    @property
    def rate(self) -> float:
        return self.hits / self.answers

    @property
    def is_complete(self) -> bool:
        return self.answers >= self.pairs


def _ready(samples: Sequence[Sample], least: int = 1) -> list[int]:
    """Return the positions of the samples with at least ``least`` answers in every stratum.

    If there is no such sample, one answer in every stratum is enough. If no sample has even that,
    all positions are returned. A later sample is ignored until it has enough answers, so that it
    does not hide an earlier sample.
    """
    for needed in (least, 1):
        ready = [
            at
            for at, sample in enumerate(samples)
            if sample and all(part.answers >= min(needed, part.pairs) for part in sample)
        ]
        if ready:
            return ready
    return list(range(len(samples)))


def _weighted(samples: Sequence[Sample], of: Sequence[Sample] | None = None) -> list[_Part]:
    """Return the strata of all samples, weighted by pairs and each sample's answers.

    ``of`` are the complete samples, if ``samples`` are parts of them.
    """
    whole = samples if of is None else of
    answers = [sum(stratum.answers for stratum in sample) for sample in whole]
    among = sum(answers) or 1
    return [
        _Part(
            stratum.pairs / sum(part.pairs for part in full) * own / among,
            stratum.pairs,
            stratum.answers,
            stratum.hits,
        )
        for sample, full, own in zip(samples, whole, answers, strict=True)
        for stratum in sample
        if stratum.pairs
    ]


def _totals(parts: Sequence[_Part]) -> tuple[int, float]:
    return sum(part.answers for part in parts), sum(part.hits for part in parts)


def _mean(parts: Sequence[_Part]) -> float:
    return sum(part.weight * part.rate for part in parts)


def _narrower(parts: Sequence[_Part], comments: int = 0) -> tuple[float, float]:
    """Return the narrower of the stratified interval and the interval from the sample alone."""
    intervals = [_joined(parts, comments=comments), _alone(parts, comments)]
    return min(intervals, key=lambda interval: interval[1] - interval[0])


def _joined(
    parts: Sequence[_Part], confidence: float = CONFIDENCE, comments: int = 0
) -> tuple[float, float]:
    """Combine the intervals of all strata, and of the comments if their number is given.

    The interval is widened to whole pairs. Otherwise, it would be too short when few pairs remain:
    if 8 of 10 pairs were drawn and all make the point, the interval would not contain 9 of 10,
    although one in five samples would give this result if 9 of 10 made the point.
    """
    value, down, up = _mean(parts), 0.0, 0.0
    for part in parts:
        low, high = exact_interval(part.rate, _effective(part.answers, part.pairs), confidence)
        down += (part.weight * (part.rate - low)) ** 2
        up += (part.weight * (high - part.rate)) ** 2
    low, high = value - math.sqrt(down), value + math.sqrt(up)
    pair = max((part.weight / part.pairs for part in parts), default=0.0)
    if down:
        low = pair * math.floor(low / pair + ROUNDING)
    if up:
        high = pair * math.ceil(high / pair - ROUNDING)
    if comments:
        lowest, highest = exact_interval(value, comments, confidence)
        low = value - math.hypot(value - low, value - lowest)
        high = value + math.hypot(high - value, highest - value)
    return max(low, 0.0), min(high, 1.0)


def _alone(parts: Sequence[_Part], comments: int) -> tuple[float, float]:
    """Return the interval from the weighted answers alone, with Kish's effective sample size."""
    # For one sample both terms agree. Overlapping samples say less about the population.
    asked = sum(part.weight**2 / part.answers for part in parts)
    if comments:
        asked += 1 / comments - sum(part.weight**2 / part.pairs for part in parts)
    return exact_interval(_mean(parts), 1 / asked, CONFIDENCE)


def _effective(answers: float, pairs: int) -> float:
    """Return the equivalent number of answers from infinitely many pairs; inf if all are known."""
    return math.inf if answers >= pairs else answers * (pairs - 1) / (pairs - answers)


def exact_interval(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Return the Clopper–Pearson interval for a share of n answers; n need not be an integer."""
    # Imported here because the site loads this file at start.
    from scipy import special

    if math.isinf(n):
        return share, share
    tail, hits = (1 - confidence) / 2, min(max(share, 0.0), 1.0) * n
    # Shares of 0 and 1, allowing for rounding.
    low = 0.0 if hits < ROUNDING else float(special.betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if n - hits < ROUNDING else float(special.betaincinv(hits + 1, n - hits, 1 - tail))
    return min(low, share), max(high, share)
