"""Systems that cluster arguments: USKPM and MCArgSum."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from cqa_site.stats.arrays import FloatArray, Floats
from .contract import (
    CLUSTERING,
    MATCH,
    VECTORS,
    CellData,
    Parameters,
    SummarizationSystem,
    Summary,
    Tools,
    gettext_noop,
)
from .methods.clusters import (
    MIN_SIZE,
    THRESHOLDS,
    UNCLUSTERED,
    merge_clusters,
    numbered,
    profile_scores,
    refine_clusters,
)
from .methods.inputs import Grid, Parameter, Scores

# USKPM: sentence vectors, dimension reduction, density clusters, and assignment of the remaining
# arguments to clusters.
#
# Source: argument summarization paper, section 3.3 and appendix D.3; Li et al. (2023).

NEIGHBOURS = (2, 3, 4, 5)
COMPONENTS = (2, 3, 4, 5)
MIN_DISTANCES = (0.0, 0.2, 0.4)
COMPILED = ("umap", "pynndescent")


def reduce_vectors(
    vectors: Floats,
    *,
    neighbours: int = 5,
    components: int = 5,
    min_distance: float = 0.0,
    seed: int = 1,
) -> FloatArray:
    """Reduce vectors by UMAP with cosine distance; the same input and seed give the same output.

    Parameters
    ----------
    vectors : float array, shape (n, d)
        Sentence vectors of the arguments of one cell.
    neighbours, components, min_distance, seed
        Settings of UMAP.

    Returns
    -------
    float array, shape (n, components)

    Notes
    -----
    UMAP needs more arguments than neighbours and at least two more than components. Smaller cells
    get the principal components of their unit vectors instead, padded with zeros if there are too
    few. UMAP runs in one thread, because only then is it reproducible. The first call on a machine
    spends 10–30 s compiling; the result is cached.
    """
    n = len(vectors)
    if not uses_umap(n, neighbours=neighbours, components=components):
        return principal_components(vectors, components)
    reducer = umap_class()(
        n_neighbors=neighbours,
        n_components=components,
        min_dist=min_distance,
        metric="cosine",
        random_state=seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        # With few neighbours the graph is disconnected, which density clusters can handle.
        warnings.simplefilter("ignore")
        return np.asarray(reducer.fit_transform(np.array(vectors, dtype=np.float32)))


@cache
def umap_class() -> Any:
    """Return UMAP, with compiled functions cached in ``NUMBA_CACHE_DIR`` for the next process.

    Only a few of UMAP's functions enable caching themselves. This function enables it for the
    others as Numba's decorator would, but only before they are first compiled.
    """
    import umap
    from numba.core.caching import NullCache
    from numba.core.dispatcher import Dispatcher

    modules = [
        candidate for name, candidate in sys.modules.items() if name.partition(".")[0] in COMPILED
    ]
    for module in modules:
        for member in list(vars(module).values()):
            # Private to Numba: if the name disappears, UMAP compiles without a cache.
            is_unkept = isinstance(getattr(member, "_cache", None), NullCache)
            if isinstance(member, Dispatcher) and is_unkept and not member.signatures:
                member.enable_caching()
    return umap.UMAP


def uses_umap(n: int, *, neighbours: int, components: int) -> bool:
    """Return whether a cell of n arguments is large enough for UMAP."""
    return n > max(neighbours, components + 1)


def principal_components(vectors: Floats, components: int) -> FloatArray:
    """Return the principal components of unit vectors, shape (n, components), with fixed signs."""
    n = len(vectors)
    reduced = np.zeros((n, components))
    if n < 2:
        return reduced
    unit = _unit(vectors)
    left, sizes, right = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
    projection = left * sizes * np.where(signs == 0, 1, signs)
    width = min(components, projection.shape[1])
    reduced[:, :width] = projection[:, :width]
    return reduced


def density_clusters(reduced: FloatArray, *, min_size: int = MIN_SIZE) -> list[int]:
    """Return cluster ids from HDBSCAN, numbered from 0 by first appearance; -1 is unclustered.

    Parameters
    ----------
    reduced : float array, shape (n, components)
        Cells with fewer arguments than `min_size` are unclustered.
    min_size
        Minimum number of members of a cluster, and of neighbours in a dense region.
    """
    if len(reduced) < max(min_size, 2):
        return [UNCLUSTERED] * len(reduced)
    from hdbscan import HDBSCAN

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = HDBSCAN(min_cluster_size=min_size, core_dist_n_jobs=1).fit_predict(
            np.asarray(reduced, dtype=np.float64)
        )
    return numbered(labels)


def join_clusters(vectors: Floats, ids: Sequence[int]) -> list[int]:
    """Assign every argument to a cluster, one argument after another.

    Each unclustered argument, in the order given, joins the cluster whose current mean has the
    highest cosine with it, if that is above 0; otherwise it starts a new cluster. Later arguments
    see the changes made by earlier ones.

    Parameters
    ----------
    vectors : float array, shape (n, d)
        The sentence vectors, not the reduced ones.
    ids : length n
        As returned by `density_clusters`.

    Returns
    -------
    list of int
        Cluster ids without -1; existing clusters keep their ids, and new ones follow.
    """
    joined = [int(number) for number in ids]
    unit = _unit(vectors)
    count = max(joined, default=-1) + 1
    # One row for every existing or possible cluster.
    sums = np.zeros((count + joined.count(UNCLUSTERED), unit.shape[1]))
    clustered = np.array(joined, dtype=np.int64) != UNCLUSTERED
    np.add.at(sums, np.array(joined, dtype=np.int64)[clustered], unit[clustered])
    means = _unit(sums)
    for place, cluster in enumerate(joined):
        if cluster != UNCLUSTERED:
            continue
        cosines = means[:count] @ unit[place]
        best = int(cosines.argmax()) if count else 0
        if not count or cosines[best] <= 0:
            best, count = count, count + 1
        sums[best] += unit[place]
        means[best] = _unit(sums[best : best + 1])[0]
        joined[place] = best
    return joined


def _unit(vectors: Floats) -> FloatArray:
    """Return vectors rescaled to length 1; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors, dtype=np.float64) / np.where(lengths == 0, 1, lengths)


def summarize_uskpm(cell: CellData, parameters: Parameters, tools: Tools) -> Summary:
    """Return the clusters of a cell; settings that differ only in clustering share a reduction."""
    reduced = tools.shared(
        "reduced",
        lambda: reduce_vectors(
            tools.vectors,
            neighbours=int(parameters["neighbours"]),
            components=int(parameters["components"]),
            min_distance=float(parameters["min_distance"]),
            seed=tools.seed,
        ),
        by=("neighbours", "components", "min_distance"),
    )
    ids = density_clusters(reduced, min_size=int(parameters["min_size"]))
    return Summary(clusters=join_clusters(tools.vectors, ids) if parameters["iterative"] else ids)


def warm_up(n: int, settings: Sequence[Parameters]) -> None:
    """Compile UMAP, if it will be used, before any setting is timed."""
    if any(
        uses_umap(n, neighbours=int(setting["neighbours"]), components=int(setting["components"]))
        for setting in settings
    ):
        _compile_umap()


@cache
def _compile_umap() -> None:
    """Compile UMAP once per process; this takes 10 to 30 s the first time on a machine."""
    reduce_vectors(np.eye(12, dtype=np.float32), neighbours=2, components=2)


USKPM = SummarizationSystem(
    name="uskpm",
    title="USKPM",
    about=gettext_noop(
        "Sentence vectors are reduced by UMAP and clustered by HDBSCAN; each cluster gets a key "
        "point."
    ),
    citation=(
        "Li et al. (2023), Do you hear the people sing? Key point analysis via iterative "
        "clustering and abstractive summarisation"
    ),
    summarize=summarize_uskpm,
    needs=(MATCH, VECTORS),
    parameters=(
        Parameter(
            "neighbours", NEIGHBOURS, 2, 100, "int", 5, title=gettext_noop("UMAP neighbours")
        ),
        Parameter(
            "components", COMPONENTS, 2, 50, "int", 5, title=gettext_noop("UMAP components")
        ),
        Parameter(
            "min_distance",
            MIN_DISTANCES,
            0.0,
            0.99,
            usual=0.0,
            title=gettext_noop("UMAP minimum distance"),
        ),
        Parameter(
            "iterative",
            (False, True),
            kind="switch",
            usual=True,
            title=gettext_noop("Iterative clustering"),
        ),
        Parameter(
            "min_size",
            (MIN_SIZE,),
            2,
            50,
            "int",
            MIN_SIZE,
            title=gettext_noop("Minimum arguments per cluster"),
        ),
    ),
    variants=CLUSTERING,
    warm_up=warm_up,
)


# MCArgSum: clusters by average linkage; optional parameters extend it beyond the paper.
#
# The linkage is in `methods/clusters.py`, because the figures of match scorers use it, too.


def summarize_mcargsum(cell: CellData, parameters: Parameters, tools: Tools) -> Summary:
    """Return the clusters of a cell; one linkage serves all thresholds."""
    min_size = int(parameters["min_size"])
    clusterings = tools.shared(
        "linkage",
        lambda: merge_clusters(
            _likened(tools.pairs, float(parameters.get("profile", 0))),
            tools.values("threshold"),
            min_size=min_size,
        ),
        by=("min_size", "profile"),
    )
    ids = clusterings[float(parameters["threshold"])]
    if parameters.get("refines"):
        ids = refine_clusters(tools.pairs, ids, min_size=min_size)
    return Summary(clusters=ids)


def _likened(pairs: Scores, weight: float) -> Scores:
    """Return pair scores mixed with the similarity of their rows."""
    return profile_scores(pairs, weight=weight) if weight else pairs


def chosen(figures: Mapping[str, Any]) -> Grid | None:
    """Return the setting chosen on dev when the match scorer was trained, or None."""
    if "beyond_threshold" not in figures:
        return None
    return {
        "threshold": [figures["beyond_threshold"]],
        "min_size": [MIN_SIZE],
        "profile": [figures["profile"]],
        "refines": [figures["refines"]],
    }


MCARGSUM = SummarizationSystem(
    name="mcargsum",
    title="MCArgSum",
    about=gettext_noop(
        "Arguments with high match scores are merged into clusters; each cluster gets a key point."
    ),
    citation=(
        "Argument Summarization and its Evaluation in the Era of Large Language Models, "
        "section 3.3"
    ),
    summarize=summarize_mcargsum,
    needs=(MATCH,),
    parameters=(
        Parameter("threshold", THRESHOLDS, -1.0, usual=0.5, title=gettext_noop("Match threshold")),
        Parameter(
            "min_size",
            (MIN_SIZE,),
            2,
            50,
            "int",
            MIN_SIZE,
            title=gettext_noop("Minimum arguments per cluster"),
        ),
        # Extensions of average linkage; see docs/papers/argsum.md.
        Parameter(
            "profile",
            (),
            title=gettext_noop("Weight of match profiles"),
            help=gettext_noop(
                "0 to 1. Treats arguments as similar if they match the same others. Empty: as "
                "published."
            ),
        ),
        Parameter(
            "refines",
            (),
            kind="switch",
            title=gettext_noop("Move arguments to the best-matching cluster"),
            help=gettext_noop("on, off, or both. Empty: off, as published."),
        ),
    ),
    variants=CLUSTERING,
    chosen=chosen,
)
