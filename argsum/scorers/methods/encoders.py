"""Choice of an encoder for the language of comments, and detection of filler by vectors."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argsum.systems.methods.inputs import Scores
from cqa_site.judging.encoders import MPNET, MULTILINGUAL, encoder_for
from cqa_site.stats.arrays import FloatArray

# Name of the match scorer's own encoder in requests.
SHIPPED = "shipped"
# For more statements, the larger encoder would keep a worker busy for more than ten minutes.
MOST_STATEMENTS = 20_000


@dataclass(frozen=True)
class GroupingCutoffs:
    """Grouping cut-offs calibrated for the scores of an encoder.

    Attributes
    ----------
    usual, usual_with_sides
        Default cut-offs; `usual_with_sides` applies if vectors encode sides.
    """

    usual: float
    usual_with_sides: float

    def of(self, *, tells_sides: bool) -> float:
        """Return the default cut-off."""
        return self.usual_with_sides if tells_sides else self.usual


# Chosen on the development sets of benchmarks/key_points.py (docs/papers/argsum.md). The cut-offs
# of the match scorer itself are in argsum/analysis/methods/key_points.py.
CUTOFFS = {
    MPNET: GroupingCutoffs(usual=0.25, usual_with_sides=0.275),
    MULTILINGUAL: GroupingCutoffs(usual=0.15, usual_with_sides=0.15),
}

# Match score from which a placement on the side of its key point is sure, by encoder. Chosen so
# that .85 of these placements are right in all English development sets together
# (docs/papers/argsum.md).
SURE_FROM = {SHIPPED: 0.7, MPNET: 0.51}


@dataclass(frozen=True)
class EncoderChoice:
    """Name of the encoder of an analysis, and a key of the reason for its choice."""

    name: str
    reason: str


def choose_encoder(
    language: str, installed: Collection[str], *, statements: int = 0, is_one_sided: bool = False
) -> EncoderChoice:
    """Return the encoder that reads comments in a language.

    The match scorer was trained on arguments on one side of a debate, and a second encoder made
    groups of such arguments worse on ArgKP's dev split.

    Examples
    --------
    >>> choose_encoder("de", ["multilingual"])
    EncoderChoice(name='multilingual', reason='language')
    >>> choose_encoder("de", [])
    EncoderChoice(name='shipped', reason='missing')
    """
    encoder = encoder_for(language)
    if encoder is None:
        return EncoderChoice(SHIPPED, "unsupported")
    if encoder.name == MPNET and is_one_sided:
        return EncoderChoice(SHIPPED, "debate")
    if encoder.name not in installed:
        return EncoderChoice(SHIPPED, "missing")
    if encoder.name == MPNET and statements > MOST_STATEMENTS:
        return EncoderChoice(SHIPPED, "many")
    return EncoderChoice(encoder.name, "language")


def side_by_side(parts: Sequence[Scores]) -> Scores:
    """Return vectors whose cosines are the means of the cosines of several encoders.

    Parameters
    ----------
    parts : arrays of shape (n, d₁), (n, d₂), …
        Vectors of length 1 for the same texts.

    Returns
    -------
    Vectors of length 1, shape (n, d₁ + d₂ + …).
    """
    if len(parts) == 1:
        return parts[0]
    vectors: Scores = np.concatenate(parts, axis=1)
    vectors /= np.float32(len(parts) ** 0.5)
    return vectors


# Filler: statements without content about a topic, detected by their vectors and lengths.

FILLER = "filler.json"
# Weight of the logarithm of the number of words, beside a vector of length 1.
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
        Weights of the vector and of the length of the text.
    bias
        Intercept; the classifier computes log odds.
    """

    weight: FloatArray
    bias: float

    def is_filler(self, texts: Sequence[str], vectors: Scores) -> NDArray[np.bool_]:
        """Return which texts are filler; ``vectors`` have shape (n, d) and length 1."""
        is_above: NDArray[np.bool_] = (
            features_of(texts, vectors) @ self.weight + self.bias > LEFT_OUT_FROM
        )
        return is_above


def features_of(texts: Sequence[str], vectors: Scores) -> FloatArray:
    """Return vectors with an additional coordinate for text length, shape (n, d + 1)."""
    lengths = PER_LENGTH * np.log1p([len(text.split()) for text in texts])
    return np.column_stack([vectors, lengths])


def filler_classifier_in(folder: Path) -> FillerClassifier | None:
    """Return the classifier stored with the weights of a match scorer, or None."""
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
        The n texts of filler and the m statements.
    vectors : shape (n + m, d)
        Vectors of the filler, then of the statements.
    """
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=10, max_iter=3_000, class_weight="balanced")
    is_filler = [True] * len(filler) + [False] * len(statements)
    line.fit(features_of([*filler, *statements], vectors), is_filler)
    return FillerClassifier(line.coef_[0].round(4), float(line.intercept_[0]))


def store_filler_classifier(classifier: FillerClassifier, folder: Path) -> Path:
    """Write the classifier to the folder of a match scorer's weights."""
    path = folder / FILLER
    parts = {"bias": round(classifier.bias, 4), "weight": classifier.weight.tolist()}
    path.write_text(json.dumps(parts) + "\n", encoding="ascii")
    return path
