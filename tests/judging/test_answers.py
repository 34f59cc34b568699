"""Replies of any shape: read, or named as what they are; never an exception of another kind."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.judging.answers import answer_of, batch_of, model_names, refusal_of
from cqa_site.judging.chat import CallFailed, Failure
from cqa_site.judging.completions import decode, reply_of, storable
from cqa_site.judging.transport.refusals import retry_after


def read(content, headers=None):
    answer = answer_of(headers or {}, content, 3, lambda text: text)
    return reply_of(answer.document, body=answer.body, request_id=answer.request_id)


def completion(message=None, **fields):
    choice = {"index": 0, "message": {"content": "x"} if message is None else message}
    return json.dumps({"choices": [choice | fields.pop("choice", {})], **fields}).encode()


def test_the_least_a_server_may_send():
    reply = read(completion())
    assert (reply.text, reply.finish_reason, reply.model, reply.request_id) == ("x", "", "", "")
    assert (reply.tokens_in, reply.tokens_out, reply.tokens_cached) == (None, None, None)


def test_text_may_come_in_parts():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}, 7]
    assert read(completion({"content": parts})).text == "ab"


def test_what_no_database_stores_is_replaced():
    reply = read(b'{"choices": [{"message": {"content": "a\\u0000b\\ud800c"}}], "x": "\xff"}')
    assert reply.text == "a\ufffdb\ufffdc"
    assert "\\u0000" in reply.body  # the evidence itself stays
    assert storable(b"\x00\xff") == "\ufffd\ufffd"


@pytest.mark.parametrize("tokens", [-1, 2**31, 1.5, "7", True, None, [], {}])
def test_counts_that_are_none_are_unknown(tokens):
    usage = {"prompt_tokens": tokens, "completion_tokens": 2**31 - 1}
    reply = read(completion(usage=usage))
    assert (reply.tokens_in, reply.tokens_out) == (None, 2**31 - 1)
    assert read(completion(usage={"completion_tokens": 0})).tokens_out == 0


def test_names_are_cut():
    reply = read(completion(model="m" * 500), {"x-request-id": "r" * 500})
    assert (reply.model, reply.request_id) == ("m" * 200, "r" * 200)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"null", b"[]", b'"choices"', b"<html>", b'{"choices": 1}', b'{"choices": {}}',
        b'{"choice', b"[" * 200_000, b'{"choices":' + b"9" * 5000 + b"}", b"\xff\xfe{}", b"{}",
    ],
)  # fmt: skip
def test_garbage_is_named(content):
    with pytest.raises(CallFailed) as problem:
        read(content)
    assert (problem.value.kind, problem.value.status) == (Failure.GARBAGE, 200)
    assert problem.value.body == storable(content)


def test_an_error_sent_with_a_200_is_that_error():
    content = b'{"error": {"code": 429, "message": "busy"}}'
    with pytest.raises(CallFailed) as problem:
        read(content, {"retry-after": "3"})
    assert (problem.value.kind, problem.value.retry_after) == (Failure.THROTTLED, 3.0)
    for code in (b'"429"', b"200", b"600", b"null"):
        with pytest.raises(CallFailed) as problem:
            read(b'{"error": {"code": %b}}' % code)
        assert problem.value.kind is Failure.GARBAGE


def refusal(status, document, headers=None):
    content = json.dumps(document).encode()
    return refusal_of(status, headers or {}, content, 3, lambda text: text)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"code": "insufficient_quota"}, Failure.QUOTA),
        (429, {"type": "insufficient_quota"}, Failure.QUOTA),
        (403, {"code": "billing_not_active"}, Failure.QUOTA),
        (429, {"code": {"a": 1}, "type": [1]}, Failure.THROTTLED),
        (429, "insufficient_quota", Failure.THROTTLED),
        (500, {"code": "insufficient_quota"}, Failure.SERVER),
    ],
)
def test_an_empty_purse_is_told_from_haste(status, error, kind):
    assert refusal(status, {"error": error}).kind is kind


def test_messages_are_short_and_on_one_line():
    found = refusal(400, {"error": {"message": "a\n\n\tb\u0000" + "c" * 1000}})
    assert str(found) == "the endpoint answered 400: a b\ufffd" + "c" * 296
    assert str(refusal(400, {"error": "plain words"})).endswith(": plain words")
    assert str(refusal(500, ["x"])) == "the endpoint answered 500"


def test_long_error_bodies_are_cut():
    found = refusal_of(500, {}, b"x" * 100_000, 3, lambda text: text)
    assert len(found.body) == 65_536


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "0"}, 1.0),
        ({"retry-after": "-5"}, 1.0),
        ({"retry-after": "1e9"}, 900.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "2500", "retry-after": "60"}, 2.5),
        ({"retry-after-ms": "1"}, 1.0),
        ({"retry-after-ms": "x", "retry-after": "60"}, 60.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:01:00 GMT"}, 60.0),
        ({"retry-after": "Thu, 01 Jan 2026 02:00:00 +0159"}, 60.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:00:00 GMT"}, 1.0),
        ({"retry-after": "Thu, 01 Jan 2099 00:00:00 GMT"}, 900.0),
        ({"retry-after": "Thu, 99 Jan 2026 00:00:00 GMT"}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert retry_after(headers, now=1767225600.0) == seconds


def test_batches_and_models_of_another_shape():
    def answer(document):
        return answer_of({}, json.dumps(document).encode(), 1, lambda text: text)

    for document in (
        None,
        [],
        {},
        {"id": "b"},
        {"id": 7, "status": "x"},
        {"id": "b", "status": 1},
    ):
        with pytest.raises(CallFailed) as problem:
            batch_of(answer(document))
        assert problem.value.kind is Failure.GARBAGE
    odd = {"total": "5", "completed": -1, "failed": 2}
    state = batch_of(
        answer({"id": "b", "status": "s", "output_file_id": 7, "request_counts": odd})
    )
    assert (state.output_file, state.total, state.completed, state.failed) == ("", 0, 0, 2)
    assert batch_of(answer({"id": "b", "status": "s", "request_counts": [1]})).total == 0
    assert model_names(answer({"data": [{"id": "a"}, {"id": 7}, "b", None]})) == ["a"]
    assert model_names(answer({"data": "no"})) == model_names(answer([])) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "error", "code", "text"]),
            inside,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_shape_raises_anything_else(document):
    content = json.dumps(document).encode()
    try:
        reply = read(content)
    except CallFailed:
        pass
    else:
        reply.text.encode()
    assert refusal_of(500, {}, content, 1, lambda text: text).kind is Failure.SERVER


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything(content):
    decode(content)
    storable(content).encode()
