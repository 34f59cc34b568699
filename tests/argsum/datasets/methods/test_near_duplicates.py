"""Form letters among comments: found, nothing else in their group, in several languages."""

from random import Random

import pytest

from argsum.datasets.methods.near_duplicates import (
    LEAST_SHARED,
    find_near_duplicates,
    is_long_enough,
    plain_text,
    shared_of,
    shingles_of,
)
from benchmarks.near_duplicates import letters, make_set, measure, vary
from tests.lengths import mostly

LETTER = (
    "The pool in Harbour Lane must stay open because there is no other place in the east of the "
    "town where children can learn to swim. Please vote against the closure."
)


@pytest.mark.parametrize("language", mostly(sorted(letters()), "de", "ja"))
def test_variations_of_a_letter_are_found_and_nothing_else(language):
    measured = measure(make_set(language))
    assert measured.found >= 0.99
    assert (measured.false, measured.elsewhere) == (0, 0)


@pytest.mark.long
def test_other_draws_and_heavier_changes():
    for seed in range(2, 7):
        for language in letters():
            measured = measure(make_set(language, seed=seed, times=2))
            assert (measured.found >= 0.95, measured.false) == (True, 0), (language, seed)


def test_every_member_shares_enough_with_the_centre():
    texts = make_set("de", 200, times=2).texts
    groups = find_near_duplicates(texts)
    assert groups == find_near_duplicates(list(texts))
    for group in groups:
        centre = shingles_of(plain_text(texts[group.centre]))
        for member, shared in zip(group.members, group.shared, strict=True):
            own = shingles_of(plain_text(texts[member]))
            assert shared == shared_of(centre, own) >= LEAST_SHARED
    # Equal letters are one group whatever their case and signs.
    texts = [LETTER, "Something else.", LETTER.upper(), LETTER.replace(" ", "\n ")]
    (group,) = find_near_duplicates(texts)
    assert (group.centre, group.members, group.shared) == (0, (0, 2, 3), (1.0, 1.0, 1.0))
    # A comment that quotes the letter has a voice of its own.
    own = (
        "I have swum there since I was six and nobody can tell me that the heating is to blame. "
        "It was warm enough when the men from the works still looked after it on Sundays."
    )
    assert find_near_duplicates([LETTER, LETTER, f"{LETTER[:90]} {own}"])[0].members == (0, 1)


def test_later_letters_join_the_group_that_is_there():
    draw = Random(3)
    first = [vary(letters()["en"], draw) for _copy in range(20)]
    (group,) = find_near_duplicates(first)
    later = [*first, *(vary(letters()["en"], draw) for _copy in range(10)), "I like the pool."]
    settled = frozenset(group.members)
    (joined,) = find_near_duplicates(later, known=[group.centre], settled=settled)
    assert (joined.centre, joined.members) == (group.centre, tuple(range(20, 30)))
    everything = settled | set(joined.members)
    assert not find_near_duplicates(later, known=[group.centre], settled=frozenset(everything))
    # A chain of likenesses is no group.
    words = [f"word{number}more" for number in range(60)]
    chain = [" ".join(words[start : start + 20]) for start in range(0, 41, 8)]
    for group in find_near_duplicates(chain):
        centre = shingles_of(chain[group.centre])
        assert all(shared_of(centre, shingles_of(chain[at])) >= 0.5 for at in group.members)
        assert len(group.members) < len(chain)
    # Short comments are different voices.
    assert find_near_duplicates(["Very good."] * 50 + ["very good!"] * 50) == []
    assert not is_long_enough(plain_text("The staff were very friendly and helpful. " * 2))
    assert is_long_enough(plain_text(LETTER))
    # Thirty-four characters say in Japanese what takes a hundred letters.
    assert is_long_enough("公" * 34)
    assert not is_long_enough("公" * 33)


def test_progress_is_told_in_pieces():
    seen = []
    texts = [f"{LETTER} {number * 7919} {LETTER[number % 40 :]}" for number in range(600)]
    find_near_duplicates(texts, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 600), (500, 600)]
