"""One setting of a system over one cell: its key points, or the reason for none.

What comes out holds no row of the database; storing is up to `set_storing`.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from argsum.keypoints.models import SystemRun
from argsum.scorers.actions.models import ScorerRefused
from argsum.systems.contract import (
    CLUSTERING,
    MATCH,
    QUALITY,
    VECTORS,
    CellData,
    KeyPoint,
    Parameters,
    SummarizationSystem,
    Summary,
    SystemNotValid,
)
from argsum.systems.methods.extractive import central_argument
from argsum.systems.methods.mcargsum import is_summarizable, members
from argsum.systems.methods.scoring import Scores
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.runs.jobs import StaleWorker

from .system_inputs import CellInputs

NO_ARGUMENTS = "The cell has no arguments."
FEW_CLUSTERS = "Fewer than two clusters."
FEW_CLUSTERED = "Not more than half of the arguments are in a cluster."
NOTHING_WRITTEN = "The language model wrote nothing usable"
# What a system's tools may raise: it is about the scorer or the machine, not about the system.
OURS = (ScorerRefused, EmbeddingsUnavailable, StaleWorker, MemoryError)
WRITES = CLUSTERING[1:]
logger = logging.getLogger(__name__)


class SystemFailed(Exception):
    """A system of another package went wrong; the message names it."""


class CellTools:
    """What a system may ask for in one setting of a cell; see `argsum.systems.contract.Tools`.

    Parameters
    ----------
    grid
        The settings of the cell that are computed now; they share what is made once.
    parameters
        Those of the setting.
    """

    def __init__(
        self,
        system: SummarizationSystem,
        inputs: CellInputs,
        grid: Sequence[Parameters],
        parameters: Parameters,
    ) -> None:
        self._system, self._inputs = system, inputs
        self._grid, self.parameters = grid, parameters
        self.seed = inputs.run.seed

    @property
    def pairs(self) -> Scores:
        return self._given(MATCH, lambda: self._inputs.pairs)

    @property
    def quality(self) -> Scores:
        return self._given(QUALITY, lambda: self._inputs.quality)

    @property
    def vectors(self) -> Scores:
        return self._given(VECTORS, lambda: self._inputs.vectors)

    def match(self, texts: Sequence[str]) -> Scores:
        return self._given(MATCH, lambda: self._inputs.match(texts))

    def between(self, texts: Sequence[str]) -> Scores:
        return self._given(MATCH, lambda: self._inputs.between(texts))

    def quality_of(self, texts: Sequence[str]) -> Scores:
        return self._given(QUALITY, lambda: self._inputs.quality_of(texts))

    def values(self, parameter: str) -> list[float]:
        return sorted({float(each[parameter]) for each in self._grid if parameter in each})

    def shared(self, what: str, make: Callable[[], Any], *, by: Sequence[str] = ()) -> Any:
        own = [self.parameters.get(name) for name in by]
        users = sum([each.get(name) for name in by] == own for each in self._grid)
        # A name of a system never meets one of `CellInputs`.
        return self._inputs.shares.take(("system", what, *own), users, make)

    def _given(self, need: str, make: Callable[[], Scores]) -> Scores:
        """Scores that cannot be written to, as other settings read the same ones."""
        if need not in self._system.needs:
            raise SystemNotValid(f"it asks for “{need}”, which is not among its needs")
        found = make().view()
        found.flags.writeable = False
        return found


def solve(
    system: SummarizationSystem,
    inputs: CellInputs,
    grid: Sequence[Parameters],
    parameters: Parameters,
    written: tuple[Sequence[str], str] | None,
) -> Summary:
    """The summary of one setting; one that waits where a model is to write about its clusters.

    ``written`` is what a language model wrote for the cell, and why it wrote nothing; None where
    the variant asks none for that. Raises `SystemFailed`.
    """
    variant = inputs.run.variant
    if not inputs.texts:
        return Summary(reason=NO_ARGUMENTS)
    texts, why = written or (None, "")
    if texts is not None and not texts:
        return Summary(reason=f"{NOTHING_WRITTEN} ({why})." if why else f"{NOTHING_WRITTEN}.")
    if variant == SystemRun.Variant.SUMMARIES:
        made = Summary([KeyPoint(text) for text in texts or ()])
    else:
        made = _asked(system, inputs, CellTools(system, inputs, grid, parameters), texts)
    if made.waits:
        made = _clustered(made, inputs, is_plain=variant == SystemRun.Variant.PLAIN)
    if made.key_points and made.match is None:
        made = replace(made, match=inputs.match([point.text for point in made.key_points]))
    return made


def _asked(
    system: SummarizationSystem,
    inputs: CellInputs,
    tools: CellTools,
    written: Sequence[str] | None,
) -> Summary:
    """What the system makes of the cell."""
    data = CellData(
        inputs.cell.topic,
        inputs.cell.stance,
        tuple(inputs.texts),
        None if written is None else tuple(written),
    )
    try:
        made = system.summarize(data, dict(tools.parameters), tools)
        if not isinstance(made, Summary):
            raise SystemNotValid("it returned no Summary")
        made.check(len(inputs.texts))
        if made.key_points and inputs.run.variant in WRITES:
            raise SystemNotValid("it returned key points that somebody else is to write")
    except OURS:
        raise
    except (Exception, SystemExit) as problem:
        if not system.package:
            raise
        logger.exception("The system “%s” of %s", system.name, system.package)
        said = str(problem) if isinstance(problem, SystemNotValid) else type(problem).__name__
        message = f"“{system.title}” of the package {system.package} failed: {said}."
        raise SystemFailed(message) from None
    if made.clusters is None:
        return made
    return replace(made, clusters=[int(each) for each in made.clusters])


def _clustered(made: Summary, inputs: CellInputs, *, is_plain: bool) -> Summary:
    """Clusters with their central arguments; those that are too few or small are no result."""
    ids = list(made.clusters or ())
    if not is_summarizable(ids):
        few = len(set(members(ids))) < 2
        return Summary(clusters=ids, reason=FEW_CLUSTERS if few else FEW_CLUSTERED)
    if not is_plain:
        return Summary(clusters=ids)
    match = inputs.pairs
    central = {cluster: central_argument(match, rows) for cluster, rows in members(ids).items()}
    points = [KeyPoint(inputs.texts[row], cluster) for cluster, row in central.items()]
    return Summary(points, ids, match[:, list(central.values())])
