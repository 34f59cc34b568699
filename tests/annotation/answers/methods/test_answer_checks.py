"""The checklist: every point passes and fails for its own reason and shows where."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.answers.methods.checklist import CHECKS, check_answer
from tests.annotation.answer_texts import ARGUMENTS, GOOD, answers


def check(text, arguments=ARGUMENTS):
    return {each.name: each for each in check_answer(text, arguments, "oak", "elm")}


def shown(text, found):
    return [text[start:end] for start, end in found.places]


def written(summary, aspects, choice="Oak", words=8):
    """An answer with so many words in its summary and in each of its aspects."""
    lines = [
        f"- Aspect: {' '.join(f'w{line}x{place}' for place in range(words - 1))} [1]"
        for line in range(aspects)
    ]
    body = "\n".join(lines)
    said = " ".join(["Wood"] * summary)
    return f"Summary: {said}.\n\nMain aspects:\n{body}\n\nBest option: {choice}"


def test_all_points_in_their_order():
    found = check_answer(GOOD, ARGUMENTS, "oak", "elm")
    assert [each.name for each in found] == list(CHECKS)
    assert list(CHECKS.values()) == list(range(len(CHECKS)))
    assert {each.name: each.is_passed for each in found} == {
        "summary_length": False,
        "body_length": False,
        "aspects_named": True,
        "choice": True,
        "length": False,
        "argument_count": False,
        "citations_exist": True,
        "generated_marked": True,
        "not_copied": True,
        "repetition": True,
    }


def test_a_summary_of_about_100_words_and_a_body_of_about_200():
    for words, is_passed in [(74, False), (75, True), (125, True), (126, False)]:
        text = written(words, 4)
        found = check(text)["summary_length"]
        assert (found.is_passed, found.counted) == (is_passed, f"{words} words")
        assert found.wanted == "about 100 words"
        assert [len(each.split()) for each in shown(text, found)] == [words]
    for words, is_passed in [(14, False), (15, True), (25, True), (26, False)]:
        found = check(written(10, 10, words=words))["body_length"]
        assert (found.is_passed, found.counted) == (is_passed, f"{10 * words} words")


def test_citations_headings_and_the_closing_list_are_no_words_of_a_section():
    found = check(GOOD)
    assert found["summary_length"].counted == "15 words"
    # Each with the name of its aspect: nine, ten and ten.
    assert found["body_length"].counted == "29 words"


def test_about_300_words_in_all():
    assert check("wood " * 225)["length"].is_passed
    assert check("wood [1] " * 375)["length"].is_passed
    assert not check("wood " * 224)["length"].is_passed
    assert not check("wood " * 376)["length"].is_passed


@pytest.mark.parametrize(
    ("choice", "is_passed", "counted"),
    [
        ("Oak", True, "1 word"),
        ("**oak**.", True, "1 word"),
        ("The oak", True, "1 word"),
        ("Oaks", True, "1 word"),
        ("Subjective", True, "1 word"),
        ("Depends", True, "1 word"),
        ("Both", True, "1 word"),
        ("Preference-based [generated]", True, "1 word"),
        ("Maple", False, "1 word, names neither object"),
        ("Solid oak", False, "2 words"),
        ("It depends on the room", False, "4 words"),
    ],
)
def test_a_choice_of_one_word(choice, is_passed, counted):
    text = written(10, 3, choice)
    found = check(text)["choice"]
    assert (found.is_passed, found.counted) == (is_passed, counted)
    assert shown(text, found)[0].strip("*.") in choice


def test_a_name_of_several_words_is_one_word():
    text = "Summary: x.\nMain aspects:\n- A: b\nBest option: {}"
    for choice, is_passed in [
        ("Google search", True),
        ("Google", True),
        ("Yahoo", True),
        ("search", True),
        ("Google web search", False),
    ]:
        found = check_answer(text.format(choice), {}, "Google search", "Yahoo search")[3]
        assert found.name == "choice"
        # What both names share names neither, and declines nothing.
        assert found.is_passed is (is_passed and choice != "search"), choice


def test_the_choice_may_stand_below_its_heading_and_must_stand_somewhere():
    below = "**Summary:** x.\n**Best Option:**\n\nElm\n\nUsed Arguments:\n1. [1]"
    assert check(below)["choice"].is_passed
    assert check("**Summary:** x.\n**Best Option:**")["choice"].counted == "no choice"
    assert check("**Summary:** x.\n**Main aspects:** y")["choice"].is_passed is False


def test_every_aspect_has_a_name():
    text = (
        "Main aspects:\n- Weight: oak is heavy\n- Elm bends well\n- **Price:**\n  - Elm is cheap"
    )
    found = check(text)["aspects_named"]
    assert (found.is_passed, found.counted) == (False, "2 named, 1 without a name")
    assert shown(text, found) == ["Elm bends well"]
    assert check(text.replace("Elm bends", "Form: Elm bends"))["aspects_named"].is_passed
    one = check("Main aspects:\n- Weight: oak is heavy")["aspects_named"]
    assert (one.is_passed, one.places) == (False, ())


def test_fifteen_arguments():
    listed = {number: f"Argument {number}" for number in range(1, 20)}
    for text, counted, is_passed in [
        ("Wood [1-13]", "13 cited and 0 generated", True),
        ("Wood [1-12]", "12 cited and 0 generated", False),
        ("Wood [1-17] wood [17, 30]", "17 cited and 0 generated", True),
        ("Wood [1-18]", "18 cited and 0 generated", False),
        ("Wood [1-10] wood [generated] wood [generated x4]", "10 cited and 5 generated", True),
        ("Used arguments:\n1. [1-15]", "0 cited and 0 generated", False),
    ]:
        found = check(text, listed)["argument_count"]
        assert (found.counted, found.is_passed) == (counted, is_passed)
        assert found.wanted == "15 arguments: 19 are listed, any others say [generated]"


def test_citations_exist():
    text = "Wood [1] and wood [4, 9] and wood [12-11]."
    found = check(text)["citations_exist"]
    assert found.is_passed is False
    assert found.counted == "no argument 9; 1 malformed"
    assert shown(text, found) == ["[4, 9]", "[12-11]"]
    assert check("Wood.")["citations_exist"].is_passed is None
    assert check("Wood [1].", {})["citations_exist"].is_passed is False


def test_what_is_not_cited_is_marked_as_generated():
    text = "Main aspects:\n- Weight: oak is heavy [3]\n- Form: elm bends\n- Price: low [generated]"
    found = check(text)["generated_marked"]
    assert (found.is_passed, found.counted) == (False, "1 of 3 aspects without a source")
    assert shown(text, found) == ["Form: elm bends"]
    assert check("Oak is heavy.")["generated_marked"].is_passed is None


def test_without_headings_bullets_are_the_aspects():
    found = check("Oak or elm?\n- Oak is heavy [3]\n- Elm bends")
    assert found["generated_marked"].counted == "1 of 2 aspects without a source"
    assert found["summary_length"].is_passed is None


@pytest.mark.parametrize(
    ("sentence", "copied"),
    [
        ("oak floors LAST much longer, than elm floors ever will", 0),
        ("We hear that oak floors last much longer than elm floors ever will", 13),
        ("Oak floors last much longer [1] than elm floors ever will", 0),
        ("Oak floors last far longer than elm floors ever will", 0),
        ("Floors made of oak outlast those made of elm", None),
        # Too short to be put otherwise.
        ("Oak is heavier", None),
    ],
)
def test_nothing_is_copied_whole(sentence, copied):
    """`copied` is where in the sentence the copy begins, None if there is none."""
    text = f"Summary: Wood.\nMain aspects:\n- {sentence}\nBest option: Oak"
    found = check(text)["not_copied"]
    assert found.is_passed is (copied is None)
    assert found.counted == ("0 copied" if copied is None else "1 copied (1)")
    assert shown(text, found) == ([] if copied is None else [sentence[copied:]])


def test_the_closing_list_may_copy():
    assert check(f"{GOOD}\n3. {ARGUMENTS[1]}")["not_copied"].is_passed
    assert check("Summary: x", {})["not_copied"].is_passed is None


def test_repetition():
    text = "- Oak lasts a great deal longer [1].\n- Elm bends.\n- Oak lasts a great deal more [2]."
    found = check(text)["repetition"]
    assert (found.is_passed, found.counted) == (False, "2 nearly the same")
    assert shown(text, found) == [
        "Oak lasts a great deal longer [1].",
        "Oak lasts a great deal more [2].",
    ]
    # Short statements may differ in one word.
    assert check("- Oak is quite heavy.\n- Elm is quite heavy.")["repetition"].is_passed


@given(
    text=answers,
    arguments=st.dictionaries(st.integers(1, 9), st.text(max_size=40), max_size=3),
    objects=st.tuples(st.text(max_size=8), st.text(max_size=8)),
)
# Nothing but white space stands below the heading.
@example(text="Comparison of oak and elm:\n", arguments={}, objects=("", ""))
@example(text="Summary: \n\nBest option:  \n", arguments={}, objects=("", ""))
def test_any_text_can_be_checked(text, arguments, objects):
    found = check_answer(text, arguments, *objects)
    assert [each.name for each in found] == list(CHECKS)
    for each in found:
        assert each.is_passed in (True, False, None)
        assert each.counted
        assert each.wanted
        assert all(0 <= start <= end <= len(text) for start, end in each.places)
