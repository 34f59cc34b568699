"""Train a sequence-to-sequence writer of key points: examples and fine-tuning."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from argsum.datasets.methods.argument_files import read_argkp
from argsum.datasets.models import Dataset, KeyPointMatch
from argsum.scorers.methods.training import TrainingExample, WritingRecipe
from cqa_site.judging.embedding import EmbeddingsUnavailable, require_packages
from cqa_site.tabular import UnreadableFile

from .encoder_training import THREADS, copied, load, random_state, read, set_random_state, write
from .models import ScorerRefused
from .training_data import DEV, TRAIN

# Fine-tuning a sequence-to-sequence model to write key points; the only torch of a writer here.
#
# The same seed and recipe give the same weights, also after an interruption.


Say = Callable[[int, int, str], None]
# What the loss passes over: padding of a target.
IGNORED = -100
EVERY = 20


@dataclass
class WriterProgress:
    """Progress of a training; stored in the checkpoint."""

    step: int = 0
    losses: list[float] = field(default_factory=list)
    # Loss on dev: before the training, then after each epoch.
    dev: list[float] = field(default_factory=list)
    best_epoch: int = 0


class WriterTraining:
    """One training of a writer.

    Parameters
    ----------
    source
        Folder or name of the model it begins with.
    examples, dev
        What is learned, and what chooses among the epochs.
    checkpoint
        A file that is written every 20 batches and read at the start if it is there.
    """

    def __init__(
        self,
        source: str,
        examples: Sequence[TrainingExample],
        dev: Sequence[TrainingExample],
        recipe: WritingRecipe,
        checkpoint: Path | None = None,
    ) -> None:
        import torch

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        torch.set_num_threads(THREADS)
        torch.manual_seed(recipe.seed)
        self.examples, self.dev, self.recipe = list(examples), list(dev), recipe
        self.checkpoint = checkpoint
        self.tokenizer, self.network = load_seq2seq(source)
        self.weights = [
            parameter for parameter in self.network.parameters() if parameter.requires_grad
        ]
        self.optimizer = torch.optim.AdamW(self.weights, lr=recipe.learning_rate, weight_decay=0.0)
        self.best = copied(self.weights)
        self.progress = WriterProgress()

    @property
    def in_epoch(self) -> int:
        """Batches per epoch."""
        return -(-len(self.examples) // self.recipe.batch)

    @property
    def steps(self) -> int:
        """Batches in the whole training."""
        return self.in_epoch * self.recipe.epochs

    def run(self, say: Say) -> WriterProgress:
        """Train to the end, then load the weights chosen on dev."""
        self._resume()
        if not self.progress.dev:
            self._look()
        while self.progress.step < self.steps:
            self._step()
            step = self.progress.step
            say(step, self.steps, f"loss {self.progress.losses[-1]:.3f}")
            if step % self.in_epoch == 0:
                self._look()
            if self.checkpoint and (step % EVERY == 0 or step % self.in_epoch == 0):
                self._save(self.checkpoint)
        load(self.weights, self.best)
        return self.progress

    def loss_on(self, examples: Sequence[TrainingExample]) -> float:
        """Return the mean loss per key point token with the current weights."""
        import torch

        self.network.eval()
        total = tokens = 0.0
        with torch.inference_mode():
            for start in range(0, len(examples), self.recipe.batch):
                batch = self._batch(examples[start : start + self.recipe.batch])
                n = float((batch["labels"] != IGNORED).sum())
                total += float(self.network(**batch).loss) * n
                tokens += n
        return round(total / max(tokens, 1.0), 5)

    def save(self, folder: Path) -> None:
        """Write the model in transformers format, weights as safetensors."""
        self.network.save_pretrained(str(folder), safe_serialization=True)
        self.tokenizer.save_pretrained(str(folder))

    def _look(self) -> None:
        """Evaluate the weights on dev; remember the better ones."""
        value = self.loss_on(self.dev)
        if not self.progress.dev or value < min(self.progress.dev):
            self.progress.best_epoch = len(self.progress.dev)
            self.best = copied(self.weights)
        self.progress.dev.append(value)

    def _step(self) -> None:
        import torch

        step = self.progress.step
        epoch, place = divmod(step, self.in_epoch)
        order = np.random.default_rng([self.recipe.seed, epoch]).permutation(len(self.examples))
        chosen = order[place * self.recipe.batch : (place + 1) * self.recipe.batch]
        self.network.train()
        left = (self.steps - step) / self.steps
        self.optimizer.param_groups[0]["lr"] = self.recipe.learning_rate * left
        loss = self.network(**self._batch([self.examples[at] for at in chosen])).loss
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()
        self.progress.step += 1
        self.progress.losses.append(round(float(loss.item()), 5))

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

    def _resume(self) -> None:
        if self.checkpoint is None or (state := read(self.checkpoint)) is None:
            return
        if state.get("recipe") != self.recipe.as_dict():
            return
        load(self.weights, state["weights"])
        self.best = list(state["best"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = WriterProgress(**json.loads(state["progress"]))
        set_random_state(state["random"])

    def _save(self, file: Path) -> None:
        state = {
            "recipe": self.recipe.as_dict(),
            "progress": json.dumps(asdict(self.progress)),
            "weights": copied(self.weights),
            "best": self.best,
            "optimizer": self.optimizer.state_dict(),
            "random": random_state(),
        }
        write(file, state)


def load_seq2seq(source: str) -> tuple[Any, Any]:
    """Load tokenizer and network on the CPU; raises EmbeddingsUnavailable."""
    require_packages()
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        return tokenizer, AutoModelForSeq2SeqLM.from_pretrained(source).eval()
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise EmbeddingsUnavailable(
            f"The model {Path(source).name!r} could not be loaded. Put its folder below “models” "
            "in the data folder, or name one that the model hub knows, where there is a network."
        ) from error


# What a writer learns from: key points with their arguments, of a dataset or of files.


Examples = dict[str, list[TrainingExample]]
# Split, topic, stance, key point; then quality and text of one argument that makes it.
Row = tuple[tuple[str, str, int, str], float | None, str]


def examples_of(dataset: Dataset) -> Examples:
    """Return each key point of the dataset with all its matching arguments; one query."""
    rows = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    ordered = rows.order_by(
        "argument__cell__position", "key_point__position", "argument__position"
    )
    return _examples(
        ((split, topic, stance, point), quality, text)
        for split, topic, stance, point, quality, text in ordered.values_list(
            "argument__cell__split",
            "argument__cell__topic",
            "argument__cell__stance",
            "key_point__text",
            "argument__quality",
            "argument__text",
        )
    )


def examples_in(folder: Path) -> Examples:
    """Return such examples from the three files per split of ArgKP-2021, which have no quality.

    Raises
    ------
    ScorerRefused
        If the files cannot be read; the message names file, row and column.
    """
    try:
        read = read_argkp(folder, name=folder.name)
    except UnreadableFile as problem:
        raise ScorerRefused(str(problem)) from problem
    if read.problems:
        raise ScorerRefused(str(read.problems[0]))
    return _examples(
        (
            (cell.split, cell.topic, cell.stance, cell.key_points[point].text),
            cell.arguments[argument].quality,
            cell.arguments[argument].text,
        )
        for cell in read.cells
        for (argument, point), is_match in sorted(cell.matches.items())
        if is_match
    )


def require_examples(examples: Examples) -> None:
    """Raise ScorerRefused without examples to learn from, or to choose the weights."""
    for split in (TRAIN, DEV):
        if not examples.get(split):
            raise ScorerRefused(
                _("The %s split has no key point with a matching argument.") % split
            )


def _examples(rows: Iterable[Row]) -> Examples:
    """Build examples with the best arguments first; those without quality last, in their order."""
    clusters: dict[tuple[str, str, int, str], list[tuple[float, str]]] = defaultdict(list)
    for key, quality, text in rows:
        clusters[key].append((float("-inf") if quality is None else quality, text))
    examples: Examples = defaultdict(list)
    for (split, topic, stance, point), rated in clusters.items():
        best = sorted(rated, key=lambda pair: -pair[0])
        examples[split].append(
            TrainingExample(topic, stance, tuple(text for _q, text in best), point)
        )
    return examples
