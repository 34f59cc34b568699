"""Invented verdicts, with or without ties, and short ways to write them down."""

import numpy as np
import pandas as pd

from benchmark.preferences.methods.verdict_tables import Verdicts


def verdicts(*rows, **columns):
    """Rows (first, second, outcome), each a pair and a question of its own unless told."""
    table = pd.DataFrame(rows, columns=["first", "second", "outcome"])
    fixed = {"question": range(len(rows)), "pair": range(len(rows)), "rater": "r", "side": "left"}
    return Verdicts.from_frame(table.assign(**{**fixed, **columns}))


def times(n, first, second, outcome):
    return [(first, second, outcome)] * n


def drawn_table(*, n_systems=5, n=400, n_questions=40, nu=0.7, seed=0, spread=1.0):
    """Verdicts drawn from Davidson's model, log strengths from spread down to -spread."""
    generator = np.random.default_rng(seed)
    strength = np.linspace(spread, -spread, n_systems)
    first = generator.integers(0, n_systems, n)
    second = (first + generator.integers(1, n_systems, n)) % n_systems
    half = (strength[first] - strength[second]) / 2
    total = np.exp(half) + np.exp(-half) + nu
    lot = generator.random(n)
    outcome = np.where(
        lot < np.exp(half) / total,
        "first",
        np.where(lot < (np.exp(half) + nu) / total, "tie", "second"),
    )
    return pd.DataFrame(
        {
            "question": generator.integers(0, n_questions, n),
            "pair": range(n),
            "first": [f"s{each}" for each in first],
            "second": [f"s{each}" for each in second],
            "outcome": outcome,
            "rater": "r",
            "side": generator.choice(["left", "right"], n),
        }
    )


def drawn(**options):
    return Verdicts.from_frame(drawn_table(**options))
