"""Probabilities of ordinal levels, and initial probabilities from a rule or similarity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.judges.methods.features import FEATURE_NAMES, mask_objects
from cqa_site.stats.arrays import FloatArray, IntArray


def median_label(probabilities: FloatArray, levels: Sequence[int]) -> IntArray:
    """Return the lowest level with a cumulative probability of at least 0.5, shape (n,).

    No other label has a smaller expected distance, in levels, from the true label.

    Examples
    --------
    >>> median_label(np.array([[0.4, 0.0, 0.2, 0.4]]), (0, 1, 2, 3)).tolist()
    [2]
    """
    # Allows for rounding errors at exactly 0.5.
    below = np.cumsum(probabilities, axis=1) < 0.5 - 1e-12
    place = np.minimum(below.sum(axis=1), len(levels) - 1)
    labels: IntArray = np.asarray(levels, dtype=np.int64)[place]
    return labels


def uncertainty(probabilities: FloatArray) -> FloatArray:
    """Return each row's uncertainty, from 0 (certain) to 1 (half at each end), shape (n,).

    The uncertainty is the entropy of "above or below the cut" in bits, averaged over the k - 1
    cuts of the scale. Unlike the entropy of the levels, it is higher for 0-or-3 than for 2-or-3.

    Examples
    --------
    >>> rows = np.array([[0, 0, 0.5, 0.5], [0.5, 0, 0, 0.5], [1, 0, 0, 0]])
    >>> uncertainty(rows).round(3).tolist()
    [0.333, 1.0, 0.0]
    """
    below = np.clip(np.cumsum(probabilities, axis=1)[:, :-1], 0.0, 1.0)
    both = np.stack([below, 1 - below])
    bits = (both * -np.log2(np.where(both > 0, both, 1.0))).sum(axis=0)
    return np.asarray(bits.mean(axis=1), dtype=np.float64)


def softmax(scores: FloatArray) -> FloatArray:
    """Convert rows of scores to probabilities."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float64)


def sharpen(probabilities: FloatArray, temperature: float) -> FloatArray:
    """Divide the logarithms by the temperature; values above 1 flatten the probabilities."""
    return softmax(np.log(np.maximum(probabilities, 1e-12)) / temperature)


def shrink(probabilities: FloatArray, n_labels: int) -> FloatArray:
    """Smooth the probabilities as if there were one more label, spread evenly over the levels."""
    even = 1 / probabilities.shape[1]
    return np.asarray((n_labels * probabilities + even) / (n_labels + 1), dtype=np.float64)


def log_loss(probabilities: FloatArray, codes: IntArray) -> float:
    """Return the mean negative logarithm of the true level's probability, in nats."""
    probability = probabilities[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(probability, 1e-12)).mean())


# Cold start without labels: the guideline as a rule, and similarity to its levels
#
# Measured on the 1,688 distinct text units of the relevance paper's release:
#
# =============================================  =============  ==============  ===========
# .                                              ordinal alpha  interval alpha  exact match
# =============================================  =============  ==============  ===========
# `rule_probabilities`                           .475           .482            .617
# `similarity_probabilities`, default guideline  .036           .074            .361
# =============================================  =============  ==============  ===========
#
# Similarity is at chance level there, because these levels differ in the function of a sentence,
# not in its topic. It is meant for scales whose levels differ in topic; check it on the first
# labels before relying on it. The rule fits only the 0-3 relevance scale.

Progress = Callable[[int, int], None]

# Differences in cosine similarity are small. The value is fixed because it cannot be tuned without
# labels.
SHARPNESS = 20.0
# Probabilities of the rule's level, then its neighbours; deliberately uncertain.
NEAR = (0.6, 0.2, 0.1, 0.05)


class TextEmbedder(Protocol):
    """Interface of an embedder, such as `cqa_site.judging.embedding.SentenceEmbedder`."""

    def encode(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Return vectors of length 1, shape (n, d)."""


@dataclass(frozen=True)
class LevelDescription:
    """One level of a scale as described in the guideline.

    Attributes
    ----------
    name, meaning : str
        Title and meaning of the level.
    examples : tuple of (sentence, object1, object2)
        May be empty.
    """

    name: str
    meaning: str
    examples: tuple[tuple[str, str, str], ...] = ()


def rule_probabilities(lexical: FloatArray) -> FloatArray:
    """Return probabilities from the 0-3 relevance guideline applied as a rule, shape (n, 4).

    The level is 0 if no object is named, 1 if one object is named, 2 if both are, and 3 if both
    are and the comparison names an aspect ("lighter", "better battery"). More distant levels get
    less probability. The numbers are set, not learned.

    Parameters
    ----------
    lexical
        The result of `lexical_features`.
    """
    named = lexical[:, FEATURE_NAMES.index("objects_named")].astype(int)
    argued = lexical[:, FEATURE_NAMES.index("both_argued")].astype(int)
    apart = np.abs((named + argued)[:, None] - np.arange(4))
    probabilities = np.asarray(NEAR)[apart]
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def similarity_probabilities(
    sentences: Sequence[str],
    objects: Sequence[tuple[str, str]],
    levels: Sequence[LevelDescription],
    embedder: TextEmbedder,
    progress: Progress | None = None,
) -> FloatArray:
    """Return the probabilities of levels from similarity alone, for any scale.

    A sentence with masked objects is compared with the "name: meaning" of each level and with its
    examples, masked in the same way. The largest similarity counts, and a softmax is taken over
    the levels.

    Parameters
    ----------
    sentences
        n texts.
    objects
        The (object1, object2) of each sentence.
    levels
        Descriptions of the k levels in ascending order.
    embedder
        Returns vectors of length 1.
    progress
        Called with (done, total) while the sentences are encoded.

    Returns
    -------
    float array, shape (n, k)
    """
    masked = [
        mask_objects(text, *pair).text for text, pair in zip(sentences, objects, strict=True)
    ]
    vectors = np.asarray(embedder.encode(masked, progress), dtype=np.float64)
    similar = [_similarity(vectors, level, embedder) for level in levels]
    return softmax(SHARPNESS * np.stack(similar, axis=1))


def _similarity(
    vectors: FloatArray, level: LevelDescription, embedder: TextEmbedder
) -> FloatArray:
    texts = [f"{level.name}: {level.meaning}"]
    texts += [mask_objects(*example).text for example in level.examples]
    described = np.asarray(embedder.encode(texts), dtype=np.float64)
    return np.asarray((vectors @ described.T).max(axis=1))
