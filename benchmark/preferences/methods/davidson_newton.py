"""Newton's method for Davidson's model, for many tables of counts at once.

Notation: d is the difference of two log strengths and nu the tie parameter. With
``z = exp(d / 2) + exp(-d / 2) + nu`` the first wins with probability ``exp(d / 2) / z``, the
second with ``exp(-d / 2) / z``, and they tie with ``nu / z``. Log strengths and log nu are the
natural parameters of an exponential family, so the log-likelihood is concave and Newton's
method, with steps halved where they overshoot, finds its only maximum.

Source: Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments, equation 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmark.preferences.methods.verdicts import DRAW, LOSS, WIN
from cqa_site.stats.ratings import FloatArray, IntArray

# Its exponential is 0, while it is itself a number to compute with.
LOG_NOTHING = -800.0
# Steps shorter than this change no digit that is shown; the last one squares the error.
_SHORT_STEP = 1e-8
_MOST_STEPS = 100
_MOST_HALVINGS = 30
# Strengths that far apart mean a maximum at infinity.
_FAR = 40.0


@dataclass(frozen=True, eq=False)
class Maxima:
    """The maximum for each table of counts.

    Attributes
    ----------
    log_strengths : shape (n_tables, n_systems)
        Mean 0; NaN where the search did not converge.
    log_nu, log_likelihood : shape (n_tables,)
        ``LOG_NOTHING`` where nothing was tied.
    converged : bool, shape (n_tables,)
    n_steps
        Steps of Newton's method that the slowest table took.
    """

    log_strengths: FloatArray
    log_nu: FloatArray
    log_likelihood: FloatArray
    converged: np.ndarray
    n_steps: int


def chances(d: FloatArray, log_nu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probabilities that the first wins, that the second does, and of a tie.

    >>> [round(float(each), 4) for each in chances(np.array(0.0), np.array(0.0))]
    [0.3333, 0.3333, 0.3333]
    """
    log_z = np.logaddexp(np.logaddexp(d / 2, -d / 2), log_nu)
    return np.exp(d / 2 - log_z), np.exp(-d / 2 - log_z), np.exp(log_nu - log_z)


def information(d: FloatArray, log_nu: FloatArray) -> FloatArray:
    """What one comparison tells about d, with nu known: the variance of its score.

    >>> float(information(np.array(0.0), np.array(LOG_NOTHING)))
    0.25
    """
    win, loss, _tie = chances(d, log_nu)
    return np.asarray((win + loss) / 4 - (win - loss) ** 2 / 4)


def maximise(
    first: IntArray, second: IntArray, counts: FloatArray, start: FloatArray | None = None
) -> Maxima:
    """Find the most likely log strengths and log nu.

    Parameters
    ----------
    first, second : shape (n_pairs,)
        Places of the systems of each pair, from 0; each pair of systems once.
    counts : shape (n_tables, n_pairs, 3)
        Weights of wins of the first, of the second, and draws.
    start : shape (n_systems + 1,)
        Log strengths and log nu to start from, such as those of a table that is nearly the same.
    """
    model = _Model(first, second, counts)
    at = model.start(start)
    done, is_far = np.zeros(len(counts), dtype=bool), np.zeros(len(counts), dtype=bool)
    n_steps = 0
    while (todo := np.flatnonzero(~done & ~is_far)).size and n_steps < _MOST_STEPS:
        part = model.part(todo)
        step = part.newton_step(at[todo])
        at[todo] = part.climb(at[todo], step)
        done[todo] = np.abs(step).max(axis=1) < _SHORT_STEP
        spread = np.ptp(at[:, :-1], axis=1)
        is_far = (spread > _FAR) | (at[:, -1] > _FAR)
        n_steps += 1
    done &= ~is_far
    log_likelihood = np.where(done, model.log_likelihood(at), np.nan)
    at[~done] = np.nan
    strengths = at[:, :-1] - at[:, :-1].mean(axis=1, keepdims=True)
    return Maxima(strengths, at[:, -1], log_likelihood, done, n_steps)


class _Model:
    """Tables of counts with their log-likelihood; a point is (log strengths, log nu)."""

    def __init__(self, first: IntArray, second: IntArray, counts: FloatArray) -> None:
        self.first, self.second, self.counts = first, second, counts
        self.n_systems = int(max(first.max(), second.max())) + 1
        self.design = np.zeros((len(first), self.n_systems))
        self.design[np.arange(len(first)), first] = 1.0
        self.design[np.arange(len(first)), second] = -1.0
        self.size = counts.sum(axis=2)
        self.lead = (counts[:, :, WIN] - counts[:, :, LOSS]) / 2
        self.ties = counts[:, :, DRAW].sum(axis=1)

    def part(self, tables: IntArray) -> _Model:
        return _Model(self.first, self.second, self.counts[tables])

    def start(self, point: FloatArray | None) -> FloatArray:
        at = np.zeros((len(self.counts), self.n_systems + 1))
        if point is not None:
            at[:] = point
            at[self.ties == 0, -1] = LOG_NOTHING
            return at
        with np.errstate(divide="ignore"):  # all or none may be ties
            odds = np.log(self.ties) - np.log(self.size.sum(axis=1) - self.ties)
        at[:, -1] = np.where(self.ties > 0, np.minimum(np.log(2) + odds, _FAR / 2), LOG_NOTHING)
        return at

    def log_likelihood(self, at: FloatArray) -> FloatArray:
        d, log_nu = at[:, :-1] @ self.design.T, at[:, -1:]
        log_z = np.logaddexp(np.logaddexp(d / 2, -d / 2), log_nu)
        won = (self.lead * d - self.size * log_z).sum(axis=1)
        return np.asarray(won + self.ties * at[:, -1])

    def newton_step(self, at: FloatArray) -> FloatArray:
        win, loss, tie = chances(at[:, :-1] @ self.design.T, at[:, -1:])
        k = self.n_systems
        gradient = np.empty_like(at)
        gradient[:, :k] = (self.lead - self.size * (win - loss) / 2) @ self.design
        gradient[:, k] = self.ties - (self.size * tie).sum(axis=1)
        own = self.size * ((win + loss) / 4 - (win - loss) ** 2 / 4)
        mixed = -self.size * tie * (win - loss) / 2
        curve = np.zeros((len(at), k + 1, k + 1))
        curve[:, self.first, self.second] = curve[:, self.second, self.first] = -own
        places = np.arange(k)
        curve[:, places, places] = own @ np.abs(self.design)
        # Only differences of log strengths count: this keeps their mean where it is.
        curve[:, :k, :k] += (own.sum(axis=1) / k**2)[:, None, None]
        curve[:, :k, k] = curve[:, k, :k] = mixed @ self.design
        curve[:, k, k] = (self.size * tie * (1 - tie)).sum(axis=1) + (self.ties == 0)
        gradient[self.ties == 0, k] = 0.0
        return np.asarray(np.linalg.solve(curve, gradient[:, :, None])[:, :, 0])

    def climb(self, at: FloatArray, step: FloatArray) -> FloatArray:
        """Go as far along the step as the likelihood does not fall."""
        here = self.log_likelihood(at)
        rounding = 1e-12 * np.abs(here)
        size = np.ones((len(at), 1))
        for _ in range(_MOST_HALVINGS):
            falls = self.log_likelihood(at + size * step) < here - rounding
            if not falls.any():
                break
            size[falls] /= 2
        return at + size * step
