"""Adjusted p values: what is left of a p when many differences are tested together."""

from __future__ import annotations

import numpy as np

from cqa_site.stats.arrays import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Adjusted p values: reject where they lie below the level (Holm 1979).

    The i-th smallest of m is multiplied by ``m - i + 1``, kept from falling below the ones
    before it and from passing 1.

    >>> [round(float(value), 4) for value in holm(np.array([0.01, 0.04, 0.03]))]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Adjusted p values under any dependence; reject where they are at most the rate.

    The i-th smallest of m is multiplied by ``m / i (1 + 1/2 + ... + 1/m)``, kept from passing
    the ones after it and 1 (Benjamini and Yekutieli 2001).

    >>> [round(float(value), 4) for value in benjamini_yekutieli(np.array([0.03, 0.01]))]
    [0.045, 0.03]
    """
    m = len(p)
    places = np.arange(1, m + 1)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * m / places * (1 / places).sum()
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted
