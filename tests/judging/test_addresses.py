"""Which addresses may be asked, what a GET for JSON becomes, and that no key comes back."""

import math
import time
from ipaddress import ip_address

import pytest
from hypothesis import given, strategies as st

from cqa_site.judging.chat import Failure
from cqa_site.judging.transport.addresses import (
    AllowedNetwork,
    NotAnAllowList,
    is_listed,
    is_permitted,
    missing_entry,
    parse_allowed,
    unfold,
)
from cqa_site.judging.transport.egress import ServiceFailed, get_json
from cqa_site.judging.transport.openai_client import PIECE, Scrubber
from .json_stub import JsonStub

INSIDE = """
0.0.0.0 0.0.0.1 127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
169.254.169.254 169.254.170.2 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1
192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
255.255.255.255
:: ::1 ::2 ::7f00:1 ::808:808 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
::ffff:0:7f00:1
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::a00:1 64:ff9b:1::808:808 2002:7f00:1:: 2002:a9fe:a9fe::
2002:808:808:: 2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2001:20::1
2606:4700::5efe:7f00:1 2606:4700::200:5efe:a00:1 fe80::1 fe80::1%1 fec0::1 fc00::1 fd00:ec2::254
fd20:ce::254 ff02::1 100::1 3fff::1 5f00::1 4000::1 2606:4700:4700::1111%1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 93.184.215.14 172.32.0.1 100.128.0.1 192.0.1.1 223.255.255.255 2606:4700:4700::1111
2a00:1450:4001:810::200e ::ffff:1.1.1.1 64:ff9b::101:101 2606:4700::5efe:101:101
"""


@pytest.mark.parametrize("address", INSIDE.split())
def test_nothing_inside_is_permitted(address):
    assert not is_permitted(ip_address(address), 443)


def test_public_addresses_are_permitted_but_not_listed():
    for address in map(ip_address, PUBLIC.split()):
        assert is_permitted(address, 443), address
        assert not is_listed(address, 443, [AllowedNetwork("10.0.0.0/8", 443)]), address


def test_an_entry_covers_its_network_and_port_and_nothing_that_an_address_carries():
    entry = [AllowedNetwork("10.1.0.0/16", 8000)]
    assert is_permitted(ip_address("10.1.255.7"), 8000, entry)
    assert is_listed(ip_address("::ffff:10.1.0.1"), 8000, entry)
    assert not is_permitted(ip_address("10.1.255.7"), 8001, entry)
    assert not is_permitted(ip_address("10.2.0.1"), 8000, entry)
    assert not is_permitted(ip_address("127.0.0.1"), 8000, entry)
    outer = "2606:4700::5efe:7f00:1"
    assert unfold(ip_address(outer)) == (ip_address(outer), ip_address("127.0.0.1"))
    assert not is_permitted(ip_address(outer), 80, [AllowedNetwork("2606:4700::/32", 80)])
    both = [AllowedNetwork("2606:4700::/32", 80), AllowedNetwork("127.0.0.1", 80)]
    assert is_listed(ip_address(outer), 80, both)


WRONG = [
    ("localhost:8000", "does not appear to be an IPv4 or IPv6 network"),
    ("10.0.0.5/24:8000", "host bits"),
    *((f"127.0.0.1:{port}", "ports are 1 to 65535") for port in (0, 65536)),
    *((every, "cannot allow everything") for every in ("0.0.0.0/0:443", "[::/0]:443")),
    *((bad, "no port") for bad in ("127.0.0.1", "127.0.0.1:8931 10.0.0.1:80", "127.0.0.1:80-90")),
    *((bad, "no port") for bad in ("::1:80", "http://127.0.0.1:80", "127.0.0.1:٨٠")),
]


def test_a_list_is_read_and_a_wrong_entry_named_with_what_to_write():
    assert parse_allowed("") == ()
    assert parse_allowed(" 127.0.0.1:8931, 10.0.0.0/24:8000,[::1]:80,[fd00::/8]:65535 ,") == (
        AllowedNetwork("127.0.0.1", 8931),
        AllowedNetwork("10.0.0.0/24", 8000),
        AllowedNetwork("::1", 80),
        AllowedNetwork("fd00::/8", 65535),
    )
    for text, words in WRONG:
        with pytest.raises(NotAnAllowList, match=words) as problem:
            parse_allowed(f"10.0.0.1:80, {text}")
        assert "write 127.0.0.1:8931" in str(problem.value)


def listed(stub):
    return [AllowedNetwork("127.0.0.1/32", stub.port)]


def refused(kind, stub, **options):
    with pytest.raises(ServiceFailed) as problem:
        get_json(stub.address, allowed=options.pop("allowed", listed(stub)), **options)
    assert problem.value.kind is kind
    return str(problem.value)


def test_every_port_of_the_machine_can_be_listed_and_what_to_add_is_said():
    listed = parse_allowed("127.0.0.0/8:*, [::1]:*")
    for address, is_fine in {"127.0.0.1": True, "::1": True, "10.0.0.1": False}.items():
        assert is_listed(ip_address(address), 11434, listed) is is_fine
    with pytest.raises(NotAnAllowList, match="machine itself only"):
        parse_allowed("10.0.0.0/8:*")
    assert missing_entry("http://localhost:11434/v1", listed) == ""
    for url, listed, lacking in (
        ("http://localhost:11434/v1", "127.0.0.1:11434", "[::1]:11434"),
        ("https://10.1.0.7/v1", "", "10.1.0.7:443"),
        ("https://1.1.1.1/v1", "", ""),
        ("http://1.1.1.1/v1", "", "1.1.1.1:80"),
        ("http://ollama:11434/v1", "10.0.0.0/24:11434", ""),
        ("https://models.example/v1", "", ""),
        ("http://models.example/v1", "", "(address of models.example):80"),
    ):
        assert missing_entry(url, parse_allowed(listed)) == lacking


def test_parameters_go_into_the_query_whatever_they_hold():
    params = {"objectA": "a&b=c #?", "objectB": "Žižek 東京", "empty": " "}
    with JsonStub({"found": [1, None]}) as stub:
        assert get_json(stub.address, params, allowed=listed(stub)) == {"found": [1, None]}
        assert stub.asked == [("/cam", params)]


def test_addresses_that_nobody_listed_are_not_asked_and_other_statuses_named():
    with JsonStub({}) as stub:
        said = refused(Failure.BLOCKED, stub, allowed=[])
        assert stub.asked == []
    assert "127" not in said
    kinds = {404: Failure.REQUEST, 429: Failure.REQUEST, 500: Failure.SERVER, 503: Failure.SERVER}
    for status, kind in kinds.items():
        with JsonStub({"secret": "inside"}, status=status) as stub:
            said = refused(kind, stub)
        assert str(status) in said
        assert "inside" not in said


def test_lenient_json_is_taken_and_what_is_none_is_garbage():
    for body in (b"", b"<html>", b"{", b"\xff\xfe", b"[" * 200_000):
        with JsonStub(body=body) as stub:
            refused(Failure.GARBAGE, stub)
    with JsonStub(body=b'{"score": NaN, "text": "\\ud800"}') as stub:
        assert math.isnan(get_json(stub.address, allowed=listed(stub))["score"])


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


KEY = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz012345"


CLEANED = [
    (f"key {KEY}.", "key [key]."),
    (f"{KEY}{KEY}", "[key][key]"),
    (f"Bearer {KEY[:20]} and {KEY[-12:]}", "Bearer [key] and [key]"),
    ("Incorrect API key provided: sk-proj-**********2345.", "Incorrect API key provided: [key]."),
    ("sk-pr...2345 is wrong", "[key] is wrong"),
    ("sk-pr… is wrong", "[key] is wrong"),
    ("it ends in ***2345", "it ends in [key]"),
    ("•••••45", "[key]"),
    ("●●●45 or *•*45", "[key] or [key]"),
    ("nothing... here *** at all", "nothing... here *** at all"),
    ("2345 is a number, sk-p a start", "2345 is a number, sk-p a start"),
    ("", ""),
]


def test_a_key_and_its_parts_are_replaced():
    for text, clean in CLEANED:
        assert Scrubber(KEY)(text) == clean
    # Short ones are placeholders, and none is shown.
    assert Scrubber("")("nothing") == "nothing"
    assert Scrubber("ollama")("ollama says") == "ollama says"
    assert Scrubber("12345678")("x12345678x") == "x[key]x"
    assert "proj" not in repr(Scrubber(KEY))


@given(st.text(max_size=30), st.integers(0, len(KEY) - PIECE), st.integers(PIECE, len(KEY)))
def test_no_piece_of_the_key_is_left(around, start, length):
    clean = Scrubber(KEY)(around + KEY[start : start + length] + around)
    assert not any(KEY[at : at + PIECE] in clean for at in range(len(KEY) - PIECE + 1))


@given(st.text("ab-", min_size=PIECE, max_size=30), st.data())
def test_no_piece_of_any_key_is_left(key, data):
    start = data.draw(st.integers(0, len(key) - PIECE))
    clean = Scrubber(key)("so " + key[start : start + PIECE] + ".")
    assert not any(key[at : at + PIECE] in clean for at in range(len(key) - PIECE + 1))


@pytest.mark.parametrize("part", ["a", "a-", "*", ".", "*a", "... ", KEY[:7], KEY[:PIECE]])
def test_a_hostile_text_takes_no_longer_than_a_harmless_one(part):
    started = time.process_time()
    Scrubber(KEY)(part * (1_048_576 // len(part)))
    assert time.process_time() - started < 2
