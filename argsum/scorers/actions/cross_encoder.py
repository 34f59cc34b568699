"""Models that read two texts together; beside the trainer the only file here that loads torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from argsum.systems.methods.scoring import Scores, sigmoid
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable, require_packages

BATCH = 32
LONGEST = 256


class PairReader:
    """A cross-encoder on the CPU, in one thread.

    Parameters
    ----------
    source
        A folder, or a name that sentence-transformers knows. One output is read as a logit; of
        two, the second is the match.

    Raises
    ------
    EmbeddingsUnavailable
        If it cannot be loaded.
    """

    def __init__(self, source: str) -> None:
        self._model = _load(source)

    def read(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """Scores of n pairs, 0–1, shape (n,); a pair with an empty second text is one text."""
        import torch

        texts: Any = [first if not second else (first, second) for first, second in pairs]
        if not texts:
            return np.zeros(0, dtype=np.float32)
        logits = self._model.predict(
            texts,
            batch_size=BATCH,
            show_progress_bar=False,
            activation_fn=torch.nn.Identity(),
            convert_to_numpy=True,
        )
        if logits.ndim == 2:
            logits = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]
        return sigmoid(logits.astype(np.float32))


def _load(source: str) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if source == PACKAGED_MODEL:
        raise EmbeddingsUnavailable(f"{source} reads one text at a time: it is a bi-encoder.")
    require_packages()
    import torch
    from sentence_transformers import CrossEncoder

    torch.set_num_threads(1)
    try:
        return CrossEncoder(source, device="cpu", max_length=LONGEST)
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingsUnavailable(f"The model {source!r} could not be loaded.") from error
