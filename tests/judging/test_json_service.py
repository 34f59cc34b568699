"""One GET for JSON: what is sent, and what every other answer becomes."""

import math

import pytest

from cqa_site.judging.chat import Failure
from cqa_site.judging.transport.addresses import Allowed
from cqa_site.judging.transport.json_service import ServiceFailed, get_json

from .json_stub import JsonStub


def listed(stub):
    return [Allowed("127.0.0.1/32", stub.port)]


def refused(kind, stub, **options):
    with pytest.raises(ServiceFailed) as problem:
        get_json(stub.address, allowed=options.pop("allowed", listed(stub)), **options)
    assert problem.value.kind is kind
    return str(problem.value)


def test_parameters_go_into_the_query_whatever_they_hold():
    params = {"objectA": "a&b=c #?", "objectB": "Žižek 東京", "empty": " "}
    with JsonStub({"found": [1, None]}) as stub:
        assert get_json(stub.address, params, allowed=listed(stub)) == {"found": [1, None]}
        assert stub.asked == [("/cam", params)]


def test_no_parameters_leave_the_address_alone():
    with JsonStub([]) as stub:
        assert get_json(f"{stub.address}/a%2Fb,c/10", allowed=listed(stub)) == []
        assert stub.asked == [("/cam/a%2Fb,c/10", {})]


def test_addresses_that_nobody_listed_are_not_asked():
    with JsonStub({}) as stub:
        said = refused(Failure.BLOCKED, stub, allowed=[])
        assert stub.asked == []
    assert "127" not in said


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, Failure.REQUEST), (429, Failure.REQUEST), (500, Failure.SERVER), (503, Failure.SERVER)],
)
def test_other_statuses_are_named(status, kind):
    with JsonStub({"secret": "inside"}, status=status) as stub:
        said = refused(kind, stub)
    assert str(status) in said
    assert "inside" not in said


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"\xff\xfe", b"[" * 200_000])
def test_what_is_no_json_is_garbage(body):
    with JsonStub(body=body) as stub:
        refused(Failure.GARBAGE, stub)


def test_lenient_json_is_taken():
    with JsonStub(body=b'{"score": NaN, "text": "\\ud800"}') as stub:
        found = get_json(stub.address, allowed=listed(stub))
    assert math.isnan(found["score"])


def test_redirects_are_not_followed():
    with (
        JsonStub({"inside": 1}) as inner,
        JsonStub({}, status=302, headers={"Location": inner.address}) as stub,
    ):
        refused(Failure.BLOCKED, stub, allowed=[*listed(stub), *listed(inner)])
        assert inner.asked == []


def test_size_and_time_are_bounded():
    with JsonStub(["x" * 5_000]) as stub:
        refused(Failure.TOO_LARGE, stub, max_bytes=4_000)
        assert get_json(stub.address, allowed=listed(stub), max_bytes=6_000)
    with JsonStub([], seconds=2.0) as stub:
        refused(Failure.TIMEOUT, stub, deadline=0.3)
