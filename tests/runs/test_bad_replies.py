"""Runs over an endpoint that sends bad replies: what is stored, what is sent, what it costs."""

import json
from functools import partial

import pytest
from django.conf import settings

from cqa_site.judging import rate_limits
from cqa_site.judging.chat import Failure
from cqa_site.judging.extraction import UnscoredReason
from cqa_site.judging.transport.egress import AllowedNetwork
from cqa_site.judging.transport.openai_client import OpenAIClient
from cqa_site.runs.carrying import clients
from cqa_site.runs.carrying.worker import drain_inline
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.models import Attempt, Endpoint
from cqa_site.runs.planning import write_calls
from tests.judging.bad_replies import SHAPES
from tests.judging.llmstub import StubServer
from tests.lengths import first
from tests.runs.judging import Lab
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(partial(Lab, items=1))


@pytest.fixture(scope="module")
def stub():
    bodies: list[bytes] = []
    with StubServer(answer=lambda request: bodies[-1]) as server:
        server.bodies = bodies
        yield server


def carried(lab, monkeypatch, stub, body: bytes, **values):
    """A run over one argument whose every request gets the same body."""
    stub.bodies.append(body)
    stub.stub.reset()

    def make(endpoint):
        return OpenAIClient(stub.base_url, "", [AllowedNetwork("127.0.0.1", stub.port)])

    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.REMOTE, make)
    monkeypatch.setattr(rate_limits, "backoff", lambda tries: 0.0)
    monkeypatch.setattr(settings, "CALL_BREAK_SECONDS", 0.0)
    run = lab.start(**values)
    write_calls(run)
    drain_inline()
    run.refresh_from_db()
    return run


# How often is asked again differs by temperature; spellings of one mark do not differ in that.
NAMES = [name for name in SHAPES if not name.startswith("draft") or "channels" in name]
CASES = [(name, 0) for name in NAMES] + [
    (name, 1) for name in NAMES if isinstance(SHAPES[name].expected, UnscoredReason)
]


def outcome(name, temperature):
    """What differs between shapes: how they are read; and if warm, how often is asked again."""
    expected = SHAPES[name].expected
    return (expected is UnscoredReason.TRUNCATED if temperature else expected), temperature


# Which words are read from each shape tests/judging asks; here one shape of each outcome is.
FIRST = list({outcome(*case): case for case in reversed(CASES)}.values())


@pytest.mark.parametrize(
    ("name", "temperature"), first(len(FIRST), sorted(CASES, key=lambda case: case not in FIRST))
)
def test_nothing_is_stored_that_no_reply_said(name, temperature, lab, monkeypatch, stub):
    shape = SHAPES[name]
    params = {"temperature": temperature, "max_tokens": 200}
    run = carried(lab, monkeypatch, stub, shape.body, params=params)
    label = run.judge_labels.get()
    assert (label.label if label.label is not None else label.reason) == shape.expected
    sent = stub.stub.counts["requests"]
    assert Attempt.objects.count() == sent
    if isinstance(shape.expected, int) or shape.expected == UnscoredReason.REFUSED:
        assert sent == 1
    elif isinstance(shape.expected, UnscoredReason):
        is_cut = shape.expected == UnscoredReason.TRUNCATED
        assert sent == (3 if temperature and not is_cut else 2)
    elif shape.expected == Failure.SERVER:
        # With a choice it may be paid for; without one it is an error like any other.
        assert sent == (4 if b"choices" in shape.body else 8)
    assert list(find_violations()) == []
    run.budget.refresh_from_db()
    paid = [attempt.cost_micro for attempt in Attempt.objects.all()]
    assert run.budget.spent_micro == sum(paid)
    if b"choices" in shape.body:
        assert all(paid)
    assert run.budget.spent_micro <= run.estimate["most_micro"]


@pytest.mark.parametrize("temperature", [0, 1])
def test_the_dearest_way_through_the_retries_stays_below_the_estimate(
    temperature, lab, monkeypatch, stub
):
    """Cut first, then twice too late or broken off, then nothing that can be read."""
    limit = {"prompt_tokens": 100, "completion_tokens": 200}
    twice = {"prompt_tokens": 100, "completion_tokens": 400}
    told = {"message": {"content": "?"}, "finish_reason": "stop"}
    cut = {"choices": [told | {"finish_reason": "length"}], "usage": limit}
    broken = {"choices": [told | {"error": {"code": 502}}]}
    unreadable = {"choices": [told], "usage": twice}
    ways = [cut, broken, broken, *[unreadable] * 3]
    answers = iter(ways)
    monkeypatch.setattr(stub.stub, "_answer", lambda request: json.dumps(next(answers)).encode())
    params = {"temperature": temperature, "max_tokens": 200}
    run = carried(lab, monkeypatch, stub, b"", params=params)
    run.budget.refresh_from_db()
    assert Attempt.objects.count() == (5 if temperature else 4)
    spent = run.budget.spent_micro
    assert run.estimate["cost_micro"] < spent <= run.estimate["most_micro"]
    assert list(find_violations()) == []
