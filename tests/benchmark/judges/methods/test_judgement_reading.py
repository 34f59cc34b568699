"""Judges' replies, each read in one way and no points from mistakes, and what judges read."""

import json
import re

import pytest
from hypothesis import given, strategies as st

from benchmark.judges.methods.judgements import (
    JudgementState,
    criteria_text,
    format_text,
    judgement_schema,
    points_text,
    read_judgement,
    read_scores,
)
from benchmark.rubrics.methods.rubric import COMPQA
from tests.benchmark.small_rubric import SMALL

GOOD = {str(number): 1 for number in range(1, 16)}


def said(scores) -> str:
    return json.dumps(scores)


def without(*keys):
    return {key: each for key, each in GOOD.items() if key not in keys}


CORPUS = [
    ("valid", said(GOOD)),
    ("valid", said({f"C{key}": each for key, each in GOOD.items()})),
    ("valid", said({f"c{key}": float(each) for key, each in GOOD.items()})),
    ("valid", said(dict(reversed(GOOD.items())))),
    ("valid", f"Here are my points.\n\n```json\n{said(GOOD)}\n```\nI hope this helps."),
    ("valid", f"<think>C1 = 0? No.</think>\n{said(GOOD)}"),
    ("valid", said(GOOD | {"9": 2, "10": 0, "11": 2, "12": 0})),
    ("renumbered", said({str(number): 1 for number in range(16, 31)})),
    ("renumbered", said({str(number): 1 for number in range(0, 15)})),
    ("renumbered", said({f"C{number}": 1 for number in range(2, 17)})),
    ("missing_keys", said(without("15"))),
    ("missing_keys", said(without("7") | {"total": 14})),
    ("missing_keys", said(without("3") | {"99": 1})),
    ("extra_keys", said(GOOD | {"total": 15})),
    ("extra_keys", said(GOOD | {"16": 1})),
    ("extra_keys", said({str(number): 1 for number in range(0, 16)})),
    ("duplicate_keys", said(GOOD)[:-1] + ', "1": 0}'),
    ("duplicate_keys", said(GOOD | {"C1": 1})),
    ("not_a_whole_number", said(GOOD | {"4": "1.0"})),
    ("not_a_whole_number", said(GOOD | {"4": 0.5})),
    ("not_a_whole_number", said(GOOD | {"4": True})),
    ("not_a_whole_number", said(GOOD | {"4": None})),
    ("not_a_whole_number", said(GOOD | {"1": 2, "4": 0.5})),
    ("out_of_range", said(GOOD | {"1": 2})),
    ("out_of_range", said(GOOD | {"9": -1})),
    ("no_json", "A fine answer; I would give it fifteen points."),
    ("no_json", str({int(key): each for key, each in GOOD.items()})),
    ("truncated", said(GOOD)[:60]),
    ("truncated", "<think>Let me see"),
    ("empty", ""),
    ("empty", "{}"),
    ("refused", "I'm sorry, but I cannot score this."),
    ("ambiguous", f"{said(GOOD)}\n{said(GOOD | {'1': 0})}"),
    ("not_schema", said(list(GOOD.values()))),
    ("not_schema", said({"scores": GOOD})),
    ("not_schema", said({f"criterion {key}": each for key, each in GOOD.items()})),
    ("not_schema", said(GOOD | {"4": {"points": 1, "sure": True}})),
    ("not_schema", said(GOOD | {"4": {"reason": "It is."}})),
    ("not_schema", said(GOOD | {"4": {"points": 1, "reason": 7}})),
]


@pytest.mark.parametrize(("expected", "reply"), CORPUS)
def test_every_kind_of_reply(expected, reply):
    found = read_judgement(reply, "stop", COMPQA)
    assert found.reading == expected
    assert found.is_scored == (expected == "valid") == bool(found.points)
    assert (found.total is not None) == found.is_scored
    assert bool(found.detail) != found.is_scored or reply.strip() == ""


def test_a_valid_judgement_has_the_order_of_the_rubric_and_reasons_beside_points():
    reply = said(dict(reversed((GOOD | {"9": 2, "1": 0}).items())))
    found = read_judgement(reply, "stop", COMPQA)
    assert list(found.points) == list(COMPQA.keys)
    assert (found.points["C9"], found.points["C1"], found.total) == (2, 0, 15)
    entries = {"1": {"reason": "It has one.", "points": 1}, "2": 2, "3": {"points": 0}}
    found = read_judgement(said(entries), "stop", SMALL)
    assert found.points == {"C1": 1, "C2": 2, "C3": 0}
    assert found.rationales == {"C1": "It has one."}


def test_the_endpoint_has_the_first_word_and_a_group_its_own_keys():
    assert read_judgement(said(GOOD), "length", COMPQA).reading is JudgementState.TRUNCATED
    assert read_judgement(said(GOOD), "content_filter", COMPQA).reading is JudgementState.REFUSED
    assert read_judgement("", "stop", COMPQA, refusal="No.").reading is JudgementState.REFUSED
    assert read_scores({"8": 1, "9": 2, "10": 0}, COMPQA, group="relevance").total == 3
    counted_anew = read_scores({"1": 1, "2": 1, "3": 0}, COMPQA, group="relevance")
    assert counted_anew.reading is JudgementState.RENUMBERED
    assert read_scores(GOOD, COMPQA, group="relevance").reading is JudgementState.EXTRA_KEYS
    with pytest.raises(KeyError):
        read_scores(GOOD, COMPQA, group="colour")


def test_what_is_off_the_scale_is_kept_as_evidence_only():
    found = read_scores({"1": 1, "2": 7, "3": 0}, SMALL)
    assert (found.reading, found.points, found.total) == (JudgementState.OUT_OF_RANGE, {}, None)
    assert found.given == {"C1": 1, "C2": 7, "C3": 0}
    assert "C2 is 7" in found.detail
    assert read_scores({"1": 1, "2": 0.5, "3": 0}, SMALL).given == {"C1": 1, "C3": 0}
    assert read_scores({"4": 1, "5": 1, "6": 1}, SMALL).given == {}
    for stored in (None, {}, [], "", 3, {"a": 1}):
        assert not read_scores(stored, SMALL).is_scored


@given(st.dictionaries(st.integers(0, 20).map(str), st.integers(-1, 3), max_size=16))
def test_points_exist_exactly_for_the_right_keys_on_the_scale(scores):
    found = read_scores(scores, COMPQA)
    is_right = set(scores) == set(GOOD) and all(
        0 <= scores[each.key[1:]] <= each.maximum for each in COMPQA.criteria
    )
    assert found.is_scored == is_right
    assert found.is_scored or found.points == {}


@given(st.text())
def test_no_text_breaks_the_reader(text):
    assert read_judgement(text, "stop", SMALL).reading in JudgementState


def test_the_schema_has_the_keys_and_ranges_of_the_rubric_and_the_reason_first():
    schema = judgement_schema(COMPQA)
    assert schema["required"] == list(schema["properties"]) == list(COMPQA.keys)
    assert schema["additionalProperties"] is False
    ranges = {key: each["enum"] for key, each in schema["properties"].items()}
    assert ranges["C8"] == [0, 1]
    assert ranges["C9"] == [0, 1, 2]
    entry = judgement_schema(SMALL, group="facts", with_reasons=True)["properties"]["C2"]
    assert list(entry["properties"]) == ["reason", "points"]
    assert entry["properties"]["points"]["enum"] == [0, 1, 2]
    assert list(judgement_schema(SMALL, group="facts")["properties"]) == ["C2"]


@given(st.data())
def test_whatever_the_schema_allows_is_read(data):
    schema = judgement_schema(COMPQA)["properties"]
    reply = {key: data.draw(st.sampled_from(each["enum"])) for key, each in schema.items()}
    assert read_judgement(said(reply), "stop", COMPQA).points == reply


def test_the_words_of_the_rubric_are_there_and_missing_reasons_not_made_up():
    text = criteria_text(COMPQA)
    for criterion in COMPQA.criteria:
        assert f"{criterion.key} ({criterion.name}): {criterion.asks}" in text
        for level in criterion.levels:
            assert f"  {level.points}: {level.text} For example: {level.example}" in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Structure", "## Relevance", "## Quality",
    ]  # fmt: skip
    text = criteria_text(COMPQA, "relevance")
    assert re.findall(r"^C\d+", text, re.MULTILINE) == ["C8", "C9", "C10"]
    with pytest.raises(KeyError):
        criteria_text(COMPQA, "style")
    points = dict.fromkeys(COMPQA.keys, 1.0)
    text = points_text(points, {"C1": "Good."}, COMPQA.of_group("relevance"), reasons=True)
    assert text == "Points: C8 1, C9 1, C10 1"
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


@pytest.mark.parametrize("reasons", [True, False])
def test_the_format_filled_in_and_an_example_are_judgements(reasons):
    text = format_text(COMPQA.criteria, reasons=reasons)
    filled = re.sub(r"<one short sentence>", "Because.", text)
    filled = re.sub(r"<0 (or|to) (\d)>", r"\2", filled)
    assert read_judgement(filled, "stop", COMPQA).total == 19
    points = dict.fromkeys(COMPQA.keys, 1.0)
    notes = dict.fromkeys(COMPQA.keys, "Well done.")
    text = points_text(points, notes, COMPQA.criteria, reasons=reasons)
    assert read_judgement(text, "stop", COMPQA).total == 15
    assert ("Well done." in text) is reasons
