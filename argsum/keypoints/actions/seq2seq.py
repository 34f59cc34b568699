"""Key points by a sequence-to-sequence model; the only file here that has one write.

Torch and transformers are imported when the first key point is asked for.
"""

import os
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from argsum.scorers.actions.models import ScorerRefused, resolve, source_of
from argsum.scorers.actions.writing_torch import load_seq2seq
from argsum.scorers.methods.writing_recipe import (
    BEAMS,
    MOST_TOKENS_OUT,
    WritingRecipe,
    writer_input,
    writing_recipe_from,
)
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import EmbeddingsUnavailable


class WriterUnavailable(Exception):
    """The model cannot be loaded; the message says what is missing."""


class Writer:
    """A sequence-to-sequence model: by name, by a folder below the data folder, or trained here.

    Equal input gives equal output: beams, no sampling, one thread. A text is written once for
    equal input, as the clusters of neighbouring thresholds are often the same.
    """

    def __init__(self, model: str, trained: Scorer | None = None) -> None:
        self.model, self.trained = model, trained
        recipe = writing_recipe_from(trained.recipe) if trained else WritingRecipe()
        self.longest_in = recipe.longest_in
        self._known: dict[str, str] = {}
        self._loaded: tuple[Any, Any] | None = None

    def write(self, *, topic: str, stance: int, arguments: Sequence[str]) -> str:
        """One key point for some arguments, the best first; empty if nothing was written."""
        prompt = writer_input(topic, stance, arguments)
        if prompt not in self._known:
            self._known[prompt] = self._write(prompt)
        return self._known[prompt]

    def _write(self, prompt: str) -> str:
        if self._loaded is None:
            self._loaded = self._load()
        tokenizer, network = self._loaded
        # What is too long is cut at its end, where the weakest arguments stand.
        given = tokenizer(prompt, truncation=True, max_length=self.longest_in, return_tensors="pt")
        written = network.generate(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            max_new_tokens=MOST_TOKENS_OUT,
            num_beams=BEAMS,
            do_sample=False,
        )
        text: str = tokenizer.decode(written[0], skip_special_tokens=True)
        return " ".join(text.split())

    def _load(self) -> tuple[Any, Any]:
        """Tokenizer and network; raises `WriterUnavailable`."""
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
