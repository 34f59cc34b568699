"""Addresses that requests may reach: public addresses, and those the operator has listed.

Python's ``is_global`` is not enough: it accepts multicast, addresses that embed another address
and, depending on the release, some addresses that cloud providers use for metadata. The rules here
refuse the same addresses in every Python version.

A NAT64 prefix chosen by a network (RFC 6052, section 2.2) looks like a public address. If the
network has one, the operator's firewall has to block it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64, RFC 6052
_ISATAP = 0x00005EFE  # third group of four bytes, RFC 5214; a leading 2 means "globally unique"
_NEVER = [
    ip_network(network)
    for network in (
        "168.63.129.16/32",  # a public address, but a host agent inside Azure
        "192.0.0.0/24",  # protocol assignments; includes Oracle's metadata service
        "192.88.99.0/24",  # 6to4 relays
        "2001::/23",  # protocol assignments; Teredo embeds IPv4 addresses
        "2002::/16",  # 6to4, which also embeds them
        "3fff::/20",  # documentation
    )
]
_ENTRY = re.compile(r"(?:\[(?P<bracketed>[^\]]*)\]|(?P<plain>[^\[\]:]*)):(?P<port>[0-9]{1,5}|\*)")
_EVERY_PORT = 0
_FORMS = "write 127.0.0.1:8931, 10.0.0.0/24:8000 or [fd00::/8]:8000"


class NotAnAllowList(ValueError):
    """Raised for an invalid list of networks and ports; the message gives the entry and reason."""


@dataclass(frozen=True, slots=True)
class AllowedNetwork:
    """A network and a port that requests may reach although they are not public.

    Parameters
    ----------
    network
        For example ``"127.0.0.1/32"`` or ``"fd00::/8"``; an address without a prefix is one host.
    port
        1 to 65535, or 0 for every port, which is allowed only for the machine itself.

    Raises
    ------
    ValueError
        For any other value, for addresses with bits beyond the prefix and for whole families
        (``0.0.0.0/0``), which would allow every internal address.
    """

    network: str
    port: int

    def __post_init__(self) -> None:
        network = ip_network(self.network)
        if network.prefixlen == 0:
            raise ValueError("a list cannot allow everything")
        if self.port == _EVERY_PORT and not network.is_loopback:
            raise ValueError("all ports can be listed for the machine itself only")
        if not 0 <= self.port < 65536:
            raise ValueError("ports are 1 to 65535")

    def covers(self, address: Address, port: int) -> bool:
        """Return whether the entry includes an address and a port."""
        return self.port in (port, _EVERY_PORT) and address in ip_network(self.network)


def parse_allowed(text: str) -> tuple[AllowedNetwork, ...]:
    """Read the operator's setting: comma-separated entries, each a network and a port.

    Raises
    ------
    NotAnAllowList
        With the invalid entry. Host names are not allowed, because their addresses can change.

    Examples
    --------
    >>> [entry.network for entry in parse_allowed("127.0.0.1:8931, 10.0.0.0/24:8000")]
    ['127.0.0.1', '10.0.0.0/24']
    """
    entries = [entry.strip() for entry in text.split(",")]
    return tuple(_parse_entry(entry) for entry in entries if entry)


def is_permitted(address: Address, port: int, allowed: Iterable[AllowedNetwork] = ()) -> bool:
    """Return whether a connection to an address may be opened.

    Parameters
    ----------
    address
        Address as returned by the resolver.
    port
        Port to connect to.
    allowed
        Exceptions to the rule that requests may reach only public addresses.

    Returns
    -------
    bool
        True if the address, and every address embedded in it, is public or listed.

    Examples
    --------
    >>> is_permitted(IPv4Address("192.168.0.7"), 443), is_permitted(IPv4Address("1.1.1.1"), 443)
    (False, True)
    """
    listed = tuple(allowed)
    return all(
        _is_public(inner) or any(entry.covers(inner, port) for entry in listed)
        for inner in unfold(address)
    )


def is_listed(address: Address, port: int, allowed: Iterable[AllowedNetwork]) -> bool:
    """Return whether the operator has listed an address and every address embedded in it."""
    listed = tuple(allowed)
    return all(any(entry.covers(inner, port) for entry in listed) for inner in unfold(address))


def missing_entry(url: str, allowed: Iterable[AllowedNetwork]) -> str:
    """Return the entry the operator must add before requests to a server can be sent.

    Names are not resolved; except for ``localhost``, the operator has to fill in the address.

    Examples
    --------
    >>> missing_entry("http://localhost:11434/v1", ())
    '127.0.0.1:11434, [::1]:11434'
    >>> missing_entry("http://ollama:11434/v1", ()), missing_entry("https://api.example/v1", ())
    ('(address of ollama):11434', '')
    """
    parts, listed = urlsplit(url), tuple(allowed)
    is_plain, host = parts.scheme == "http", parts.hostname or ""
    port = parts.port or (80 if is_plain else 443)
    if written := _written_addresses(host):
        is_fine = is_listed if is_plain else is_permitted
        lacking = [address for address in written if not is_fine(address, port, listed)]
        return ", ".join(
            f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"
            for address in lacking
        )
    if is_plain and not any(entry.port == port for entry in listed):
        return f"(address of {host}):{port}"
    return ""


def _written_addresses(host: str) -> list[Address]:
    if host == "localhost":
        return [IPv4Address("127.0.0.1"), IPv6Address("::1")]
    try:
        return [ip_address(host)]
    except ValueError:
        return []


def unfold(address: Address) -> tuple[Address, ...]:
    """Return the addresses that one address may lead to.

    IPv4-mapped and NAT64 addresses are only a notation and are replaced by the embedded address.
    For an ISATAP address, both it and the embedded address are returned. Addresses in older
    embedding formats (IPv4-compatible, 6to4, Teredo) are never public.
    """
    if isinstance(address, IPv4Address):
        return (address,)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address in _TRANSLATED:
        return (_last_four(address),)
    if (int(address) >> 32) & 0xFDFFFFFF == _ISATAP:
        return (address, _last_four(address))
    return (address,)


def _last_four(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)


def _is_public(address: Address) -> bool:
    if any(address.version == never.version and address in never for never in _NEVER):
        return False
    if isinstance(address, IPv6Address):
        return address.scope_id is None and address in _GLOBAL_UNICAST and address.is_global
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _parse_entry(entry: str) -> AllowedNetwork:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise NotAnAllowList(f"{entry[:60]!a} has no network or no port; {_FORMS}")
    network = match["bracketed"] if match["plain"] is None else match["plain"]
    try:
        return AllowedNetwork(network, _parse_port(match["port"]))
    except ValueError as problem:
        raise NotAnAllowList(f"{entry[:60]!a}: {str(problem)[:120]}; {_FORMS}") from None


def _parse_port(text: str) -> int:
    if text == "*":
        return _EVERY_PORT
    if int(text) == _EVERY_PORT:
        raise ValueError("ports are 1 to 65535")
    return int(text)
