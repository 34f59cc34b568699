"""One setting of a system on one cell: inputs, scores and the writer model."""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from argsum.datasets.models import Cell, CellArgument
from argsum.keypoints.models import SystemRun
from argsum.scorers.actions.models import (
    BiEncoder,
    CrossEncoder,
    ScorerRefused,
    resolve,
    source_of,
    weights_hash,
)
from argsum.scorers.actions.scorers import StoredMatrices, match_scorer_of, quality_scorer_of
from argsum.scorers.actions.torch_training import load_seq2seq
from argsum.scorers.methods.training import BEAMS, MOST_TOKENS_OUT, WritingRecipe, writer_input
from argsum.scorers.models import Scorer
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
from argsum.systems.methods.clusters import central_argument, is_summarizable, members
from argsum.systems.methods.inputs import MatchScorer, QualityScorer, Scores, with_topic
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable, seconds_loading
from cqa_site.runs.jobs import StaleWorker


def clock() -> float:
    """Return elapsed seconds, excluding the time to load sentence models."""
    return perf_counter() - seconds_loading()


class Shares:
    """Values that several settings share, and each setting's share of the time to compute them.

    One linkage serves all thresholds, so each setting is charged an equal part of its time, no
    matter which setting came first.
    """

    def __init__(self) -> None:
        self._made: dict[object, tuple[Any, float, list[object]]] = {}
        self._charged: set[object] = set()
        self._making: list[list[object]] = []
        self._inside = 0.0
        # Seconds to add to the time of the current setting.
        self.charge = 0.0

    def begin(self) -> None:
        """Start the next setting."""
        self._charged, self.charge = set(), 0.0

    def take(self, key: object, users: int, make: Callable[[], Any]) -> Any:
        """Return the value for a key, computed at first use; ``users`` settings share the time."""
        if self._making:
            self._making[-1].append(key)
        if key not in self._made:
            self._make(key, users, make)
        self._owe(key)
        return self._made[key][0]

    def _make(self, key: object, users: int, make: Callable[[], Any]) -> None:
        outer, self._inside = self._inside, 0.0
        self._making.append([])
        started = clock()
        try:
            value = make()
        finally:
            used = self._making.pop()
        whole = clock() - started
        # Nested values have their own times.
        net = whole - self._inside
        self._inside = outer + whole
        self.charge -= net
        self._made[key] = value, net / max(1, users), used

    def _owe(self, key: object) -> None:
        """Charge each setting once for its share of the time for a value and its inputs."""
        if key in self._charged:
            return
        self._charged.add(key)
        _value, share, used = self._made[key]
        self.charge += share
        for inner in used:
            self._owe(inner)


class RunScorers:
    """Scorers of a run, created once so that models are loaded once for all cells.

    A slow scorer calls ``say`` with the number of matrix rows that it has read.
    """

    def __init__(self, run: SystemRun, say: Callable[[int, int], None]) -> None:
        self.run, self.say = run, say

    @cached_property
    def match(self) -> MatchScorer:
        """Scorer for pairs of texts."""
        if self.run.match_scorer is None:
            raise ValueError("The run has no scorer.")
        scorer = match_scorer_of(self.run.match_scorer)
        if isinstance(scorer, StoredMatrices) and isinstance(scorer.inner, CrossEncoder):
            scorer.inner.say = self.say
        return scorer

    @cached_property
    def quality(self) -> QualityScorer | None:
        """Scorer for single texts; None if qualities were imported with the arguments."""
        scorer = self.run.quality_scorer
        if scorer is None or scorer.kind == Scorer.Kind.COLUMN:
            return None
        return quality_scorer_of(scorer)

    def vectors(self, arguments: Sequence[str], topic: str) -> Scores:
        """Return sentence vectors from the match scorer or, failing that, the packaged MiniLM."""
        return self._encoder.vectors(
            with_topic(arguments, topic if self._encoder.uses_topic else "")
        )

    @cached_property
    def _encoder(self) -> BiEncoder:
        inner = self.match.inner if isinstance(self.match, StoredMatrices) else None
        if isinstance(inner, BiEncoder):
            return inner
        return BiEncoder(PACKAGED_MODEL, weights_hash(PACKAGED_MODEL))


class CellInputs:
    """Inputs of a run for one cell; scores are computed at first use.

    Parameters
    ----------
    run
        The run, with its dataset, match scorer and quality scorer.
    scorers
        The scorers of the run.
    cell
        A cell of the dataset.
    settings
        Number of the cell's settings to compute now; they share the computing time.
    """

    def __init__(self, run: SystemRun, scorers: RunScorers, cell: Cell, settings: int) -> None:
        self.run, self.scorers, self.cell, self.settings = run, scorers, cell, settings
        self.shares = Shares()
        rows = arguments_of(run, cell)
        self.keys = [row.pk for row in rows]
        self.texts = [row.text for row in rows]
        self._column = [row.quality for row in rows]

    def match(self, columns: Sequence[str]) -> Scores:
        """Return the scores of all arguments against the given texts, shape (n, k)."""
        return self.scorers.match.matrix(self.texts, columns, topic=self.cell.topic)

    def between(self, texts: Sequence[str]) -> Scores:
        """Return the scores of the given texts against each other, shape (k, k)."""
        return self.scorers.match.matrix(texts, texts, topic=self.cell.topic)

    @property
    def pairs(self) -> Scores:
        """Scores of the arguments against each other, shape (n, n)."""
        scores: Scores = self.shares.take(
            "pairs", self.settings, lambda: self.match(list(self.texts))
        )
        return scores

    @property
    def vectors(self) -> Scores:
        """Sentence vectors, shape (n, d)."""
        embeddings: Scores = self.shares.take(
            "vectors", self.settings, lambda: self.scorers.vectors(self.texts, self.cell.topic)
        )
        return embeddings

    @property
    def quality(self) -> Scores:
        """Quality of the arguments, shape (n,); nan if unknown."""
        scores: Scores = self.shares.take("quality", self.settings, self._quality)
        return scores

    def quality_of(self, texts: Sequence[str]) -> Scores:
        """Return the quality of texts that are not arguments; nan if qualities were imported."""
        if self.scorers.quality is None:
            return np.full(len(texts), np.nan, dtype=np.float32)
        return self.scorers.quality.scores(texts, topic=self.cell.topic)

    def _quality(self) -> Scores:
        if self.scorers.quality is None:
            return np.array(
                [np.nan if value is None else value for value in self._column], dtype=np.float32
            )
        return self.scorers.quality.scores(self.texts, topic=self.cell.topic)


def arguments_of(run: SystemRun, cell: Cell) -> list[CellArgument]:
    """Return the arguments that the run uses in a cell, in order."""
    rows = cell.arguments.order_by("position").only("text", "quality")
    return list(rows if run.is_unfiltered else rows.filter(left_out=""))


# One setting of a system on one cell: its key points, or why there are no key points
#
# The result contains no database rows; `system_jobs` stores it.

NO_ARGUMENTS = "The cell has no arguments."
FEW_CLUSTERS = "Fewer than two clusters."
FEW_CLUSTERED = "At most half of the arguments are in a cluster."
NOTHING_WRITTEN = "The language model gave no usable reply"
# Errors raised by a system's tools; the scorer or the machine caused them, not the system.
OURS = (ScorerRefused, EmbeddingsUnavailable, StaleWorker, MemoryError)
WRITES = CLUSTERING[1:]
logger = logging.getLogger(__name__)


class SystemFailed(Exception):
    """A system from another package failed; the message names it."""


class CellTools:
    """Tools for a system in one setting of a cell; see `argsum.systems.contract.Tools`.

    Parameters
    ----------
    grid
        The settings of the cell to compute now, which share values that are computed once.
    parameters
        Parameters of this setting.
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
        return sorted(
            {float(setting[parameter]) for setting in self._grid if parameter in setting}
        )

    def shared(self, what: str, make: Callable[[], Any], *, by: Sequence[str] = ()) -> Any:
        own = [self.parameters.get(name) for name in by]
        users = sum([setting.get(name) for name in by] == own for setting in self._grid)
        # The prefix prevents collisions with the keys of `CellInputs`.
        return self._inputs.shares.take(("system", what, *own), users, make)

    def _given(self, need: str, make: Callable[[], Scores]) -> Scores:
        """Return scores as a read-only view, because other settings use the same array."""
        if need not in self._system.needs:
            raise SystemNotValid(f"it asks for “{need}”, which is not among its needs")
        scores = make().view()
        scores.flags.writeable = False
        return scores


def solve(
    system: SummarizationSystem,
    inputs: CellInputs,
    grid: Sequence[Parameters],
    parameters: Parameters,
    written: tuple[Sequence[str], str] | None,
) -> Summary:
    """Return the summary of one setting, without key points if a model still has to write them.

    ``written`` has the texts that a language model wrote for the cell, or the reason why there are
    none; it is None if the variant does not use a model for whole cells. Raises `SystemFailed`.
    """
    variant = inputs.run.variant
    if not inputs.texts:
        return Summary(reason=NO_ARGUMENTS)
    texts, why = written or (None, "")
    if texts is not None and not texts:
        return Summary(reason=f"{NOTHING_WRITTEN} ({why})." if why else f"{NOTHING_WRITTEN}.")
    if variant == SystemRun.Variant.SUMMARIES:
        summary = Summary([KeyPoint(text) for text in texts or ()])
    else:
        summary = _asked(system, inputs, CellTools(system, inputs, grid, parameters), texts)
    if summary.waits:
        summary = _clustered(summary, inputs, is_plain=variant == SystemRun.Variant.PLAIN)
    if summary.key_points and summary.match is None:
        summary = replace(
            summary, match=inputs.match([point.text for point in summary.key_points])
        )
    return summary


def _asked(
    system: SummarizationSystem,
    inputs: CellInputs,
    tools: CellTools,
    written: Sequence[str] | None,
) -> Summary:
    data = CellData(
        inputs.cell.topic,
        inputs.cell.stance,
        tuple(inputs.texts),
        None if written is None else tuple(written),
    )
    try:
        summary = system.summarize(data, dict(tools.parameters), tools)
        if not isinstance(summary, Summary):
            raise SystemNotValid("it returned no Summary")
        summary.check(len(inputs.texts))
        if summary.key_points and inputs.run.variant in WRITES:
            raise SystemNotValid("it returned key points that a writer should have written")
    except OURS:
        raise
    except (Exception, SystemExit) as problem:
        if not system.package:
            raise
        logger.exception("The system “%s” of %s", system.name, system.package)
        name = str(problem) if isinstance(problem, SystemNotValid) else type(problem).__name__
        message = f"“{system.title}” of the package {system.package} failed: {name}."
        raise SystemFailed(message) from None
    if summary.clusters is None:
        return summary
    return replace(summary, clusters=[int(cluster) for cluster in summary.clusters])


def _clustered(summary: Summary, inputs: CellInputs, *, is_plain: bool) -> Summary:
    """Return the clusters with their central arguments, or why they are too few or too small."""
    ids = list(summary.clusters or ())
    if not is_summarizable(ids):
        few = len(set(members(ids))) < 2
        return Summary(clusters=ids, reason=FEW_CLUSTERS if few else FEW_CLUSTERED)
    if not is_plain:
        return Summary(clusters=ids)
    match = inputs.pairs
    central = {cluster: central_argument(match, rows) for cluster, rows in members(ids).items()}
    points = [KeyPoint(inputs.texts[row], cluster) for cluster, row in central.items()]
    return Summary(points, ids, match[:, list(central.values())])


# Key points by a sequence-to-sequence model
#
# Torch and transformers are imported when the first key point is written.


class WriterUnavailable(Exception):
    """The model cannot be loaded; the message explains what is missing."""


class SummaryWriter:
    """A sequence-to-sequence model, given by name, read from the data folder or trained here.

    Identical input gives identical output, with beam search, no sampling and one thread. Texts are
    cached by input, because neighbouring thresholds often have the same clusters.
    """

    def __init__(self, model: str, trained: Scorer | None = None) -> None:
        self.model, self.trained = model, trained
        recipe = WritingRecipe.stored(trained.recipe) if trained else WritingRecipe()
        self.longest_in = recipe.longest_in
        self._known: dict[str, str] = {}
        self._loaded: tuple[Any, Any] | None = None

    def write(self, *, topic: str, stance: int, arguments: Sequence[str]) -> str:
        """Write one key point for arguments, sorted best first; return "" if writing fails."""
        prompt = writer_input(topic, stance, arguments)
        if prompt not in self._known:
            self._known[prompt] = self._write(prompt)
        return self._known[prompt]

    def _write(self, prompt: str) -> str:
        if self._loaded is None:
            self._loaded = self._load()
        tokenizer, network = self._loaded
        # Long prompts are cut at the end, where the weakest arguments are.
        encoding = tokenizer(
            prompt, truncation=True, max_length=self.longest_in, return_tensors="pt"
        )
        written = network.generate(
            input_ids=encoding["input_ids"],
            attention_mask=encoding["attention_mask"],
            max_new_tokens=MOST_TOKENS_OUT,
            num_beams=BEAMS,
            do_sample=False,
        )
        text: str = tokenizer.decode(written[0], skip_special_tokens=True)
        return " ".join(text.split())

    def _load(self) -> tuple[Any, Any]:
        """Return tokenizer and network; raise `WriterUnavailable` if they cannot be loaded."""
        try:
            source = self._source()
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
            loaded = load_seq2seq(source)
        except (ScorerRefused, EmbeddingsUnavailable) as problem:
            raise WriterUnavailable(str(problem)) from problem
        import torch

        torch.set_num_threads(1)
        return loaded

    def _source(self) -> str:
        if self.trained is None:
            return resolve(self.model)
        if self.trained.state != Scorer.State.READY:
            raise ScorerRefused(_("The writer “%s” is not ready.") % self.model)
        return source_of(self.trained)
