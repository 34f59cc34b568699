"""Draws of a scoring round: sizes, probabilities, orders, repeats."""

from collections import Counter

from benchmark.scoring.methods import draw_answers, draw_overlap
from cqa_site.rounds.queue import LEAST_GAP, choose_repeat, own_order, repeat_due

STRATA = {number: "ab"[number % 2] for number in range(1, 21)}


def test_a_draw_takes_all_or_as_many_of_every_stratum_as_it_has():
    drawn = draw_answers(STRATA, None, seed=3)
    assert sorted(drawn) == sorted(STRATA)
    assert set(drawn.values()) == {1.0}
    drawn = draw_answers(STRATA, 8, seed=3)
    assert Counter(STRATA[each] for each in drawn) == {"a": 4, "b": 4}
    assert set(drawn.values()) == {0.4}
    assert list(drawn) == list(draw_answers(STRATA, 8, seed=3))
    assert list(drawn) != list(draw_answers(STRATA, 8, seed=4))
    strata = {1: "small"} | dict.fromkeys(range(2, 12), "large")
    drawn = draw_answers(strata, 6, seed=1)
    assert drawn[1] == 1.0
    assert sorted(drawn.values()) == [0.5] * 5 + [1.0]


def test_the_stored_probability_is_the_share_of_draws():
    """Over many seeds each answer is drawn as often as its probability says."""
    seeds = 400
    counts = Counter(each for seed in range(seeds) for each in draw_answers(STRATA, 5, seed=seed))
    wanted = draw_answers(STRATA, 5, seed=0)
    assert len(wanted) == 5
    shares = {STRATA[answer]: probability for answer, probability in wanted.items()}
    for answer, stratum in STRATA.items():
        assert abs(counts[answer] / seeds - shares[stratum]) < 0.08


def test_overlap_is_a_share_rounded_up_but_not_by_rounding_errors():
    assert len(draw_overlap(range(10), 0.3, seed=1)) == 3
    assert len(draw_overlap(range(10), 0.31, seed=1)) == 4
    assert draw_overlap(range(10), 0, seed=1) == set()
    assert len(draw_overlap(range(10), 1, seed=1)) == 10


def test_each_rater_has_an_order_of_their_own_that_gaps_do_not_change():
    order = own_order(range(50), seed=1, rater=7)
    assert order != own_order(range(50), seed=1, rater=8)
    assert sorted(order) == list(range(50))
    rest = [each for each in range(50) if each % 3]
    assert own_order(rest, seed=1, rater=7) == [each for each in order if each % 3]


def test_repeats_keep_up_are_made_up_for_at_the_end_and_come_late_and_once():
    assert not repeat_due(LEAST_GAP, 0, 0.5)
    assert repeat_due(10, 0, 0.2)
    assert repeat_due(10, 1, 0.2)
    assert not repeat_due(10, 2, 0.2)
    assert not repeat_due(14, 2, 0.2)
    assert repeat_due(14, 2, 0.2, is_last=True)
    assert not repeat_due(100, 0, 0)
    scored = list(range(100, 112))
    again = choose_repeat(scored, set(), seed=1, rater=1)
    assert again in scored[:-LEAST_GAP]
    assert choose_repeat(scored, set(scored[:-LEAST_GAP]), seed=1, rater=1) is None
    assert choose_repeat(scored[:LEAST_GAP], set(), seed=1, rater=1) is None
