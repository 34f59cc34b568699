import numpy as np
import pytest

from benchmark.preferences.methods import davidson
from benchmark.preferences.methods import ranking as preference_ranking
from benchmark.preferences.methods.davidson import (
    centred_pseudo_values,
    leave_out_questions,
    penalized,
)
from benchmark.preferences.methods.ranking import rank_by_preference
from benchmark.preferences.methods.verdict_tables import Verdicts

from .made_verdicts import drawn, drawn_table, times, verdicts


@pytest.fixture(scope="module")
def ranking():
    return rank_by_preference(drawn(n=1200, n_questions=60))


def test_without_a_question_strengths_are_those_of_the_other_verdicts():
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


def test_many_questions_are_left_out_several_at_a_time(monkeypatch):
    monkeypatch.setattr("benchmark.preferences.methods.davidson.MOST_LEFT_OUT", 15)
    found = rank_by_preference(drawn(n=600, n_questions=60))
    assert all(each.low < each.value < each.high for each in found.standings)


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


def test_standings_and_the_verdicts_behind_them(ranking):
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


def test_differences_are_of_log_strengths_and_tie_groups_follow_from_them(ranking):
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


def test_more_verdicts_on_the_same_questions_do_not_pretend_to_be_more_questions():
    """Repeating every verdict four times doubles no evidence: the intervals stay."""
    table = drawn_table(n=300, n_questions=30)
    once = rank_by_preference(Verdicts.from_frame(table))
    often = rank_by_preference(Verdicts.from_frame(table.loc[table.index.repeat(4)]))
    for one, other in zip(once.standings, often.standings, strict=True):
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.2)


def test_a_system_that_nearly_always_loses_keeps_its_interval_and_is_told_apart():
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


def test_without_enough_questions_or_strengths_there_is_a_reason():
    found = rank_by_preference(drawn(n_questions=2))
    assert found.reason == preference_ranking.TOO_FEW_QUESTIONS
    assert [each.rank for each in found.standings] == [1, 2, 3, 4, 5]
    assert {(each.low, each.tie_group) for each in found.standings} == {(None, None)}
    assert found.pairs == ()
    found = rank_by_preference(verdicts(("a", "b", "first")))
    assert [each.rank for each in found.standings] == [1, 2]
    assert (found.pairs, found.both_bad.value) == ((), 0.0)
    assert rank_by_preference(verdicts()).reason == davidson.NO_VERDICTS


def test_both_bad_is_reported_with_its_interval():
    rows = [*times(20, "a", "b", "first"), *times(20, "b", "a", "first")]
    rows += times(10, "a", "b", "both_bad")
    found = rank_by_preference(verdicts(*rows))
    assert found.both_bad.value == pytest.approx(0.2)
    assert found.both_bad.low < 0.2 < found.both_bad.high
    assert [each.both_bad for each in found.standings] == [10, 10]
