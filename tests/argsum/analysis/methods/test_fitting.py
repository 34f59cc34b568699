"""Whether a written text is nearer to its own statements than to others."""

import numpy as np
import pytest

from argsum.analysis.methods.statements import TextFit, fits_of

AXES = np.eye(3, dtype=np.float32)
# Two statements of the first key point, one of the second; the last one is behind none.
STATEMENTS = np.stack([AXES[0], (AXES[0] + AXES[1]) / np.sqrt(2), AXES[1], AXES[2]])
PLACED = np.array([0, 0, 1, -1])


def fit(text, own, points=2):
    return fits_of(np.array([text], dtype=np.float32), [own], STATEMENTS, PLACED, points)[0]


def test_scores_are_means_over_the_statements_behind():
    found = fit(AXES[0], 0)
    assert found.own == pytest.approx((1 + np.sqrt(0.5)) / 2)
    assert (found.other, found.nearest, found.fits) == (0.0, 1, True)
    found = fit(AXES[0], 1)
    assert (found.nearest, found.fits) == (0, False)


def test_as_good_as_another_one_is_not_enough():
    assert not fit(AXES[2], 0).fits


def test_key_points_without_statements_and_statements_without_one_are_no_rivals():
    assert fit(AXES[2] * 0.9 + AXES[0] * 0.1, 0, points=3).nearest == 1
    alone = fits_of(AXES[:1], [0], STATEMENTS[:2], PLACED[:2], 1)[0]
    assert alone == TextFit(own=pytest.approx((1 + np.sqrt(0.5)) / 2))
    assert alone.fits
