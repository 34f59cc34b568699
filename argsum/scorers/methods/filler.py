"""Filler: statements that say nothing about a topic, told by their vectors and their lengths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argsum.systems.methods.inputs import Scores
from cqa_site.stats.arrays import FloatArray

FILLER = "filler.json"
# Weight of the logarithm of the number of words beside a vector of length 1.
PER_LENGTH = 0.5
# Log odds from which a statement is left out. Chosen on three hand-written surveys and the
# development half of the invented sets (docs/papers/argsum.md).
LEFT_OUT_FROM = 1.0


@dataclass(frozen=True)
class FillerClassifier:
    """Linear classifier of filler.

    Attributes
    ----------
    weight : shape (d + 1,)
        Of the vector, and of the length of the text.
    bias
        Of the line, whose value is a log odds.
    """

    weight: FloatArray
    bias: float

    def is_filler(self, texts: Sequence[str], vectors: Scores) -> NDArray[np.bool_]:
        """Tell which texts are filler; ``vectors`` have shape (n, d) and length 1."""
        is_above: NDArray[np.bool_] = (
            features_of(texts, vectors) @ self.weight + self.bias > LEFT_OUT_FROM
        )
        return is_above


def features_of(texts: Sequence[str], vectors: Scores) -> FloatArray:
    """Return vectors with a coordinate for the length of each text, shape (n, d + 1)."""
    lengths = PER_LENGTH * np.log1p([len(text.split()) for text in texts])
    return np.column_stack([vectors, lengths])


def filler_classifier_in(folder: Path) -> FillerClassifier | None:
    """Return the classifier stored beside the weights of a match scorer, or None."""
    path = folder / FILLER
    if not path.is_file():
        return None
    parts = json.loads(path.read_text(encoding="ascii"))
    return FillerClassifier(np.array(parts["weight"]), float(parts["bias"]))


def fit_filler_classifier(
    filler: Sequence[str], statements: Sequence[str], vectors: Scores
) -> FillerClassifier:
    """Fit a logistic regression that weighs filler and statements equally.

    Parameters
    ----------
    filler, statements
        Texts, n and m of them.
    vectors : shape (n + m, d)
        Of the filler, then of the statements.
    """
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=10, max_iter=3_000, class_weight="balanced")
    is_filler = [True] * len(filler) + [False] * len(statements)
    line.fit(features_of([*filler, *statements], vectors), is_filler)
    return FillerClassifier(line.coef_[0].round(4), float(line.intercept_[0]))


def store_filler_classifier(classifier: FillerClassifier, folder: Path) -> Path:
    """Write the classifier beside the weights of a match scorer."""
    path = folder / FILLER
    parts = {"bias": round(classifier.bias, 4), "weight": classifier.weight.tolist()}
    path.write_text(json.dumps(parts) + "\n", encoding="ascii")
    return path
