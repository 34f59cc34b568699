"""Key points by a sequence-to-sequence model; the only file here that loads such a model.

Torch and transformers are imported when the first key point is asked for.
"""

import os
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from argsum.datasets.models import Cell
from argsum.scorers.actions.models import ScorerRefused, resolve

MOST_TOKENS_IN, MOST_TOKENS_OUT = 512, 48
SIDES = {
    Cell.Stance.SUPPORTING: "supporting",
    Cell.Stance.OPPOSING: "opposing",
    Cell.Stance.NONE: "debate",
}


class WriterUnavailable(Exception):
    """The model cannot be loaded; the message says what is missing."""


class Writer:
    """A sequence-to-sequence model by name, or by a folder below the data folder.

    Equal input gives equal output: beams, no sampling, one thread. A text is written once for
    equal input, as the clusters of neighbouring thresholds are often the same.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._known: dict[str, str] = {}
        self._loaded: tuple[Any, Any] | None = None

    def write(self, *, topic: str, stance: int, arguments: Sequence[str]) -> str:
        """One key point for some arguments, the best first; empty if nothing was written."""
        prompt = (
            f"Write one short {SIDES[Cell.Stance(stance)]} statement about “{topic}” that sums "
            f"up these arguments: {' '.join(arguments)}"
        )
        if prompt not in self._known:
            self._known[prompt] = self._write(prompt)
        return self._known[prompt]

    def _write(self, prompt: str) -> str:
        if self._loaded is None:
            self._loaded = load(self.model)
        tokenizer, network = self._loaded
        given = tokenizer(prompt, truncation=True, max_length=MOST_TOKENS_IN, return_tensors="pt")
        written = network.generate(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            max_new_tokens=MOST_TOKENS_OUT,
            num_beams=4,
            do_sample=False,
        )
        text: str = tokenizer.decode(written[0], skip_special_tokens=True)
        return " ".join(text.split())


def load(model: str) -> tuple[Any, Any]:
    """Tokenizer and network of a model; raises `WriterUnavailable`."""
    try:
        source = resolve(model)
    except ScorerRefused as problem:
        raise WriterUnavailable(str(problem)) from None
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
    except ImportError:
        raise WriterUnavailable(
            _("A sequence-to-sequence model needs the packages torch and transformers.")
        ) from None
    torch.set_num_threads(1)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
        network = AutoModelForSeq2SeqLM.from_pretrained(source).eval()
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise WriterUnavailable(
            _(
                "The model “%s” could not be loaded. Put its folder below “models” in the data "
                "folder, or name one that the model hub knows, where there is a network."
            )
            % model
        ) from error
    return tokenizer, network
