"""What makes two requests the same one, and what requests cost."""

import inspect
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.judging.chat import ChatRequest, canonical_json, content_key, ordered_json
from cqa_site.judging.endpoints import (
    CostEstimate,
    cost_micro,
    estimate,
    estimate_messages,
    estimate_tokens,
)
from cqa_site.judging.reply_parsing import label_schema

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


def test_the_order_of_parameters_and_the_writing_of_numbers_say_nothing():
    assert key(params={"max_tokens": 200.0, "seed": 1, "temperature": 0}) == key()
    assert key(messages=[{"content": "Rate.", "role": "system"}, REQUEST["messages"][1]]) == key()
    assert key(params=json.loads(json.dumps(REQUEST["params"]))) == key()


def test_the_order_of_properties_in_a_schema_counts():
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


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_what_is_no_json_has_no_form(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(value)


MESSAGES = ({"role": "system", "content": "a" * 30}, {"role": "user", "content": "b" * 31})


def request(schema=None, **params):
    return ChatRequest("small", MESSAGES, params, schema)


def test_requests_add_up_to_the_smallest_bound_on_their_replies():
    assert estimate_messages(MESSAGES) == 3 + (4 + 10) + (4 + 11)
    assert estimate_messages([]) == 3
    requests = (request(max_tokens=limit) for limit in (100, 50))
    # At most: six requests each, the first with its limit, four with twice as much, rounded up.
    assert totals(requests) == CostEstimate(2, 64, 150, 64 + 300, 6 * 64 + 9 * 300 + 12)
    assert totals([]) == CostEstimate(0, 0, 0, 0)
    assert totals([request(max_tokens=100)], tokens_per_reply=40).tokens_out == 40
    assert totals([request(max_tokens=30)], tokens_per_reply=40).tokens_out == 30
    assert totals([request(max_tokens=90, max_completion_tokens=80)]).tokens_out == 80
    assert totals([request()], tokens_per_reply=40).tokens_out == 40
    with pytest.raises(ValueError, match="no largest cost"):
        totals([request(max_tokens=10), request()])
    # A schema may be part of the prompt.
    schema = {"type": "object"}
    assert estimate_tokens(ordered_json(schema)) == 6
    assert totals([request(schema, max_tokens=1)]).tokens_in == 32 + 6


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out", "price_in", "price_out", "cost"),
    [
        (1_000_000, 0, "0.15", "0.60", 150_000),
        (0, 1_000_000, "0.15", "0.60", 600_000),
        (1, 0, "0.15", "0.60", 1),
        (7, 3, "0.15", "0.60", 3),
        (10, 0, "0.10", "0", 1),
        (10**12, 10**12, "75", "150.000001", 225 * 10**12 + 10**6),
        (5, 5, "0", "0", 0),
    ],
)
def test_cost_is_exact_and_rounded_up(tokens_in, tokens_out, price_in, price_out, cost):
    prices = {"price_in": Decimal(price_in), "price_out": Decimal(price_out)}
    found = cost_micro(tokens_in, tokens_out, **prices)
    assert (found, type(found)) == (cost, int)


def totals(requests, **keywords):
    return estimate(requests, price_in=Decimal(1), price_out=Decimal(2), **keywords)
