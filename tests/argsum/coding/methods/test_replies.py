"""Replies about key points and codes of statements, usable and not."""

import json

import pytest

from argsum.coding import methods
from argsum.writing.methods import code_of
from cqa_site.judging.extraction import ReplyNotUsable, UnscoredReason

A, B, C = (code_of(at) for at in range(3))
KNOWN = {"K1", "K2", "K3"}


def entry(statement, *codes, **more):
    return {"id": statement, "codes": list(codes)} | more


def said(*entries, **more):
    return json.dumps({"statements": list(entries)} | more)


def coded(reply, *, finish="stop", refusal="", statements=3, most=2):
    """What was read of each statement: codes, or the reason."""
    readings = methods.read_codes(
        reply, finish, statements=statements, codes=KNOWN, most=most, refusal=refusal
    )
    return [
        list(reading.codes) if isinstance(reading, methods.StatementCodes) else str(reading)
        for reading in readings
    ]


def test_codes_are_read_by_statement_in_any_order():
    reply = said(entry(C, "none"), entry(A, "K1", reason="Says  so."), entry(B, "K3", "K1"))
    assert coded(reply) == [["K1"], ["K3", "K1"], []]
    (first, *_others) = methods.read_codes(reply, "", statements=3, codes=KNOWN, most=2)
    assert first == methods.StatementCodes(("K1",), "Says so.")
    assert coded(f"Here you are:\n```json\n{reply}\n```") == [["K1"], ["K3", "K1"], []]


BAD = [
    ([entry(A, "K4")], "out_of_set"),
    ([entry(A, "K1 ")], "out_of_set"),
    ([entry(A, "")], "out_of_set"),
    ([entry(A, "K1", "K2", "K3")], "out_of_set"),
    ([entry(A, "K1", "none")], "ambiguous"),
    ([entry(A, "none", "none")], "duplicate_item"),
    ([entry(A, "K1", "K1")], "duplicate_item"),
    ([entry(A, "K1"), entry(A, "K1")], "duplicate_item"),
    ([], "missing_item"),
    ([entry(A.lower(), "K1")], "missing_item"),
    ([entry(code_of(7), "K1")], "missing_item"),
    ([entry(A)], "empty"),
    ([entry(A, 1)], "wrong_type"),
    ([{"id": A, "codes": "K1"}], "wrong_type"),
    ([{"id": A}], "not_schema"),
    ([entry(A, "K1", score=1)], "not_schema"),
    ([entry(A, "K1", reason=1)], "not_schema"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
def test_a_bad_entry_leaves_its_statement_alone_and_no_other(bad, reason):
    assert coded(said(entry(B, "K2"), *bad, entry(C, "none"))) == [reason, ["K2"], []]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("I'm sorry, I can't help with that.", "refused"),
        ('["K1"]', "not_schema"),
        (said(entry(A, "K1"), note="done"), "not_schema"),
        (json.dumps({"labels": [entry(A, "K1")]}), "not_schema"),
        (json.dumps({"statements": {A: ["K1"]}}), "not_schema"),
        (said(entry(A, "K1"), "K1"), "not_schema"),
        (said(entry(A, "K1"), {"codes": ["K1"]}), "not_schema"),
        (said(entry(A, "K1"), {"id": 1, "codes": ["K1"]}), "not_schema"),
        (said(entry(A, "K1")) + "\n" + said(entry(A, "K2")), "ambiguous"),
        (said(entry(A, "K1")).replace(', "codes"', ', "codes": [], "codes"'), "no_json"),
    ],
)
def test_a_reply_that_cannot_be_read_as_a_whole_codes_nothing(reply, reason):
    assert coded(reply) == [reason] * 3


def test_the_word_of_the_endpoint_comes_first():
    whole = said(*(entry(each, "K1") for each in (A, B, C)))
    assert coded(whole) == [["K1"]] * 3
    assert coded(whole, finish="length") == ["truncated"] * 3
    assert coded(whole, refusal="No.") == ["refused"] * 3
    # Codes of other statements, or of numbers, are of none.
    ids = [code_of(at) for at in range(1, 4)]
    assert coded(said(*(entry(each, "K1") for each in ids)))[0] == "missing_item"
    assert coded(said(*(entry(str(at), "K1") for at in range(3)))) == ["missing_item"] * 3
    # Reasons are of the closed vocabulary.
    readings = methods.read_codes(said(entry(A, "K9")), "stop", statements=2, codes=KNOWN, most=1)
    assert all(isinstance(reading, UnscoredReason) for reading in readings)


def listed(*entries, **more):
    return json.dumps({"key_points": list(entries)} | more)


def point(text="It is quiet.", theme="Noise", sources=(1,), **more):
    return {"theme": theme, "key_point": text, "from": list(sources)} | more


def read(reply, *, finish="stop", most=3, words=5, refusal=""):
    return methods.read_points(reply, finish, most=most, words=words, records=4, refusal=refusal)


def test_a_list_of_key_points_is_read():
    # Sources are numbers of records that were shown.
    sources = [0, 1, 5, True, "2", 1.0, 3, 3, -1]
    first, second = point(" It is\nquiet. ", " Noise ", sources), point("Rare.", "", [4, 2])
    found = read(listed(first, second))
    quiet = methods.ProposedPoint("Noise", "It is quiet.", (1, 3))
    assert found.points == (quiet, methods.ProposedPoint("", "Rare.", (4, 2)))
    assert found.dropped == 0


NO_POINTS = [
    *("It is quiet.", None, point("  "), point(7), point("word " * 11), point("x" * 501)),
    *(point(theme="x" * (methods.LONGEST_THEME + 1)), point("IT IS QUIET.")),
    *(point("Other.", score=1), point("Other.", sources=()) | {"from": 1}, {"theme": "Noise"}),
]


@pytest.mark.parametrize("bad", NO_POINTS)
def test_entries_of_no_use_are_left_out_and_counted(bad):
    found = read(listed(point(), bad))
    assert ([each.text for each in found.points], found.dropped) == (["It is quiet."], 1)


def test_more_key_points_than_asked_for_are_left_out_and_far_more_are_no_list():
    found = read(listed(*(point(f"Point {at}.") for at in range(9))))
    assert (len(found.points), found.dropped) == (3, 6)
    with pytest.raises(ReplyNotUsable, match="out_of_set"):
        read(listed(*(point(f"Point {at}.") for at in range(10))))


def test_what_is_no_list_has_a_reason():
    for reply, finish, reason in (
        ("", "stop", "empty"),
        (listed(), "stop", "empty"),
        (listed(point()), "length", "truncated"),
        (listed(point(), extra=1), "stop", "not_schema"),
        ('{"key_points": "It is quiet."}', "stop", "not_schema"),
    ):
        with pytest.raises(ReplyNotUsable) as problem:
            read(reply, finish=finish)
        assert problem.value.reason == reason


def test_schemas_hold_what_readers_accept():
    codes = methods.codes_schema(2, ["K1", "K2"], 1)["properties"]["statements"]
    assert (codes["minItems"], codes["maxItems"]) == (2, 2)
    own = codes["items"]["properties"]
    assert own["id"]["enum"] == [A, B]
    assert own["codes"]["items"]["enum"] == ["K1", "K2", "none"]
    assert list(own) == ["id", "reason", "codes"]
    points = methods.points_schema(3, 5, 4)["properties"]["key_points"]
    assert (points["maxItems"], points["items"]["properties"]["from"]["maxItems"]) == (3, 4)


def test_statements_that_address_the_model_go_alone():
    assert methods.batches_of([False] * 5, 2) == [[0, 1], [2, 3], [4]]
    assert methods.batches_of([True, False, True], 10) == [[1], [0], [2]]
    assert methods.batches_of([], 10) == []
    assert [methods.next_size(1, attempt) for attempt in (1, 2, 3, 4)] == [1, 1, 1, 1]
