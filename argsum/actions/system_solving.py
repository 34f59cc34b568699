"""The systems over one cell: key points for each setting, or the reason for none.

A solver is made for a cell and asked for one setting after the other. What it returns holds no
row of the database; storing is up to `set_storing`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from argsum.methods import uskpm
from argsum.methods.barh import barh
from argsum.methods.candidates import BARH_RULE, SMATCHTOPR_RULE, CandidateRule, pick_candidates
from argsum.methods.cluster_refining import refine_clusters
from argsum.methods.extractive import central_argument
from argsum.methods.mcargsum import is_summarizable, members, merge_clusters
from argsum.methods.profiles import profile_scores
from argsum.methods.scoring import Scores
from argsum.methods.smatchtopr import keep_different, rank_candidates
from argsum.methods.system_grids import Value
from argsum.models import SystemRun

from .system_inputs import CellInputs

Parameters = Mapping[str, Value]
NO_ARGUMENTS = "The cell has no arguments."
NO_CANDIDATES = "No argument qualifies as a candidate."
NO_MATCHES = "No argument matches a candidate above the threshold."
FEW_CLUSTERS = "Fewer than two clusters."
FEW_CLUSTERED = "Not more than half of the arguments are in a cluster."
NOTHING_WRITTEN = "The language model wrote nothing usable"


@dataclass(frozen=True)
class KeyPoint:
    """A key point, and the cluster it stands for where the system has clusters."""

    text: str
    cluster: int | None = None


@dataclass(frozen=True)
class Solved:
    """What one setting came to.

    Attributes
    ----------
    key_points
        Before they are put in order by their arguments.
    clusters
        Of the n arguments; None for a system without clusters.
    match
        Scores of arguments with key points, shape (n, k); None if nothing was scored yet.
    reason
        Why there is no result; empty where there is one.
    waits
        Whether somebody else writes the key points of the clusters.
    """

    key_points: Sequence[KeyPoint] = ()
    clusters: Sequence[int] | None = None
    match: Scores | None = None
    reason: str = ""
    waits: bool = False


class Extracting:
    """BarH and SMatchToPr on candidates from the arguments, or from a language model."""

    def __init__(
        self, inputs: CellInputs, grid: Sequence[Parameters], written: Sequence[str] | None
    ) -> None:
        self.inputs, self.grid, self.written = inputs, grid, written
        self.system = inputs.run.system

    def solve(self, parameters: Parameters) -> Solved:
        """Pick candidates, then key points among them."""
        found = self._candidates(parameters)
        if not found.texts:
            return Solved(reason=NO_CANDIDATES)
        if self.system == SystemRun.System.BARH:
            kept = barh(
                found.match, found.between, own=found.own, threshold=parameters["threshold"]
            )
        else:
            kept = keep_different(
                found.between, self._ranked(found, parameters), redundancy=parameters["redundancy"]
            )
        if not kept:
            return Solved(reason=NO_MATCHES)
        return Solved([KeyPoint(found.texts[place]) for place in kept], match=found.match[:, kept])

    def _ranked(self, found: "Candidates", parameters: Parameters) -> list[int]:
        """The ranking of SMatchToPr, which settings that differ in redundancy alone share."""
        ranked: list[int] = self.inputs.shares.take(
            *settings_alike("ranked", self.grid, parameters, but=("redundancy",)),
            lambda: rank_candidates(
                found.between,
                found.quality,
                edge=float(parameters["edge"]),
                damping=float(parameters["damping"]),
            ),
        )
        return ranked

    def _candidates(self, parameters: Parameters) -> "Candidates":
        if self.written is not None:
            found: Candidates = self.inputs.shares.take(
                "candidates", self.inputs.settings, self._written
            )
            return found
        most: Candidates = self.inputs.shares.take(
            "candidates", self.inputs.settings, self._picked
        )
        # The first so many: candidates enter in an order that does not depend on the share.
        return most.first(len(self._rows(float(parameters["fill_up"]))))

    def _picked(self) -> "Candidates":
        """The candidates of the largest share, of which those of the others are a beginning."""
        inputs = self.inputs
        rows = self._rows(max((float(each["fill_up"]) for each in self.grid), default=0.0))
        texts = [inputs.texts[row] for row in rows]
        match = inputs.match(texts)
        return Candidates(texts, match, match[rows], inputs.quality[rows], rows)

    def _rows(self, share: float) -> list[int]:
        """Which arguments are candidates for a share."""
        rows: list[int] = self.inputs.shares.take(
            ("rows", share),
            sum(float(each["fill_up"]) == share for each in self.grid),
            lambda: pick_candidates(
                self.inputs.texts, self.inputs.quality, rule=self._rule, fill_up=share
            ),
        )
        return rows

    def _written(self) -> "Candidates":
        inputs, texts = self.inputs, list(self.written or ())
        if not texts:
            empty = np.zeros((0, 0), dtype=np.float32)
            return Candidates([], empty, empty, empty[0:0], [])
        return Candidates(
            texts,
            inputs.match(texts),
            inputs.between(texts),
            inputs.quality_of(texts),
            [None] * len(texts),
        )

    @property
    def _rule(self) -> CandidateRule:
        return BARH_RULE if self.system == SystemRun.System.BARH else SMATCHTOPR_RULE


@dataclass(frozen=True)
class Candidates:
    """Candidates for key points with their scores; ``own`` are rows of the arguments."""

    texts: Sequence[str]
    match: Scores
    between: Scores
    quality: Scores
    own: Sequence[int | None]

    def first(self, count: int) -> "Candidates":
        """The first of them."""
        if count == len(self.texts):
            return self
        return Candidates(
            self.texts[:count],
            self.match[:, :count],
            self.between[:count, :count],
            self.quality[:count],
            self.own[:count],
        )


class Clustering:
    """USKPM and MCArgSum: clusters first; then their key points are extracted or written."""

    def __init__(self, inputs: CellInputs, grid: Sequence[Parameters]) -> None:
        self.inputs, self.grid = inputs, grid
        self.is_mcargsum = inputs.run.system == SystemRun.System.MCARGSUM

    def solve(self, parameters: Parameters) -> Solved:
        """Cluster the arguments; take the central one of each cluster if nobody writes."""
        ids = self._merged(parameters) if self.is_mcargsum else self._dense(parameters)
        if not is_summarizable(ids):
            few = len(set(members(ids))) < 2
            return Solved(clusters=ids, reason=FEW_CLUSTERS if few else FEW_CLUSTERED)
        if self.inputs.run.variant != SystemRun.Variant.PLAIN:
            return Solved(clusters=ids, waits=True)
        match = self.inputs.pairs
        central = {
            cluster: central_argument(match, rows) for cluster, rows in members(ids).items()
        }
        texts = self.inputs.texts
        points = [KeyPoint(texts[row], cluster) for cluster, row in central.items()]
        return Solved(points, ids, match[:, list(central.values())])

    def _merged(self, parameters: Parameters) -> list[int]:
        thresholds = sorted({float(each["threshold"]) for each in self.grid})
        found: dict[float, list[int]] = self.inputs.shares.take(
            *settings_alike("linkage", self.grid, parameters, but=("threshold", "refines")),
            lambda: merge_clusters(
                self._likened(float(parameters.get("profile", 0))),
                thresholds,
                min_size=int(parameters["min_size"]),
            ),
        )
        ids = found[float(parameters["threshold"])]
        if not parameters.get("refines"):
            return ids
        return refine_clusters(self.inputs.pairs, ids, min_size=int(parameters["min_size"]))

    def _likened(self, weight: float) -> Scores:
        """Scores of pairs, mixed with how alike their rows are."""
        pairs = self.inputs.pairs
        return profile_scores(pairs, weight=weight) if weight else pairs

    def _dense(self, parameters: Parameters) -> list[int]:
        reduced: Scores = self.inputs.shares.take(
            *settings_alike("reduced", self.grid, parameters, but=("iterative", "min_size")),
            lambda: self._reduced(parameters),
        )
        ids = uskpm.density_clusters(reduced, min_size=int(parameters["min_size"]))
        if not parameters["iterative"]:
            return ids
        return uskpm.join_clusters(self.inputs.vectors, ids)

    def _reduced(self, parameters: Parameters) -> Any:
        return uskpm.reduce_vectors(
            self.inputs.vectors,
            neighbours=int(parameters["neighbours"]),
            components=int(parameters["components"]),
            min_distance=float(parameters["min_distance"]),
            seed=self.inputs.run.seed,
        )


def settings_alike(
    what: str, grid: Sequence[Parameters], parameters: Parameters, *, but: Sequence[str]
) -> tuple[tuple[object, ...], int]:
    """Under which key a value is shared, and by how many settings: those equal but for a few."""
    names = [name for name in parameters if name not in but]
    key = tuple(parameters[name] for name in names)
    return (what, *key), sum(tuple(each[name] for name in names) == key for each in grid)


class Finished:
    """Key points that a language model wrote for the whole cell: nothing is left to pick."""

    def __init__(self, inputs: CellInputs, written: Sequence[str]) -> None:
        self.inputs, self.written = inputs, list(written)

    def solve(self, parameters: Parameters) -> Solved:
        """All of them."""
        match = self.inputs.match(self.written)
        return Solved([KeyPoint(text) for text in self.written], match=match)


class Empty:
    """A cell for which every setting has the same reason to have no result."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def solve(self, parameters: Parameters) -> Solved:
        """The reason."""
        return Solved(reason=self.reason)


def warm_up(inputs: CellInputs, grid: Sequence[Parameters]) -> None:
    """Have UMAP compiled, where it will be used, before any setting is timed."""
    n = len(inputs.texts)
    if inputs.run.system == SystemRun.System.USKPM and any(
        uskpm.uses_umap(n, neighbours=int(each["neighbours"]), components=int(each["components"]))
        for each in grid
    ):
        _compile_umap()


@cache
def _compile_umap() -> None:
    """Once a process; takes 10 to 30 s."""
    uskpm.reduce_vectors(np.eye(12, dtype=np.float32), neighbours=2, components=2)


def solver_of(
    inputs: CellInputs, grid: Sequence[Parameters], written: Sequence[str] | None, reason: str
) -> Extracting | Clustering | Finished | Empty:
    """What solves the settings of a cell.

    Parameters
    ----------
    inputs
        The cell.
    grid
        The settings that will be asked for.
    written
        What a language model wrote for the cell; None where the variant asks none for that.
    reason
        Why it wrote nothing.
    """
    if not inputs.texts:
        return Empty(NO_ARGUMENTS)
    if written is not None and not written:
        return Empty(f"{NOTHING_WRITTEN} ({reason})." if reason else f"{NOTHING_WRITTEN}.")
    if inputs.run.variant == SystemRun.Variant.SUMMARIES and written is not None:
        return Finished(inputs, written)
    if inputs.run.system in (SystemRun.System.BARH, SystemRun.System.SMATCHTOPR):
        return Extracting(inputs, grid, written)
    return Clustering(inputs, grid)
