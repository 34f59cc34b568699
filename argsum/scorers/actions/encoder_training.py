"""Train a bi-encoder with torch: batches, loss, weights and checkpoints."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from argsum.scorers.methods.training import (
    MATCH,
    NO_MATCH,
    UNDECIDED,
    Batch,
    Labels,
    ScorerRecipe,
    TrainingCell,
    epoch_batches,
    shared_key_points,
)
from argsum.systems.methods.inputs import Scores, with_topic
from cqa_site.judging.embedding import (
    PACKAGED_MODEL,
    EmbeddingsUnavailable,
    in_16_bits,
    packaged_weights,
    require_packages,
)

# What a batch of one cell costs: cross-entropy on scaled cosines, and a contrastive part.


# Stands for "not compared" among logits.
NEVER = -1e4


def batch_loss(cosines: Any, labels: Labels, recipe: ScorerRecipe, middle: Any) -> Any:
    """Return the loss of one batch.

    Parameters
    ----------
    cosines : tensor, shape (n + k, n + k)
        Of n arguments, then all k key points.
    labels : shape (n, k)
        See `argsum.scorers.methods.training_cells.TrainingCell`.
    recipe
        Scale, contrast and temperature are read.
    middle
        The cosine at which a match is as likely as not; learned.
    """
    import torch

    n = len(labels)
    same, other = (torch.from_numpy(point) for point in shared_key_points(labels))
    matched, unmatched = torch.from_numpy(labels == MATCH), torch.from_numpy(labels == NO_MATCH)
    loss = 0.0 * middle
    if recipe.entropy:
        logits = recipe.scale * (cosines - middle)
        both = _balanced(logits[:n, n:], matched, unmatched)
        both = both + _balanced(logits[:n, :n], same, other)
        loss = loss + recipe.entropy * both
    if recipe.contrast:
        known = torch.from_numpy(labels != UNDECIDED)
        positive = _both_ways(same, matched)
        allowed = _both_ways(same | other, known)
        loss = loss + recipe.contrast * _contrast(cosines / recipe.temperature, positive, allowed)
    return loss


def _balanced(logits: Any, positive: Any, negative: Any) -> Any:
    """Return cross-entropy, half from matching pairs and half from the others."""
    from torch.nn.functional import softplus

    loss = 0.0 * logits.sum()
    if positive.any():
        loss = loss + softplus(-logits[positive]).mean() / 2
    if negative.any():
        loss = loss + softplus(logits[negative]).mean() / 2
    return loss


def _contrast(logits: Any, positive: Any, allowed: Any) -> Any:
    """Return the contrastive loss: each text should find its matches among all allowed texts."""
    import torch

    rows = positive.any(dim=1)
    if not rows.any():
        return 0.0 * logits.sum()
    masked = logits.masked_fill(~allowed, NEVER)[rows]
    shares = masked - torch.logsumexp(masked, dim=1, keepdim=True)
    hits = positive[rows]
    return -((shares * hits).sum(dim=1) / hits.sum(dim=1)).mean()


def _both_ways(arguments: Any, against: Any) -> Any:
    """Combine pairs above the diagonal and argument–key point pairs into one symmetric mask."""
    import torch

    n, k = against.shape
    mask = torch.zeros(n + k, n + k, dtype=torch.bool)
    mask[:n, :n], mask[:n, n:] = arguments, against
    return mask | mask.T


# Weights of a model in training: which are learned, and the checkpoint they are kept in.


def load_encoder(source: str, longest: int) -> Any:
    """Load a sentence-transformers model on the CPU; raises EmbeddingsUnavailable."""
    require_packages()
    from sentence_transformers import SentenceTransformer

    folder = packaged_weights() if source == PACKAGED_MODEL else source
    try:
        is_packaged = source == PACKAGED_MODEL
        model = SentenceTransformer(folder, device="cpu", local_files_only=is_packaged)
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingsUnavailable(f"The model {source!r} could not be loaded.") from error
    model.max_seq_length = min(longest, model.max_seq_length or longest)
    return model


def trainable(model: Any, frozen: int) -> list[Any]:
    """Return the weights to train; ``frozen`` as in `ScorerRecipe`.

    Raises EmbeddingsUnavailable for a model without layers of attention.
    """
    from torch.nn import ModuleList

    network = getattr(model[0], "auto_model", None)
    if network is None:
        raise EmbeddingsUnavailable("This model is not a transformer and cannot be trained here.")
    if frozen:
        words = getattr(network, "embeddings", None) or network.get_input_embeddings()
        words.requires_grad_(False)
    # Architectures name them otherwise; all keep them in the first list of modules.
    layers = next(
        (list(module) for module in network.modules() if isinstance(module, ModuleList)), []
    )
    for layer in layers[: max(0, frozen - 1)]:
        layer.requires_grad_(False)
    if getattr(network, "pooler", None) is not None:
        # Means of token vectors are taken: nothing reaches the pooler.
        network.pooler.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def copied(weights: Sequence[Any]) -> list[Any]:
    """Return copies that training does not change."""
    return [weight.detach().clone() for weight in weights]


def load(weights: Sequence[Any], values: Sequence[Any]) -> None:
    """Write stored values into weights."""
    import torch

    with torch.no_grad():
        for weight, value in zip(weights, values, strict=True):
            weight.copy_(value)


def random_state() -> Any:
    """Return the state of the dropout's random numbers."""
    import torch

    return torch.get_rng_state()


def set_random_state(state: Any) -> None:
    """Restore the state of the random numbers."""
    import torch

    torch.set_rng_state(state)


def write(path: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint to a temporary name and rename it, so a kill leaves old one intact."""
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
    """Read the checkpoint, tensors and plain values only; None if unreadable."""
    import torch

    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, LookupError, pickle.UnpicklingError):
        return None
    return state


# Training a bi-encoder on batches of one cell; beside the cross-encoder the only torch here.
#
# Each text of a batch is encoded once. Argument–key point pairs are learned from their labels,
# argument–argument pairs from sharing a key point. Matching and other pairs weigh the same however
# many there are. The same seed and recipe give the same weights, also after an interruption.


Encode = Callable[[Sequence[str]], Scores]
# Judges the weights by what they encode: figures to keep, and the one that chooses.
Check = Callable[[Encode], tuple[dict[str, Any], float]]
Say = Callable[[int, int, str], None]
BATCH = 32
MIDDLE = 0.5
# The same everywhere: sums over another number of parts would be other weights.
THREADS = 2


@dataclass
class EncoderProgress:
    """Progress of a training; stored in the checkpoint."""

    step: int = 0
    losses: list[float] = field(default_factory=list)
    looks: list[dict[str, Any]] = field(default_factory=list)
    best: float = float("-inf")
    best_look: int = -1
    since_best: int = 0


class MatchTraining:
    """One training of a match scorer.

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
        recipe: ScorerRecipe,
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
        self.progress = EncoderProgress()

    def run(self, say: Say) -> EncoderProgress:
        """Train to the end, or until dev stops improving; then load the best weights."""
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
        """Write the model in sentence-transformers format, weights as safetensors."""
        self.model.save(str(folder), safe_serialization=True, create_model_card=False)

    def encode(self, texts: Sequence[str]) -> Scores:
        """Return vectors of length 1, shape (n, d), with the current weights."""
        import torch

        order = np.argsort([len(text) for text in texts], kind="stable")
        parts = []
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                some = [texts[at] for at in order[start : start + BATCH]]
                parts.append(self._vectors(some).numpy())
        self.model.train()
        vectors = np.zeros((len(texts), parts[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(parts)
        return vectors

    def _look(self, say: Say) -> None:
        """Evaluate the last weights and their average on dev; remember the better ones."""
        self.progress.since_best += 1
        self._judge("last", self.weights)
        if self.recipe.averaging:
            weights = copied(self.weights)
            load(self.weights, self.average)
            self._judge("average", self.average)
            load(self.weights, weights)
        say(self.progress.step, self.recipe.steps, "checked on dev")

    def _judge(self, kind: str, weights: Sequence[Any]) -> None:
        figures, value = self.check(self.encode)
        seen = {"step": self.progress.step, "weights": kind, "value": value, **figures}
        self.progress.looks.append(seen)
        if value > self.progress.best:
            self.progress.best, self.progress.since_best = value, 0
            self.progress.best_look = len(self.progress.looks) - 1
            self.best = copied(weights)

    def _resume(self) -> None:
        if self.checkpoint is None or (state := read(self.checkpoint)) is None:
            return
        if state["recipe"] != self.recipe.as_dict():
            return
        load(self.weights, state["weights"])
        load(self.average, state["average"])
        load(self.best, state["best"])
        load([self.middle], [state["middle"]])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = EncoderProgress(**json.loads(state["progress"]))
        set_random_state(state["random"])

    def _save(self, file: Path) -> None:
        state = {
            "recipe": self.recipe.as_dict(),
            "progress": json.dumps(asdict(self.progress)),
            "weights": copied(self.weights),
            "average": self.average,
            "best": self.best,
            "middle": self.middle.detach(),
            "optimizer": self.optimizer.state_dict(),
            "random": random_state(),
        }
        write(file, state)

    def _batches(self) -> list[Batch]:
        batches: list[Batch] = []
        while len(batches) < self.recipe.steps:
            seed = self.recipe.seed * 1_000 + len(batches)
            batches += epoch_batches(self.cells, size=self.recipe.batch, seed=seed)
        return batches

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
        """Return vectors in the given order; short and long texts are batched apart."""
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
