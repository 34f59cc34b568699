"""Systems that rank candidates: BarH and SMatchToPr."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from cqa_site.stats.arrays import FloatArray, Floats, IntArray
from .contract import (
    FILL_UP,
    MATCH,
    NO_CANDIDATES,
    PICKING,
    QUALITY,
    CandidateRule,
    CellData,
    Parameters,
    SummarizationSystem,
    Summary,
    Tools,
    find_candidates,
    gettext_noop,
)
from .methods.inputs import Parameter

# BarH: candidates ranked by the number of arguments that match them, without near-duplicates.
#
# Source: argument summarization paper, section 3.2; Bar-Haim et al. (2020b).

# Strict: a score equal to the threshold is not a match.
THRESHOLD = 0.856
THRESHOLDS = tuple(round(0.75 + 0.025 * step, 3) for step in range(9))
BARH_RULE = CandidateRule(min_tokens=1, max_tokens=15, min_quality=0.7, bars_pronouns=True)


def barh(
    match: Floats, between: Floats, *, own: Sequence[int | None], threshold: float = THRESHOLD
) -> list[int]:
    """Return the candidates that become key points, most matches first.

    Every other argument is assigned to its best candidate if their score exceeds the threshold.
    Candidates without matches are dropped; the others are ranked by number of matches. A candidate
    is removed if its score with any higher-ranked candidate, removed or not, exceeds the
    threshold. Then all other arguments are matched again to the remaining key points.

    Parameters
    ----------
    match : float array, shape (n, c)
        Scores of arguments (rows) with candidates.
    between : float array, shape (c, c)
        Scores of candidates with candidates. If a scorer depends on the order of two texts, the
        mean of the pair's two scores is used.
    own : length c
        Position of candidate j among the arguments; None for a generated candidate.
    threshold
        Two texts match if their score is above this value.

    Returns
    -------
    list of int
        Positions of candidates; empty if no argument matches any candidate. Ties keep the earlier
        rank, then the order of the candidates.

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
    candidates = [j for rank, j in enumerate(ranked) if not alike[j, ranked[:rank]].any()]
    again = _matches(match, _others(n, own, candidates), candidates, threshold)
    return [candidates[place] for place in np.argsort(-again, kind="stable")]


def _others(n: int, own: Sequence[int | None], candidates: Sequence[int]) -> IntArray:
    """Return the arguments that are not among these candidates."""
    return np.setdiff1d(np.arange(n), [own[j] for j in candidates if own[j] is not None])


def _matches(
    match: Floats, arguments: IntArray, candidates: list[int], threshold: float
) -> IntArray:
    """Count the arguments for which each candidate is the best match above the threshold."""
    if not candidates or not len(arguments):
        return np.zeros(len(candidates), dtype=np.int64)
    scores = match[np.ix_(arguments, np.array(candidates))]
    best = scores.argmax(axis=1)
    met = scores[np.arange(len(best)), best] > threshold
    return np.bincount(best[met], minlength=len(candidates))


def summarize_barh(cell: CellData, parameters: Parameters, tools: Tools) -> Summary:
    """Return the key points among the candidates of a cell."""
    candidates = find_candidates(cell, parameters, tools, BARH_RULE)
    if not candidates.texts:
        return Summary(reason=NO_CANDIDATES)
    threshold = float(parameters["threshold"])
    return candidates.chosen(
        barh(candidates.match, candidates.between, own=candidates.own, threshold=threshold)
    )


BARH = SummarizationSystem(
    name="barh",
    title="BarH",
    about=gettext_noop(
        "Short, good arguments are candidates. The others vote for the one they match; "
        "near-duplicates are removed."
    ),
    citation="Bar-Haim et al. (2020), Quantitative argument summarization and beyond",
    summarize=summarize_barh,
    needs=(MATCH, QUALITY),
    parameters=(
        Parameter(
            "threshold", THRESHOLDS, -1.0, usual=THRESHOLD, title=gettext_noop("Match threshold")
        ),
        FILL_UP,
    ),
    variants=PICKING,
)

# SMatchToPr: candidates ranked by PageRank over their match scores.
#
# Source: argument summarization paper, section 3.2; Alshomary et al. (2021).

EDGE = 0.4
DAMPING = 0.2
REDUNDANCY = 0.8
REDUNDANCIES = tuple(round(0.75 + 0.025 * step, 3) for step in range(9))
SMATCHTOPR_RULE = CandidateRule(min_tokens=6, max_tokens=19, min_quality=0.8, bars_pronouns=True)
MOST_NODES = 300
_TOLERANCE = 1e-12
_MOST_STEPS = 1000


def smatchtopr(
    between: FloatArray,
    quality: FloatArray,
    *,
    edge: float = EDGE,
    damping: float = DAMPING,
    redundancy: float = REDUNDANCY,
) -> list[int]:
    """Return the candidates that become key points, most important first.

    Importance is PageRank on the undirected graph whose edges are the scores of at least `edge`,
    with every candidate linked to itself with weight 1. The walk restarts at candidates in
    proportion to their quality. In rank order, a candidate is selected if its highest score with
    the candidates selected so far is below `redundancy`.

    Parameters
    ----------
    between : float array, shape (c, c)
        Scores of candidates with candidates. If a scorer depends on the order of two texts, the
        mean of the pair's two scores is used.
    quality : float array, shape (c,)
        0–1; nan counts as 0. If all are 0, the walk restarts at every candidate equally often.
    edge, damping, redundancy
        As above; `damping` is the share of steps along edges.

    Returns
    -------
    list of int
        Positions of candidates; ties go to the better, then to the earlier candidate.

    Raises
    ------
    ValueError
        If the shapes do not fit together.
    """
    ranked = rank_candidates(between, quality, edge=edge, damping=damping)
    return keep_different(between, ranked, redundancy=redundancy)


def rank_candidates(
    between: Floats, quality: Floats, *, edge: float = EDGE, damping: float = DAMPING
) -> list[int]:
    """Rank all candidates as `smatchtopr` does before it omits any, most important first.

    One ranking serves all values of `redundancy`.
    """
    c = len(quality)
    if between.shape != (c, c):
        raise ValueError(f"{c} qualities, but scores of shape {between.shape}")
    if c == 0:
        return []
    importance = page_rank((between + between.T) / 2, quality, edge=edge, damping=damping)
    worth = np.nan_to_num(quality)
    # Rounded, because the last digits of the iteration are not reproducible.
    return sorted(range(c), key=lambda j: (-round(importance[j], 9), -worth[j], j))


def keep_different(
    between: Floats, ranked: Sequence[int], *, redundancy: float = REDUNDANCY
) -> list[int]:
    """Return ranked candidates, without those that repeat an earlier returned candidate."""
    different: list[int] = []
    for j in ranked:
        if (
            not different
            or ((between[j, different] + between[different, j]) / 2).max() < redundancy
        ):
            different.append(j)
    return different


def page_rank(
    scores: Floats,
    quality: Floats,
    *,
    edge: float = EDGE,
    damping: float = DAMPING,
    most_nodes: int = MOST_NODES,
) -> list[float]:
    """Return the importance of each candidate; the values sum to 1.

    Parameters
    ----------
    scores : float array, shape (c, c)
        Symmetric.
    quality, edge, damping
        As in `smatchtopr`.
    most_nodes
        Above this number of candidates, the matrix itself is used, because a graph of Python
        objects would need gigabytes.
    """
    weights = np.where(scores < edge, 0.0, scores)
    np.fill_diagonal(weights, 1.0)
    worth = np.clip(np.nan_to_num(quality), 0, None)
    restart = worth if worth.any() else np.ones(len(worth))
    share = restart / restart.sum()
    if len(worth) <= most_nodes:
        import networkx

        # A walk that rarely restarts may need more steps than networkx allows.
        with suppress(networkx.PowerIterationFailedConvergence):
            ranks = networkx.pagerank(
                networkx.from_numpy_array(weights),
                alpha=damping,
                personalization=dict(enumerate(share.tolist())),
                max_iter=_MOST_STEPS,
                tol=_TOLERANCE,
            )
            return [float(ranks[j]) for j in range(len(worth))]
    return list(map(float, _iterated(weights, share, damping)))


def _iterated(weights: FloatArray, restart: FloatArray, damping: float) -> FloatArray:
    """Compute PageRank by repeated steps; `weights` is overwritten with the transition matrix.

    Every candidate is linked to itself, so no row is empty.
    """
    weights /= weights.sum(axis=1, keepdims=True)
    importance = restart
    for _step in range(_MOST_STEPS):
        following = damping * (importance @ weights) + (1 - damping) * restart
        is_still = np.abs(following - importance).sum() < len(restart) * _TOLERANCE
        importance = following
        if is_still:
            break
    return importance


def summarize_smatchtopr(cell: CellData, parameters: Parameters, tools: Tools) -> Summary:
    """Rank the candidates of a cell and return those that do not repeat earlier candidates."""
    candidates = find_candidates(cell, parameters, tools, SMATCHTOPR_RULE)
    if not candidates.texts:
        return Summary(reason=NO_CANDIDATES)
    ranked = tools.shared(
        "ranked",
        lambda: rank_candidates(
            candidates.between,
            candidates.quality,
            edge=float(parameters["edge"]),
            damping=float(parameters["damping"]),
        ),
        by=("edge", "damping", "fill_up"),
    )
    redundancy = float(parameters["redundancy"])
    return candidates.chosen(keep_different(candidates.between, ranked, redundancy=redundancy))


SMATCHTOPR = SummarizationSystem(
    name="smatchtopr",
    title="SMatchToPr",
    about=gettext_noop(
        "Good arguments are ranked by PageRank over their match scores; near-duplicates are "
        "removed."
    ),
    citation=(
        "Alshomary et al. (2021), Key point analysis via contrastive learning and extractive "
        "argument summarization"
    ),
    summarize=summarize_smatchtopr,
    needs=(MATCH, QUALITY),
    parameters=(
        Parameter("edge", (EDGE,), -1.0, usual=EDGE, title=gettext_noop("Minimum edge score")),
        Parameter("damping", (DAMPING,), 0.0, 0.99, usual=DAMPING, title=gettext_noop("Damping")),
        Parameter(
            "redundancy",
            REDUNDANCIES,
            -1.0,
            usual=REDUNDANCY,
            title=gettext_noop("Minimum score of duplicates"),
        ),
        FILL_UP,
    ),
    variants=PICKING,
)
