"""Training with torch: a bi-encoder that matches texts, and a writer of key points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from argsum.scorers.methods.training import (
    MATCH,
    NO_MATCH,
    UNDECIDED,
    Batch,
    Labels,
    ScorerRecipe,
    TrainingExample,
    WritingRecipe,
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
from cqa_site.judging.training import Say, Training, TrainingProgress, alone, load
from .training_data import DEV, TRAIN, Splits, dev_figures, scored_cells

# Logit of pairs that are not compared.
NEVER = -1e4


def batch_loss(cosines: Any, labels: Labels, recipe: ScorerRecipe, middle: Any) -> Any:
    """Return the loss of one batch.

    Parameters
    ----------
    cosines : tensor, shape (n + k, n + k)
        Cosines of n arguments, then of all k key points.
    labels : shape (n, k)
        See `argsum.scorers.methods.training.TrainingCell`.
    recipe
        Provides the weights of both losses, the scale and the temperature.
    middle
        The learned cosine at which a match is as likely as not.
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
    """Return cross-entropy with equal weights for matching and other pairs."""
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


def load_encoder(source: str, longest: int) -> Any:
    """Load a sentence-transformers model on the CPU. Raises EmbeddingsUnavailable."""
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
    """Return the weights to train; for ``frozen`` see `ScorerRecipe`.

    Raises EmbeddingsUnavailable if the model is not a transformer.
    """
    from torch.nn import ModuleList

    network = getattr(model[0], "auto_model", None)
    if network is None:
        raise EmbeddingsUnavailable("This model is not a transformer and cannot be trained here.")
    if frozen:
        words = getattr(network, "embeddings", None) or network.get_input_embeddings()
        words.requires_grad_(False)
    # Their names depend on the architecture, but all keep them in the first list of modules.
    layers = next(
        (list(module) for module in network.modules() if isinstance(module, ModuleList)), []
    )
    for layer in layers[: max(0, frozen - 1)]:
        layer.requires_grad_(False)
    if getattr(network, "pooler", None) is not None:
        # The vectors are means of token vectors, so the pooler gets no gradient.
        network.pooler.requires_grad_(False)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


# Training a bi-encoder on batches of one cell.
#
# Each text of a batch is encoded once. Argument–key point pairs are learned from their labels,
# argument–argument pairs from sharing a key point. Matching and other pairs have the same weight,
# regardless of their numbers.

BATCH = 32
MIDDLE = 0.5


class MatchTraining(Training):
    """Training run of a match scorer.

    Parameters
    ----------
    source
        Folder or name of the initial model.
    cells
        Cells for training and for choosing the weights, by split.
    """

    def __init__(
        self, source: str, cells: Splits, recipe: ScorerRecipe, checkpoint: Path | None = None
    ) -> None:
        super().__init__(recipe, checkpoint)
        import torch

        self.cells, self.dev = cells[TRAIN], cells[DEV]
        self.averaging, self.patience = recipe.averaging, recipe.patience
        self.model = load_encoder(source, recipe.longest)
        self.middle = torch.nn.Parameter(torch.tensor(MIDDLE))
        self.prepare(
            self._batches(),
            recipe.check_steps(),
            trainable(self.model, recipe.frozen),
            {"params": [self.middle], "lr": 1e-3, "weight_decay": 0.0},
            decay=0.01,
        )

    def rate(self, step: int) -> float:
        return float(self.recipe.rate_at(step))

    def judge(self) -> tuple[dict[str, Any], float]:
        """Return dev figures, and the ranking quality of argument pairs for choosing weights."""
        return dev_figures(scored_cells(self.dev, self.encode, uses_topic=self.recipe.uses_topic))

    def save(self, folder: Path) -> None:
        """Write the model in sentence-transformers format with safetensors weights."""
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
        vectors = np.zeros((len(texts), parts[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(parts)
        return vectors

    def _batches(self) -> list[Batch]:
        batches: list[Batch] = []
        while len(batches) < self.recipe.steps:
            seed = self.recipe.seed * 1_000 + len(batches)
            batches += epoch_batches(self.cells, size=self.recipe.batch, seed=seed)
        return batches[: self.recipe.steps]

    def losses(self, batch: Batch) -> Iterator[Any]:
        """Yield the loss of a batch."""
        cell = self.cells[batch.cell]
        topic = cell.topic if self.recipe.uses_topic else ""
        texts = [*(cell.arguments[row] for row in batch.rows), *cell.key_points]
        vectors = self._ordered(with_topic(texts, topic))
        labels = cell.labels[list(batch.rows)]
        yield batch_loss(vectors @ vectors.T, labels, self.recipe, self.middle)

    def _ordered(self, texts: list[str]) -> Any:
        """Return vectors in the given order, encoding short and long texts in separate batches."""
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


def train_members(
    source: str, cells: Splits, recipe: ScorerRecipe, folder: Path, say: Say
) -> tuple[MatchTraining, list[TrainingProgress]]:
    """Train all members of a recipe in turn, and return a run with their mean weights.

    The results of single training runs vary. Averaging the weights of several runs from the same
    initial weights gives an intermediate model that matches more evenly. See
    docs/papers/argsum.md for the gain.

    Parameters
    ----------
    source, cells, recipe
        As in `MatchTraining`; member n is trained with the recipe's seed plus n.
    folder
        Folder for checkpoints. An interrupted run resumes from there.
    say
        Called with the joint progress of all members.
    """
    total = recipe.members * recipe.steps
    members: list[TrainingProgress] = []
    sums: list[Any] = []
    with alone(say, total):
        for number in range(recipe.members):
            own = replace(recipe, seed=recipe.seed + number, members=1)
            training = MatchTraining(source, cells, own, folder / f"member-{number}.pt")
            members.append(training.run(_later(say, number * recipe.steps, total)))
            best = training.best
            sums = [a + b for a, b in zip(sums, best, strict=True)] if sums else best
        load(training.weights, [tensor / len(members) for tensor in sums])
    return training, members


def _later(say: Say, before: int, total: int) -> Say:
    """Return the progress callback of a member that starts after the steps of earlier members."""
    return lambda done, _own, note: say(before + done, total, note)


# A sequence-to-sequence model that writes key points.

# Label of padding in a target, which the loss ignores.
IGNORED = -100


class WriterTraining(Training):
    """Training run of a writer; dev is evaluated before training and after each epoch.

    Parameters
    ----------
    source
        Folder or name of the initial model.
    examples, dev
        Examples for training and for choosing the epoch.
    """

    def __init__(
        self,
        source: str,
        examples: Sequence[TrainingExample],
        dev: Sequence[TrainingExample],
        recipe: WritingRecipe,
        checkpoint: Path | None = None,
    ) -> None:
        super().__init__(recipe, checkpoint)
        self.examples, self.dev = examples, dev
        self.tokenizer, self.model = load_seq2seq(source)
        weights = (weight for weight in self.model.parameters() if weight.requires_grad)
        batches = self._batches()
        looks_at = range(0, len(batches) + 1, len(batches) // recipe.epochs)
        self.prepare(batches, looks_at, weights, decay=0.0)

    def rate(self, step: int) -> float:
        """Return the share of the learning rate, which falls to zero over all batches."""
        return (self.steps - step) / self.steps

    def losses(self, batch: Sequence[int]) -> Iterator[Any]:
        """Yield the loss of a batch of examples, given by their positions."""
        yield self.model(**self._batch([self.examples[at] for at in batch])).loss

    def judge(self) -> tuple[dict[str, Any], float]:
        """Return the loss on dev, and its negative for choosing weights."""
        loss = self.loss_on(self.dev)
        return {"loss": loss}, -loss

    def loss_on(self, examples: Sequence[TrainingExample]) -> float:
        """Return the mean loss per key point token with the current weights."""
        import torch

        self.model.eval()
        total = tokens = 0.0
        with torch.inference_mode():
            for start in range(0, len(examples), self.recipe.batch):
                batch = self._batch(examples[start : start + self.recipe.batch])
                n = float((batch["labels"] != IGNORED).sum())
                total += float(self.model(**batch).loss) * n
                tokens += n
        return round(total / max(tokens, 1.0), 5)

    def save(self, folder: Path) -> None:
        """Write the model in transformers format with safetensors weights."""
        self.model.save_pretrained(str(folder), safe_serialization=True)
        self.tokenizer.save_pretrained(str(folder))

    def _batches(self) -> list[np.ndarray]:
        n, size = len(self.examples), self.recipe.batch
        orders = (
            np.random.default_rng([self.recipe.seed, epoch]).permutation(n)
            for epoch in range(self.recipe.epochs)
        )
        return [order[at : at + size] for order in orders for at in range(0, n, size)]

    def _batch(self, examples: Sequence[TrainingExample]) -> dict[str, Any]:
        tokenizer = self.tokenizer(
            [example.text for example in examples],
            padding=True,
            truncation=True,
            max_length=self.recipe.longest_in,
            return_tensors="pt",
        )
        wanted = self.tokenizer(
            text_target=[example.key_point for example in examples],
            padding=True,
            truncation=True,
            max_length=self.recipe.longest_out,
            return_tensors="pt",
        )
        labels = wanted["input_ids"].masked_fill(wanted["attention_mask"] == 0, IGNORED)
        return {
            "input_ids": tokenizer["input_ids"],
            "attention_mask": tokenizer["attention_mask"],
            "labels": labels,
        }


def load_seq2seq(source: str) -> tuple[Any, Any]:
    """Load the tokenizer and the network on the CPU. Raises EmbeddingsUnavailable."""
    require_packages()
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        return tokenizer, AutoModelForSeq2SeqLM.from_pretrained(source).eval()
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise EmbeddingsUnavailable(
            f"The model {Path(source).name!r} could not be loaded. Put its folder in “models” "
            "in the data folder, or name a model from the model hub if a network is available."
        ) from error
