import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from benchmark.preferences.methods.davidson import Strengths
from benchmark.preferences.methods.pair_planning import (
    FEWER,
    LINKS,
    UNCERTAIN,
    KnownPair,
    PlanError,
    draw_controls,
    plan_pairs,
)
from benchmark.preferences.methods.pairs import Candidate, balance_sides


def answers(n_systems=5, n_questions=12, per_cell=1):
    return [
        Candidate(answer=f"{system}/{question}/{n}", question=question, system=f"s{system}")
        for system in range(n_systems)
        for question in range(n_questions)
        for n in range(per_cell)
    ]


def systems_of(pair):
    return frozenset((pair.left_system, pair.right_system))


def is_linked(pairs, names):
    seen, new = set(), {next(iter(names))}
    while new:
        seen |= new
        new = {each for pair in pairs if systems_of(pair) & seen for each in systems_of(pair)}
        new -= seen
    return seen == set(names)


def test_every_pair_is_two_answers_to_one_question_and_a_plan_the_same_for_a_seed():
    candidates = {each.answer: each for each in answers(per_cell=2)}
    for pair in plan_pairs(list(candidates.values()), 60, seed=1).pairs:
        left, right = candidates[pair.left], candidates[pair.right]
        assert left.question == right.question == pair.question
        assert (left.system, right.system) == (pair.left_system, pair.right_system)
        assert left.system != right.system
    candidates = answers()
    plan = plan_pairs(candidates, 40, seed=7)
    assert plan == plan_pairs(candidates[::-1], 40, seed=7)
    assert plan != plan_pairs(candidates, 40, seed=8)


def test_the_first_pairs_link_all_systems_by_the_least():
    for n_systems in (2, 3, 7, 12):
        plan = plan_pairs(answers(n_systems), 40, seed=3)
        names = {f"s{each}" for each in range(n_systems)}
        assert is_linked(plan.pairs[: n_systems - 1], names), n_systems
        whys = [each.why for each in plan.pairs]
        assert whys == [LINKS] * (n_systems - 1) + [UNCERTAIN] * (len(whys) - n_systems + 1)
    earlier = plan_pairs(answers(6), 5, seed=1)
    assert len(earlier.pairs) == 5
    with pytest.raises(PlanError, match="5 pairs are needed to link 6 systems, more than 4"):
        plan_pairs(answers(6), 4, seed=1)
    plan = plan_pairs(answers(6), 3, seed=2, asked={each.key for each in earlier.pairs})
    assert {each.why for each in plan.pairs} == {UNCERTAIN}
    lonely = Candidate(answer="x", question="other", system="yahoo")
    with pytest.raises(PlanError, match="both groups: s0, s1; yahoo"):
        plan_pairs([*answers(2), lonely], 5, seed=1)
    with pytest.raises(PlanError, match="at least two systems"):
        plan_pairs([lonely], 5, seed=1)


def test_no_pair_comes_twice_and_systems_questions_and_answers_take_turns():
    candidates = answers(4, per_cell=2)
    asked = {each.key for each in plan_pairs(candidates, 100, seed=1).pairs}
    assert len(asked) == 100
    assert not asked & {
        each.key for each in plan_pairs(candidates, 100, seed=1, asked=asked).pairs
    }
    few = answers(3, n_questions=2)
    plan = plan_pairs(few, 100, seed=1)
    assert (len(plan.pairs), plan.reason) == (6, FEWER)
    asked = {each.key for each in plan.pairs}
    assert plan_pairs(few, 100, seed=1, asked=asked).pairs == ()
    pairs = plan_pairs(answers(5, n_questions=30), 100, seed=1).pairs
    assert set(Counter(map(systems_of, pairs)).values()) == {10}
    pairs = plan_pairs(answers(4, n_questions=10, per_cell=2), 60, seed=1).pairs
    assert set(Counter(each.question for each in pairs).values()) == {6}
    met = Counter((systems_of(each), each.question) for each in pairs)
    assert set(met.values()) == {1}
    shown = Counter(answer for each in pairs for answer in each.key)
    assert max(shown.values()) - min(shown.values()) <= 1


def test_open_pairs_come_first_and_what_was_compared_often_later():
    strengths = Strengths(
        systems=("s0", "s1", "s2", "s3"), log_strengths=(3.0, 2.9, -2.9, -3.0), nu=0.5
    )
    plan = plan_pairs(answers(4, n_questions=100), 120, seed=1, strengths=strengths)
    counts = Counter(map(systems_of, plan.pairs))
    near = counts[frozenset(("s0", "s1"))] + counts[frozenset(("s2", "s3"))]
    assert near > 60
    # What lies far apart tells little, but only it tells how far.
    assert near < sum(counts.values())
    asked = {each.key for each in plan_pairs(answers(2, 30), 30, seed=1).pairs}
    plan = plan_pairs(answers(3, 60), 30, seed=1, asked=asked)
    counts = Counter(map(systems_of, plan.pairs))
    assert counts[frozenset(("s0", "s1"))] == 0


@settings(max_examples=60)
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")).filter(
            lambda pair: pair[0] != pair[1]
        ),
        max_size=60,
    ),
    seed=st.integers(0, 1000),
)
def test_every_system_and_every_two_stand_left_as_often_as_right(pairs, seed):
    turned = balance_sides(pairs, random.Random(seed))
    shown = [pair[::-1] if turn else pair for pair, turn in zip(pairs, turned, strict=True)]
    lead = Counter()
    for left, right in shown:
        lead[left] += 1
        lead[right] -= 1
        lead[left, right] += 1
        lead[right, left] -= 1
    assert all(abs(each) <= 1 for each in lead.values())


def test_sides_are_left_to_chance():
    sides = {tuple(balance_sides([("a", "b")] * 4, random.Random(seed))) for seed in range(40)}
    assert len(sides) == 6


def test_controls_show_the_better_answer_on_both_sides_alike_or_cannot_be_drawn():
    known = [
        KnownPair(question=n, first=f"a{n}", second=f"b{n}", outcome=outcome)
        for n, outcome in enumerate(["first", "second", "tie", "both_bad"] * 5)
    ]
    drawn = draw_controls(known, 20, seed=1)
    expected = Counter(each.expected for each in drawn)
    assert expected == {"left": 5, "right": 5, "tie": 5, "both_bad": 5}
    better = {
        each.question: each.first if each.outcome == "first" else each.second
        for each in known
        if each.outcome in ("first", "second")
    }
    for each in drawn:
        if each.expected in ("left", "right"):
            assert getattr(each, each.expected) == better[each.question]
    assert drawn == draw_controls(known[::-1], 20, seed=1)
    assert len({each.question for each in draw_controls(known, 6, seed=2)}) == 6
    known = [KnownPair(question=1, first="a", second="b", outcome="first")]
    with pytest.raises(PlanError, match="2 control pairs were requested, but only 1 are known"):
        draw_controls(known, 2, seed=1)
    with pytest.raises(PlanError, match="not 'left'"):
        draw_controls([replace(known[0], outcome="left")], 1, seed=1)
