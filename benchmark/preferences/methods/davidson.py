"""Davidson's model: strengths of systems by Newton's method, with a penalty and a jackknife."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from benchmark.preferences.methods.pairs import BOTH_BAD, DRAW, FIRST, LOSS, SECOND, WIN
from benchmark.preferences.methods.verdict_tables import (
    PairCounts,
    Verdicts,
    has_finite_ties,
    strong_components,
    was_as_good,
)
from cqa_site.stats.arrays import FloatArray, IntArray

# Newton's method for Davidson's model, applied to many tables of counts at once.
#
# Notation: d is the difference of two log strengths and nu the tie parameter. With
# ``z = exp(d / 2) + exp(-d / 2) + nu``, the first wins with probability ``exp(d / 2) / z``, the
# second with ``exp(-d / 2) / z``, and they tie with ``nu / z``. Log strengths and log nu are the
# natural parameters of an exponential family, so the log-likelihood is concave and Newton's
# method, with steps halved if they overshoot, finds its only maximum.
#
# Source: Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired
# comparison experiments, equation 2.3.

# A finite number whose exponential is practically 0.
LOG_NOTHING = -800.0
# Shorter steps do not change any displayed digit, because each step squares the error.
_SHORT_STEP = 1e-8
_MOST_STEPS = 100
_MOST_HALVINGS = 30
# Log strengths that differ by more than this mean that the maximum is at infinity.
_FAR = 40.0


@dataclass(frozen=True, eq=False)
class Maxima:
    """Maximum of the likelihood for each table of counts.

    Attributes
    ----------
    log_strengths : shape (n_tables, n_systems)
        Mean 0; NaN if the search did not converge.
    log_nu, log_likelihood : shape (n_tables,)
        ``LOG_NOTHING`` if there were no ties.
    converged : bool, shape (n_tables,)
    n_steps
        Number of Newton steps needed by the slowest table.
    """

    log_strengths: FloatArray
    log_nu: FloatArray
    log_likelihood: FloatArray
    converged: np.ndarray
    n_steps: int


def chances(d: FloatArray, log_nu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the probabilities of a win by the first, a win by the second, and a tie.

    >>> [round(float(each), 4) for each in chances(np.array(0.0), np.array(0.0))]
    [0.3333, 0.3333, 0.3333]
    """
    log_z = np.logaddexp(np.logaddexp(d / 2, -d / 2), log_nu)
    return np.exp(d / 2 - log_z), np.exp(-d / 2 - log_z), np.exp(log_nu - log_z)


def information(d: FloatArray, log_nu: FloatArray) -> FloatArray:
    """Return the information about d in one comparison, with nu known: the variance of its score.

    >>> float(information(np.array(0.0), np.array(LOG_NOTHING)))
    0.25
    """
    win, loss, _tie = chances(d, log_nu)
    return np.asarray((win + loss) / 4 - (win - loss) ** 2 / 4)


def maximise(
    first: IntArray, second: IntArray, counts: FloatArray, start: FloatArray | None = None
) -> Maxima:
    """Find the maximum likelihood estimates of log strengths and log nu.

    Parameters
    ----------
    first, second : shape (n_pairs,)
        Positions (from 0) of the two systems in each pair; each pair of systems occurs once.
    counts : shape (n_tables, n_pairs, 3)
        Weights of wins by the first, wins by the second, and draws.
    start : shape (n_systems + 1,)
        Initial log strengths and log nu, such as those of a very similar table.
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
    """Log-likelihood of tables of counts at points (log strengths, log nu)."""

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
        with np.errstate(divide="ignore"):  # all verdicts can be ties, or none
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
        # Only differences of log strengths matter, so this fixes their mean.
        curve[:, :k, :k] += (own.sum(axis=1) / k**2)[:, None, None]
        curve[:, :k, k] = curve[:, k, :k] = mixed @ self.design
        curve[:, k, k] = (self.size * tie * (1 - tie)).sum(axis=1) + (self.ties == 0)
        gradient[self.ties == 0, k] = 0.0
        return np.asarray(np.linalg.solve(curve, gradient[:, :, None])[:, :, 0])

    def climb(self, at: FloatArray, step: FloatArray) -> FloatArray:
        """Follow the step as long as the likelihood does not decrease."""
        here = self.log_likelihood(at)
        rounding = 1e-12 * np.abs(here)
        size = np.ones((len(at), 1))
        for _ in range(_MOST_HALVINGS):
            falls = self.log_likelihood(at + size * step) < here - rounding
            if not falls.any():
                break
            size[falls] /= 2
        return at + size * step


# Strengths that are always finite, for all questions and with each question left out.
#
# A system that never lost has no finite strength. Therefore, every system gets half a win and half
# a loss against an additional average opponent, whose influence vanishes as verdicts accumulate.
# The influence of a question (with all raters' verdicts on it) is measured by leaving it out.
#
# Source: Greenland and Mansournia (2015), Penalization, bias reduction, and default priors in
# logistic and related categorical and survival regressions, section 4, for the half win and half
# loss; Tukey (1958), Bias and confidence in not-quite large samples, for leaving out questions.

# Number of wins, and of losses, of each system against the average opponent.
HALF = 0.5
# With more questions than this, several are left out together.
MOST_LEFT_OUT = 1000
_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class PenalizedStrengths:
    """Penalized log strengths, mean 0, and log nu.

    Row 0 uses all verdicts; each further row leaves out a question.

    Attributes
    ----------
    log_strengths : shape (1 + n_left_out, n_systems)
        NaN if the search did not converge.
    log_nu : shape (1 + n_left_out,)
    """

    log_strengths: FloatArray
    log_nu: FloatArray


def penalized(
    first: IntArray, second: IntArray, tables: FloatArray, start: FloatArray | None = None
) -> PenalizedStrengths:
    """Fit tables of counts, shape (n_tables, n_pairs, 3), after adding the average opponent."""
    n = int(max(first.max(), second.max())) + 1
    systems = np.arange(n)
    first = np.concatenate([first, systems])
    second = np.concatenate([second, np.full(n, n)])
    against = np.broadcast_to(np.array([HALF, HALF, 0.0]), (len(tables), n, 3))
    best = maximise(first, second, np.concatenate([tables, against], axis=1), start)
    strengths = best.log_strengths[:, :n]
    nu = np.where(tables[:, :, 2].sum(axis=1) > 0, best.log_nu, LOG_NOTHING)
    return PenalizedStrengths(strengths - strengths.mean(axis=1, keepdims=True), nu)


def leave_out_questions(counts: PairCounts) -> PenalizedStrengths:
    """Return penalized strengths for all verdicts (first row), then without each question."""
    cells = counts.by_question
    if len(cells) > MOST_LEFT_OUT:
        groups = np.zeros((MOST_LEFT_OUT, *cells.shape[1:]))
        np.add.at(groups, np.arange(len(cells)) % MOST_LEFT_OUT, cells)
        cells = groups
    total = cells.sum(axis=0)
    whole = penalized(counts.first, counts.second, total[None])
    # The average opponent has the log strength 0.
    start = np.concatenate([whole.log_strengths[0], [0.0], whole.log_nu])
    rows = max(1, _CHUNK_CELLS // max(total.size, len(start) ** 2))
    parts = [whole] + [
        # Weighted counts are not whole, so rounding could leave a remainder below 0.
        penalized(counts.first, counts.second, np.maximum(total - cells[at : at + rows], 0), start)
        for at in range(0, len(cells), rows)
    ]
    return PenalizedStrengths(
        np.concatenate([part.log_strengths for part in parts]),
        np.concatenate([part.log_nu for part in parts]),
    )


def centred_pseudo_values(figures: FloatArray) -> FloatArray:
    """Return pseudo-values by question, centred so that their mean is the figure for all verdicts.

    Parameters
    ----------
    figures : shape (1 + n_left_out, n_figures)
        Figures for all verdicts, then without each question.
    """
    whole, left = figures[0], figures[1:]
    return np.asarray(whole + (len(left) - 1) * (left.mean(axis=0) - left))


# Strengths of systems from verdicts on pairs: the Bradley–Terry model with ties.
#
# Every system has a strength. The larger the ratio of two strengths, the more likely the stronger
# system is preferred; the closer they are, the more likely a tie. Both bad counts as a tie here
# because it does not say which answer is better; its frequency is reported separately.
#
# Source: Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired
# comparison experiments. Journal of the American Statistical Association 65, 317-328.

NO_VERDICTS = "there are no verdicts"
NOT_COMPARED = "it was never compared with the ranked systems, directly or through others"


class NotConvergedError(RuntimeError):
    """Raised if the search did not reach the maximum of the likelihood."""


class Chance(NamedTuple):
    """Model probabilities for one comparison; the three add up to 1."""

    win: float
    loss: float
    tie: float

    @property
    def score(self) -> float:
        """Expected score: wins plus half the ties, 0 to 1."""
        return self.win + self.tie / 2


@dataclass(frozen=True, kw_only=True)
class Strengths:
    """Strengths of systems estimated from verdicts.

    Attributes
    ----------
    systems, log_strengths
        Ranked systems, the strongest first; their log strengths, with mean 0.
    nu
        Tie parameter, at least 0: two equal systems tie with probability ``nu / (2 + nu)``. None
        if there are no strengths.
    log_likelihood
        Natural logarithm of the probability of these verdicts at the maximum; None if strengths
        are penalized.
    is_penalized
        Whether the strengths are penalized (see `penalized`) because some have no limit.
    components
        Sets of systems linked by verdicts; the first set is ranked.
    unranked
        System → reason why it has no strength.
    n_verdicts, n_ties, n_both_bad
        Number of verdicts between ranked systems; of ties among them, excluding both bad; of
        both-bad verdicts.
    n_left_out
        Number of verdicts on a system that is not ranked.
    reason
        Reason for missing strengths.
    """

    systems: tuple[str, ...] = ()
    log_strengths: tuple[float, ...] = ()
    nu: float | None = None
    log_likelihood: float | None = None
    is_penalized: bool = False
    components: tuple[tuple[str, ...], ...] = ()
    unranked: dict[str, str] = field(default_factory=dict)
    n_verdicts: int = 0
    n_ties: int = 0
    n_both_bad: int = 0
    n_left_out: int = 0
    reason: str | None = None

    @property
    def log_nu(self) -> float:
        """Log of the tie parameter, in the form that `chances` expects."""
        return math.log(self.nu) if self.nu else LOG_NOTHING

    def by_system(self) -> dict[str, float]:
        """Return the log strength of each ranked system."""
        return dict(zip(self.systems, self.log_strengths, strict=True))

    def chance(self, first: str, second: str) -> Chance:
        """Return the expected outcome of a comparison of two ranked systems.

        Raises
        ------
        KeyError
            If a system has no strength.
        """
        strength = self.by_system()
        d = np.array(strength[first] - strength[second])
        return Chance(*(float(probability) for probability in chances(d, np.array(self.log_nu))))


def fit_strengths(verdicts: Verdicts) -> Strengths:
    """Find the maximum likelihood strengths, or penalized strengths if some have no limit.

    The largest set of systems linked by verdicts is ranked (if sizes are equal, the set with more
    verdicts). All other systems are in ``unranked``.

    Raises
    ------
    NotConvergedError
        If Newton's method did not reach the maximum, although it exists.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", "b", "first")] * 3 + [("a", "b", "second")] + [("a", "b", "tie")] * 2
    >>> table = pd.DataFrame(rows, columns=["first", "second", "outcome"])
    >>> table = table.assign(question=range(6), pair=range(6), rater="r", side="left")
    >>> found = fit_strengths(Verdicts.from_frame(table))
    >>> found.systems, [round(each, 4) for each in found.log_strengths], round(found.nu, 4)
    (('a', 'b'), [0.5493, -0.5493], 1.1547)
    """
    verdicts = verdicts.with_weight()
    if not len(verdicts):
        return Strengths(reason=NO_VERDICTS)
    counts = verdicts.count()
    links = was_as_good(counts.first, counts.second, counts.total, len(counts.systems))
    parts = strong_components(links | links.T)
    size = _verdicts_within(verdicts, counts.systems, parts)
    parts.sort(key=lambda part: (-len(part), -size[part[0]], part[0]))
    names = tuple(tuple(counts.systems[at] for at in part) for part in parts)
    ranked = verdicts.among(names[0])
    outcome = ranked.frame["outcome"]
    n_both_bad = int((outcome == BOTH_BAD).sum())
    strengths = Strengths(
        components=names,
        unranked={name: NOT_COMPARED for component in names[1:] for name in component},
        n_verdicts=len(ranked),
        n_ties=int((~outcome.isin([FIRST, SECOND])).sum()) - n_both_bad,
        n_both_bad=n_both_bad,
        n_left_out=len(verdicts) - len(ranked),
    )
    return _fit(strengths, ranked.count())


def _verdicts_within(
    verdicts: Verdicts, systems: tuple[str, ...], parts: list[IntArray]
) -> dict[int, int]:
    """Map the first position in each part to the number of verdicts between its systems."""
    part = {systems[place]: int(component[0]) for component in parts for place in component}
    first, second = verdicts.frame["first"].map(part), verdicts.frame["second"].map(part)
    within = first[first == second].value_counts()
    return {int(component[0]): int(within.get(int(component[0]), 0)) for component in parts}


def _fit(strengths: Strengths, counts: PairCounts) -> Strengths:
    total, n = counts.total, len(counts.systems)
    links = was_as_good(counts.first, counts.second, total, n)
    is_linked = len(strong_components(links)) == 1
    if is_linked and has_finite_ties(counts.first, counts.second, total, n):
        best = maximise(counts.first, counts.second, total[None])
        if not best.converged[0]:
            raise NotConvergedError(
                f"strengths of {n} systems did not converge in {best.n_steps} steps"
            )
        strengths = replace(strengths, log_likelihood=float(best.log_likelihood[0]))
        return _named(strengths, counts.systems, best.log_strengths[0], float(best.log_nu[0]))
    fit = penalized(counts.first, counts.second, total[None])
    strengths = replace(strengths, is_penalized=True)
    return _named(strengths, counts.systems, fit.log_strengths[0], float(fit.log_nu[0]))


def _named(
    strengths: Strengths, systems: tuple[str, ...], values: FloatArray, log_nu: float
) -> Strengths:
    order = np.argsort(-values, kind="stable")
    nothing_tied = strengths.n_ties + strengths.n_both_bad == 0
    return replace(
        strengths,
        systems=tuple(systems[place] for place in order),
        log_strengths=tuple(float(values[place]) for place in order),
        nu=0.0 if nothing_tied else math.exp(log_nu),
    )
