"""Several trainings that differ in their seed alone, and the mean of their best weights.

One training ends now here, now there; the mean of a few that began at the same weights lies
between them and matches more evenly. See docs/papers/argsum.md for what it gains.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any

from argsum.scorers.methods.training_cells import TrainingCell
from argsum.scorers.methods.training_recipe import Recipe

from .training_torch import Check, MatchTraining, Progress
from .training_weights import load, read, write

Say = Callable[[int, int, str], None]
# Dropout draws from one generator of the process, so two trainings at once would mix their draws.
ONE_AT_A_TIME = Lock()
# Seconds after which a training that waits says so again, and notices that it was cancelled.
WAITING = 2.0


@contextmanager
def alone(say: Say, total: int) -> Iterator[None]:
    """Wait for another training of this process, and tell ``say`` so."""
    while not ONE_AT_A_TIME.acquire(timeout=WAITING):
        say(0, total, "waiting for another training")
    try:
        yield
    finally:
        ONE_AT_A_TIME.release()


class AveragedTraining:
    """As many trainings as the recipe has members, one after the other.

    Parameters
    ----------
    source, cells, recipe, check
        As of `MatchTraining`; the member n is trained with the seed of the recipe plus n.
    folder
        Where checkpoints are kept. A training that was broken off goes on from there.
    """

    def __init__(
        self,
        source: str,
        cells: Sequence[TrainingCell],
        recipe: Recipe,
        check: Check,
        folder: Path,
    ) -> None:
        self.source, self.cells, self.recipe, self.check = source, cells, recipe, check
        self.folder = folder
        self.members: list[Progress] = []
        self._sums: list[Any] = []

    def run(self, say: Say) -> MatchTraining:
        """Train all members; returns a training whose weights are their mean.

        Another training of this process is waited for, and ``say`` is told so.
        """
        with alone(say, self.total):
            return self._run(say)

    def _run(self, say: Say) -> MatchTraining:
        self._resume()
        while len(self.members) < self.recipe.members:
            training = self._member(len(self.members))
            before = len(self.members) * self.recipe.steps
            progress = training.run(_later(say, before, self.total))
            self._add(progress, training.best)
        training = self._member(0)
        load(training.weights, [each / len(self.members) for each in self._sums])
        return training

    @property
    def total(self) -> int:
        """Steps of all members."""
        return self.recipe.members * self.recipe.steps

    def _member(self, number: int) -> MatchTraining:
        own = replace(self.recipe, seed=self.recipe.seed + number, members=1)
        checkpoint = self.folder / "member.pt"
        return MatchTraining(self.source, self.cells, own, self.check, checkpoint=checkpoint)

    def _add(self, progress: Progress, best: Sequence[Any]) -> None:
        self.members.append(progress)
        self._sums = (
            [a + b for a, b in zip(self._sums, best, strict=True)] if self._sums else list(best)
        )
        kept = {
            "recipe": self.recipe.as_dict(),
            "members": json.dumps([asdict(each) for each in self.members]),
            "sums": self._sums,
        }
        write(self.folder / "members.pt", kept)

    def _resume(self) -> None:
        kept = read(self.folder / "members.pt")
        if kept is None or kept["recipe"] != self.recipe.as_dict():
            return
        self.members = [Progress(**each) for each in json.loads(kept["members"])]
        self._sums = kept["sums"]


def _later(say: Say, before: int, total: int) -> Say:
    """The same listener for a member that begins after some steps of others."""
    return lambda done, _own, note: say(before + done, total, note)
