"""Invented ratings for the tests of the statistics."""

import numpy as np
import pandas as pd

from cqa_site.stats.ratings import Ratings

SCALE = (0.0, 1.0, 2.0, 3.0)
# The middle cuts lie closer together, so the four labels are not equally frequent.
_CUTS = np.array([-1.2, -0.4, 0.5])


def long_table(rows: list[list[float | None]]) -> pd.DataFrame:
    """A long table from one list of values for each item; the position is the rater."""
    records = [
        (f"i{item}", f"r{rater}", value)
        for item, values in enumerate(rows)
        for rater, value in enumerate(values)
    ]
    return pd.DataFrame(records, columns=["item", "rater", "value"]).astype({"value": float})


def check_intervals(estimates: list[tuple[float, float, float]], truth: float) -> None:
    """Value, low and high of some hundred samples: do they hold the truth about as often as .95?

    So few samples cannot tell .95 from .90; what the values themselves vary by can, for a normal
    interval of .90 is 16 % narrower than one of .95.
    """
    values, low, high = np.array(estimates).T
    assert 0.90 <= np.mean((low <= truth) & (truth <= high)) <= 0.99
    assert 0.88 <= np.mean(high - low) / (2 * 1.96 * values.std(ddof=1)) <= 1.15


def ratings_of(rows: list[list[float | None]]) -> Ratings:
    return Ratings.from_frame(long_table(rows))


def simulated_grid(
    generator: np.random.Generator, n_items: int, n_raters: int, missing: float
) -> np.ndarray:
    """Labels 0-3 of raters with different leniency, NaN where missing; (n_items, n_raters)."""
    truth = generator.normal(size=(n_items, 1))
    leniency = np.linspace(-0.3, 0.3, n_raters)
    noise = 0.8 * generator.normal(size=(n_items, n_raters))
    grid = np.searchsorted(_CUTS, truth + leniency + noise).astype(float)
    grid[generator.random(grid.shape) < missing] = np.nan
    return grid


def ratings_of_grid(grid: np.ndarray) -> Ratings:
    items, raters = np.nonzero(~np.isnan(grid))
    names = (pd.RangeIndex(grid.shape[0]), pd.RangeIndex(grid.shape[1]))
    return Ratings(items, raters, grid[items, raters], *names)


def simulated(n_items: int, n_raters: int, missing: float = 0.0, seed: int = 0) -> Ratings:
    grid = simulated_grid(np.random.default_rng(seed), n_items, n_raters, missing)
    return Ratings.from_frame(long_table(grid.tolist()))


def knowing_crowd(seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """200 items, 8 raters of very different skill, 30 % missing; and the true labels.

    The first rater gives the first items the labels in order, so that sorted by rater and item
    the labels also appear in order.
    """
    generator = np.random.default_rng(seed)
    truth = np.concatenate([SCALE, generator.integers(0, 4, 196)])
    skill = np.array([0.95, 0.9, 0.85, 0.7, 0.6, 0.5, 0.3, 0.1])
    guesses = generator.integers(0, 4, (200, 8))
    guesses[:, 7] = 3
    grid = np.where(generator.random((200, 8)) < skill, truth[:, None], guesses).astype(float)
    grid[generator.random(grid.shape) < 0.3] = np.nan
    grid[:4, 0] = SCALE
    table = long_table(grid.tolist()).dropna().reset_index(drop=True)
    table["item"] = [f"i{int(name[1:]):03d}" for name in table["item"]]
    index = pd.Index([f"i{item:03d}" for item in range(200)], name="item")
    return table, pd.Series(truth, index=index)
