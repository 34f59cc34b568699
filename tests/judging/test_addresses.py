"""Which addresses are public, and how an operator lists others."""

from ipaddress import ip_address

import pytest

from cqa_site.judging.transport.addresses import (
    Allowed,
    NotAnAllowList,
    is_listed,
    is_permitted,
    parse_allowed,
    unfold,
)

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


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public_addresses_are_permitted_but_not_listed(address):
    assert is_permitted(ip_address(address), 443)
    assert not is_listed(ip_address(address), 443, [Allowed("10.0.0.0/8", 443)])


def test_an_entry_covers_its_network_and_its_port_and_nothing_else():
    entry = [Allowed("10.1.0.0/16", 8000)]
    assert is_permitted(ip_address("10.1.255.7"), 8000, entry)
    assert is_listed(ip_address("::ffff:10.1.0.1"), 8000, entry)
    assert not is_permitted(ip_address("10.1.255.7"), 8001, entry)
    assert not is_permitted(ip_address("10.2.0.1"), 8000, entry)
    assert not is_permitted(ip_address("127.0.0.1"), 8000, entry)


def test_what_an_address_carries_needs_permission_of_its_own():
    outer = "2606:4700::5efe:7f00:1"
    assert unfold(ip_address(outer)) == (ip_address(outer), ip_address("127.0.0.1"))
    assert not is_permitted(ip_address(outer), 80, [Allowed("2606:4700::/32", 80)])
    both = [Allowed("2606:4700::/32", 80), Allowed("127.0.0.1", 80)]
    assert is_listed(ip_address(outer), 80, both)


def test_a_list_is_read():
    assert parse_allowed("") == ()
    assert parse_allowed(" 127.0.0.1:8931, 10.0.0.0/24:8000,[::1]:80,[fd00::/8]:65535 ,") == (
        Allowed("127.0.0.1", 8931),
        Allowed("10.0.0.0/24", 8000),
        Allowed("::1", 80),
        Allowed("fd00::/8", 65535),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("127.0.0.1", "no port"),
        ("localhost:8000", "does not appear to be an IPv4 or IPv6 network"),
        ("127.0.0.1:8931 10.0.0.1:80", "no port"),
        ("10.0.0.5/24:8000", "host bits"),
        ("127.0.0.1:0", "ports are 1 to 65535"),
        ("127.0.0.1:65536", "ports are 1 to 65535"),
        ("127.0.0.1:80-90", "no port"),
        ("0.0.0.0/0:443", "a list of everything"),
        ("[::/0]:443", "a list of everything"),
        ("::1:80", "no port"),
        ("http://127.0.0.1:80", "no port"),
        ("127.0.0.1:٨٠", "no port"),
    ],
)
def test_a_wrong_entry_is_named_with_what_to_write(text, words):
    with pytest.raises(NotAnAllowList, match=words) as problem:
        parse_allowed(f"10.0.0.1:80, {text}")
    assert "write 127.0.0.1:8931" in str(problem.value)
