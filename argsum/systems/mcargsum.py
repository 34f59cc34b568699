"""MCArgSum: clusters by average linkage, which its parameters may take beyond the paper.

The linkage is in `methods/mcargsum.py`, as the figures of a match scorer are made with it.
"""

from collections.abc import Mapping
from typing import Any

from argsum.systems.methods.cluster_refining import refine_clusters
from argsum.systems.methods.grids import Grid, Parameter
from argsum.systems.methods.mcargsum import MIN_SIZE, THRESHOLDS, merge_clusters
from argsum.systems.methods.profiles import profile_scores
from argsum.systems.methods.scoring import Scores

from .contract import (
    CLUSTERING,
    MATCH,
    CellData,
    Parameters,
    SummarizationSystem,
    Summary,
    Tools,
    gettext_noop,
)


def summarize(cell: CellData, parameters: Parameters, tools: Tools) -> Summary:
    """The clusters of a cell; one linkage serves all thresholds."""
    min_size = int(parameters["min_size"])
    found = tools.shared(
        "linkage",
        lambda: merge_clusters(
            _likened(tools.pairs, float(parameters.get("profile", 0))),
            tools.values("threshold"),
            min_size=min_size,
        ),
        by=("min_size", "profile"),
    )
    ids = found[float(parameters["threshold"])]
    if parameters.get("refines"):
        ids = refine_clusters(tools.pairs, ids, min_size=min_size)
    return Summary(clusters=ids)


def _likened(pairs: Scores, weight: float) -> Scores:
    """Scores of pairs, mixed with how alike their rows are."""
    return profile_scores(pairs, weight=weight) if weight else pairs


def chosen(figures: Mapping[str, Any]) -> Grid | None:
    """The setting that dev chose when the match scorer was trained."""
    if "beyond_threshold" not in figures:
        return None
    return {
        "threshold": [figures["beyond_threshold"]],
        "min_size": [MIN_SIZE],
        "profile": [figures["profile"]],
        "refines": [figures["refines"]],
    }


SYSTEM = SummarizationSystem(
    name="mcargsum",
    title="MCArgSum",
    about=gettext_noop(
        "Arguments are merged while their match scores are high; each cluster gets a key point."
    ),
    citation=(
        "Argument Summarization and its Evaluation in the Era of Large Language Models, "
        "section 3.3"
    ),
    summarize=summarize,
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
            title=gettext_noop("Fewest arguments in a cluster"),
        ),
        # How to go beyond average linkage; see docs/papers/argsum.md.
        Parameter(
            "profile",
            (),
            title=gettext_noop("Weight of match profiles"),
            help=gettext_noop(
                "0 to 1: arguments are alike that match the same others. Empty as published."
            ),
        ),
        Parameter(
            "refines",
            (),
            kind="switch",
            title=gettext_noop("Move arguments to the cluster they match best"),
            help=gettext_noop("on, off, or both. Empty as published, without."),
        ),
    ),
    variants=CLUSTERING,
    chosen=chosen,
)
