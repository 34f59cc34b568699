"""Everything two raters of the same answers can be compared by.

The first rater is the judge wherever a judge meets people, so a positive bias is a lenient judge.
Intervals leave out one question at a time (see `Jackknife`), those of systems resample both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from cqa_site.stats.bland_altman import bland_altman
from cqa_site.stats.intervals import LEAST_RATED, too_few
from cqa_site.stats.ranks.system_correlation import within_and_across
from cqa_site.stats.ratings import FloatArray, IntArray
from cqa_site.stats.reliability.coincidence import alpha_from_counts, distances
from cqa_site.stats.reliability.shuffled import shuffled_baseline
from cqa_site.stats.weighted_correlation import Correlation

from .columns import KINDS, column_figures
from .figures import BlandAltman, Concatenated, Confusion, Figure, OfSystems, Pair, TooFew
from .grid import Grid
from .jackknife import Jackknife, figure, figure_of

# Of the shuffled baseline: fewer repeats for more cells.
SHUFFLE_CELLS = 3_000_000
MOST_POINTS = 400
# Mean, difference and how many answers.
Point = tuple[float, float, int]


def compare(
    grid: Grid,
    first: str,
    second: str,
    kind: str,
    draws: Jackknife,
    kinds: Sequence[Correlation] = KINDS,
) -> Pair:
    """All figures of two raters; ``kinds`` of correlations are looked at by system."""
    a, b = grid.values[first], grid.values[second]
    both = ~np.isnan(a[:, 0]) & ~np.isnan(b[:, 0])
    parts = {"with": grid.has_aspect, "without": ~grid.has_aspect}
    return Pair(
        first=first,
        second=second,
        kind=kind,
        columns={
            name: column_figures(a[:, at], b[:, at], grid.questions, maximum, draws)
            for at, (name, maximum) in enumerate(zip(grid.columns, grid.maxima, strict=True))
        },
        aspect={
            name: column_figures(
                a[chosen, 0], b[chosen, 0], grid.questions[chosen], grid.maxima[0], draws
            )
            for name, chosen in parts.items()
        },
        concatenated=concatenated(a[:, _criteria(grid)], b[:, _criteria(grid)], draws.seed),
        systems=_systems(grid, a[:, 0], b[:, 0], draws, kinds),
        bland_altman=_bland_altman(a[both, 0], b[both, 0], grid.questions[both], draws),
        confusion={
            name: _confusion(grid.column(first, name), grid.column(second, name))
            for name in grid.criteria
        },
    )


def concatenated(a: FloatArray, b: FloatArray, seed: int = 0) -> Concatenated | TooFew:
    """Interval alpha of whole sheets, every criterion an item, with its shuffled baseline.

    Parameters
    ----------
    a, b : shape (n, n_criteria)
        Answers that one of the two left without any points do not count.
    seed
        Of the shuffles.

    Notes
    -----
    The same figure as `concatenated_alpha`, counted from codes made once, because shuffles ask
    for it again and again. The baseline is what different ranges of criteria alone give.
    """
    kept = ~(np.isnan(a).all(axis=1) | np.isnan(b).all(axis=1))
    a, b = a[kept], b[kept]
    if len(a) < 2:
        return TooFew(n=len(a), value=None, reason="fewer than 2 answers in common")
    scale = np.unique(np.concatenate([a[~np.isnan(a)], b[~np.isnan(b)]]))
    # One place more for what is missing.
    coded = [np.where(np.isnan(each), len(scale), np.searchsorted(scale, each)) for each in (a, b)]
    repeats = int(np.clip(SHUFFLE_CELLS // a.size, 20, 100))
    found = shuffled_baseline(
        lambda first, second: _alpha_of_codes(first, second, scale),
        coded[0].astype(float),
        coded[1].astype(float),
        n_repeats=repeats,
        seed=seed,
    )
    return Concatenated(
        n=len(a),
        value=_rounded(found.observed),
        shuffled=_rounded(found.mean),
        shuffled_sd=_rounded(found.sd),
        repeats=found.n_repeats,
        reason=found.reason,
    )


def _alpha_of_codes(first: FloatArray, second: FloatArray, scale: FloatArray) -> float:
    k = len(scale)
    cells = (first * (k + 1) + second).astype(np.int64).ravel()
    met = np.bincount(cells, minlength=(k + 1) ** 2).reshape(k + 1, k + 1)[:k, :k]
    left, right = np.nonzero(met)
    rows = np.zeros((len(left), k), dtype=np.int64)
    np.add.at(rows, (np.arange(len(left)), left), 1)
    np.add.at(rows, (np.arange(len(left)), right), 1)
    multiplicity = met[left, right]
    distance = distances("interval", scale, multiplicity @ rows)
    return alpha_from_counts(rows, multiplicity, distance) if len(left) else float("nan")


def _systems(
    grid: Grid, x: FloatArray, y: FloatArray, draws: Jackknife, kinds: Sequence[Correlation]
) -> dict[str, OfSystems]:
    table = pd.DataFrame(
        {"system": grid.systems, "question": grid.questions, "x": x, "y": y}
    ).dropna()
    found: dict[str, OfSystems] = {}
    for kind in kinds:
        both = within_and_across(
            table,
            kind,
            confidence=draws.confidence,
        )
        found[kind] = OfSystems(
            across=_of_units(figure_of(both.across), both.n_systems),
            within=_of_units(figure_of(both.within), both.n_questions_used),
            within_sd=_rounded(both.within_sd),
            skipped=both.skipped,
        )
    return found


def _of_units(found: Figure, n: int) -> Figure:
    """A correlation of n systems or questions; few of them have no interval that covers."""
    if n >= LEAST_RATED or found.value is None:
        return replace(found, n=n)
    return figure(found.value, n=n, reason=too_few(LEAST_RATED, "systems or questions"))


def _bland_altman(
    x: FloatArray, y: FloatArray, questions: IntArray, draws: Jackknife
) -> BlandAltman:
    found = bland_altman(
        x.tolist(),
        y.tolist(),
        questions.tolist(),
        confidence=draws.confidence,
    )
    points, step = _points(found.means, found.differences)
    return BlandAltman(
        bias=figure_of(found.bias),
        lower=figure_of(found.lower),
        upper=figure_of(found.upper),
        slope=figure_of(found.slope),
        points=points,
        step=step,
    )


def _points(means: FloatArray, differences: FloatArray) -> tuple[tuple[Point, ...], float]:
    """The plot's points with how many answers lie there, on a grid of a step: wider for many."""
    step = 0.01
    while True:
        places = np.round(np.column_stack([means, differences]) / step) * step
        kinds, counts = np.unique(places, axis=0, return_counts=True)
        if len(kinds) <= MOST_POINTS:
            break
        # Nothing is left out: a coarser grid has fewer places.
        step = 0.5 if step < 0.5 else 2 * step
    points = tuple(
        (round(float(mean), 2), round(float(difference), 2), int(count))
        for (mean, difference), count in zip(kinds, counts, strict=True)
    )
    return points, step


def _confusion(x: FloatArray, y: FloatArray) -> Confusion:
    """Counts of pairs of points; means of replicates go to the nearest half point."""
    both = ~(np.isnan(x) | np.isnan(y))
    first, second = (np.floor(each[both] * 2 + 0.5) / 2 for each in (x, y))
    values = np.union1d(first, second)
    places = [np.searchsorted(values, each) for each in (first, second)]
    cells = np.bincount(places[0] * len(values) + places[1], minlength=len(values) ** 2).reshape(
        len(values), len(values)
    )
    return Confusion(values=tuple(values.tolist()), cells=tuple(map(tuple, cells.tolist())))


def _criteria(grid: Grid) -> slice:
    return slice(len(grid.columns) - len(grid.criteria), None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
