"""BarH: candidates ranked by the arguments that match them, without near-duplicates.

Source: argument summarization paper, section 3.2; Bar-Haim et al. (2020b).
"""

from collections.abc import Sequence

import numpy as np

from argsum.systems.methods.grids import Parameter
from cqa_site.stats.arrays import Floats, IntArray

from .candidates import FILL_UP, NO_CANDIDATES, CandidateRule, find_candidates
from .contract import (
    MATCH,
    PICKING,
    QUALITY,
    CellData,
    Parameters,
    SummarizationSystem,
    Summary,
    Tools,
    gettext_noop,
)

# Strict: a score equal to it is no match.
THRESHOLD = 0.856
THRESHOLDS = tuple(round(0.75 + 0.025 * step, 3) for step in range(9))
RULE = CandidateRule(min_tokens=1, max_tokens=15, min_quality=0.7, bars_pronouns=True)


def barh(
    match: Floats,
    between: Floats,
    *,
    own: Sequence[int | None],
    threshold: float = THRESHOLD,
) -> list[int]:
    """The candidates that become key points, the one with most matches first.

    Every argument that is no candidate goes to its best candidate, if their score exceeds the
    threshold. Candidates without matches are dropped, the others ranked by matches. One is
    removed when its score with any candidate ranked above it, kept or removed, exceeds the
    threshold; then all arguments that are no key point are matched again to what is left.

    Parameters
    ----------
    match : float array, shape (n, c)
        Scores of arguments (rows) with candidates.
    between : float array, shape (c, c)
        Scores of candidates with candidates. A scorer that reads the order of two texts gives
        two scores for a pair: their mean counts.
    own : length c
        The argument that candidate j is; None for one that was generated.
    threshold
        Above this two texts match.

    Returns
    -------
    list of int
        Positions of candidates; empty where no argument matches any. Equal numbers of matches
        leave the earlier rank, then the order of the candidates.

    Raises
    ------
    ValueError
        If the shapes do not fit together.
    """
    n, c = match.shape
    if between.shape != (c, c) or len(own) != c:
        raise ValueError(f"{c} candidates, but {between.shape} scores between {len(own)} of them")
    matches = _matches(match, _others(n, own, range(c)), list(range(c)), threshold)
    ranked = [int(j) for j in np.argsort(-matches, kind="stable") if matches[j]]
    alike = (between + between.T) / 2 > threshold
    kept = [j for rank, j in enumerate(ranked) if not alike[j, ranked[:rank]].any()]
    again = _matches(match, _others(n, own, kept), kept, threshold)
    return [kept[place] for place in np.argsort(-again, kind="stable")]


def _others(n: int, own: Sequence[int | None], candidates: Sequence[int]) -> IntArray:
    """The arguments that are none of these candidates."""
    return np.setdiff1d(np.arange(n), [own[j] for j in candidates if own[j] is not None])


def _matches(
    match: Floats, arguments: IntArray, candidates: list[int], threshold: float
) -> IntArray:
    """How many of the arguments have each candidate as their best, above the threshold."""
    if not candidates or not len(arguments):
        return np.zeros(len(candidates), dtype=np.int64)
    scores = match[np.ix_(arguments, np.array(candidates))]
    best = scores.argmax(axis=1)
    met = scores[np.arange(len(best)), best] > threshold
    return np.bincount(best[met], minlength=len(candidates))


def summarize(cell: CellData, parameters: Parameters, tools: Tools) -> Summary:
    """Candidates of the cell, and the key points among them."""
    found = find_candidates(cell, parameters, tools, RULE)
    if not found.texts:
        return Summary(reason=NO_CANDIDATES)
    threshold = float(parameters["threshold"])
    return found.chosen(barh(found.match, found.between, own=found.own, threshold=threshold))


SYSTEM = SummarizationSystem(
    name="barh",
    title="BarH",
    about=gettext_noop(
        "Short good arguments are candidates; the others vote for the one they match, and "
        "near-repeats fall away."
    ),
    citation="Bar-Haim et al. (2020), Quantitative argument summarization and beyond",
    summarize=summarize,
    needs=(MATCH, QUALITY),
    parameters=(
        Parameter(
            "threshold", THRESHOLDS, -1.0, usual=THRESHOLD, title=gettext_noop("Match threshold")
        ),
        FILL_UP,
    ),
    variants=PICKING,
)
