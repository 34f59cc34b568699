"""What an endpoint honours is found out by its replies, not by its not refusing."""

import asyncio
import json

import pytest

from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.judging.egress import Allowed
from cqa_site.judging.openai_client import OpenAIClient
from cqa_site.judging.probing import probe
from cqa_site.judging.scripted import ScriptedClient


def probed(stub):
    async def run():
        client = OpenAIClient(stub.base_url, "", [Allowed("127.0.0.1", stub.port)])
        try:
            return await client.probe("m")
        finally:
            await client.close()

    return asyncio.run(run())


def works(capabilities):
    return {name: found["works"] for name, found in capabilities.as_dict().items()}


def test_a_server_that_honours_everything(stub):
    found = probed(stub)
    assert works(found) == dict.fromkeys(["json_schema", "seed", "logprobs", "n"], True)
    assert found.model == "stub-1"
    assert json.loads(found.json_schema.evidence)["colour"] in ("red", "blue")
    assert found.n.evidence == "2 of 2 replies"
    assert stub.counts["requests"] == 7


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("honours_schema", "json_schema"),
        ("honours_seed", "seed"),
        ("has_logprobs", "logprobs"),
        ("honours_n", "n"),
    ],
)
def test_a_server_that_ignores_something(setting, name, stub):
    setattr(stub.conduct, setting, False)
    found = works(probed(stub))
    assert found == dict.fromkeys(["json_schema", "seed", "logprobs", "n"], True) | {name: False}


def test_always_the_same_answer_is_no_honoured_seed():
    client = ScriptedClient(lambda request: "the same")
    found = asyncio.run(probe(client, "m"))
    assert not found.seed.works
    assert found.seed.evidence == "the same | the same | the same"


def test_a_refused_parameter_is_evidence():
    def respond(request):
        if {"seed", "n", "logprobs"} & set(request.params) or request.schema:
            return CallFailed(Failure.REQUEST, "unknown field")
        return "hello"

    found = asyncio.run(probe(ScriptedClient(respond), "m", params={"max_tokens": 5}))
    assert works(found) == dict.fromkeys(["json_schema", "seed", "logprobs", "n"], False)
    assert {one["evidence"] for one in found.as_dict().values()} == {"unknown field"}


@pytest.mark.parametrize("kind", [Failure.DENIED, Failure.THROTTLED, Failure.CONNECTION])
def test_an_endpoint_that_stops_to_answer_is_no_finding(kind):
    def respond(request):
        return CallFailed(kind, "no") if request.schema else "hello"

    with pytest.raises(CallFailed) as problem:
        asyncio.run(probe(ScriptedClient(respond), "m"))
    assert problem.value.kind is kind


def test_an_endpoint_that_refuses_the_plainest_question_is_no_finding():
    client = ScriptedClient(lambda request: CallFailed(Failure.REQUEST, "no such model"))
    with pytest.raises(CallFailed, match="no such model"):
        asyncio.run(probe(client, "m"))


@pytest.mark.parametrize("body", ["", "[]", '{"choices": [1]}', '{"choices": [{"logprobs": 1}]}'])
def test_bodies_of_any_shape_are_no_probabilities(body):
    client = ScriptedClient(lambda request: ChatReply("x", body=body))
    found = asyncio.run(probe(client, "m"))
    assert (found.logprobs.works, found.logprobs.evidence) == (False, "no probabilities")
    assert not found.n.works
