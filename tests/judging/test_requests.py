"""What makes two requests the same one, what they cost, and what an endpoint honours."""

import asyncio
import inspect
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from cqa_site.judging import endpoints
from cqa_site.judging.chat import (
    CallFailed,
    ChatReply,
    ChatRequest,
    Failure,
    canonical_json,
    content_key,
    ordered_json,
)
from cqa_site.judging.reply_parsing import label_schema
from cqa_site.judging.transport.egress import AllowedNetwork
from cqa_site.judging.transport.openai_client import OpenAIClient
from tests.judging.scripted import ScriptedClient

REQUEST = {
    "origin": "http://127.0.0.1:8000/v1",
    "model": "small",
    "messages": ({"role": "system", "content": "Rate."}, {"role": "user", "content": "Oak."}),
    "params": {"temperature": 0.0, "seed": 1, "max_tokens": 200},
    "schema": label_schema(range(4)),
    "replicate": 0,
}


def key(**changed):
    return content_key(**{**REQUEST, **changed})


def messages(*contents, role="user"):
    return tuple({"role": role, "content": content} for content in contents)


CHANGES = [
    {"origin": "http://127.0.0.1:8001/v1"},
    {"origin": "https://127.0.0.1:8000/v1"},
    {"model": "Small"},
    {"messages": REQUEST["messages"][::-1]},
    {"messages": REQUEST["messages"][1:]},
    {"messages": messages("Rate.Oak.")},
    {"messages": messages("Rate.", "Oak.")},
    {"messages": messages("Rate.", "Oak.", role="system")},
    {"messages": (REQUEST["messages"][0], {"role": "user", "content": "Oak. "})},
    {"params": {}},
    {"params": {"temperature": 0.1, "seed": 1, "max_tokens": 200}},
    {"params": {"temperature": 0.0, "seed": 2, "max_tokens": 200}},
    {"params": {"temperature": 0.0, "seed": 1, "max_tokens": 400}},
    {"params": {"temperature": 0.0, "seed": "1", "max_tokens": 200}},
    {"params": {"temperature": False, "seed": 1, "max_tokens": 200}},
    {"params": {"temperature": 0.0, "seed": 1, "max_tokens": 200, "top_p": 1}},
    {"schema": None},
    {"schema": {}},
    {"schema": label_schema(range(3))},
    {"schema": {**label_schema(range(4)), "additionalProperties": True}},
    {"replicate": 1},
    {"replicate": 2},
]


def test_every_change_that_may_change_the_answer_changes_the_key():
    keys = [key(), *(key(**change) for change in CHANGES)]
    assert len(set(keys)) == len(CHANGES) + 1
    # Every argument is changed above; what cannot change the answer is none.
    arguments = set(inspect.signature(content_key).parameters)
    assert {name for change in CHANGES for name in change} == arguments


def test_the_order_of_parameters_says_nothing_and_that_of_properties_in_a_schema_counts():
    assert key(params={"max_tokens": 200.0, "seed": 1, "temperature": 0}) == key()
    assert key(messages=[{"content": "Rate.", "role": "system"}, REQUEST["messages"][1]]) == key()
    assert key(params=json.loads(json.dumps(REQUEST["params"]))) == key()
    schema = label_schema(range(4))
    turned = {**schema, "properties": dict(reversed(schema["properties"].items()))}
    assert turned == schema
    assert key(schema=turned) != key()
    assert key(params={"guided_json": turned}) != key(params={"guided_json": schema})


def test_the_key_is_the_same_in_every_process():
    code = (
        "from cqa_site.judging.chat import content_key as k;"
        "print(k(origin='o', model='m', messages=[{'role': 'user', 'content': 'é'}],"
        "params={'b': 1, 'a': {'y': 1, 'x': [1.0]}}, schema=None, replicate=3))"
    )
    command, root = [sys.executable, "-c", code], Path(__file__).parents[2]
    outputs = {
        subprocess.check_output(command, cwd=root, env={"PYTHONHASHSEED": seed}, text=True)
        for seed in ("1", "2")
    }
    messages = [{"content": "é", "role": "user"}]
    params = {"a": {"y": 1, "x": [1]}, "b": 1}
    here = content_key(
        origin="o", model="m", messages=messages, params=params, schema=None, replicate=3
    )
    assert outputs == {here + "\n"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(JSON)
def test_canonical_json_means_the_same_and_is_ascii(value):
    for written in (canonical_json(value), ordered_json(value)):
        assert json.loads(written) == value
        written.encode("ascii")
    assert canonical_json(json.loads(ordered_json(value))) == canonical_json(value)
    for nothing in (float("nan"), float("inf"), {"a": [float("-inf"), value]}):
        with pytest.raises(ValueError, match="JSON"):
            canonical_json(nothing)


TWO_MESSAGES = ({"role": "system", "content": "a" * 30}, {"role": "user", "content": "b" * 31})


def request(schema=None, **params):
    return ChatRequest("small", TWO_MESSAGES, params, schema)


def test_requests_add_up_to_the_smallest_bound_on_their_replies():
    assert endpoints.estimate_messages(TWO_MESSAGES) == 3 + (4 + 10) + (4 + 11)
    assert endpoints.estimate_messages([]) == 3
    requests = (request(max_tokens=limit) for limit in (100, 50))
    # At most: six requests each, the first with its limit, four with twice as much, rounded up.
    assert totals(requests) == endpoints.CostEstimate(2, 64, 150, 64 + 300, 6 * 64 + 9 * 300 + 12)
    assert totals([]) == endpoints.CostEstimate(0, 0, 0, 0)
    assert totals([request(max_tokens=100)], tokens_per_reply=40).tokens_out == 40
    assert totals([request(max_tokens=30)], tokens_per_reply=40).tokens_out == 30
    assert totals([request(max_tokens=90, max_completion_tokens=80)]).tokens_out == 80
    assert totals([request()], tokens_per_reply=40).tokens_out == 40
    with pytest.raises(ValueError, match="no maximum cost"):
        totals([request(max_tokens=10), request()])
    # A schema may be part of the prompt.
    schema = {"type": "object"}
    assert endpoints.estimate_tokens(ordered_json(schema)) == 6
    assert totals([request(schema, max_tokens=1)]).tokens_in == 32 + 6


def test_cost_is_exact_and_rounded_up():
    for tokens_in, tokens_out, price_in, price_out, cost in (
        (1_000_000, 0, "0.15", "0.60", 150_000),
        (0, 1_000_000, "0.15", "0.60", 600_000),
        (1, 0, "0.15", "0.60", 1),
        (7, 3, "0.15", "0.60", 3),
        (10, 0, "0.10", "0", 1),
        (10**12, 10**12, "75", "150.000001", 225 * 10**12 + 10**6),
        (5, 5, "0", "0", 0),
    ):
        prices = {"price_in": Decimal(price_in), "price_out": Decimal(price_out)}
        found = endpoints.cost_micro(tokens_in, tokens_out, **prices)
        assert (found, type(found)) == (cost, int)


def totals(requests, **keywords):
    return endpoints.estimate(requests, price_in=Decimal(1), price_out=Decimal(2), **keywords)


def probed(stub):
    async def run():
        client = OpenAIClient(stub.base_url, "", [AllowedNetwork("127.0.0.1", stub.port)])
        try:
            return await client.probe("m")
        finally:
            await client.close()

    return asyncio.run(run())


def works(capabilities):
    return {name: found["works"] for name, found in capabilities.as_dict().items()}


ALL = ["token_limit", "temperature", "json_schema", "seed", "logprobs", "n"]


def test_a_server_that_honours_everything_or_ignores_something(stub):
    found = probed(stub)
    assert works(found) == dict.fromkeys(ALL, True)
    assert found.model == "stub-1"
    assert json.loads(found.json_schema.evidence)["colour"] in ("red", "blue")
    assert found.n.evidence == "2 of 2 replies"
    assert found.token_limit.parameter == "max_tokens"
    assert stub.counts["requests"] == 8
    for setting, name in (IGNORED | {"honours_n": "n"}).items():
        setattr(stub.conduct, setting, False)
        assert works(probed(stub)) == dict.fromkeys(ALL, True) | {name: False}
        setattr(stub.conduct, setting, True)


IGNORED = {"honours_schema": "json_schema", "honours_seed": "seed", "has_logprobs": "logprobs"}


def test_evidence_of_what_is_refused_or_never_differs():
    for body in ("", "[]", '{"choices": [1]}', '{"choices": [{"logprobs": 1}]}'):
        client = ScriptedClient(lambda request, body=body: ChatReply("the same", body=body))
        found = asyncio.run(endpoints.probe(client, "m"))
        assert not found.seed.works
        assert found.seed.evidence == "the same | the same | the same"
        assert (found.logprobs.works, found.logprobs.evidence) == (False, "no probabilities")
        assert not found.n.works

    def respond(request):
        if {"seed", "n", "logprobs"} & set(request.params) or request.schema:
            return CallFailed(Failure.REQUEST, "unknown field")
        return "hello"

    found = asyncio.run(endpoints.probe(ScriptedClient(respond), "m"))
    names = ["json_schema", "seed", "logprobs", "n"]
    assert [works(found)[name] for name in names] == [False] * 4
    assert {found.as_dict()[name]["evidence"] for name in names} == {"unknown field"}
    assert all(found.as_dict()[name]["refused"] for name in names)


@pytest.mark.parametrize(
    ("refuses", "parameter", "takes_temperature"),
    [
        ("max_tokens", "max_completion_tokens", True),
        ("max_tokens,temperature", "max_completion_tokens", False),
        ("max_completion_tokens", "max_tokens", True),
    ],
)
def test_the_token_limit_is_asked_for_by_the_name_that_works(
    refuses, parameter, takes_temperature, stub
):
    stub.conduct.refuses = refuses
    found = probed(stub)
    assert (found.token_limit.works, found.token_limit.parameter) == (True, parameter)
    assert found.temperature.works is takes_temperature
    # A refused temperature says nothing about the schema, which is asked for with one elsewhere.
    assert found.json_schema.works


def test_limits_that_cut_nothing_and_replies_that_end_by_themselves(stub):
    stub.conduct.honours_limit = False
    limit = probed(stub).token_limit
    assert (limit.works, limit.refused, limit.parameter) == (False, False, "max_tokens")
    assert "not cut" in limit.evidence
    ended = iter([ChatReply("One, two.", finish_reason="stop", tokens_out=4)])

    def respond(request):
        if "Count" not in request.messages[0]["content"]:
            return "hello"
        return next(ended, ChatReply("One, two, three", finish_reason="length", tokens_out=16))

    found = asyncio.run(endpoints.probe(ScriptedClient(respond), "m"))
    assert (found.token_limit.works, found.token_limit.parameter) == (True, "max_tokens")


@pytest.mark.parametrize("cut", ["", "<think>\nOkay, the user", "◁think▷Let me"])
def test_a_model_that_thinks_first_gets_room_to_think_and_a_limit_is_proposed(cut):
    def respond(request):
        limit = request.params.get("max_completion_tokens", 0)
        if "max_tokens" in request.params:
            return CallFailed(Failure.REQUEST, "'max_tokens' is not supported", status=400)
        if limit < 500:
            return ChatReply(cut, finish_reason="length")
        return ChatReply("hello", finish_reason="stop", tokens_out=1_100)

    client = ScriptedClient(respond)
    found = asyncio.run(endpoints.probe(client, "m"))
    assert found.token_limit.parameter == "max_completion_tokens"
    assert "hello" in found.temperature.evidence
    assert found.as_dict()["token_limit"]["proposed"] == 400 + 2 * 1_100


def test_an_endpoint_that_stops_to_answer_is_no_finding():
    for kind in (Failure.DENIED, Failure.THROTTLED, Failure.CONNECTION):
        gone = CallFailed(kind, "no")
        refuses = ScriptedClient(lambda asked, gone=gone: gone if asked.schema else "hello")
        with pytest.raises(CallFailed) as problem:
            asyncio.run(endpoints.probe(refuses, "m"))
        assert problem.value.kind is kind
    # Neither is one that refuses the plainest question.
    client = ScriptedClient(lambda request: CallFailed(Failure.REQUEST, "no such model"))
    with pytest.raises(CallFailed, match="no such model"):
        asyncio.run(endpoints.probe(client, "m"))
