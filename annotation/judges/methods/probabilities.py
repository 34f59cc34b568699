"""Probabilities of ordinal levels, with initial ones from a rule or similarity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.judges.methods.features import FEATURE_NAMES, mask_objects
from cqa_site.stats.arrays import FloatArray, IntArray


def median_label(probabilities: FloatArray, levels: Sequence[int]) -> IntArray:
    """Return the lowest level with a cumulative probability of at least one half, shape (n,).

    Of all labels it has the smallest expected distance from the true one, in levels.

    Examples
    --------
    >>> median_label(np.array([[0.4, 0.0, 0.2, 0.4]]), (0, 1, 2, 3)).tolist()
    [2]
    """
    # A half lost to rounding is still a half.
    below = np.cumsum(probabilities, axis=1) < 0.5 - 1e-12
    place = np.minimum(below.sum(axis=1), len(levels) - 1)
    labels: IntArray = np.asarray(levels, dtype=np.int64)[place]
    return labels


def uncertainty(probabilities: FloatArray) -> FloatArray:
    """Return each row's uncertainty, 0 (sure) to 1 (one half at either end), shape (n,).

    The mean, over the k - 1 cuts of the scale, of the entropy of "above or below the cut", in
    bits. Unlike the entropy of the levels it counts 0-or-3 as worse than 2-or-3.

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
    """Divide the logarithms by the temperature: below 1 sharper, above 1 flatter."""
    return softmax(np.log(np.maximum(probabilities, 1e-12)) / temperature)


def shrink(probabilities: FloatArray, n_labels: int) -> FloatArray:
    """Smooth the probabilities as if one more label, spread evenly over levels, had been seen."""
    even = 1 / probabilities.shape[1]
    return np.asarray((n_labels * probabilities + even) / (n_labels + 1), dtype=np.float64)


def log_loss(probabilities: FloatArray, codes: IntArray) -> float:
    """Return the mean negative logarithm of the true level's probability, in nats."""
    probability = probabilities[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(probability, 1e-12)).mean())


# A start before there are labels: the guideline as a rule, and similarity to its levels.
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
# Similarity is at chance there: the levels differ in what a sentence does, not in what it is
# about. It remains for scales whose levels differ in topic; measure it on the first labels
# before anything rests on it. The rule fits the 0-3 relevance scale only.

Progress = Callable[[int, int], None]

# Differences of cosine similarity are small; fixed, since without labels nothing can be tuned.
SHARPNESS = 20.0
# The rule's level, then its neighbours: it is a guess, and must look like one.
NEAR = (0.6, 0.2, 0.1, 0.05)


class TextEmbedder(Protocol):
    """Interface of an embedder, such as `cqa_site.judging.embedding.SentenceEmbedder`."""

    def encode(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Return vectors of length 1, shape (n, d)."""


@dataclass(frozen=True)
class LevelDescription:
    """One level of a scale as the guideline describes it.

    Attributes
    ----------
    name, meaning : str
        Its title and its meaning.
    examples : tuple of (sentence, object1, object2)
        May be empty.
    """

    name: str
    meaning: str
    examples: tuple[tuple[str, str, str], ...] = ()


def rule_probabilities(lexical: FloatArray) -> FloatArray:
    """Apply the 0-3 relevance guideline as a rule, shape (n, 4).

    Level 0 if no object is named, 1 if one is, 2 if both are, 3 if both are and the
    comparison names an aspect ("lighter", "better battery"). Levels further from the rule's
    get less; the numbers are set, not learned.

    Parameters
    ----------
    lexical
        As `lexical_features` gives them.
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
    """Return the levels' probabilities from similarity alone, for any scale.

    A sentence is compared, objects masked, with each level's "name: meaning" and with its
    examples, masked the same way. The largest similarity counts; softmax over the levels.

    Parameters
    ----------
    sentences
        n texts.
    objects
        The (object1, object2) of each sentence.
    levels
        Descriptions of the k levels in ascending order.
    embedder
        Gives vectors of length 1.
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
