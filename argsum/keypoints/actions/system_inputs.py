"""What a system reads of one cell: its arguments, their quality, and the scores of pairs."""

from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from argsum.datasets.models import Cell, CellArgument
from argsum.keypoints.models import SystemRun
from argsum.scorers.actions.models import BiEncoder, CrossEncoder, weights_hash
from argsum.scorers.actions.scorers import KeptMatrices, match_scorer_of, quality_scorer_of
from argsum.scorers.models import Scorer
from argsum.systems.methods.scoring import MatchScorer, QualityScorer, Scores, with_topic
from cqa_site.judging.embedding import PACKAGED_MODEL, seconds_loading


def clock() -> float:
    """Seconds that go by while something is computed; loading a sentence model stops it."""
    return perf_counter() - seconds_loading()


class Shares:
    """Values that several settings use, and the time that each of them owes for one.

    A linkage serves all thresholds, so each setting is charged its part of the time, whichever
    setting happened to come first.
    """

    def __init__(self) -> None:
        self._made: dict[object, tuple[Any, float, list[object]]] = {}
        self._charged: set[object] = set()
        self._making: list[list[object]] = []
        self._inside = 0.0
        # To be added to the time that the setting at hand took.
        self.charge = 0.0

    def begin(self) -> None:
        """The next setting begins."""
        self._charged, self.charge = set(), 0.0

    def take(self, key: object, users: int, make: Callable[[], Any]) -> Any:
        """The value of a key, made at first use; ``users`` settings share its time."""
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
        # What was made inside has a time of its own.
        net = whole - self._inside
        self._inside = outer + whole
        self.charge -= net
        self._made[key] = value, net / max(1, users), used

    def _owe(self, key: object) -> None:
        """Charge a part of a value, and of those it was made from, once for each setting."""
        if key in self._charged:
            return
        self._charged.add(key)
        _value, share, used = self._made[key]
        self.charge += share
        for inner in used:
            self._owe(inner)


class RunScorers:
    """The scorers of a run, made once, so that their models are loaded once for all cells.

    ``say`` hears how many rows of a matrix a slow scorer has read.
    """

    def __init__(self, run: SystemRun, say: Callable[[int, int], None]) -> None:
        self.run, self.say = run, say

    @cached_property
    def match(self) -> MatchScorer:
        """What scores pairs of texts."""
        found = match_scorer_of(_required(self.run.match_scorer))
        if isinstance(found, KeptMatrices) and isinstance(found.inner, CrossEncoder):
            found.inner.say = self.say
        return found

    @cached_property
    def quality(self) -> QualityScorer | None:
        """What scores single texts; None where qualities stand beside the arguments."""
        scorer = self.run.quality_scorer
        if scorer is None or scorer.kind == Scorer.Kind.COLUMN:
            return None
        return quality_scorer_of(scorer)

    def vectors(self, arguments: Sequence[str], topic: str) -> Scores:
        """Sentence vectors: of the match scorer if it has any, else of the packaged MiniLM."""
        return self._encoder.vectors(
            with_topic(arguments, topic if self._encoder.uses_topic else "")
        )

    @cached_property
    def _encoder(self) -> BiEncoder:
        inner = self.match.inner if isinstance(self.match, KeptMatrices) else None
        if isinstance(inner, BiEncoder):
            return inner
        return BiEncoder(PACKAGED_MODEL, weights_hash(PACKAGED_MODEL))


class CellInputs:
    """One cell as a run of a system sees it; scores are computed at first use.

    Parameters
    ----------
    run
        With dataset, match scorer and quality scorer.
    scorers
        Of the run.
    cell
        One of the dataset.
    settings
        How many settings of the cell are computed now, for sharing time among them.
    """

    def __init__(self, run: SystemRun, scorers: RunScorers, cell: Cell, settings: int) -> None:
        self.run, self.scorers, self.cell, self.settings = run, scorers, cell, settings
        self.shares = Shares()
        rows = arguments_of(run, cell)
        self.keys = [row.pk for row in rows]
        self.texts = [row.text for row in rows]
        self._column = [row.quality for row in rows]

    def match(self, columns: Sequence[str]) -> Scores:
        """Scores of all arguments with some texts, shape (n, k)."""
        return self.scorers.match.matrix(self.texts, columns, topic=self.cell.topic)

    def between(self, texts: Sequence[str]) -> Scores:
        """Scores of some texts with each other, shape (k, k)."""
        return self.scorers.match.matrix(texts, texts, topic=self.cell.topic)

    @property
    def pairs(self) -> Scores:
        """Scores of arguments with arguments, shape (n, n)."""
        found: Scores = self.shares.take(
            "pairs", self.settings, lambda: self.match(list(self.texts))
        )
        return found

    @property
    def vectors(self) -> Scores:
        """Sentence vectors, shape (n, d)."""
        found: Scores = self.shares.take(
            "vectors", self.settings, lambda: self.scorers.vectors(self.texts, self.cell.topic)
        )
        return found

    @property
    def quality(self) -> Scores:
        """Quality of the arguments, shape (n,); nan where none is known."""
        found: Scores = self.shares.take("quality", self.settings, self._quality)
        return found

    def quality_of(self, texts: Sequence[str]) -> Scores:
        """Quality of texts that are no arguments; an imported column has none of them."""
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
    """The arguments of a cell that take part, in order."""
    rows = cell.arguments.order_by("position").only("text", "quality")
    return list(rows if run.is_unfiltered else rows.filter(left_out=""))


def _required(scorer: Scorer | None) -> Scorer:
    if scorer is None:
        raise ValueError("The run names no scorer.")
    return scorer
