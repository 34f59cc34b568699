"""A start before there are labels: the guideline as a rule, and similarity to its levels.

Measured on the 1,688 distinct text units of the relevance paper's release:

=============================================  =============  ==============  ===========
.                                              ordinal alpha  interval alpha  exact match
=============================================  =============  ==============  ===========
`rule_probabilities`                           .475           .482            .617
`similarity_probabilities`, default guideline  .036           .074            .361
=============================================  =============  ==============  ===========

Similarity is at chance there: the levels differ in what a sentence does, not in what it is
about. It remains for scales whose levels differ in topic; measure it on the first labels
before anything rests on it. The rule fits the 0-3 relevance scale only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.judges.methods.lexical import FEATURE_NAMES
from annotation.judges.methods.masking import mask_objects
from annotation.judges.methods.probabilities import FloatArray, softmax

Progress = Callable[[int, int], None]

# Differences of cosine similarity are small; fixed, since without labels nothing can be tuned.
SHARPNESS = 20.0
# The rule's level, then its neighbours: it is a guess, and must look like one.
NEAR = (0.6, 0.2, 0.1, 0.05)


class TextEmbedder(Protocol):
    """What is needed of an embedder; `cqa_site.judging.embedding.SentenceEmbedder` is one."""

    def encode(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Vectors of length 1, shape (n, d)."""


@dataclass(frozen=True)
class LevelDescription:
    """One level of a scale as the guideline describes it.

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


def rule_probabilities(lexical: FloatArray) -> FloatArray:
    """The 0-3 relevance guideline as a rule, shape (n, 4).

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
    """Probabilities of the levels from similarity alone, for any scale.

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
