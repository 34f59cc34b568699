"""A stored reply is found again for the same request and for no other."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.judging.identity import canonical_json, content_key, ordered_json
from cqa_site.judging.schemas import label_schema

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


def test_every_argument_is_changed_above():
    assert {name for change in CHANGES for name in change} == set(
        inspect.signature(content_key).parameters
    )


def test_what_cannot_change_the_answer_is_no_argument():
    for name in ("deadline", "timeout", "price_in", "concurrency", "tries", "api_key"):
        with pytest.raises(TypeError, match="unexpected keyword"):
            key(**{name: 1})


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
        "from cqa_site.judging.identity import content_key as k;"
        "print(k(origin='o', model='m', messages=[{'role': 'user', 'content': 'é'}],"
        "params={'b': 1, 'a': {'y': 1, 'x': [1.0]}}, schema=None, replicate=3))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = content_key(
        origin="o",
        model="m",
        messages=[{"content": "é", "role": "user"}],
        params={"a": {"y": 1, "x": [1]}, "b": 1},
        schema=None,
        replicate=3,
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
