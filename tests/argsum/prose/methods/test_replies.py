"""Sentences read from replies: what each cites, and which rule it breaks."""

import json

import pytest

from argsum.prose import methods
from cqa_site.judging.extraction import ReplyNotUsable


def read(reply, *, statements=8, most=3, words=10, finish="stop", refusal=""):
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return methods.read_sentences(
        text, finish, statements=statements, most=most, words=words, refusal=refusal
    )


def test_sentences_are_read_with_what_they_cite():
    # Hidden characters are no part of a sentence.
    own = [{"text": "A\u202e  is\nso\u200b.", "cites": [3, 1, 3]}, {"text": "B.", "cites": [8]}]
    reply = {"sentences": own}
    found = read(reply)
    assert [each.stored for each in found] == [
        {"text": "A is so.", "cites": [3, 1], "fault": ""},
        {"text": "B.", "cites": [8], "fault": ""},
    ]
    fenced = f"Here you are:\n```json\n{json.dumps(reply)}\n```"
    assert read(fenced) == found == read(f"<think>Hm.</think>\n{json.dumps(reply)}")


@pytest.mark.parametrize(
    ("text", "cites", "fault"),
    [
        ("", [1], methods.EMPTY),
        ("word " * 21, [1], methods.TOO_LONG),
        ("w" * (methods.LONGEST_SENTENCE + 1), [1], methods.TOO_LONG),
        ("So it is.", [], methods.UNCITED),
        ("So it is.", [9], methods.UNKNOWN),
        ("So it is.", [-1], methods.UNKNOWN),
        ("So it is.", [10**15, 2], methods.UNKNOWN),
        ("So it is.", [1, 2, 3, 4, 5, 6, 7], methods.TOO_MANY),
        ("FINE.", [2], methods.REPEATED),
        # The longest that is allowed.
        (" ".join(["word"] * 20), [1], ""),
        ("So it is.", [1, 2, 3, 4, 5, 6, 6], ""),
    ],
)
def test_a_sentence_that_breaks_a_rule_says_which_and_leaves_the_others(text, cites, fault):
    reply = {"sentences": [{"text": "Fine.", "cites": [2]}, {"text": text, "cites": cites}]}
    fine, broken = read(reply)
    assert (fine.fault, broken.fault) == ("", fault)
    assert all(1 <= number <= 8 for number in broken.cites)
    assert len(broken.text) <= methods.LONGEST_SENTENCE


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
    entry = methods.sentences_schema(3, 4)["properties"]["sentences"]
    assert entry["maxItems"] == 4
    assert entry["items"]["properties"]["cites"]["items"]["enum"] == [1, 2, 3]


NEW_NUMBERS = {
    "A pass costs 20 pounds.": "It costs ten pounds.",
    "Eighty percent like it.": "I like it.",
    "Half of the riders like it.": "I like it.",
    "Most visitors like it.": "I like it.",
    "The majority likes it.": "I like it.",
    "Die Mehrheit mag es.": "Ich mag es.",
    "Drei von ihnen warten.": "Ich warte.",
    "La moitié attend.": "J'attends.",
    "It takes 20 %.": "It takes 20 minutes.",
    "Visitors like it [1].": "I like it.",
    "It takes ½ hour.": "It takes an hour.",
    "It takes ٣ hours.": "It takes hours.",
}
REPEATED_NUMBERS = {
    "A pass costs 20 pounds.": "It costs 20 pounds!",
    "It takes two hours.": "2 hours, really?",
    "It takes 2 hours.": "Two hours, really?",
    "A fifth of 3.5 % went.": "3.5 % of it went",
    "The app is one of the best.": "Best app.",
    "The most annoying thing is the noise.": "The noise is annoying.",
    "The most problems are serious.": "Problems are serious.",
    "Noise is most serious.": "The noise is serious.",
}


def test_a_number_is_found_that_no_statement_has():
    for sentence, statement in NEW_NUMBERS.items():
        assert methods.has_new_number(sentence, ["Too dear.", statement]), sentence
    for sentence, statement in REPEATED_NUMBERS.items():
        assert not methods.has_new_number(sentence, ["Too dear.", statement]), sentence
    assert methods.numbers_in("It was 10.") == {"10"}
    assert methods.numbers_in("At 7:30, 1,000 came.") == {"7:30", "1,000"}
