"""What an endpoint honours is found out by its replies, not by its not refusing."""

import asyncio
import json

import pytest

from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.judging.endpoints import probe
from cqa_site.judging.transport.egress import AllowedNetwork
from cqa_site.judging.transport.openai_client import OpenAIClient
from tests.judging.scripted import ScriptedClient


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


def test_a_server_that_honours_everything(stub):
    found = probed(stub)
    assert works(found) == dict.fromkeys(ALL, True)
    assert found.model == "stub-1"
    assert json.loads(found.json_schema.evidence)["colour"] in ("red", "blue")
    assert found.n.evidence == "2 of 2 replies"
    assert found.token_limit.parameter == "max_tokens"
    assert stub.counts["requests"] == 8


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
    assert found == dict.fromkeys(ALL, True) | {name: False}


def test_always_the_same_answer_is_no_honoured_seed_and_no_probabilities():
    for body in ("", "[]", '{"choices": [1]}', '{"choices": [{"logprobs": 1}]}'):
        client = ScriptedClient(lambda request, body=body: ChatReply("the same", body=body))
        found = asyncio.run(probe(client, "m"))
        assert not found.seed.works
        assert found.seed.evidence == "the same | the same | the same"
        assert (found.logprobs.works, found.logprobs.evidence) == (False, "no probabilities")
        assert not found.n.works


def test_a_refused_parameter_is_evidence():
    def respond(request):
        if {"seed", "n", "logprobs"} & set(request.params) or request.schema:
            return CallFailed(Failure.REQUEST, "unknown field")
        return "hello"

    found = asyncio.run(probe(ScriptedClient(respond), "m"))
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


def test_a_limit_that_cuts_nothing_is_not_honoured_and_the_usual_name_stays(stub):
    stub.conduct.honours_limit = False
    limit = probed(stub).token_limit
    assert (limit.works, limit.refused, limit.parameter) == (False, False, "max_tokens")
    assert "not cut" in limit.evidence


def test_a_reply_that_ended_by_itself_shows_nothing_about_a_limit():
    ended = iter([ChatReply("One, two.", finish_reason="stop", tokens_out=4)])

    def respond(request):
        if "Count" not in request.messages[0]["content"]:
            return "hello"
        return next(ended, ChatReply("One, two, three", finish_reason="length", tokens_out=16))

    found = asyncio.run(probe(ScriptedClient(respond), "m"))
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
    found = asyncio.run(probe(client, "m"))
    assert found.token_limit.parameter == "max_completion_tokens"
    assert "hello" in found.temperature.evidence
    assert found.as_dict()["token_limit"]["proposed"] == 400 + 2 * 1_100


def test_an_endpoint_that_stops_to_answer_is_no_finding():
    for kind in (Failure.DENIED, Failure.THROTTLED, Failure.CONNECTION):
        gone = CallFailed(kind, "no")
        refuses = ScriptedClient(lambda asked, gone=gone: gone if asked.schema else "hello")
        with pytest.raises(CallFailed) as problem:
            asyncio.run(probe(refuses, "m"))
        assert problem.value.kind is kind
    # Neither is one that refuses the plainest question.
    client = ScriptedClient(lambda request: CallFailed(Failure.REQUEST, "no such model"))
    with pytest.raises(CallFailed, match="no such model"):
        asyncio.run(probe(client, "m"))
