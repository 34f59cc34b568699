"""Fine-tune a sequence-to-sequence model to write key points, with torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argsum.scorers.methods.training import TrainingExample, WritingRecipe
from cqa_site.judging.embedding import EmbeddingsUnavailable, require_packages
from cqa_site.judging.training import Training

# What the loss passes over: padding of a target.
IGNORED = -100


class WriterTraining(Training):
    """One training of a writer; dev is judged before it and after each epoch.

    Parameters
    ----------
    source
        Folder or name of the model it begins with.
    examples, dev
        Training data, and the data that choose the epoch.
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
        """Fall to zero over all batches."""
        return (self.steps - step) / self.steps

    def losses(self, batch: Sequence[int]) -> Iterator[Any]:
        """Yield the loss of a batch of examples, given by their places."""
        yield self.model(**self._batch([self.examples[at] for at in batch])).loss

    def judge(self) -> tuple[dict[str, Any], float]:
        """Judge by the loss on dev."""
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
        """Write the model in transformers format, weights as safetensors."""
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
