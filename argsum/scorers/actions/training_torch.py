"""Training a bi-encoder on batches of one cell; beside the cross-encoder the only torch here.

Each text of a batch is encoded once. Argument–key point pairs are learned from their labels,
argument–argument pairs from sharing a key point. Matching and other pairs weigh the same however
many there are. The same seed and recipe give the same weights, also after an interruption.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from argsum.scorers.methods.training_cells import Batch, TrainingCell, epoch_batches
from argsum.scorers.methods.training_recipe import Recipe
from argsum.systems.methods.scoring import Scores, with_topic
from cqa_site.judging.embedding import in_16_bits

from .training_loss import batch_loss
from .training_weights import (
    copied,
    load,
    load_encoder,
    random_state,
    read,
    set_random_state,
    trainable,
    write,
)

Encode = Callable[[Sequence[str]], Scores]
# Judges the weights by what they encode: figures to keep, and the one that chooses.
Check = Callable[[Encode], tuple[dict[str, Any], float]]
Say = Callable[[int, int, str], None]
BATCH = 32
MIDDLE = 0.5
# The same everywhere: sums over another number of parts would be other weights.
THREADS = 2


@dataclass
class Progress:
    """What is known so far; kept in the checkpoint."""

    step: int = 0
    losses: list[float] = field(default_factory=list)
    looks: list[dict[str, Any]] = field(default_factory=list)
    best: float = float("-inf")
    best_look: int = -1
    since_best: int = 0


class MatchTraining:
    """One training.

    Parameters
    ----------
    source
        Folder or name of the model it begins with.
    cells
        What is learned.
    check
        Looks at the dev split.
    checkpoint
        A file that is written every ``every`` steps and read at the start if it is there.
    """

    def __init__(
        self,
        source: str,
        cells: Sequence[TrainingCell],
        recipe: Recipe,
        check: Check,
        *,
        checkpoint: Path | None = None,
        every: int = 20,
    ) -> None:
        import torch

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        torch.set_num_threads(THREADS)
        torch.manual_seed(recipe.seed)
        self.cells, self.recipe, self.check = cells, recipe, check
        self.checkpoint, self.every = checkpoint, every
        self.model = load_encoder(source, recipe.longest)
        self.weights = trainable(self.model, recipe.frozen)
        self.middle = torch.nn.Parameter(torch.tensor(MIDDLE))
        self.optimizer = torch.optim.AdamW(
            [
                {"params": self.weights, "lr": recipe.learning_rate},
                {"params": [self.middle], "lr": 1e-3, "weight_decay": 0.0},
            ]
        )
        self.average, self.best = copied(self.weights), copied(self.weights)
        self.progress = Progress()

    def run(self, say: Say) -> Progress:
        """Train to the end, or until dev stops getting better; then load the best weights."""
        self._resume()
        looks_at = self.recipe.check_steps()
        batches = self._batches()
        while self.progress.step < self.recipe.steps:
            self._step(batches[self.progress.step])
            step = self.progress.step
            say(step, self.recipe.steps, f"loss {self.progress.losses[-1]:.3f}")
            if step in looks_at:
                self._look(say)
                if self.progress.since_best >= self.recipe.patience:
                    break
            if self.checkpoint and (step % self.every == 0 or step in looks_at):
                self._save(self.checkpoint)
        load(self.weights, self.best)
        return self.progress

    def save(self, folder: Path) -> None:
        """Write the model as sentence-transformers reads it, weights as safetensors."""
        self.model.save(str(folder), safe_serialization=True, create_model_card=False)

    def encode(self, texts: Sequence[str]) -> Scores:
        """Vectors of length 1, shape (n, d), with the weights as they are now."""
        import torch

        order = np.argsort([len(text) for text in texts], kind="stable")
        parts = []
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                some = [texts[at] for at in order[start : start + BATCH]]
                parts.append(self._vectors(some).numpy())
        self.model.train()
        found = np.zeros((len(texts), parts[0].shape[1]), dtype=np.float32)
        found[order] = np.concatenate(parts)
        return found

    def _look(self, say: Say) -> None:
        """Judge the last weights and their average on dev; remember the better ones."""
        self.progress.since_best += 1
        self._judge("last", self.weights)
        if self.recipe.averaging:
            kept = copied(self.weights)
            load(self.weights, self.average)
            self._judge("average", self.average)
            load(self.weights, kept)
        say(self.progress.step, self.recipe.steps, "looked at dev")

    def _judge(self, kind: str, weights: Sequence[Any]) -> None:
        figures, value = self.check(self.encode)
        seen = {"step": self.progress.step, "weights": kind, "value": value, **figures}
        self.progress.looks.append(seen)
        if value > self.progress.best:
            self.progress.best, self.progress.since_best = value, 0
            self.progress.best_look = len(self.progress.looks) - 1
            self.best = copied(weights)

    def _resume(self) -> None:
        if self.checkpoint is None or (kept := read(self.checkpoint)) is None:
            return
        if kept["recipe"] != self.recipe.as_dict():
            return
        load(self.weights, kept["weights"])
        load(self.average, kept["average"])
        load(self.best, kept["best"])
        load([self.middle], [kept["middle"]])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.progress = Progress(**json.loads(kept["progress"]))
        set_random_state(kept["random"])

    def _save(self, file: Path) -> None:
        kept = {
            "recipe": self.recipe.as_dict(),
            "progress": json.dumps(asdict(self.progress)),
            "weights": copied(self.weights),
            "average": self.average,
            "best": self.best,
            "middle": self.middle.detach(),
            "optimizer": self.optimizer.state_dict(),
            "random": random_state(),
        }
        write(file, kept)

    def _batches(self) -> list[Batch]:
        found: list[Batch] = []
        while len(found) < self.recipe.steps:
            seed = self.recipe.seed * 1_000 + len(found)
            found += epoch_batches(self.cells, size=self.recipe.batch, seed=seed)
        return found

    def _step(self, batch: Batch) -> None:
        import torch

        self.model.train()
        rate = self.recipe.learning_rate * self.recipe.rate_at(self.progress.step)
        self.optimizer.param_groups[0]["lr"] = rate
        loss = self._loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()
        self.progress.step += 1
        self.progress.losses.append(round(float(loss.item()), 5))
        # A young average keeps less, so that it does not stay at the untrained weights.
        step = self.progress.step
        keep = min(self.recipe.averaging, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(self.average, self.weights, 1 - keep)

    def _loss(self, batch: Batch) -> Any:
        cell = self.cells[batch.cell]
        topic = cell.topic if self.recipe.uses_topic else ""
        texts = [*(cell.arguments[row] for row in batch.rows), *cell.key_points]
        vectors = self._ordered(with_topic(texts, topic))
        labels = cell.labels[list(batch.rows)]
        return batch_loss(vectors @ vectors.T, labels, self.recipe, self.middle)

    def _ordered(self, texts: list[str]) -> Any:
        """Vectors in the order given; short and long texts apart, so that less is padding."""
        import torch

        order = np.argsort([len(text) for text in texts], kind="stable")
        halves = np.array_split(order, 2)
        parts = [self._vectors([texts[at] for at in half]) for half in halves if len(half)]
        back = np.argsort(order, kind="stable")
        return torch.cat(parts)[torch.from_numpy(back)]

    def _vectors(self, texts: list[str]) -> Any:
        from torch.nn.functional import normalize

        with in_16_bits(self.recipe.quick):
            vectors = self.model(self.model.preprocess(texts))["sentence_embedding"]
        return normalize(vectors.float(), dim=1)
