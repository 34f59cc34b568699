"""Lines side by side: nothing is left out, and rewritten lines find each other."""

from hypothesis import given
from hypothesis import strategies as st

from annotation.editing.methods.lines import MOST_PAIRS, align_lines

WORDS = st.sampled_from(["tea", "coffee", "is", "warm", "cold", "and", ""])
TEXTS = st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=8).map("\n".join)


@given(TEXTS, TEXTS)
def test_every_line_of_both_texts_is_there_once_and_in_order(before, after):
    pairs = align_lines(before, after)
    assert "\n".join(old for old, _new in pairs if old is not None) == before
    assert "\n".join(new for _old, new in pairs if new is not None) == after
    assert (None, None) not in pairs


@given(TEXTS)
def test_a_text_is_the_same_as_itself(text):
    assert all(old == new for old, new in align_lines(text, text))


def test_a_rewritten_line_is_found_beside_new_and_removed_ones():
    before = "- Speed: coffee works at once [2].\n- Price: tea is cheaper.\n- Smell."
    after = (
        "- Origin: both come from far.\n- Speed: coffee works at once [2, 3].\n"
        "- Price: tea is far cheaper [4]."
    )
    assert align_lines(before, after) == [
        (None, "- Origin: both come from far."),
        ("- Speed: coffee works at once [2].", "- Speed: coffee works at once [2, 3]."),
        ("- Price: tea is cheaper.", "- Price: tea is far cheaper [4]."),
        ("- Smell.", None),
    ]


def test_lines_with_little_in_common_are_not_taken_for_one_another():
    assert align_lines("a b c d e", "v w x y e") == [("a b c d e", None), (None, "v w x y e")]


def test_moved_lines_are_removed_and_added():
    assert align_lines("one two\nthree four", "three four\none two") == [
        (None, "three four"),
        ("one two", "one two"),
        ("three four", None),
    ]


def test_very_large_blocks_are_not_searched():
    side = int(MOST_PAIRS**0.5) + 1
    before = "\n".join(f"old line {n}" for n in range(side))
    after = "\n".join(f"new line {n}" for n in range(side))
    assert all(None in pair for pair in align_lines(before, after))
