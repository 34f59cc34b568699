"""Candidates, and BarH and SMatchToPr on scores small enough to follow by hand."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from argsum.systems import ranking as barh_system
from argsum.systems.contract import CandidateRule, pick_candidates
from argsum.systems.ranking import barh, page_rank, smatchtopr


def symmetric(c, **pairs):
    scores = np.eye(c)
    for name, score in pairs.items():
        i, j = (int(digit) for digit in name[1:])
        scores[i, j] = scores[j, i] = score
    return scores


# Arguments 0 and 1 are candidates 0 and 1; candidate 2 was generated.
MATCH = np.array(
    [
        [1.0, 0.1, 0.95],  # is candidate 0: does not vote at first
        [0.1, 1.0, 0.0],  # is candidate 1
        [0.9, 0.2, 0.3],
        [0.95, 0.2, 0.3],
        [0.1, 0.9, 0.3],
        [0.2, 0.3, 0.9],
        [0.2, 0.3, 0.91],
        [0.2, 0.3, 0.92],
        [0.8, 0.1, 0.1],  # its best is not above the threshold
    ]
)
OWN = [0, 1, None]


def test_candidates_are_ranked_by_matches_above_the_threshold():
    assert barh(MATCH, np.eye(3), own=OWN, threshold=0.856) == [2, 0, 1]
    # Candidate 2 keeps .91 and .92, candidate 0 has .95, candidate 1 has nothing left.
    assert barh(MATCH, np.eye(3), own=OWN, threshold=0.9) == [2, 0]
    # A near duplicate of a higher one goes and its arguments are matched again.
    match = MATCH.copy()
    # What candidate 2 leaves behind matches candidate 1: three votes more.
    match[5:8, 1] = 0.89
    match[0, 0] = 0.0
    between = symmetric(3, s02=0.87)
    # First round: 2 has 3, 0 has 2, 1 has 1. 0 goes with 2 ranked above it.
    assert barh(match, between, own=OWN, threshold=0.856) == [2, 1]
    # With 2 below 0 (only one vote), 2 goes, and 1 overtakes 0 by what 2 leaves.
    match[6:8, 2] = 0.0
    match[6:8, 1] = 0.0
    match[5, 1] = 0.89
    match[5, 2] = 0.9
    match[4, 0] = 0.0
    assert barh(match, between, own=OWN, threshold=0.856) == [0, 1]


def test_a_removed_candidate_still_removes_the_next_and_changes_the_order():
    # Votes 3, 2, 1; 1 is like 0, and 2 is like 1 but not like 0.
    match = np.array([[0.9, 0, 0]] * 3 + [[0, 0.9, 0]] * 2 + [[0, 0, 0.9]])
    between = symmetric(3, s01=0.87, s12=0.87)
    assert barh(match, between, own=[None] * 3, threshold=0.856) == [0]
    # 0: three votes; 1 (argument 6): two and a duplicate of 0; 2: two, which argument 6 joins
    # with those two that 1 leaves.
    match = np.zeros((7, 3))
    match[0:3, 0] = 0.9
    match[3:5, 1] = 0.95
    match[3:5, 2] = 0.87
    match[5, 2] = 0.9
    match[6] = [0.5, 1.0, 0.88]
    between = symmetric(3, s01=0.9)
    assert barh(match, between, own=[None, 6, None], threshold=0.856) == [2, 0]
    # Two scores of a pair are averaged.
    match = np.array([[0.9, 0.0], [0.9, 0.0], [0.0, 0.9]])
    between = np.array([[1.0, 0.9], [0.82, 1.0]])
    for threshold, ranked in ((0.85, [0]), (0.86, [0, 1])):
        assert barh(match, between, own=[None, None], threshold=threshold) == ranked


def test_barh_without_any_match_or_candidate():
    assert barh(np.full((3, 2), 0.5), np.eye(2), own=[None, None], threshold=0.856) == []
    assert barh(np.zeros((3, 0)), np.zeros((0, 0)), own=[], threshold=0.856) == []
    # Every argument is a candidate itself: nobody votes.
    assert barh(np.ones((2, 2)), np.eye(2), own=[0, 1], threshold=0.856) == []
    with pytest.raises(ValueError, match="2 candidates"):
        barh(np.ones((2, 2)), np.eye(3), own=[0, 1], threshold=0.5)


def test_page_rank_of_two_linked_candidates_by_hand_and_of_many():
    # Rows (1, .5) / 1.5 and (.5, 1) / 1.5; restart 3:1; x = .2 (2/3 x + 1/3 (1 - x)) + .8 · .75,
    # so x = .6 + .2 / 3 + x / 15, x = (2/3) / (14/15) = 5/7.
    found = page_rank(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.9, 0.3]))
    assert found == pytest.approx([5 / 7, 2 / 7], abs=1e-9)
    # Below the edge there are only self-links: importance is the quality.
    found = page_rank(np.array([[1.0, 0.39], [0.39, 1.0]]), np.array([0.9, 0.3]))
    assert found == pytest.approx([0.75, 0.25])
    # Many candidates get the same importance without a graph.
    generator = np.random.default_rng(4)
    vectors = generator.normal(size=(30, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores, quality = vectors @ vectors.T, generator.random(30)
    for damping in (0.2, 0.85, 0.999, 1.0):
        small = page_rank(scores, quality, damping=damping)
        large = page_rank(scores, quality, damping=damping, most_nodes=10)
        assert large == pytest.approx(small, abs=1e-10)
        assert sum(large) == pytest.approx(1)
    assert page_rank(scores, np.zeros(30), most_nodes=10) == pytest.approx(
        page_rank(scores, np.ones(30)), abs=1e-10
    )


def test_candidates_are_kept_down_the_rank_while_unlike_the_kept_ones():
    between = symmetric(4, s01=0.8, s12=0.9, s23=0.79)
    quality = np.array([0.9, 0.8, 0.7, 0.6])
    # 1 is like 0 (not below .8); 2 is like 1, which was not kept; 3 is just unlike 2.
    assert smatchtopr(between, quality, edge=0.95) == [0, 2, 3]
    assert smatchtopr(between, quality, edge=0.95, redundancy=0.79) == [0, 2]
    # Alone at the walk's end, candidate 0 keeps what it has; candidate 1 collects from 2 and 3.
    between = symmetric(4, s12=0.7, s13=0.7)
    quality = np.array([0.82, 0.81, 0.81, 0.81])
    assert [smatchtopr(between, quality, damping=damping)[0] for damping in (0.2, 0.0)] == [1, 0]


def test_ties_and_edges_of_smatchtopr():
    assert smatchtopr(np.zeros((0, 0)), np.zeros(0)) == []
    assert smatchtopr(np.eye(3), np.zeros(3)) == [0, 1, 2]
    assert smatchtopr(np.eye(2), np.array([np.nan, 0.5])) == [1, 0]
    assert smatchtopr(np.ones((3, 3)), np.array([0.5, 0.9, 0.7])) == [1]
    with pytest.raises(ValueError, match="2 qualities"):
        smatchtopr(np.eye(3), np.zeros(2))
    # Two scores of a pair are averaged before the edge.
    between, quality = np.array([[1.0, 0.9], [0.6, 1.0]]), np.array([0.9, 0.8])
    assert smatchtopr(between, quality, redundancy=0.76) == [0, 1]
    assert smatchtopr(between, quality, redundancy=0.75) == [0]


GOOD = "Night buses keep tired people safe"  # six words
SHORT = "Night buses help"
PRONOUN = "They keep tired people safe at night"
LONG = " ".join(["bus"] * 16)
TWO = "Buses help people. They keep the streets safe."


def pick(arguments, quality, fill_up=0.0, rule=barh_system.SMATCHTOPR_RULE):
    return pick_candidates(arguments, np.array(quality, dtype=float), rule=rule, fill_up=fill_up)


def test_one_argument():
    for text, quality, *expected in (
        (GOOD, 0.81, True, True),
        (GOOD, 0.8, True, False),  # above, not at
        (GOOD, 0.7, False, False),
        (SHORT, 0.9, True, False),
        (PRONOUN, 0.9, False, False),
        ("I keep tired people safe at night", 0.9, False, False),
        ("As buses run, people get home safe", 0.9, False, False),
        (" ".join(["bus"] * 15), 0.9, True, True),
        (LONG, 0.9, False, True),
        (" ".join(["bus"] * 19), 0.9, False, True),
        (" ".join(["bus"] * 20), 0.9, False, False),
        (TWO, 0.9, False, False),
        ("bus bus bus bus bus", 0.9, True, False),  # five words are too few for SMatchToPr
        (GOOD, np.nan, False, False),
    ):
        rules = (barh_system.BARH_RULE, barh_system.SMATCHTOPR_RULE)
        found = [pick([text], [quality], rule=rule) == [0] for rule in rules]
        assert found == expected, (text, quality)


def test_quality_alone_fills_up_first_then_form_and_several_sentences_never():
    arguments = [TWO, SHORT, GOOD, PRONOUN, GOOD + "!", GOOD + " again", LONG * 2]
    quality = [0.99, 0.95, 0.5, 0.97, 0.6, 0.9, 0.96]
    order = [5, 4, 2, 3, 6, 1]
    for n in range(1, 7):
        assert pick(arguments, quality, fill_up=n / 7) == order[:n]
    assert pick(arguments, quality, fill_up=1.0) == order
    # What qualifies stays in the order given and a share fills up.
    # What qualifies is never cut.
    assert pick([GOOD, GOOD + " x", GOOD + " y"], [0.85, 0.99, 0.9], fill_up=0.1) == [0, 1, 2]
    # Halves are rounded to the even number.
    for n, filled in ((45, 4), (86, 9), (35, 4)):
        assert len(pick([GOOD] * n, [0.1] * n, fill_up=0.1)) == filled
    # Of equal quality the earlier comes first, and none comes last.
    assert pick([GOOD] * 4, [np.nan, 0.3, 0.3, 0.4], fill_up=1.0) == [3, 1, 2, 0]
    assert pick([], [], fill_up=0.5) == []
    with pytest.raises(ValueError, match="2 arguments but 1"):
        pick([GOOD, GOOD], [0.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        pick([GOOD], [0.5], fill_up=1.1)


@given(
    st.lists(
        st.tuples(st.sampled_from([GOOD, SHORT, PRONOUN, LONG, TWO]), st.floats(0, 1)), max_size=30
    ),
    st.floats(0, 1),
)
def test_every_candidate_is_one_sentence_and_there_once(pairs, fill_up):
    texts, quality = [text for text, _ in pairs], [value for _, value in pairs]
    rule = CandidateRule(min_tokens=3, max_tokens=15, min_quality=0.5, bars_pronouns=True)
    found = pick(texts, quality, fill_up=fill_up, rule=rule)
    assert len(set(found)) == len(found)
    assert all(texts[place] != TWO for place in found)
    least = min(round(fill_up * len(texts)), sum(text != TWO for text in texts))
    assert len(found) >= least
    assert set(pick(texts, quality, rule=rule)) <= set(found)
