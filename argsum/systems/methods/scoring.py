"""What a match scorer and a quality scorer are, and the arithmetic they share.

A match score says how well two texts express the same point, a quality score how good an
argument is; higher is better. Source: argument summarization paper, sections 3.1 and 3.3.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

# Cosines of so many rows are computed at once: 1,024 x 10,000 x 4 bytes are 41 MB.
ROWS_AT_ONCE = 1024


class MatchScorer(Protocol):
    """Scores every row text against every column text."""

    def matrix(self, rows: Sequence[str], columns: Sequence[str], *, topic: str = "") -> Scores:
        """Match scores of all pairs.

        Parameters
        ----------
        rows : r texts
            Arguments.
        columns : c texts
            Key points, or arguments.
        topic
            Read only by a scorer that was trained with it: a bi-encoder finds it before each text,
            a model that reads both texts before the first. See `with_topic`.

        Returns
        -------
        float array, shape (r, c)
            A cosine lies in -1…1 and is not clipped; a model that reads both texts gives 0–1.
        """
        ...


class QualityScorer(Protocol):
    """Scores each argument by itself."""

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Quality of n arguments, shape (n,), about 0–1; NaN where none is known."""
        ...


def with_topic(texts: Sequence[str], topic: str) -> list[str]:
    """Each text behind its topic; unchanged without one.

    Examples
    --------
    >>> with_topic(["It is safer."], "Night buses")
    ['Night buses: It is safer.']
    """
    return [f"{topic}: {text}" for text in texts] if topic else list(texts)


def cosines_into(out: Scores, rows: Scores, columns: Scores) -> Scores:
    """Write cosines of unit vectors, shape (r, c), block by block; returns ``out``."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        stop = start + ROWS_AT_ONCE
        np.matmul(rows[start:stop], columns.T, out=out[start:stop])
    return out


def sigmoid(values: Scores) -> Scores:
    """Logits as 0–1, without overflow."""
    exponents = np.exp(-np.abs(values))
    found: Scores = np.where(values >= 0, 1, exponents) / (1 + exponents)
    return found
