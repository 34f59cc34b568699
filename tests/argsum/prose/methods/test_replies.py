"""Sentences read from replies: what each cites, and which rule it breaks."""

import json

import pytest

from argsum.prose.methods.replies import (
    EMPTY,
    LONGEST_SENTENCE,
    REPEATED,
    TOO_LONG,
    TOO_MANY,
    UNCITED,
    UNKNOWN,
    has_new_number,
    numbers_in,
    read_sentences,
    sentences_schema,
)
from cqa_site.judging.extraction import ReplyNotUsable


def read(reply, *, statements=8, most=3, words=10, finish="stop", refusal=""):
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return read_sentences(
        text, finish, statements=statements, most=most, words=words, refusal=refusal
    )


def one(text="Staff are kind.", cites=(1,)):
    (sentence,) = read({"sentences": [{"text": text, "cites": list(cites)}]})
    return sentence


def test_sentences_are_read_with_what_they_cite():
    reply = {
        "sentences": [{"text": "A  is\nso.", "cites": [3, 1, 3]}, {"text": "B.", "cites": [8]}]
    }
    found = read(reply)
    assert [(each.text, each.cites, each.fault) for each in found] == [
        ("A is so.", (3, 1), ""),
        ("B.", (8,), ""),
    ]
    assert found[0].stored == {"text": "A is so.", "cites": [3, 1], "fault": ""}
    fenced = f"Here you are:\n```json\n{json.dumps(reply)}\n```"
    assert read(fenced) == found == read(f"<think>Hm.</think>\n{json.dumps(reply)}")


@pytest.mark.parametrize(
    ("text", "cites", "fault"),
    [
        ("", [1], EMPTY),
        ("word " * 21, [1], TOO_LONG),
        ("w" * (LONGEST_SENTENCE + 1), [1], TOO_LONG),
        ("So it is.", [], UNCITED),
        ("So it is.", [9], UNKNOWN),
        ("So it is.", [-1], UNKNOWN),
        ("So it is.", [10**15, 2], UNKNOWN),
        ("So it is.", [1, 2, 3, 4, 5, 6, 7], TOO_MANY),
    ],
)
def test_a_sentence_that_breaks_a_rule_says_which_and_leaves_the_others(text, cites, fault):
    reply = {"sentences": [{"text": text, "cites": cites}, {"text": "Fine.", "cites": [2]}]}
    broken, fine = read(reply)
    assert (broken.fault, fine.fault) == (fault, "")
    assert all(1 <= number <= 8 for number in broken.cites)
    assert len(broken.text) <= LONGEST_SENTENCE


def test_the_longest_that_is_allowed_is_allowed():
    assert one(" ".join(["word"] * 20)).fault == ""
    assert one("So it is.", [1, 2, 3, 4, 5, 6, 6]).fault == ""


def test_a_repeated_sentence_is_refused_once():
    both = {"text": "So it is.", "cites": [1]}
    found = read({"sentences": [both, both | {"text": "SO IT IS."}]})
    assert [each.fault for each in found] == ["", REPEATED]


def test_hidden_characters_are_no_part_of_a_sentence():
    assert one("Staff\u202e are\u200b kind.").text == "Staff are kind."


WRONG = {
    "no_json": ["Staff are kind [1].", '{"sentences": [,]}', '{"sentences": 1, "sentences": 2}'],
    "not_schema": [
        [{"text": "A.", "cites": [1]}],
        {"sentences": {"text": "A.", "cites": [1]}},
        {"sentences": [["A.", [1]]]},
        {"sentences": [{"text": "A."}]},
        {"sentences": [{"text": "A.", "cites": 1}]},
        {"sentences": [{"text": None, "cites": [1]}]},
        {"sentences": [{"text": "A.", "cites": [1], "sure": True}]},
        {"sentences": [{"text": "A.", "cites": [1]}], "note": "x"},
        {"paragraph": "A."},
    ],
    "wrong_type": [
        {"sentences": [{"text": "A.", "cites": ["1"]}]},
        {"sentences": [{"text": "A.", "cites": [1.0]}]},
        {"sentences": [{"text": "A.", "cites": [True]}]},
    ],
    "out_of_set": [{"sentences": [{"text": f"A{n}.", "cites": [1]} for n in range(7)]}],
    "empty": ["", "  ", {"sentences": []}, {"sentences": [{"text": " ", "cites": [1]}]}],
    "truncated": ['{"sentences": [{"text": "A.", "cites": [1]'],
    "refused": ["I'm sorry, I cannot help with that."],
}


@pytest.mark.parametrize(
    ("reason", "reply"), [(reason, reply) for reason, own in WRONG.items() for reply in own]
)
def test_any_other_reply_is_of_no_use_and_says_why(reason, reply):
    with pytest.raises(ReplyNotUsable) as refusal:
        read(reply)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("finish", "refusal", "reason"),
    [("length", "", "truncated"), ("content_filter", "", "refused"), ("stop", "No.", "refused")],
)
def test_what_the_endpoint_says_comes_first(finish, refusal, reason):
    with pytest.raises(ReplyNotUsable) as problem:
        read({"sentences": [{"text": "A.", "cites": [1]}]}, finish=finish, refusal=refusal)
    assert problem.value.reason == reason


def test_the_schema_allows_the_numbers_that_were_shown():
    entry = sentences_schema(3, 4)["properties"]["sentences"]
    assert entry["maxItems"] == 4
    assert entry["items"]["properties"]["cites"]["items"]["enum"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("sentence", "statements"),
    [
        ("A pass costs 20 pounds.", ["It costs ten pounds."]),
        ("Eighty percent like it.", ["I like it."]),
        ("Half of the riders like it.", ["I like it."]),
        ("Most visitors like it.", ["I like it."]),
        ("The majority likes it.", ["I like it."]),
        ("Die Mehrheit mag es.", ["Ich mag es."]),
        ("Drei von ihnen warten.", ["Ich warte."]),
        ("La moitié attend.", ["J'attends."]),
        ("It takes 20 %.", ["It takes 20 minutes."]),
        ("Visitors like it [1].", ["I like it."]),
        ("It takes ½ hour.", ["It takes an hour."]),
        ("It takes ٣ hours.", ["It takes hours."]),
    ],
)
def test_a_number_of_its_own_is_found(sentence, statements):
    assert has_new_number(sentence, statements)


@pytest.mark.parametrize(
    ("sentence", "statements"),
    [
        ("A pass costs 20 pounds.", ["too dear", "It costs 20 pounds!"]),
        ("It takes two hours.", ["2 hours, really?"]),
        ("It takes 2 hours.", ["Two hours, really?"]),
        ("A fifth of 3.5 % went.", ["3.5 % of it went"]),
        ("The app is one of the best.", ["Best app."]),
        ("The most annoying thing is the noise.", ["The noise is annoying."]),
        ("The most problems are serious.", ["Problems are serious."]),
        ("Noise is most serious.", ["The noise is serious."]),
    ],
)
def test_a_number_that_a_statement_has_may_be_repeated(sentence, statements):
    assert not has_new_number(sentence, statements)


def test_numbers_end_before_the_stop():
    assert numbers_in("It was 10.") == {"10"}
    assert numbers_in("At 7:30, 1,000 came.") == {"7:30", "1,000"}
