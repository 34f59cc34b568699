"""Read sentence vectors that a worker stored, without loading a model."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.corpus.models import TextEmbedding

STORED = np.dtype("<f4")
# Number of keys in one query condition, below the limit of either database.
TOGETHER = 500

Vector = NDArray[np.float32]


def vector_key(*parts: Any) -> str:
    """Return the hash under which the vector of the given parts is stored."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def sentence_key(text: str) -> str:
    """Return the hash under which the vector of a whole text is stored."""
    return vector_key("sentence", text)


def kept_sentences(texts: Iterable[str], model: str) -> dict[str, Vector]:
    """Map texts to unit vectors, for texts that the model has already embedded."""
    keys = {sentence_key(text): text for text in texts}
    wanted = list(keys)
    sentences: dict[str, Vector] = {}
    for start in range(0, len(wanted), TOGETHER):
        rows = TextEmbedding.objects.filter(
            model=model, sha256__in=wanted[start : start + TOGETHER]
        )
        for key, vector in rows.values_list("sha256", "vector"):
            sentences[keys[key]] = np.frombuffer(bytes(vector), dtype=STORED)
    return sentences
