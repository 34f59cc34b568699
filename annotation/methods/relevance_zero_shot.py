"""A start before there are labels: which level's description is a sentence most like?

ZERO_SHOT_MEASURED
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.methods.relevance_masking import mask_objects
from annotation.methods.relevance_probabilities import FloatArray, softmax

Progress = Callable[[int, int], None]

# Differences of cosine similarity are small; fixed, since without labels nothing can be tuned.
SHARPNESS = 20.0


class TextEmbedder(Protocol):
    """What is needed of an embedder; `cqa_site.judging.embedding.SentenceEmbedder` is one."""

    def encode(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Vectors of length 1, shape (n, d)."""


@dataclass(frozen=True)
class LevelDescription:
    """One level of the scale as the guideline describes it.

    Attributes
    ----------
    name, meaning : str
        Its title and what belongs there.
    examples : tuple of (sentence, object1, object2)
        May be empty.
    """

    name: str
    meaning: str
    examples: tuple[tuple[str, str, str], ...] = ()


def similarity_probabilities(
    sentences: Sequence[str],
    objects: Sequence[tuple[str, str]],
    levels: Sequence[LevelDescription],
    embedder: TextEmbedder,
    progress: Progress | None = None,
) -> FloatArray:
    """Probabilities of the levels from similarity alone.

    A sentence is compared, objects masked, with each level's "name: meaning" and with its
    examples, masked the same way. The larger of the two similarities counts; softmax of
    their differences from each level's mean over all sentences. Without that mean, the level
    whose description is worded most like any sentence would get them all; with it the
    answer for a sentence depends on the others given, so give a whole campaign at once.

    Parameters
    ----------
    sentences
        n texts.
    objects
        The (object1, object2) of each sentence.
    levels
        Descriptions of the k levels in ascending order.
    embedder
        Vectors of length 1.
    progress
        Called with (done, total) while the sentences are encoded.

    Returns
    -------
    float array, shape (n, k)
    """
    masked = [
        mask_objects(text, *pair).text for text, pair in zip(sentences, objects, strict=True)
    ]
    if not masked:
        return np.zeros((0, len(levels)))
    vectors = np.asarray(embedder.encode(masked, progress), dtype=np.float64)
    similar = np.stack([_similarity(vectors, level, embedder) for level in levels], axis=1)
    return softmax(SHARPNESS * (similar - similar.mean(axis=0)))


def _similarity(
    vectors: FloatArray, level: LevelDescription, embedder: TextEmbedder
) -> FloatArray:
    texts = [f"{level.name}: {level.meaning}"]
    texts += [mask_objects(*example).text for example in level.examples]
    described = np.asarray(embedder.encode(texts), dtype=np.float64)
    return np.asarray((vectors @ described.T).max(axis=1))
