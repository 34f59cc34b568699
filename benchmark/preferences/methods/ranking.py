"""Ranking by preferences: strengths, tested differences, rank ranges and tie groups."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from benchmark.preferences.methods.davidson import (
    PenalizedStrengths,
    Strengths,
    centred_pseudo_values,
    chances,
    fit_strengths,
    leave_out_questions,
)
from benchmark.preferences.methods.pairs import BOTH_BAD, FIRST, SECOND, TIE
from benchmark.preferences.methods.verdict_tables import Verdicts
from cqa_site.stats.arrays import FloatArray, IntArray
from cqa_site.stats.estimate import Bounded, Estimate, RankPosition, check_confidence
from cqa_site.stats.intervals import clopper_pearson_interval
from cqa_site.stats.means import PairDifference, clustered_mean, smallest_detectable
from cqa_site.stats.ranking import places_of
from cqa_site.stats.verdicts import RULES, holm

# Tests of differences in log strengths, with Holm's correction.

# Strengths that agree to this many decimals are equal; further digits are search error.
DECIMALS = 7


def strength_differences(
    strengths: Strengths, fits: PenalizedStrengths, n_questions: IntArray, confidence: float
) -> tuple[PairDifference, ...]:
    """Compare every pair of ranked systems.

    Parameters
    ----------
    strengths
        Fitted strengths.
    fits
        Fits with and without each question; systems in the order of ``strengths``.
    n_questions : shape (n_systems,)
        Number of questions with a verdict on each system.
    confidence
        Confidence level of the intervals; 1 - confidence is the level of Holm's correction.

    Notes
    -----
    The test uses the arcsine of the expected score of one system against the other (wins plus half
    the ties). For close systems, the difference of log strengths would give the same result.
    However, for a system that nearly always loses, its standard error grows faster than the
    difference itself (Hauck and Donner 1977), so that the system could not be distinguished from
    any other. The standard error of the score itself shrinks in this case, so that a few verdicts
    seem to show too much; that of the arcsine hardly changes. The test is Student's t over
    questions, computed from the changes when each question is left out. Clusters of unequal weight
    leave fewer degrees of freedom than there are clusters (Imbens and Kolesár 2016, section 3);
    the reduction was chosen so that the errors in `benchmarks.verdicts` stay within 5 %. As in the
    exact sign-flip test, p is never below 2^(1 - n) for n questions.
    """
    values = np.array(strengths.log_strengths)
    first, second = np.triu_indices(len(values), k=1)
    gaps = fits.log_strengths[:, first] - fits.log_strengths[:, second]
    low, high = t_bounds(values[first] - values[second], centred_pseudo_values(gaps), confidence)
    # Without the last tie, nu would drop to 0, so it is fixed at its value for all verdicts.
    scores = centred_pseudo_values(_arcsine(gaps, fits.log_nu[0]))
    n, k, level = len(scores), len(values), 1 - confidence
    question_counts = np.minimum(n_questions[first], n_questions[second])
    freedom = np.clip(np.minimum(question_counts, n - (k - 1) / 2) - 1, 1, None)
    p = np.maximum(_t_p(scores, freedom), 2.0 ** (1 - question_counts))
    adjusted = holm(p)
    sd = scores.std(axis=0, ddof=1)
    sizes = 1 + freedom.astype(np.int64)
    smallest_detectables = [
        smallest_detectable(deviation * (size / n) ** 0.5, int(size), level=level / len(first))
        for deviation, size in zip(sd, sizes, strict=True)
    ]
    return tuple(
        PairDifference(
            first=strengths.systems[system],
            second=strengths.systems[other],
            mean=float(values[system] - values[other]),
            low=float(low[place]),
            high=float(high[place]),
            p=float(p[place]),
            p_holm=float(adjusted[place]),
            is_separable=bool(adjusted[place] < level),
            detectable=_gap(float(smallest_detectables[place]), fits.log_nu[0]),
        )
        for place, (system, other) in enumerate(zip(first, second, strict=True))
    )


def t_bounds(
    values: FloatArray, pseudo: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return Student's t intervals over questions, extended to the maximum likelihood values.

    Parameters
    ----------
    values : shape (n_figures,)
        Maximum likelihood values, which are farther from 0 than penalized values.
    pseudo : shape (n_questions, n_figures)
        `centred_pseudo_values` of the penalized values.
    confidence
        Nominal coverage.
    """
    n = len(pseudo)
    centre = pseudo.mean(axis=0)
    reach = special.stdtrit(n - 1, (1 + confidence) / 2) * pseudo.std(axis=0, ddof=1) / n**0.5
    return np.minimum(values, centre) - reach, np.maximum(values, centre) + reach


def _t_p(pseudo: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return the two-sided p of "the mean is 0" for each column; rounding errors do not count."""
    mean = np.round(pseudo.mean(axis=0), DECIMALS)
    error = np.maximum(pseudo.std(axis=0, ddof=1) / len(pseudo) ** 0.5, 10.0**-DECIMALS)
    return np.asarray(2 * special.stdtr(freedom, -np.abs(mean) / error))


def _arcsine(gaps: FloatArray, log_nu: float) -> FloatArray:
    """Return the arcsine of the first system's expected wins minus losses; 0 for equal systems."""
    win, loss, _tie = chances(gaps, np.array(log_nu))
    return np.arcsin(win - loss)


def _gap(arcsine: float, log_nu: float) -> float | None:
    """Return the difference of log strengths with this arcsine; None if it is out of reach."""
    if not arcsine < math.pi / 2:
        return None
    lead, nu = math.sin(arcsine), math.exp(log_nu)
    root = (lead * nu) ** 2 + 4 * (1 - lead**2)
    return 2 * math.log((lead * nu + root**0.5) / (2 * (1 - lead)))


# A leaderboard by preferences with its uncertainty: strengths, rank ranges, tie groups.
#
# Intervals and tests are based on the changes when each question is left out (see `penalized`).

RULE = RULES["preference"]
TOO_FEW_QUESTIONS = (
    f"verdicts on fewer than {RULE.least} questions, too few for intervals and tests"
)
NO_LIMIT = "a system that was never beaten, or never won, has no limit on one side"
NOT_SETTLED = "the strengths did not converge with one of the questions left out"
INTERVAL = "question jackknife of penalized strengths, Student's t"
# Higher win rates are not reported as detectable, because they rarely occur in studies.
MOST_RATE = 0.95
# Outcome → its name and score for the first system; for the second, only differences.
OWN = {
    FIRST: ("wins", 1.0),
    SECOND: ("losses", 0.0),
    TIE: ("ties", 0.5),
    BOTH_BAD: ("both_bad", 0.5),
}
THEIRS = {FIRST: OWN[SECOND], SECOND: OWN[FIRST]}


@dataclass(frozen=True, kw_only=True)
class PreferenceStanding(Bounded, RankPosition):
    """One ranked system.

    Attributes
    ----------
    value, low, high
        Natural logarithm of its strength (mean 0 over the ranked systems), and its interval.
    win_rate
        Share of wins in its verdicts against ranked systems, without weights; ties and both bad
        count half.
    wins, losses, ties, both_bad
        Counts of these verdicts, without weights.
    n_questions
        Number of questions on which it was compared with ranked systems.
    """

    system: str
    win_rate: Estimate
    wins: int
    losses: int
    ties: int
    both_bad: int
    n_questions: int


@dataclass(frozen=True, kw_only=True)
class PreferenceRanking:
    """A leaderboard by preferences.

    Attributes
    ----------
    strengths
        Fitted strengths, with the systems that cannot be ranked.
    standings
        Ranked systems, best first.
    pairs
        Differences of log strengths for every pair of ranked systems.
    both_bad
        Share of "both bad" among all verdicts, with its interval.
    n_questions
        Number of questions with a verdict on two ranked systems.
    interval, confidence
        Method and level of the intervals.
    reason
        Reason for missing strengths or intervals.
    """

    strengths: Strengths
    standings: tuple[PreferenceStanding, ...] = ()
    pairs: tuple[PairDifference, ...] = field(default=(), repr=False)
    both_bad: Estimate
    n_questions: int = 0
    interval: str = INTERVAL
    confidence: float
    reason: str | None = None

    @property
    def detectable(self) -> float | None:
        """Smallest win rate between two systems that these questions can detect at a power of .8.

        It applies to any two systems after Holm's correction; None if it exceeds `MOST_RATE`.
        """
        gaps = [pair.detectable for pair in self.pairs]
        known = [gap for gap in gaps if gap is not None]
        if not known or len(known) < len(gaps):
            return None
        win, _loss, tie = chances(np.array(max(known)), np.array(self.strengths.log_nu))
        rate = float(win + tie / 2)
        return rate if rate <= MOST_RATE else None


def rank_by_preference(verdicts: Verdicts, *, confidence: float = 0.95) -> PreferenceRanking:
    """Rank systems by their strengths.

    Parameters
    ----------
    verdicts
        One verdict per rater and pair (see `merge_orders`).
    confidence
        Confidence level of the intervals; systems are separable if the p-value of their difference
        after Holm's correction is below 1 - confidence.

    Returns
    -------
    PreferenceRanking
        If there are too few questions, it has a reason instead of intervals, rank ranges, groups
        and pairs. Penalized strengths have tests but no intervals.
    """
    check_confidence(confidence)
    strengths = fit_strengths(verdicts)
    about: dict[str, Any] = {
        "strengths": strengths,
        "both_bad": _both_bad(verdicts, confidence),
        "confidence": confidence,
    }
    if strengths.reason:
        return PreferenceRanking(reason=strengths.reason, **about)
    ranked = verdicts.among(strengths.systems)
    about["n_questions"] = n_questions = len(ranked.questions)
    values = np.array(strengths.log_strengths)
    rounded, rows = np.round(values, DECIMALS), _rows(ranked, confidence)
    if not RULE.allows(n_questions):
        places = places_of(rounded, (), is_enough=False)
        standings = _standings(strengths, places, rows)
        return PreferenceRanking(standings=standings, reason=TOO_FEW_QUESTIONS, **about)
    counts = ranked.count()
    fits = leave_out_questions(counts)
    order = [counts.systems.index(name) for name in strengths.systems]
    fits = replace(fits, log_strengths=fits.log_strengths[:, order])
    if np.isnan(fits.log_strengths).any():
        places = places_of(rounded, (), is_enough=False)
        standings = _standings(strengths, places, rows)
        return PreferenceRanking(standings=standings, reason=NOT_SETTLED, **about)
    question_counts = np.array([rows[name]["n_questions"] for name in strengths.systems])
    pairs = strength_differences(strengths, fits, question_counts, confidence)
    standings = _standings(strengths, places_of(rounded, pairs), rows)
    if strengths.is_penalized:
        return PreferenceRanking(standings=standings, pairs=pairs, reason=NO_LIMIT, **about)
    low, high = t_bounds(values, centred_pseudo_values(fits.log_strengths), confidence)
    standings = tuple(
        replace(standing, low=float(low[at]), high=float(high[at]))
        for at, standing in enumerate(standings)
    )
    return PreferenceRanking(standings=standings, pairs=pairs, **about)


def _standings(
    strengths: Strengths, places: list[RankPosition], rows: dict[str, dict[str, Any]]
) -> tuple[PreferenceStanding, ...]:
    systems = zip(strengths.systems, strengths.log_strengths, places, strict=True)
    return tuple(
        PreferenceStanding(system=name, value=value, **vars(place), **rows[name])
        for name, value, place in systems
    )


def _rows(ranked: Verdicts, confidence: float) -> dict[str, dict[str, Any]]:
    """Map each system to its outcome counts, its win rate and its number of questions."""
    tallies: dict[str, Counter[str]] = {name: Counter() for name in ranked.systems}
    scores: dict[str, dict[Any, list[float]]] = {name: {} for name in ranked.systems}
    # Lists, because iterating over pandas columns is slow.
    names = ("question", "first", "second", "outcome")
    columns = (ranked.frame[name].tolist() for name in names)
    for question, first, second, outcome in zip(*columns, strict=True):
        own = OWN[outcome]
        for name, (word, score) in ((first, own), (second, THEIRS.get(outcome, own))):
            tallies[name][word] += 1
            scores[name].setdefault(question, []).append(score)
    words = [word for word, _score in OWN.values()]
    return {
        name: {
            **{word: tallies[name][word] for word in words},
            "n_questions": len(by_question),
            "win_rate": _win_rate(list(by_question.values()), confidence),
        }
        for name, by_question in scores.items()
    }


def _win_rate(scores: list[list[float]], confidence: float) -> Estimate:
    """Return one system's win rate over questions: wins plus half the ties."""
    n = len(scores)
    rate = clustered_mean(
        range(n),
        [sum(score) for score in scores],
        [len(score) for score in scores],
        confidence=confidence,
        limits=(0.0, 1.0),
    )
    if rate.value not in (0.0, 1.0) or not RULE.allows(n):
        return rate
    # The same on every question: an exact interval for the share of such questions.
    low, high = clopper_pearson_interval(n if rate.value else 0, n, confidence)
    return replace(rate, low=low, high=high, interval="clopper-pearson, questions", reason=None)


def _both_bad(verdicts: Verdicts, confidence: float) -> Estimate:
    flags = (verdicts.frame["outcome"] == BOTH_BAD).astype(float)
    return clustered_mean(
        verdicts.frame["question"].tolist(),
        flags.tolist(),
        [1] * len(flags),
        confidence=confidence,
        limits=(0.0, 1.0),
    )
