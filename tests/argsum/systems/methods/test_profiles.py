"""Scores mixed with the likeness of their rows, block by block."""

import numpy as np
import pytest

from argsum.systems.methods import profiles
from argsum.systems.methods.profiles import profile_scores


def made(n=7):
    scores = np.random.default_rng(3).uniform(-0.2, 1, (n, n)).astype(np.float32)
    return (scores + scores.T) / 2


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_it_is_pearson_mixed_with_the_scores(weight, monkeypatch):
    monkeypatch.setattr(profiles, "ROWS_AT_ONCE", 3)
    scores = made()
    kept = scores.copy()
    found = profile_scores(scores, weight=weight)
    expected = weight * np.corrcoef(scores.astype(float)) + (1 - weight) * scores
    assert np.allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32
    # The matrix may be a file that others read.
    assert np.array_equal(scores, kept)


def test_a_row_without_variance_correlates_with_nothing():
    scores = made()
    scores[2, :] = scores[:, 2] = 0.3
    assert np.array_equal(profile_scores(scores)[2], np.zeros(7))


def test_a_weight_outside_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        profile_scores(made(), weight=1.5)
