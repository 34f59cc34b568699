import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.faithfulness.methods.faithfulness import MODES, measure
from annotation.faithfulness.methods.segment_matches import match_segments, word_distance

ARGUMENTS = {
    1: "Tea is calmer than coffee.",
    2: "Coffee wakes people up at once.",
    3: "Tea costs far less than coffee does.",
}
PIECES = st.sampled_from(
    [
        "Tea is calmer than coffee",
        "Coffee wakes people",
        "Costs: Tea costs less",
        " [1]",
        " [2, 3]",
        " [1-3]",
        " [9]",
        " [generated]",
        ". ",
        "\n- ",
        "\n\nMain Aspects:\n",
        " and ",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@given(TEXTS)
def test_the_best_match_is_what_the_figures_keep(text):
    kept = measure(text, ARGUMENTS, {}, mode="sound")
    measured = [each for each in match_segments(text, ARGUMENTS, mode="sound") if each.cited]
    assert [each.cited[0].jaccard for each in measured] == pytest.approx(kept.jaccard_segments)
    assert [min(match.levenshtein for match in each.cited) for each in measured] == pytest.approx(
        kept.levenshtein
    )


@given(TEXTS)
def test_paper_segments_are_held_against_every_argument(text):
    kept = measure(text, ARGUMENTS, {}, mode="paper")
    matched = match_segments(text, ARGUMENTS, mode="paper")
    assert [each.closest.jaccard for each in matched] == pytest.approx(kept.jaccard_segments)
    assert all(each.place is None and not each.cited for each in matched)


@given(st.text(max_size=200), st.sampled_from(MODES))
def test_any_text_can_be_matched(text, mode):
    for each in match_segments(text, ARGUMENTS, mode=mode):
        assert each.closest is not None
        if each.place:
            start, end = each.place
            assert 0 <= start < end <= len(text)


def test_the_closest_argument_may_be_one_that_is_not_cited():
    (found,) = match_segments("Tea costs far less than coffee [1].", ARGUMENTS, mode="sound")
    assert (found.cited[0].number, found.closest.number, found.has_closer) == (1, 3, True)
    assert found.numbers == (1,)
    assert not found.is_generated


def test_among_equals_the_first_number_wins_and_a_cited_one_is_not_closer():
    same = {1: "Tea is calm.", 2: "Tea is calm."}
    (found,) = match_segments("Tea is calm [2].", same, mode="sound")
    assert (found.closest.number, found.cited[0].number) == (1, 2)
    assert not found.has_closer


def test_without_arguments_nothing_is_close():
    (found,) = match_segments("Tea is calm and cheap [1].", {}, mode="sound")
    assert (found.cited, found.closest, found.has_closer) == ((), None, False)


@pytest.mark.parametrize(
    ("before", "after", "distance"),
    [
        ("", "", 0),
        ("", "a b", 2),
        ("a b c", "a c", 1),
        ("Tea wins", "tea wins", 1),
        ("a  b", "a\nb", 0),
    ],
)
def test_words_to_change(before, after, distance):
    assert word_distance(before, after) == distance
    assert word_distance(after, before) == distance
