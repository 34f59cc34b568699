"""BERTScore with any transformer model, using the library bert-score.

Sources: Zhang et al. (2020) and their library; argument summarization paper, section 3.4.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cqa_site.judging.embedding import (
    PACKAGED_MODEL,
    EmbeddingsUnavailable,
    packaged_weights,
    require_packages,
)
from cqa_site.stats.arrays import FloatArray

BATCH = 32


class BertScores:
    """F1 of greedily matched token vectors, not rescaled, so values are close together.

    Parameters
    ----------
    name
        Name as chosen by the user.
    source
        Folder or model name for transformers. The layer is the one that bert-score recommends for
        the model, or the last layer if it recommends none.

    Raises
    ------
    EmbeddingsUnavailable
        If the model cannot be loaded when the first score is computed.
    """

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self._source = source
        self._scorer: Any = None

    def matrix(
        self, references: Sequence[str], summaries: Sequence[str], *, topic: str = ""
    ) -> FloatArray:
        """Return BERTScore F1 of all pairs, shape (references, summaries)."""
        if self._scorer is None:
            self._scorer = _load(self.name, self._source)
        pairs = [(summary, reference) for reference in references for summary in summaries]
        _p, _r, scores = self._scorer.score(
            [summary for summary, _reference in pairs],
            [reference for _summary, reference in pairs],
            batch_size=BATCH,
        )
        values = np.asarray(scores.tolist(), dtype=np.float64)
        return values.reshape(len(references), len(summaries))


def _load(name: str, source: str) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    folder = Path(packaged_weights() if source == PACKAGED_MODEL else source)
    require_packages()
    from bert_score import BERTScorer
    from bert_score.utils import model2layers

    try:
        # By name, because the library would look up the path of the folder.
        layers = model2layers[name] if name in model2layers else _layers(folder, source)
        model = str(folder) if folder.is_dir() else source
        return BERTScorer(model_type=model, num_layers=layers, device="cpu", nthreads=1)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise EmbeddingsUnavailable(f"The model {name!r} could not be loaded.") from error


def _layers(folder: Path, source: str) -> int:
    """Return the last layer according to the model's configuration."""
    if folder.is_dir():
        return int(json.loads((folder / "config.json").read_text())["num_hidden_layers"])
    raise OSError(f"{source} is neither a folder nor a model that bert-score knows.")
