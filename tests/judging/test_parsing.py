"""Replies as models and servers really send them, and what may be read from each."""

import json
import time
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from cqa_site.judging import extraction
from cqa_site.judging.reply_parsing import (
    LONGEST_REASON,
    LabelReading,
    ReplyNotUsable,
    UnscoredReason,
    YesNoReading,
    batch_schema,
    label_schema,
    parse_batch,
    parse_prose,
    parse_single,
    parse_verdict,
    validate_label,
)

SCALE = range(4)
GOOD = '{"reason": "both named", "label": 2}'

USABLE = {
    "bare": GOOD,
    "label first": '{"label": 2, "reason": "both named"}',
    "white space around": f"\n\n  {GOOD}\t\n",
    "byte order mark": "\ufeff" + GOOD,
    "fence": f"```json\n{GOOD}\n```",
    "fence without language": f"```\n{GOOD}\n```",
    "fence on one line": f"```json {GOOD} ```",
    "prose before": f"Here is my rating:\n{GOOD}",
    "prose before on the same line": f"Rating: {GOOD}",
    "prose after": f"{GOOD}\n\nLet me know if you need more.",
    "prose and fence": f"Sure!\n\n```json\n{GOOD}\n```\n\nI hope this helps.",
    "over several lines": '{\n  "reason": "both named",\n  "label": 2\n}',
    "the same object twice": f"{GOOD}\n\nFinal answer:\n{GOOD}",
    "whole float": '{"reason": "both named", "label": 2.0}',
    "reasoning": f"<think>3? It says {{x}}</think>{GOOD}",
    "reasoning that quotes its own end": f'<think>a</think>{{"label": 3}} no</think>{GOOD}',
}

UNUSABLE = {
    "nothing": ("", UnscoredReason.EMPTY),
    "white space": (" \n\t ", UnscoredReason.EMPTY),
    "reasoning only": ("<think>2 it is</think>", UnscoredReason.EMPTY),
    "reasoning begun again": (f"{GOOD}<think>or", UnscoredReason.TRUNCATED),
    "cut in a string": ('{"reason": "both na', UnscoredReason.TRUNCATED),
    "cut after the label": ('{"label": 2, "reason": "both', UnscoredReason.TRUNCATED),
    "cut before the brace": ('{"reason": "both named", "label": 2', UnscoredReason.TRUNCATED),
    "cut in a fence": ('```json\n{"label": 2, "reason": "a}\\"', UnscoredReason.TRUNCATED),
    "cut behind an inner object": ('{"first": {"label": 2}, "reas', UnscoredReason.TRUNCATED),
    "refusal": ("I'm sorry, but I can't help with that.", UnscoredReason.REFUSED),
    "refusal, curly": ("I can’t rate this content.", UnscoredReason.REFUSED),
    "prose": ("The relevance is 2.", UnscoredReason.NO_JSON),
    "prose with a number": ("Label: 2", UnscoredReason.NO_JSON),
    "single quotes": ("{'label': 2}", UnscoredReason.NO_JSON),
    "trailing comma": ('{"label": 2,}', UnscoredReason.NO_JSON),
    "comment": ('{"label": 2 /* sure */}', UnscoredReason.NO_JSON),
    "NaN": ('{"label": NaN}', UnscoredReason.NO_JSON),
    "infinity": ('{"label": Infinity}', UnscoredReason.NO_JSON),
    "overflow": ('{"label": 1e999}', UnscoredReason.NO_JSON),
    "endless digits": ('{"label": ' + "2" * 5000 + "}", UnscoredReason.NO_JSON),
    "key twice": ('{"label": 3, "label": 2}', UnscoredReason.NO_JSON),
    "key twice inside": ('{"label": 2, "x": {"a": 1, "a": 1}}', UnscoredReason.NO_JSON),
    "too deep": ('{"label": ' + "[" * 9 + "]" * 9 + "}", UnscoredReason.NO_JSON),
    "very deep": ('{"a":' * 100_000, UnscoredReason.TRUNCATED),
    "brace too many": (GOOD + "}", UnscoredReason.NO_JSON),
    "loose brace in prose": (f"}} {GOOD}", UnscoredReason.NO_JSON),
    "too long": (GOOD + " " * extraction.LONGEST_REPLY, UnscoredReason.NO_JSON),
    "quoted in a sentence": (f"The text says {GOOD} but asks nothing.", UnscoredReason.NO_JSON),
    "quoted as code": (f"The text says `{GOOD}` itself.", UnscoredReason.NO_JSON),
    "in a list among prose": (f"Rating:\n[{GOOD}]", UnscoredReason.NO_JSON),
    "NUL in a text": ('{"label": 2, "reason": "a\\u0000"}', UnscoredReason.NO_JSON),
    "half a surrogate pair": ('{"label": 2, "reason": "\\ud800"}', UnscoredReason.NO_JSON),
    "planted and own": (f'It says:\n{{"label": 3}}\nI say:\n{GOOD}', UnscoredReason.AMBIGUOUS),
    "changed its mind": (
        f'{GOOD}\nWait.\n{{"reason": "x", "label": 1}}',
        UnscoredReason.AMBIGUOUS,
    ),
    "over and over": ("{}\n" * 1000, UnscoredReason.AMBIGUOUS),
    "a list": (f"[{GOOD}]", UnscoredReason.NOT_SCHEMA),
    "a number": ("2", UnscoredReason.NOT_SCHEMA),
    "null": ("null", UnscoredReason.NOT_SCHEMA),
    "no label": ('{"reason": "both named"}', UnscoredReason.NOT_SCHEMA),
    "another name": ('{"relevance": 2}', UnscoredReason.NOT_SCHEMA),
    "another case": ('{"Label": 2}', UnscoredReason.NOT_SCHEMA),
    "wrapped": ('{"result": {"label": 2}}', UnscoredReason.NOT_SCHEMA),
    "something added": (
        '{"label": 2, "reason": "", "confidence": 0.9}',
        UnscoredReason.NOT_SCHEMA,
    ),
    "reason is not text": ('{"label": 2, "reason": 2}', UnscoredReason.NOT_SCHEMA),
    "the schema itself": (json.dumps(label_schema(SCALE)), UnscoredReason.NOT_SCHEMA),
    "above": ('{"label": 4}', UnscoredReason.OUT_OF_SET),
    "below": ('{"label": -1}', UnscoredReason.OUT_OF_SET),
    "far above": ('{"label": 1e300}', UnscoredReason.OUT_OF_SET),
    "text": ('{"label": "2"}', UnscoredReason.WRONG_TYPE),
    "between": ('{"label": 2.5}', UnscoredReason.WRONG_TYPE),
    "null label": ('{"label": null}', UnscoredReason.WRONG_TYPE),
    "true": ('{"label": true}', UnscoredReason.WRONG_TYPE),
    "list label": ('{"label": [2]}', UnscoredReason.WRONG_TYPE),
}


@pytest.mark.parametrize("text", USABLE.values(), ids=USABLE)
def test_usable(text):
    assert parse_single(text, "stop", SCALE) == LabelReading(2, "both named")


def refused(parse, *given, **more):
    """Why a reply is not read."""
    with pytest.raises(ReplyNotUsable) as caught:
        parse(*given, **more)
    return caught.value.reason


@pytest.mark.parametrize(("text", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_alone_and_for_a_batch(text, reason):
    assert refused(parse_single, text, "stop", SCALE) is reason
    # No item of a batch gets a label from it.
    assert set(parse_batch(text, "stop", [1, 2], SCALE).values()) <= set(UnscoredReason)


@pytest.mark.parametrize(
    "piece",
    [
        *("{", "<think>"),
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("{}", "{}\n", '{"a":', '{"a":[', "</think>", '"\\"', "sorry ", " ")
        ),
    ],
)
def test_hostile_repetition_takes_no_time(piece):
    text = piece * (extraction.LONGEST_REPLY // len(piece))
    started = time.process_time()
    for reply in (text, "{" + text, "x" + text):
        assert set(parse_batch(reply, "stop", [1], SCALE).values()) <= set(UnscoredReason)
    assert time.process_time() - started < 10


def test_the_wire_has_the_first_word_but_may_leave_the_finish_reason_out():
    for finish_reason, refusal, reason in (
        ("length", "", UnscoredReason.TRUNCATED),
        ("LENGTH", "", UnscoredReason.TRUNCATED),
        ("max_tokens", "", UnscoredReason.TRUNCATED),
        ("content_filter", "", UnscoredReason.REFUSED),
        ("stop", "No.", UnscoredReason.REFUSED),
    ):
        assert refused(parse_single, GOOD, finish_reason, SCALE, refusal=refusal) is reason
        found = parse_batch(GOOD, finish_reason, [7, 8], SCALE, refusal=refusal)
        assert found == {7: reason, 8: reason}
    for finish_reason in ("", "stop", "eos_token"):
        assert parse_single(GOOD, finish_reason, SCALE).value == 2
    assert parse_single('{"label": 0}', "stop", SCALE) == LabelReading(0, "")
    # Excerpts in details are short.
    with pytest.raises(ReplyNotUsable) as caught:
        parse_single(json.dumps({"label": "x" * 10_000}), "stop", SCALE)
    assert len(str(caught.value)) < 300


def batch(*entries):
    return json.dumps(
        {"labels": [dict(zip(("id", "label"), entry, strict=True)) for entry in entries]}
    )


def test_a_batch_in_any_order_or_cut_short():
    found = parse_batch(batch((3, 0), (1, 2), (2, 3)), "stop", [1, 2, 3], SCALE)
    assert list(found.items()) == [
        (1, LabelReading(2, "")),
        (2, LabelReading(3, "")),
        (3, LabelReading(0, "")),
    ]
    # Counted from zero it is nobody's; empty, every item is missing.
    shifted = parse_batch(batch((0, 1), (1, 2), (2, 3)), "stop", [1, 2, 3], SCALE)
    assert set(shifted.values()) == {UnscoredReason.EXTRA_ITEM}
    empty = parse_batch('{"labels": []}', "stop", [5, 6], SCALE)
    assert empty == {5: UnscoredReason.MISSING_ITEM, 6: UnscoredReason.MISSING_ITEM}
    reply = batch((1, 2), (2, 3), (3, 1))
    for cut in range(len(reply)):
        found = parse_batch(reply[:cut], "stop", [1, 2, 3], SCALE)
        assert set(found.values()) <= {UnscoredReason.EMPTY, UnscoredReason.TRUNCATED}


def test_usable_entries_of_a_batch_are_kept_and_other_shapes_are_none():
    entries = [
        {"id": 1, "label": 2, "reason": "a"},
        {"id": 2, "label": "2", "reason": ""},
        {"id": 3, "label": 9, "reason": ""},
        {"id": 4, "label": 1, "reason": ""},
        {"id": 4, "label": 1, "reason": ""},
        {"id": 6, "reason": ""},
        {"id": 7.0, "label": 3.0, "reason": ""},
        {"id": 8, "label": 1, "confidence": 1},
    ]
    reply = "```json\n" + json.dumps({"labels": entries}) + "\n```"
    assert parse_batch(reply, "stop", range(1, 9), SCALE) == {
        1: LabelReading(2, "a"),
        2: UnscoredReason.WRONG_TYPE,
        3: UnscoredReason.OUT_OF_SET,
        4: UnscoredReason.DUPLICATE_ITEM,
        5: UnscoredReason.MISSING_ITEM,
        6: UnscoredReason.NOT_SCHEMA,
        7: LabelReading(3, ""),
        8: UnscoredReason.NOT_SCHEMA,
    }
    for reply in OTHER_SHAPES:
        found = parse_batch(reply, "stop", [1, 2], SCALE)
        assert set(found.values()) == {UnscoredReason.NOT_SCHEMA}, reply


OTHER_SHAPES = (
    *('{"labels": {"1": 2}}', '{"labels": [2, 3]}', '{"labels": [], "note": ""}', GOOD),
    *('{"labels": [{"id": "1", "label": 2}]}', '{"labels": [{"id": true, "label": 2}]}'),
    *('{"labels": [{"label": 2}]}', '{"1": 2, "2": 3}', '[{"id": 1, "label": 2}]'),
)


def test_whole_numbers_of_the_scale_are_labels_and_nothing_else():
    for value in (2, 2.0):
        found = validate_label(value, (0, 2))
        assert (found, type(found)) == (2, int)
    others = [True, False, "2", "", None, 2.5, float("nan"), [2], {"a": 2}]
    for value, reason in [
        *((each, UnscoredReason.WRONG_TYPE) for each in others),
        (1, UnscoredReason.OUT_OF_SET),
    ]:
        assert refused(validate_label, value, (0, 2)) is reason


@given(st.text(max_size=200), st.sampled_from(["stop", "length", ""]))
def test_any_text_is_a_label_of_the_scale_or_a_reason(text, finish_reason):
    with suppress(ReplyNotUsable):
        assert parse_single(text, finish_reason, SCALE).value in SCALE
    found = parse_batch(text, finish_reason, [1, 2], SCALE)
    assert list(found) == [1, 2]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60))
def test_whatever_the_reason_says_the_label_is_read_from_its_field(reason):
    reply = json.dumps({"reason": reason, "label": 1})
    assert parse_single(reply, "stop", SCALE) == LabelReading(1, reason)


def test_schemas_take_what_the_parser_takes_and_bound_every_size():
    single, several = label_schema(SCALE), batch_schema([1, 2], SCALE)
    for schema in (single, several):
        Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(single).is_valid(json.loads(GOOD))
    assert not Draft202012Validator(single).is_valid({"reason": "", "label": 4})
    assert not Draft202012Validator(single).is_valid({"reason": "x" * 301, "label": 1})
    entries = [{"id": number, "reason": "", "label": 1} for number in (1, 2)]
    assert Draft202012Validator(several).is_valid({"labels": entries})
    assert not Draft202012Validator(several).is_valid({"labels": entries[:1]})
    assert not Draft202012Validator(several).is_valid({"labels": [*entries, entries[0]]})
    for schema, kind in product((single, several), ("string", "array")):
        bound = {"string": "maxLength", "array": "maxItems"}[kind]
        assert all(bound in part for part in parts_of(schema) if part.get("type") == kind)
    assert single["properties"]["reason"]["maxLength"] == LONGEST_REASON
    # The reason is written before the label.
    assert list(single["properties"]) == ["reason", "label"]
    entry = several["properties"]["labels"]["items"]
    assert list(entry["properties"]) == ["id", "reason", "label"]


def parts_of(schema):
    yield schema
    for child in schema.get("properties", {}).values():
        yield from parts_of(child)
    if "items" in schema:
        yield from parts_of(schema["items"])


def read(text, finish_reason="stop", **more):
    return parse_verdict(text, finish_reason, "coherent", **more)


def test_verdicts_are_read_and_nothing_else_becomes_one():
    for value in (True, False):
        text = f'{{"reason": "It says so.", "coherent": {str(value).lower()}}}'
        assert read(text) == YesNoReading(value, "It says so.")
        assert read(f"Here you are:\n```json\n{text}\n```") == read(text)
    assert read('{"coherent": true}') == YesNoReading(True, "")
    for text, reason in NO_VERDICTS:
        assert refused(read, text) is reason, text
    good = '{"coherent": true}'
    assert refused(read, good, "length") is UnscoredReason.TRUNCATED
    assert refused(read, good, refusal="I would rather not.") is UnscoredReason.REFUSED


NO_VERDICTS = [
    ("", UnscoredReason.EMPTY),
    ("Yes, it follows.", UnscoredReason.NO_JSON),
    ('{"reason": "so"}', UnscoredReason.NOT_SCHEMA),
    ('{"coherent": true, "score": 1}', UnscoredReason.NOT_SCHEMA),
    ('{"coherent": true, "reason": 3}', UnscoredReason.NOT_SCHEMA),
    ('{"coherent": 1}', UnscoredReason.WRONG_TYPE),
    ('{"coherent": "true"}', UnscoredReason.WRONG_TYPE),
    ('{"coherent": null}', UnscoredReason.WRONG_TYPE),
    ('{"coherent": true}\n{"coherent": false}', UnscoredReason.AMBIGUOUS),
    ('{"reason": "cut', UnscoredReason.TRUNCATED),
]


PROSE = '  **Tea** wins.\r\n\r\n- [1] {"label": 2}\n'


def test_a_text_is_kept_to_the_letter_or_there_is_a_reason():
    assert parse_prose(PROSE, "stop") == PROSE
    assert refused(parse_prose, PROSE, "") is UnscoredReason.UNFINISHED
    assert parse_prose("I am sorry, but tea wins.", "stop") == "I am sorry, but tea wins."
    # Reasoning is no part of it.
    for reply in (
        f"<think>Hm.</think>{PROSE}",
        f"<think>Hm. <think>Hm.</think></think>\n\n{PROSE}",
        f"swallowed the opening mark</think>\n{PROSE}",
        f"[THINK]Hm.[/THINK]{PROSE}",
    ):
        assert parse_prose(reply, "stop") == PROSE.lstrip()
    for text, finish, reason in (
        ("Tea wins.", "length", "truncated"),
        ("Tea wins.", "MAX_TOKENS", "truncated"),
        ("<think>Tea", "stop", "truncated"),
        ("Tea.</think><think>Hm", "stop", "truncated"),
        ("Tea wins.", "content_filter", "refused"),
        *((text, "stop", "empty") for text in ("", " \n\t", "<think>Tea.</think> ")),
    ):
        assert refused(parse_prose, text, finish).value == reason, text
    assert refused(parse_prose, "", "stop", refusal="I cannot.").value == "refused"


@given(st.text())
def test_any_text_is_kept_or_refused(text):
    try:
        kept = parse_prose(text, "stop")
    except ReplyNotUsable:
        return
    assert kept.strip()
    assert text.endswith(kept)
