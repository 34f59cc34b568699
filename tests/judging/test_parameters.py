"""Which parameter a refusal names, in the words of several servers (written by us)."""

import json

import pytest

from cqa_site.judging.chat import CallFailed, ChatRequest, Failure
from cqa_site.judging.parameters import named

ASKED = ChatRequest(
    "m", ({"role": "user", "content": "x"},), {"max_tokens": 5, "temperature": 0, "top_k": 3}, {}
)


def refusal(document, status=400):
    body = document if isinstance(document, str) else json.dumps(document)
    return CallFailed(Failure.REQUEST, "the endpoint answered", status=status, body=body)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"error": {"message": "Use another one.", "param": "max_tokens"}}, "max_tokens"),
        ({"error": {"message": "'max_tokens' goes as 'max_completion_tokens'."}}, "max_tokens"),
        ({"error": {"message": "`temperature` takes only 1 with this model"}}, "temperature"),
        ({"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs"}]}, "top_k"),
        ({"error": {"param": "response_format.type", "message": "?"}}, "response_format"),
        ({"error": "unknown field top_k"}, "top_k"),
    ],
)
def test_a_parameter_that_was_sent_is_named(document, name):
    found = named(refusal(document), ASKED)
    assert found.kind is Failure.PARAMETER
    assert str(found).startswith(f"{name}: ")


@pytest.mark.parametrize(
    "document",
    [
        {"error": {"message": "No such model.", "param": "model"}},
        {"error": {"message": "The temperature of the room does not matter."}},
        {"error": {"message": "'seed' is not supported"}},
        {"error": {"message": "maximum context length is 8; max_tokens is too large"}},
        "<html>",
        [],
    ],
)
def test_other_refusals_concern_their_request_alone(document):
    failure = refusal(document)
    assert named(failure, ASKED) is failure


def test_only_refusals_of_the_request_are_looked_at():
    failure = refusal({"error": {"param": "max_tokens"}}, status=404)
    assert named(failure, ASKED) is failure
