"""Which encoder reads comments in a language, and how vectors of several are used together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from argsum.systems.methods.inputs import Scores
from cqa_site.judging.encoders import MPNET, MULTILINGUAL, encoder_for

# The encoder of the match scorer itself, by what requests call it.
SHIPPED = "shipped"
# With more statements, the larger encoder would take a worker more than ten minutes.
MOST_STATEMENTS = 20_000


@dataclass(frozen=True)
class GroupingCutoffs:
    """Cut-offs of grouping that were calibrated for an encoder's scores.

    Attributes
    ----------
    usual, usual_with_sides
        Settings taken by default; the second one where vectors encode sides.
    """

    usual: float
    usual_with_sides: float

    def of(self, *, tells_sides: bool) -> float:
        """Return the default setting."""
        return self.usual_with_sides if tells_sides else self.usual


# Chosen on the development sets of benchmarks/key_points.py (docs/papers/argsum.md). Those of the
# match scorer itself are in argsum/analysis/methods/key_points.py.
CUTOFFS = {
    MPNET: GroupingCutoffs(usual=0.25, usual_with_sides=0.275),
    MULTILINGUAL: GroupingCutoffs(usual=0.15, usual_with_sides=0.15),
}

# Match score from which a placement on the side of its key point is sure, by encoder. Chosen so
# that .85 of these are right in all English development sets together (docs/papers/argsum.md).
SURE_FROM = {SHIPPED: 0.7, MPNET: 0.51}


@dataclass(frozen=True)
class EncoderChoice:
    """The encoder of an analysis, by name, and a key of the reason for it."""

    name: str
    reason: str


def choose_encoder(
    language: str,
    installed: Collection[str],
    *,
    statements: int = 0,
    is_one_sided: bool = False,
) -> EncoderChoice:
    """Return the encoder that reads comments in a language.

    Arguments on one side of a debate are what the match scorer was trained on: a second encoder
    made their groups worse on ArgKP's dev split.

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
        Vectors of length 1 of the same texts.

    Returns
    -------
    Vectors of length 1, shape (n, d₁ + d₂ + …).
    """
    if len(parts) == 1:
        return parts[0]
    vectors: Scores = np.concatenate(parts, axis=1)
    vectors /= np.float32(len(parts) ** 0.5)
    return vectors
