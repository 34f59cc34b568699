"""What a comparative sentence looks like to the trained relevance judge.

A row is one sentence with the two objects of its comparison, masked (see `relevance_masking`).
Two kinds of features: `lexical_features` counts words and looks at positions and needs
nothing but numpy; the mention vectors of `describe_sentences` come from a sentence embedder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.judges.methods.lexical import lexical_features
from annotation.judges.methods.masking import Spans, mask_objects

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]


class SpanEmbedder(Protocol):
    """What is needed of an embedder; `cqa_site.judging.embedding.SentenceEmbedder` is one."""

    name: str

    def encode_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[Sequence[Spans]],
        progress: Progress | None = None,
    ) -> NDArray[np.float32]:
        """One vector for each text, from the text and each of its groups of spans."""


@dataclass(frozen=True, eq=False)
class RelevanceFeatures:
    """Features of n sentences.

    Attributes
    ----------
    lexical : float array, shape (n, len(FEATURE_NAMES))
    mentions : float array, shape (n, d), or None
        Vectors of the sentence, of both objects and of the comparing words, side by side;
        None where no embedder was at hand.
    embedding_model : str
        Name of the embedder; empty without one.
    """

    lexical: FloatArray
    mentions: NDArray[np.float32] | None = None
    embedding_model: str = ""

    def __len__(self) -> int:
        return len(self.lexical)

    def take(self, rows: NDArray[np.int64]) -> RelevanceFeatures:
        """The features of some rows, in the order given."""
        mentions = None if self.mentions is None else self.mentions[rows]
        return RelevanceFeatures(self.lexical[rows], mentions, self.embedding_model)


def describe_sentences(
    sentences: Sequence[str],
    objects: Sequence[tuple[str, str]],
    embedder: SpanEmbedder | None = None,
    progress: Progress | None = None,
) -> RelevanceFeatures:
    """All features of sentences with their pairs of objects.

    Parameters
    ----------
    sentences
        Texts, n of them; may be empty.
    objects
        The (object1, object2) of each sentence, n of them.
    embedder
        Without one the features are lexical only.
    progress
        Called by the embedder with (done, total).
    """
    lexical = lexical_features(sentences, objects)
    if embedder is None:
        return RelevanceFeatures(lexical)
    masked = [mask_objects(text, *pair) for text, pair in zip(sentences, objects, strict=True)]
    spans = [(each.first, each.second, each.comparison) for each in masked]
    mentions = embedder.encode_spans([each.text for each in masked], spans, progress)
    return RelevanceFeatures(lexical, mentions, embedder.name)


def pair_key(object1: str, object2: str) -> str:
    """The same text for a pair in either order and any case: the group kept in one fold.

    Examples
    --------
    >>> pair_key("Nike", "Adidas") == pair_key("adidas", "nike")
    True
    """
    names = (" ".join(name.split()).casefold() for name in (object1, object2))
    return "\n".join(sorted(names))
