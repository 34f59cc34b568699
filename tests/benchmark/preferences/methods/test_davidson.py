"""Strengths by Davidson's model and the ranking they make."""

import math

import evalica
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

from benchmark.preferences.methods import davidson, ranking as preference_ranking, verdict_tables
from benchmark.preferences.methods.davidson import (
    NotConvergedError,
    centred_pseudo_values,
    fit_strengths,
    leave_out_questions,
    penalized,
)
from benchmark.preferences.methods.ranking import rank_by_preference
from benchmark.preferences.methods.verdict_tables import Verdicts
from .made_verdicts import drawn, drawn_table, times, verdicts

# Davidson (1970), table of the chocolate puddings: brands i and j, i preferred, j, neither.
PUDDINGS = """
1 2 19 22 16 | 1 3 16 19 12 | 2 3 19 19 10 | 1 4 18 23 13 | 2 4 23 19 9 | 3 4 19 20 15
1 5 13 19 18 | 2 5 16 20 12 | 3 5 16 15 17 | 4 5 17 14 16 | 1 6 18 21 12 | 2 6 22 20 12
3 6 13 18 10 | 4 6 14 19 18 | 5 6 11 21 12
"""
# His estimates after seven of his iterations, as the R package PlackettLuce prints them.
SHARES = (0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855)
PUBLISHED = dict(zip("123456", SHARES, strict=True))
PUBLISHED_NU = 0.7468147


def puddings():
    rows = []
    for line in PUDDINGS.strip().replace("\n", "|").split("|"):
        one, other, *counts = line.split()
        for n, outcome in zip(counts, ("first", "second", "tie"), strict=True):
            rows += times(int(n), one, other, outcome)
    return verdicts(*rows)


def shares(found):
    """Strengths that add up to 1, by system."""
    strength = np.exp(found.log_strengths)
    return dict(zip(found.systems, strength / strength.sum(), strict=True))


def likeliest(table):
    """Log strengths and nu by a general optimiser, straight from the definition."""
    systems = sorted({*table["first"], *table["second"]})
    one, other = (table[each].map(systems.index).to_numpy() for each in ("first", "second"))
    outcome = table["outcome"].to_numpy()

    def surprise(point):
        strength, nu = np.exp(point[:-1]), np.exp(point[-1])
        a, b = strength[one], strength[other]
        tied = nu * np.sqrt(a * b)
        chance = np.where(outcome == "first", a, np.where(outcome == "second", b, tied))
        return -np.log(chance / (a + b + tied)).sum()

    best = minimize(surprise, np.zeros(len(systems) + 1), options={"gtol": 1e-8}, method="BFGS")
    values = best.x[:-1] - best.x[:-1].mean()
    return dict(zip(systems, values, strict=True)), math.exp(best.x[-1]), -best.fun


def by_evalica(method, found):
    winners = {"first": evalica.Winner.X, "second": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    frame = found.frame
    first, second = frame["first"].tolist(), frame["second"].tolist()
    outcomes = [winners[each] for each in frame["outcome"]]
    return method(first, second, outcomes, tolerance=1e-14, limit=100_000)


def log_centred(scores):
    logs = np.log(scores)
    return dict(logs - logs.mean())


def test_the_published_example():
    found = fit_strengths(puddings())
    # Seven iterations are short of the maximum in the fifth digit.
    assert shares(found) == pytest.approx(PUBLISHED, abs=3e-5)
    assert found.nu == pytest.approx(PUBLISHED_NU, abs=1e-5)
    assert (found.n_verdicts, found.n_ties) == (745, 202)


@pytest.mark.parametrize("seed", range(4))
def test_with_ties_as_an_independent_package_and_a_general_optimiser(seed):
    table = drawn_table(seed=seed, n_systems=6)
    ours = fit_strengths(Verdicts.from_frame(table))
    values, nu, log_likelihood = likeliest(table)
    assert ours.by_system() == pytest.approx(values, abs=1e-5)
    assert ours.nu == pytest.approx(nu, abs=1e-5)
    assert ours.log_likelihood == pytest.approx(log_likelihood, abs=1e-6)
    # Newman's algorithm has 2 v where Davidson has nu.
    theirs = by_evalica(evalica.newman, Verdicts.from_frame(table))
    assert ours.by_system() == pytest.approx(log_centred(theirs.scores), abs=1e-6)
    assert ours.nu == pytest.approx(2 * theirs.v, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_without_ties_it_is_bradley_and_terry(seed):
    found = drawn(seed=seed, nu=0.0, n_systems=7)
    ours = fit_strengths(found)
    theirs = by_evalica(evalica.bradley_terry, found)
    assert ours.nu == 0.0
    assert ours.by_system() == pytest.approx(log_centred(theirs.scores), abs=1e-6)
    assert ours.chance("s0", "s6").tie == 0.0


def test_two_systems_have_a_closed_form_and_a_weight_counts_as_that_many_verdicts():
    rows = times(6, "a", "b", "first") + times(2, "a", "b", "second") + times(4, "a", "b", "tie")
    found = fit_strengths(verdicts(*rows))
    assert found.log_strengths == pytest.approx((math.log(3) / 2, -math.log(3) / 2), abs=1e-9)
    chance = found.chance("a", "b")
    assert chance == pytest.approx((6 / 12, 2 / 12, 4 / 12), abs=1e-9)
    assert chance.score == pytest.approx(8 / 12)
    assert found.log_likelihood == pytest.approx(
        6 * math.log(6 / 12) + 2 * math.log(2 / 12) + 4 * math.log(4 / 12)
    )
    weighted = [*times(1, "a", "b", "first"), *times(1, "a", "b", "second"), ("a", "c", "tie")]
    found = fit_strengths(verdicts(*weighted, weight=[3.0, 1.0, 0.0]))
    assert found.systems == ("a", "b")
    assert found.log_strengths[0] == pytest.approx(math.log(3) / 2)
    assert found.n_verdicts == 2


def test_both_bad_counts_as_a_tie_and_a_circle_bounds_everything():
    table = drawn_table(seed=1)
    ties = table["outcome"] == "tie"
    bad = table.assign(outcome=table["outcome"].mask(ties & (table.index % 2 == 0), "both_bad"))
    plain, found = (fit_strengths(Verdicts.from_frame(each)) for each in (table, bad))
    assert found.by_system() == plain.by_system()
    assert found.nu == plain.nu
    assert found.n_both_bad == int((bad["outcome"] == "both_bad").sum()) > 0
    assert found.n_ties + found.n_both_bad == plain.n_ties
    circle = verdicts(("a", "b", "first"), ("b", "c", "first"), ("c", "a", "first"))
    assert fit_strengths(circle).log_strengths == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    rows = [("a", "b", "first"), ("b", "c", "first"), ("c", "a", "tie")]
    found = fit_strengths(verdicts(*rows))
    assert found.systems == ("a", "b", "c")
    values, nu, _ = likeliest(verdicts(*rows).frame)
    assert found.by_system() == pytest.approx(values, abs=1e-4)
    assert found.nu == pytest.approx(nu, abs=1e-4)


@pytest.mark.long
@given(
    seed=st.integers(0, 10_000),
    renamed=st.permutations(range(5)),
    factor=st.sampled_from([2.0, 0.5, 7.0]),
)
def test_names_directions_and_whole_weights_mean_nothing_by_themselves(seed, renamed, factor):
    table = drawn_table(seed=seed, n=200)
    names = {f"s{place}": f"x{other}" for place, other in enumerate(renamed)}
    opposite = {"first": "second", "second": "first", "tie": "tie"}
    ours, other, turned, weighted = (
        fit_strengths(Verdicts.from_frame(each))
        for each in (
            table,
            table.assign(first=table["first"].map(names), second=table["second"].map(names)),
            table.assign(outcome=table["outcome"].map(opposite)),
            table.assign(weight=factor),
        )
    )
    strengths = ours.by_system()
    renamed_ones = {names[name]: value for name, value in strengths.items()}
    assert other.by_system() == pytest.approx(renamed_ones, abs=1e-8)
    assert other.nu == pytest.approx(ours.nu, abs=1e-8)
    negative = {name: -value for name, value in strengths.items()}
    assert turned.by_system() == pytest.approx(negative, abs=1e-8)
    assert weighted.by_system() == pytest.approx(strengths, abs=1e-8)
    assert weighted.log_likelihood == pytest.approx(factor * ours.log_likelihood)


def test_systems_that_were_never_compared_are_named_and_the_others_have_penalized_strengths():
    found = fit_strengths(
        verdicts(
            *times(2, "a", "b", "first"),
            *times(1, "a", "b", "second"),
            *times(3, "king", "a", "first"),
            *times(2, "last", "b", "second"),
            *times(1, "x", "y", "first"),
        )
    )
    assert found.systems == ("king", "a", "b", "last")
    assert found.components == (("a", "b", "king", "last"), ("x", "y"))
    assert found.unranked == dict.fromkeys(("x", "y"), davidson.NOT_COMPARED)
    assert (found.is_penalized, found.n_verdicts, found.n_left_out) == (True, 8, 1)
    # Half a win and half a loss more for each, against one that is free to be average.
    alone = fit_strengths(verdicts(*times(4, "a", "b", "first")))
    assert 1 < alone.log_strengths[0] < 2
    assert alone.log_strengths[0] == -alone.log_strengths[1]


def test_without_finite_strengths_they_are_penalized():
    for rows in (
        [("a", "b", "first"), ("b", "c", "first")],
        [("a", "b", "tie")],
        # a beats b once and both always tie with c: c lies between them at any distance.
        [("a", "b", "first"), ("b", "c", "tie"), ("c", "a", "tie")],
    ):
        found = fit_strengths(verdicts(*rows))
        assert (found.is_penalized, found.reason, found.log_likelihood) == (True, None, None)
        assert set(found.systems) == {name for row in rows for name in row[:2]}
        assert all(math.isfinite(each) for each in found.log_strengths)
    assert fit_strengths(verdicts()).reason == davidson.NO_VERDICTS


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(each, marks=pytest.mark.long) for each in range(8, 30))]
)
def test_strengths_are_penalized_exactly_where_the_search_would_run_away(seed):
    """Few verdicts, so that about half of the tables have no finite maximum."""
    found = drawn(seed=seed, n=7, n_systems=3, nu=2.0)
    counts = found.count()
    total, n = counts.total, len(counts.systems)
    links = verdict_tables.was_as_good(counts.first, counts.second, total, n)
    is_finite = len(verdict_tables.strong_components(links)) == 1 and (
        verdict_tables.has_finite_ties(counts.first, counts.second, total, n)
    )
    best = davidson.maximise(counts.first, counts.second, total[None])
    assert bool(best.converged[0]) == is_finite
    if len(fit_strengths(found).systems) == n:
        assert fit_strengths(found).is_penalized == (not is_finite)


@pytest.fixture(scope="module")
def ranking():
    return rank_by_preference(drawn(n=1200, n_questions=60))


def test_without_a_question_strengths_are_of_the_others_and_a_search_may_not_arrive(monkeypatch):
    found = drawn(n=300, n_questions=12)
    counts = found.count()
    fits = leave_out_questions(counts)
    assert fits.log_strengths.shape == (13, 5)
    for at, question in enumerate(found.questions, start=1):
        rest = Verdicts.from_frame(found.frame[found.frame["question"] != question]).count()
        alone = penalized(rest.first, rest.second, rest.total[None])
        assert fits.log_strengths[at] == pytest.approx(alone.log_strengths[0], abs=1e-6)
    assert centred_pseudo_values(fits.log_strengths).mean(axis=0) == pytest.approx(
        fits.log_strengths[0]
    )
    monkeypatch.setattr("benchmark.preferences.methods.davidson.MOST_LEFT_OUT", 15)
    found = rank_by_preference(drawn(n=600, n_questions=60))
    assert all(each.low < each.value < each.high for each in found.standings)
    monkeypatch.setattr("benchmark.preferences.methods.davidson._MOST_STEPS", 1)
    with pytest.raises(NotConvergedError, match="of 5 systems did not converge in 1 steps"):
        fit_strengths(drawn())


def test_a_system_that_was_never_beaten_leads_by_a_penalized_strength_and_its_win_rate():
    """Ten wins and two ties: no likeliest strength, and yet the clearest result."""
    rows = [*times(10, "a", "b", "first"), *times(2, "a", "b", "tie")]
    found = rank_by_preference(verdicts(*rows))
    best = found.standings[0]
    assert (best.system, best.rank_low, best.rank_high, best.low) == ("a", 1, 1, None)
    assert 0 < best.value < 3
    assert best.win_rate.value == pytest.approx(11 / 12)
    assert 0.6 < best.win_rate.low < best.win_rate.value < best.win_rate.high <= 1
    assert (found.strengths.is_penalized, found.reason) == (True, preference_ranking.NO_LIMIT)
    always = rank_by_preference(verdicts(*times(12, "a", "b", "first"))).standings
    assert (always[0].win_rate.value, always[0].win_rate.high) == (1.0, 1.0)
    assert always[0].win_rate.low == pytest.approx(0.025 ** (1 / 12))
    assert always[1].rank_low == 2


def test_equal_systems_are_not_told_apart_by_few_questions():
    """Two equal systems on five questions once led in 18 % of studies."""
    generator = np.random.default_rng(1)
    for n, most in ((5, 0), (10, 3)):
        led = 0
        for _ in range(15):
            rows = [("a", "b", each) for each in generator.choice(["first", "second"], n)]
            pairs = rank_by_preference(verdicts(*rows)).pairs
            led += any(pair.is_separable for pair in pairs)
        assert led <= most


def test_standings_and_differences_follow_from_the_verdicts_behind_them(ranking):
    assert [each.system for each in ranking.standings] == ["s0", "s1", "s2", "s3", "s4"]
    assert [each.rank for each in ranking.standings] == [1, 2, 3, 4, 5]
    for each in ranking.standings:
        assert each.low < each.value < each.high
        assert each.rank_low <= each.rank <= each.rank_high
    assert (ranking.n_questions, ranking.reason) == (60, None)
    frame = drawn(n=1200, n_questions=60).frame
    for each in ranking.standings:
        own = frame[(frame["first"] == each.system) | (frame["second"] == each.system)]
        decided = own["outcome"].isin(["first", "second"])
        won = own["first"].where(own["outcome"] == "first", own["second"]) == each.system
        assert each.wins == int((decided & won).sum())
        assert each.losses == int((decided & ~won).sum())
        assert each.ties == int((own["outcome"] == "tie").sum())
        assert (each.both_bad, each.n_questions) == (0, own["question"].nunique())
    assert len(ranking.pairs) == 10
    strength = ranking.strengths.by_system()
    for pair in ranking.pairs:
        assert pair.mean == pytest.approx(strength[pair.first] - strength[pair.second])
        assert pair.low < pair.mean < pair.high
        assert pair.p <= pair.p_holm
    far = next(pair for pair in ranking.pairs if (pair.first, pair.second) == ("s0", "s4"))
    assert far.is_separable
    assert far.low > 0
    assert ranking.standings[0].tie_group == 1 < ranking.standings[4].tie_group


def test_repeated_verdicts_are_no_further_questions_and_a_loser_keeps_its_interval():
    """Repeating every verdict four times doubles no evidence: the intervals stay."""
    table = drawn_table(n=300, n_questions=30)
    once = rank_by_preference(Verdicts.from_frame(table))
    often = rank_by_preference(Verdicts.from_frame(table.loc[table.index.repeat(4)]))
    for one, other in zip(once.standings, often.standings, strict=True):
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.2)
    table = drawn_table(n=400, n_systems=4, spread=0.3)
    last = drawn_table(n=120, n_systems=2, seed=9).assign(first="s0", second="s9", outcome="first")
    last.loc[0, "outcome"] = "second"
    last["pair"] += 1000
    rows = table.to_dict("records") + last.to_dict("records")
    found = rank_by_preference(Verdicts.from_frame(type(table)(rows)))
    worst = found.standings[-1]
    assert (worst.system, worst.rank_low, worst.rank_high) == ("s9", 5, 5)
    assert worst.low < worst.value < worst.high
    assert all(pair.is_separable for pair in found.pairs if pair.second == "s9")


def test_both_bad_has_its_interval_and_few_questions_a_reason():
    rows = [*times(20, "a", "b", "first"), *times(20, "b", "a", "first")]
    rows += times(10, "a", "b", "both_bad")
    found = rank_by_preference(verdicts(*rows))
    assert found.both_bad.value == pytest.approx(0.2)
    assert found.both_bad.low < 0.2 < found.both_bad.high
    assert [each.both_bad for each in found.standings] == [10, 10]
    found = rank_by_preference(drawn(n_questions=2))
    assert found.reason == preference_ranking.TOO_FEW_QUESTIONS
    assert [each.rank for each in found.standings] == [1, 2, 3, 4, 5]
    assert {(each.low, each.tie_group) for each in found.standings} == {(None, None)}
    assert found.pairs == ()
    found = rank_by_preference(verdicts(("a", "b", "first")))
    assert [each.rank for each in found.standings] == [1, 2]
    assert (found.pairs, found.both_bad.value) == ((), 0.0)
    assert rank_by_preference(verdicts()).reason == davidson.NO_VERDICTS
