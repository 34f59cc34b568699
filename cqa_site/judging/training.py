"""Training loop for all torch models: batches, checks on the dev split, checkpoints, best weights.

The same seed and recipe give the same weights, even after an interruption. torch is imported when
training starts.
"""

from __future__ import annotations

import json
import math
import os
import pickle
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self
from uuid import uuid4

from cqa_site.judging.embedding import require_packages

Say = Callable[[int, int, str], None]
# Dropout uses the process's random generator, which two simultaneous trainings would share.
ONE_AT_A_TIME = Lock()
# Interval in seconds at which a waiting training reports its state and checks for cancellation.
WAITING = 2.0
# Steps between two checkpoints.
EVERY = 20


class RecipeError(ValueError):
    """Raised if a number in a recipe is out of range; the message names it."""


class TrainingRecipe:
    """Base class of recipes, with bounds, storage and command-line options for their numbers.

    Recipes are dataclasses with at least ``seed`` and ``learning_rate``.
    """

    # Name → lowest and highest value.
    bounds: ClassVar[dict[str, tuple[float, float]]] = {}

    def __post_init__(self) -> None:
        for name, (lowest, highest) in self.bounds.items():
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise RecipeError(f"{name}: {value} is not between {lowest} and {highest}.")

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> Self:
        """Read a recipe from a stored dictionary or from options; other entries are ignored."""
        return cls(**{name: values[name] for name in _numbers(cls) if name in values})

    @classmethod
    def add_options(cls, parser: ArgumentParser) -> None:
        """Add a command-line option for each number."""
        for name, usual in _numbers(cls).items():
            way: Any = {"type": type(usual)}
            if isinstance(usual, bool):
                way = {"action": BooleanOptionalAction}
            parser.add_argument("--" + name.replace("_", "-"), default=usual, **way)


def _numbers(recipe: Any) -> dict[str, Any]:
    return {field.name: field.default for field in fields(recipe)}


@contextmanager
def alone(say: Say, total: int) -> Iterator[None]:
    """Wait until no other training runs in this process; ``say`` reports the wait."""
    while not ONE_AT_A_TIME.acquire(timeout=WAITING):
        say(0, total, "waiting for other training to finish")
    try:
        yield
    finally:
        ONE_AT_A_TIME.release()


@dataclass
class TrainingProgress:
    """Progress of a training run, stored in the checkpoint."""

    step: int = 0
    losses: list[float] = field(default_factory=list)
    looks: list[dict[str, Any]] = field(default_factory=list)
    best: float = -math.inf
    best_look: int = -1
    since_best: int = 0


class Training:
    """One training run of a model; subclasses define the loss of a batch and the score on dev.

    A subclass's ``__init__`` calls the one inherited from this class, loads the subclass's
    ``model`` and calls `prepare`.

    Parameters
    ----------
    recipe
        A `TrainingRecipe`.
    checkpoint
        A file that is written every few steps and read at the start if it exists.
    """

    # Fixed, because a different number of threads changes the sums and thus the weights.
    threads: int | None = 2
    # Maximum norm of the gradients; None for no limit.
    clip: float | None = 1.0
    # Share that the moving average of the weights keeps at each step; 0 for no average.
    averaging = 0.0
    # Number of judgements without improvement after which the training ends.
    patience = math.inf
    model: Any

    def __init__(self, recipe: Any, checkpoint: Path | None = None) -> None:
        require_packages()
        import torch

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        if self.threads:
            torch.set_num_threads(self.threads)
        torch.manual_seed(recipe.seed)
        self.recipe, self.checkpoint = recipe, checkpoint
        self.progress = TrainingProgress()
        self.best: list[Any] = []

    def prepare(
        self,
        batches: Sequence[Any],
        looks_at: Collection[int],
        weights: Iterable[Any],
        *others: dict[str, Any],
        decay: float,
    ) -> None:
        """Set the batches and the weights to train.

        Parameters
        ----------
        batches
            One batch for each step.
        looks_at
            Steps after which the model is judged on dev, always including the last; 0 means before
            the first step.
        weights
            The weights to train, average and store.
        others
            Further groups of parameters for AdamW, each with its own learning rate.
        decay
            Weight decay for ``weights``.
        """
        import torch

        self.batches, self.looks_at, self.weights = batches, looks_at, list(weights)
        groups = [{"params": self.weights, "weight_decay": decay}, *others]
        self.optimizer = torch.optim.AdamW(groups, lr=self.recipe.learning_rate)
        self.average = copied(self.weights) if self.averaging else []

    def rate(self, step: int) -> float:
        """Return the factor by which the learning rate is multiplied at a step."""
        raise NotImplementedError

    def losses(self, batch: Any) -> Iterable[Any]:
        """Yield tensors that add up to the loss of a batch; only one is in memory at a time."""
        raise NotImplementedError

    def judge(self) -> tuple[dict[str, Any], float]:
        """Return figures for the current weights, and the value to maximize."""
        raise NotImplementedError

    @property
    def steps(self) -> int:
        """Number of batches in the whole training run."""
        return len(self.batches)

    @property
    def is_over(self) -> bool:
        """Whether all steps are done or results on dev have stopped improving."""
        return self.progress.step >= self.steps or self.progress.since_best >= self.patience

    def run(self, say: Say) -> TrainingProgress:
        """Train to the last step or until results on dev stop improving; load the best weights."""
        self._resume()
        if 0 in self.looks_at and not self.progress.looks:
            self._look()
        while not self.is_over:
            self._step()
            step = self.progress.step
            say(step, self.steps, f"loss {self.progress.losses[-1]:.3f}")
            if step in self.looks_at:
                self._look()
                say(step, self.steps, "checked on dev")
            if self.checkpoint and (step % EVERY == 0 or step in self.looks_at):
                write(self.checkpoint, self._state())
        load(self.weights, self.best)
        return self.progress

    def _step(self) -> None:
        import torch

        self.model.train()
        step = self.progress.step
        self.optimizer.param_groups[0]["lr"] = self.recipe.learning_rate * self.rate(step)
        self.optimizer.zero_grad()
        total = 0.0
        for loss in self.losses(self.batches[step]):
            loss.backward()
            total += float(loss.detach())
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.weights, self.clip)
        self.optimizer.step()
        self.progress.step = step = step + 1
        self.progress.losses.append(round(total, 5))
        if self.averaging:
            # The average keeps less at first, so that it does not stay near the untrained weights.
            keep = min(self.averaging, (1 + step) / (10 + step))
            with torch.no_grad():
                torch._foreach_lerp_(self.average, self.weights, 1 - keep)

    def _look(self) -> None:
        """Judge the last weights and their average on dev; keep the best weights so far."""
        self.progress.since_best += 1
        self._remember("last", self.weights)
        if self.averaging:
            weights = copied(self.weights)
            load(self.weights, self.average)
            self._remember("average", self.average)
            load(self.weights, weights)

    def _remember(self, kind: str, weights: Sequence[Any]) -> None:
        figures, value = self.judge()
        progress = self.progress
        progress.looks.append({"step": progress.step, "weights": kind, "value": value, **figures})
        if not self.best or value > progress.best:
            progress.best, progress.since_best = -math.inf if math.isnan(value) else value, 0
            progress.best_look = len(progress.looks) - 1
            self.best = copied(weights)

    def _learned(self) -> list[Any]:
        return [weight for group in self.optimizer.param_groups for weight in group["params"]]

    def _state(self) -> dict[str, Any]:
        """Return the checkpoint, or only the results once the training is over."""
        import torch

        state = {
            "recipe": asdict(self.recipe),
            "progress": json.dumps(asdict(self.progress)),
            "best": self.best,
        }
        if self.is_over:
            return state
        return state | {
            "learned": [weight.detach() for weight in self._learned()],
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
        }

    def _resume(self) -> None:
        import torch

        state = read(self.checkpoint) if self.checkpoint else None
        if state is None or state["recipe"] != asdict(self.recipe):
            return
        self.progress = TrainingProgress(**json.loads(state["progress"]))
        self.best = state["best"]
        if not self.is_over:
            load(self._learned(), state["learned"])
            self.average = state["average"]
            self.optimizer.load_state_dict(state["optimizer"])
            torch.set_rng_state(state["random"])


def copied(weights: Sequence[Any]) -> list[Any]:
    """Return copies of weights, so that training does not change the copies."""
    return [weight.detach().clone() for weight in weights]


def load(weights: Sequence[Any], values: Sequence[Any]) -> None:
    """Write stored values into weights."""
    import torch

    with torch.no_grad():
        for weight, value in zip(weights, values, strict=True):
            weight.copy_(value)


def write(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint through a temporary file, so that the previous one survives a crash."""
    import torch

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}-{uuid4().hex}.part")
    try:
        with unfinished.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path) -> dict[str, Any] | None:
    """Return the checkpoint, or None if unreadable; only tensors and plain values are loaded."""
    import torch

    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, LookupError, pickle.UnpicklingError):
        return None
    return state
