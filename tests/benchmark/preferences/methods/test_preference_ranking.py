import pytest

from benchmark.preferences.methods import davidson, preference_ranking
from benchmark.preferences.methods.davidson import fit_strengths
from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.preference_bootstrap import draw_weights, strength_draws
from benchmark.preferences.methods.preference_ranking import rank_by_preference

from .made_verdicts import drawn, drawn_table, times, verdicts


@pytest.fixture(scope="module")
def ranking():
    return rank_by_preference(drawn(n=1200, n_questions=60), n_resamples=400, seed=5)


def test_weights_are_never_zero_and_vary_as_drawing_with_replacement_does():
    weights = draw_weights(50, 4000, seed=1)
    assert weights.min() > 0
    assert weights.sum(axis=1) == pytest.approx(50.0)
    assert weights.var() == pytest.approx(1 - 1 / 50, rel=0.05)
    assert (weights == draw_weights(50, 4000, seed=1)).all()
    assert (weights != draw_weights(50, 4000, seed=2)).any()


def test_a_resample_is_the_fit_to_weighted_verdicts():
    found = drawn(n=300, n_questions=12)
    weights = draw_weights(12, 3, seed=2)
    draws = strength_draws(found.count(), strengths := fit_strengths(found), weights)
    for row, weight in zip(draws, weights, strict=True):
        of_question = dict(zip(found.questions, weight, strict=True))
        frame = found.frame.assign(weight=found.frame["question"].map(of_question))
        expected = fit_strengths(Verdicts.from_frame(frame)).by_system()
        assert dict(zip(strengths.systems, row, strict=True)) == pytest.approx(expected, abs=1e-6)


def test_standings(ranking):
    assert [each.system for each in ranking.standings] == ["s0", "s1", "s2", "s3", "s4"]
    assert [each.rank for each in ranking.standings] == [1, 2, 3, 4, 5]
    for each in ranking.standings:
        assert each.low < each.log_strength < each.high
        assert each.rank_low <= each.rank <= each.rank_high
    assert sum(each.p_best for each in ranking.standings) == pytest.approx(1.0)
    assert (ranking.n_questions, ranking.n_undefined, ranking.reason) == (60, 0, None)


def test_verdicts_of_a_system_are_counted(ranking):
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


def test_equal_systems_share_a_group():
    found = rank_by_preference(drawn(spread=0.0, n=600, seed=4), n_resamples=300)
    assert {each.tie_group for each in found.standings} == {1}
    assert not any(pair.is_separable for pair in found.pairs)


def test_the_same_seed_gives_the_same_figures_and_another_one_others():
    found = drawn(n=300)
    first, again, other = (
        rank_by_preference(found, n_resamples=100, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.strengths == other.strengths
    assert first.standings != other.standings


def test_more_verdicts_on_the_same_questions_do_not_pretend_to_be_more_questions():
    """Repeating every verdict four times doubles no evidence: the intervals stay."""
    table = drawn_table(n=300, n_questions=30)
    once = rank_by_preference(Verdicts.from_frame(table), n_resamples=200)
    often = rank_by_preference(
        Verdicts.from_frame(table.loc[table.index.repeat(4)]), n_resamples=200
    )
    for one, other in zip(once.standings, often.standings, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-6)


def test_a_system_that_nearly_always_loses_keeps_its_interval_and_is_told_apart():
    """Drawing questions with replacement would leave out its only win in a third of draws."""
    table = drawn_table(n=400, n_systems=4, spread=0.3)
    last = drawn_table(n=120, n_systems=2, seed=9).assign(first="s0", second="s9", outcome="first")
    last.loc[0, "outcome"] = "second"
    last["pair"] += 1000
    rows = table.to_dict("records") + last.to_dict("records")
    found = rank_by_preference(Verdicts.from_frame(type(table)(rows)), n_resamples=300)
    worst = found.standings[-1]
    assert (worst.system, worst.rank_low, worst.rank_high) == ("s9", 5, 5)
    assert (found.n_undefined, worst.low < worst.log_strength < worst.high) == (0, True)
    assert all(pair.is_separable for pair in found.pairs if pair.second == "s9")


def test_without_enough_questions_there_are_strengths_but_no_intervals():
    found = rank_by_preference(drawn(n_questions=2))
    assert found.reason == preference_ranking.TOO_FEW_QUESTIONS
    assert [each.rank for each in found.standings] == [1, 2, 3, 4, 5]
    assert {(each.low, each.tie_group) for each in found.standings} == {(None, None)}
    assert found.pairs == ()


def test_without_strengths_there_is_a_reason():
    found = rank_by_preference(verdicts(("a", "b", "first")))
    assert (found.standings, found.reason) == ((), davidson.NOT_LINKED)
    assert found.both_bad.value == 0.0


def test_both_bad_is_reported_with_its_interval():
    rows = [*times(20, "a", "b", "first"), *times(20, "b", "a", "first")]
    rows += times(10, "a", "b", "both_bad")
    found = rank_by_preference(verdicts(*rows), n_resamples=200)
    assert found.both_bad.value == pytest.approx(0.2)
    assert found.both_bad.low < 0.2 < found.both_bad.high
    assert [each.both_bad for each in found.standings] == [10, 10]
