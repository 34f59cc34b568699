"""The checklist: every point passes and fails for its own reason and shows where."""

from hypothesis import example, given, strategies as st

from annotation.answers.methods.checklist import CHECKS, check_answer
from tests.annotation.answer_texts import ARGUMENTS, GOOD, answers


def check(text, arguments=ARGUMENTS):
    return {each.name: each for each in check_answer(text, arguments, "oak", "elm")}


def shown(text, found):
    return [text[start:end] for start, end in found.places]


def written(summary, aspects, choice="Oak", words=8):
    """An answer with so many words in its summary and in each of its aspects."""
    body = "\n".join(
        f"- Aspect: {' '.join(f'w{line}x{place}' for place in range(words - 1))} [1]"
        for line in range(aspects)
    )
    said = " ".join(["Wood"] * summary)
    return f"Summary: {said}.\n\nMain aspects:\n{body}\n\nBest option: {choice}"


def test_all_points_in_their_order():
    found = check_answer(GOOD, ARGUMENTS, "oak", "elm")
    assert [each.name for each in found] == list(CHECKS)
    assert list(CHECKS.values()) == list(range(len(CHECKS)))
    failed = {each.name for each in found if each.is_passed is False}
    assert failed == {"summary_length", "body_length", "length", "argument_count"}
    passed = {"aspects_named", "choice", "citations_exist", "generated_marked", "not_copied"}
    assert {each.name for each in found if each.is_passed} == {*passed, "repetition"}
    # Citations, headings and the closing list are no words of a section; each aspect counts
    # with its name: nine, ten and ten.
    assert [each.counted for each in found[:2]] == ["15 words", "29 words"]


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
    # About 300 in all.
    for words, is_passed in [(224, False), (225, True), (375, True), (376, False)]:
        assert check("wood [1] " * words)["length"].is_passed is is_passed


def test_a_choice_of_one_word():
    for choice, counted in {
        **dict.fromkeys(("Oak", "**oak**.", "The oak", "Oaks", "Subjective"), "1 word"),
        **dict.fromkeys(("Depends", "Both", "Preference-based [generated]"), "1 word"),
        "Maple": "1 word, names neither object",
        "Solid oak": "2 words",
        "It depends on the room": "4 words",
    }.items():
        text = written(10, 3, choice)
        found = check(text)["choice"]
        assert (found.is_passed, found.counted) == (counted == "1 word", counted), choice
        assert shown(text, found)[0].strip("*.") in choice
    # A name of several words is one; what both names share names neither, and declines nothing.
    text = "Summary: x.\nMain aspects:\n- A: b\nBest option: {}"
    for choice in ("Google search", "Google", "Yahoo", "search", "Google web search"):
        found = check_answer(text.format(choice), {}, "Google search", "Yahoo search")[3]
        assert found.name == "choice"
        assert found.is_passed is (choice in ("Google search", "Google", "Yahoo")), choice
    # It may stand below its heading, and must stand somewhere.
    below = "**Summary:** x.\n**Best Option:**\n\nElm\n\nUsed Arguments:\n1. [1]"
    assert check(below)["choice"].is_passed
    assert check("**Summary:** x.\n**Best Option:**")["choice"].counted == "no choice"
    assert check("**Summary:** x.\n**Main aspects:** y")["choice"].is_passed is False


def test_every_aspect_has_a_name():
    text = "Main aspects:\n- Weight: oak is heavy\n"
    one = check(text)["aspects_named"]
    assert (one.is_passed, one.places) == (False, ())
    text += "- Elm bends well\n- **Price:**\n  - Elm is cheap"
    found = check(text)["aspects_named"]
    assert (found.is_passed, found.counted) == (False, "2 named, 1 without a name")
    assert shown(text, found) == ["Elm bends well"]
    assert check(text.replace("Elm bends", "Form: Elm bends"))["aspects_named"].is_passed


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
        assert found.wanted == "15 arguments: 19 are listed, others marked [generated]"


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
    # Without headings, bullets are the aspects.
    found = check("Oak or elm?\n- Oak is heavy [3]\n- Elm bends")
    assert found["generated_marked"].counted == "1 of 2 aspects without a source"
    assert found["summary_length"].is_passed is None


def test_nothing_is_copied_whole():
    # Where in the sentence the copy begins, None if there is none; the last is too short to be
    # put otherwise.
    for sentence, copied in {
        "oak floors LAST much longer, than elm floors ever will": 0,
        "We hear that oak floors last much longer than elm floors ever will": 13,
        "Oak floors last much longer [1] than elm floors ever will": 0,
        "Oak floors last far longer than elm floors ever will": 0,
        "Floors made of oak outlast those made of elm": None,
        "Oak is heavier": None,
    }.items():
        text = f"Summary: Wood.\nMain aspects:\n- {sentence}\nBest option: Oak"
        found = check(text)["not_copied"]
        assert found.is_passed is (copied is None), sentence
        assert found.counted == ("0 copied" if copied is None else "1 copied (1)")
        assert shown(text, found) == ([] if copied is None else [sentence[copied:]])
    # The closing list may copy.
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
