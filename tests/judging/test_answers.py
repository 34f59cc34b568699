"""Replies of any shape are read or named as what they are, and what becomes of a call then."""

import json

import pytest
from hypothesis import given, strategies as st

from cqa_site.judging import rate_limits
from cqa_site.judging.chat import CallFailed, ChatRequest, Failure, reply_of, storable
from cqa_site.judging.endpoint_responses import (
    answer_of,
    batch_of,
    model_names,
    named,
    refusal_of,
    reply_of_line,
    retry_after,
)
from cqa_site.judging.rate_limits import Next, after_failure, after_unusable_reply, backoff
from cqa_site.judging.reply_parsing import (
    ReplyNotUsable,
    UnscoredReason,
    parse_prose,
    parse_single,
)
from .bad_replies import SHAPES, sent, told


def read(content, headers=None):
    answer = answer_of(headers or {}, content, 3, lambda text: text)
    return reply_of(answer.document, body=answer.body, request_id=answer.request_id)


def failed(read, *given):
    with pytest.raises(CallFailed) as problem:
        read(*given)
    return problem.value


def completion(message=None, **fields):
    choice = {"index": 0, "message": {"content": "x"} if message is None else message}
    return json.dumps({"choices": [choice | fields.pop("choice", {})], **fields}).encode()


def test_the_least_a_server_may_send_and_what_no_database_stores():
    reply = read(completion())
    assert (reply.text, reply.finish_reason, reply.model, reply.request_id) == ("x", "", "", "")
    assert (reply.tokens_in, reply.tokens_out, reply.tokens_cached) == (None, None, None)
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}, 7]
    assert read(completion({"content": parts})).text == "ab"
    # Names are cut.
    reply = read(completion(model="m" * 500), {"x-request-id": "r" * 500})
    assert (reply.model, reply.request_id) == ("m" * 200, "r" * 200)
    reply = read(b'{"choices": [{"message": {"content": "a\\u0000b\\ud800c"}}], "x": "\xff"}')
    assert reply.text == "a\ufffdb\ufffdc"
    assert "\\u0000" in reply.body  # the evidence itself stays
    assert storable(b"\x00\xff") == "\ufffd\ufffd"
    for tokens in (-1, 2**31, 1.5, "7", True, None, [], {}):
        usage = {"prompt_tokens": tokens, "completion_tokens": 2**31 - 1}
        reply = read(completion(usage=usage))
        assert (reply.tokens_in, reply.tokens_out) == (None, 2**31 - 1), tokens
    assert read(completion(usage={"completion_tokens": 0})).tokens_out == 0


def read_as(parse, content, *more):
    """What a parser makes of a body, or why there is nothing."""
    try:
        reply = read(content)
        return parse(reply.text, reply.finish_reason, *more, refusal=reply.refusal)
    except CallFailed as failure:
        return failure.kind
    except ReplyNotUsable as problem:
        return problem.reason


NO_TEXT = (UnscoredReason.UNFINISHED, UnscoredReason.REFUSED, UnscoredReason.EMPTY)


@pytest.mark.parametrize("name", SHAPES)
def test_a_reply_gives_the_label_it_says_or_a_reason_and_is_a_whole_text_or_none(name):
    shape = SHAPES[name]
    label = read_as(parse_single, shape.body, range(4))
    assert getattr(label, "value", None) == shape.expected or label == shape.expected
    text = read_as(parse_prose, shape.body)
    if isinstance(text, str) and not isinstance(text, UnscoredReason | Failure):
        # Words that hold no usable label are a text all the same; a draft in marks is not.
        assert shape.expected not in NO_TEXT
        assert "in words" in name or not (name.startswith("draft") and "3" in text)


def test_a_text_is_whole_where_the_endpoint_says_so():
    for finish in ("", None, "quux", "abort", "length", "content_filter"):
        found = read_as(parse_prose, sent(told("Tea wins.", finish)))
        assert isinstance(found, UnscoredReason | Failure), finish
    assert read_as(parse_prose, sent(told("Tea wins.", "stop"))) == "Tea wins."


@pytest.mark.parametrize(
    "content",
    [
        b"", b"null", b"[]", b'"choices"', b"<html>", b'{"choices": 1}', b'{"choices": {}}',
        b'{"choice', b"[" * 200_000, b'{"choices":' + b"9" * 5000 + b"}", b"\xff\xfe{}", b"{}",
    ],
)  # fmt: skip
def test_garbage_is_named(content):
    found = failed(read, content)
    assert (found.kind, found.status) == (Failure.GARBAGE, 200)
    assert found.body == storable(content)


def test_errors_sent_with_a_200_are_those_errors_and_paid_with_a_choice():
    content = b'{"error": {"code": 429, "message": "busy"}}'
    found = failed(read, content, {"retry-after": "3"})
    assert (found.kind, found.retry_after) == (Failure.THROTTLED, 3.0)
    for code in (b'"429"', b'"rate_limit_exceeded"'):
        assert failed(read, b'{"error": {"code": %b}}' % code).kind is Failure.THROTTLED
    found = failed(read, b'{"error": {"type": "insufficient_quota"}}')
    assert found.kind is Failure.QUOTA
    # One that names no status is the server's own, and is waited for.
    for code in (b"200", b"600", b"null", b'"x"'):
        assert failed(read, b'{"error": {"code": %b}}' % code).kind is Failure.SERVER
    assert failed(read, b'{"error": {}}').kind is Failure.GARBAGE
    with_choice = completion(choice={"error": {"code": 503, "message": "lost"}})
    found = failed(read, with_choice, {"retry-after": "3"})
    assert (found.kind, found.is_paid, found.retry_after) == (Failure.SERVER, True, 3.0)
    assert str(found) == "the endpoint answered 503: lost"
    assert not failed(read, b'{"error": {"code": 503}}').is_paid
    haste = completion(error={"code": 429})
    assert not failed(read, haste).is_paid
    line = {"response": {"status_code": 200, "body": json.loads(with_choice)}}
    assert failed(reply_of_line, line).kind is Failure.SERVER


def test_an_empty_purse_is_told_from_haste():
    for status, error, kind in (
        (429, {"code": "insufficient_quota"}, Failure.QUOTA),
        (429, {"type": "insufficient_quota"}, Failure.QUOTA),
        (403, {"code": "billing_not_active"}, Failure.QUOTA),
        (429, {"code": {"a": 1}, "type": [1]}, Failure.THROTTLED),
        (429, "insufficient_quota", Failure.THROTTLED),
        (500, {"code": "insufficient_quota"}, Failure.SERVER),
    ):
        content = json.dumps({"error": error}).encode()
        assert refusal_of(status, {}, content, 3, lambda text: text).kind is kind, error


def test_retry_after_in_all_its_forms():
    for headers, seconds in (
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
    ):
        assert retry_after(headers, now=1767225600.0) == seconds


def test_batches_and_models_of_another_shape():
    def answer(document):
        return answer_of({}, json.dumps(document).encode(), 1, lambda text: text)

    good = {"id": "b", "status": "s"}
    for document in (None, [], {}, {"id": "b"}, good | {"id": 7}, good | {"status": 1}):
        assert failed(batch_of, answer(document)).kind is Failure.GARBAGE
    odd = {"total": "5", "completed": -1, "failed": 2}
    state = batch_of(answer(good | {"output_file_id": 7, "request_counts": odd}))
    assert (state.output_file, state.total, state.completed, state.failed) == ("", 0, 0, 2)
    assert batch_of(answer(good | {"request_counts": [1]})).total == 0
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


ASKED = ChatRequest(
    "m", ({"role": "user", "content": "x"},), {"max_tokens": 5, "temperature": 0, "top_k": 3}, {}
)


def refused_with(document, status=400):
    body = document if isinstance(document, str) else json.dumps(document)
    return CallFailed(Failure.REQUEST, "the endpoint answered", status=status, body=body)


NAMED = [
    ({"error": {"message": "Use another one.", "param": "max_tokens"}}, "max_tokens"),
    ({"error": {"message": "'max_tokens' goes as 'max_completion_tokens'."}}, "max_tokens"),
    ({"error": {"message": "`temperature` takes only 1 with this model"}}, "temperature"),
    ({"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs"}]}, "top_k"),
    ({"error": {"param": "response_format.type", "message": "?"}}, "response_format"),
    ({"error": "unknown field top_k"}, "top_k"),
]
NOT_NAMED = [
    {"error": {"message": "No such model.", "param": "model"}},
    {"error": {"message": "The temperature of the room does not matter."}},
    {"error": {"message": "'seed' is not supported"}},
    {"error": {"message": "maximum context length is 8; max_tokens is too large"}},
    *("<html>", []),
]


def test_a_parameter_that_was_sent_is_named_and_other_refusals_stay():
    for document, name in NAMED:
        found = named(refused_with(document), ASKED)
        assert (found.kind, str(found).split(": ")[0]) == (Failure.PARAMETER, name)
    for document in NOT_NAMED:
        failure = refused_with(document)
        assert named(failure, ASKED) is failure, document


def tries_until_given_up(failure: Failure, most: int = 200) -> int:
    """How many requests a call makes if each fails in the same way."""
    tries = throttles = 0
    for count in range(1, most + 1):
        step = after_failure(failure, tries=tries, throttles=throttles)
        if step.next is Next.GIVE_UP:
            return count
        tries += step.counts_as_try
        throttles += step.counts_as_throttle
    return most + 1


TRIES = {
    Failure.REQUEST: 1,
    Failure.GARBAGE: 3,
    Failure.TOO_LARGE: 3,
    Failure.TIMEOUT: 4,
    Failure.SERVER: 8,
    Failure.CONNECTION: 8,
    Failure.THROTTLED: 100,
}
FOR_PEOPLE = (Failure.QUOTA, Failure.DENIED, Failure.KEY, Failure.BLOCKED, Failure.CERTIFICATE)


def test_how_often_each_failure_is_tried_and_what_pauses_the_run():
    for failure, count in TRIES.items():
        assert tries_until_given_up(failure) == count, failure
    # What a person must mend costs the call nothing.
    for failure in FOR_PEOPLE:
        step = after_failure(failure, tries=7, throttles=99)
        assert (step.next, step.counts_as_try) == (Next.PAUSE_RUN, False), failure
        assert not step.counts_as_throttle


def test_failures_wait_as_told_or_by_a_spread_backoff():
    step = after_failure(Failure.THROTTLED, tries=7, throttles=3, retry_after=60.0)
    assert (step.next, step.delay) == (Next.AGAIN, 60.0)
    assert (step.counts_as_try, step.counts_as_throttle) == (False, True)
    first = {"tries": 0, "throttles": 0}
    assert after_failure(Failure.SERVER, **first, retry_after=45.0).delay == 45.0
    assert after_failure(Failure.SERVER, **first, retry_after=0.1).delay >= 1.0
    assert after_failure(Failure.GARBAGE, **first).delay == 0.0
    for failure in Failure:
        assert after_failure(failure, **first).next in Next
    for tries, longest in ((1, 2), (2, 4), (3, 8), (6, 64), (9, 300), (60, 300)):
        drawn = [backoff(tries) for _ in range(400)]
        assert longest / 2 <= min(drawn) < max(drawn) <= longest
        assert max(drawn) - min(drawn) > longest / 3
    steps = [
        after_failure(Failure.SERVER, tries=tries, throttles=0, is_paid=True) for tries in range(4)
    ]
    assert [step.next for step in steps] == [*[Next.AGAIN] * 3, Next.GIVE_UP]
    assert all(step.delay >= 1.0 for step in steps[:3])


def test_the_longest_wait_fits_what_the_ledger_takes_for_a_clock_that_jumped():
    from cqa_site.settings import CALL_LONGEST_WAIT

    assert CALL_LONGEST_WAIT.total_seconds() >= max(rate_limits.LONGEST_BACKOFF, 900.0)


# A refusal, a cut reply, one at temperature 0; how many requests are made in all.
REQUESTS = {"": 3, "r": 2, "t": 2, "tr": 2, "f": 1, "ftr": 1}


@pytest.mark.parametrize("what", REQUESTS)
def test_how_often_an_unusable_reply_is_asked_for(what):
    about = {"is_refusal": "f" in what, "is_truncated": "t" in what, "is_repeatable": "r" in what}
    for count in range(REQUESTS[what]):
        step = after_unusable_reply(format_tries=count, **about)
        assert step.next is Next.GIVE_UP or step.delay == 0.0
        assert (step.next is Next.GIVE_UP) == (count == REQUESTS[what] - 1)
