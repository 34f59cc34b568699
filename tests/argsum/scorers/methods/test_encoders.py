"""Which encoder reads a language, and what vectors of two say together."""

import numpy as np
import pytest

from argsum.scorers.methods.encoders import MOST_STATEMENTS, choose_encoder, side_by_side
from cqa_site.judging.encoders import MPNET, MULTILINGUAL


def test_the_language_decides():
    both = [MPNET, MULTILINGUAL]
    for language, installed, statements, name, reason in (
        ("en", both, 10, MPNET, "language"),
        ("en", [MULTILINGUAL], 10, "shipped", "missing"),
        ("en", [MPNET], MOST_STATEMENTS + 1, "shipped", "many"),
        ("de", both, 10**6, MULTILINGUAL, "language"),
        ("pl", [MPNET], 10, "shipped", "missing"),
        ("he", both, 10, "shipped", "unsupported"),
        ("", both, 10, "shipped", "unsupported"),
    ):
        choice = choose_encoder(language, installed, statements=statements)
        assert (choice.name, choice.reason) == (name, reason)
    # A debate is read by the scorer that was trained on debates.
    assert choose_encoder("en", both, is_one_sided=True).reason == "debate"
    assert choose_encoder("de", both, is_one_sided=True).name == MULTILINGUAL


def test_a_cosine_is_the_mean_of_both():
    draw = np.random.default_rng(3)
    parts = [draw.normal(size=(5, width)).astype(np.float32) for width in (4, 9)]
    parts = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]
    both = side_by_side(parts)
    assert both.shape == (5, 13)
    mean = (parts[0] @ parts[0].T + parts[1] @ parts[1].T) / 2
    assert both @ both.T == pytest.approx(mean, abs=1e-6)
    assert side_by_side(parts[:1]) is parts[0]
