"""Which addresses requests may go to: public ones, and those the operator has listed.

Python's ``is_global`` alone will not do: it says yes to multicast, to addresses that carry
another one inside, and, depending on the release, to some that clouds use for their own
metadata. What is refused here is refused on every Python.

A translator with a prefix of its own (RFC 6052, section 2.2) cannot be told from a public
address; where one exists, the operator's firewall has to close the way.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64, RFC 6052
_ISATAP = 0x00005EFE  # third group of four bytes, RFC 5214; a 2 in front says "globally unique"
_NEVER = [
    ip_network(network)
    for network in (
        "168.63.129.16/32",  # public by number, but a host agent inside Azure
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata live here
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # protocol assignments; Teredo carries IPv4 addresses inside
        "2002::/16",  # 6to4, which does, too
        "3fff::/20",  # documentation
    )
]
_ENTRY = re.compile(r"(?:\[(?P<bracketed>[^\]]*)\]|(?P<plain>[^\[\]:]*)):(?P<port>[0-9]{1,5})")
_FORMS = "write 127.0.0.1:8931, 10.0.0.0/24:8000 or [fd00::/8]:8000"


class NotAnAllowList(ValueError):
    """A text that is no list of networks and ports; says which entry and why."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A network and one port that may be reached although they are not public.

    Parameters
    ----------
    network
        ``"127.0.0.1/32"``, ``"fd00::/8"``; a bare address stands for itself.
    port
        1 to 65535.

    Raises
    ------
    ValueError
        For anything else, for addresses with bits beyond the prefix and for whole families
        (``0.0.0.0/0``), which would list every internal address at once.
    """

    network: str
    port: int

    def __post_init__(self) -> None:
        if ip_network(self.network).prefixlen == 0:
            raise ValueError("a list of everything is no list")
        if not 0 < self.port < 65536:
            raise ValueError("ports are 1 to 65535")

    def covers(self, address: Address, port: int) -> bool:
        """Whether an address and port are meant."""
        return port == self.port and address in ip_network(self.network)


def parse_allowed(text: str) -> tuple[Allowed, ...]:
    """Read an operator's setting: entries between commas, each a network and a port.

    Raises
    ------
    NotAnAllowList
        With the entry at fault. Names are no entries: what a name means may change.

    Examples
    --------
    >>> parse_allowed("127.0.0.1:8931, 10.0.0.0/24:8000")
    (Allowed(network='127.0.0.1', port=8931), Allowed(network='10.0.0.0/24', port=8000))
    """
    entries = [entry.strip() for entry in text.split(",")]
    return tuple(_parse_entry(entry) for entry in entries if entry)


def is_permitted(address: Address, port: int, allowed: Iterable[Allowed] = ()) -> bool:
    """Whether a connection to an address may be opened.

    Parameters
    ----------
    address
        As the resolver gave it.
    port
        To be connected to.
    allowed
        Exceptions to the rule that only public addresses may be reached.

    Returns
    -------
    bool
        True if the address, and every address it carries inside, is public or listed.

    Examples
    --------
    >>> is_permitted(IPv4Address("192.168.0.7"), 443), is_permitted(IPv4Address("1.1.1.1"), 443)
    (False, True)
    """
    listed = tuple(allowed)
    return all(
        _is_public(one) or any(entry.covers(one, port) for entry in listed)
        for one in unfold(address)
    )


def is_listed(address: Address, port: int, allowed: Iterable[Allowed]) -> bool:
    """Whether the operator has listed an address, and every address it carries inside."""
    listed = tuple(allowed)
    return all(any(entry.covers(one, port) for entry in listed) for one in unfold(address))


def unfold(address: Address) -> tuple[Address, ...]:
    """The addresses that one address may lead to.

    An IPv4-mapped address and one of NAT64 are only another spelling and are replaced by
    what they carry. One of ISATAP leads to itself and to what it carries. Addresses that
    carry others in older ways (IPv4-compatible, 6to4, Teredo) are never public as a whole.
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


def _parse_entry(entry: str) -> Allowed:
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise NotAnAllowList(f"{entry[:60]!a} has no port or no network; {_FORMS}")
    network = found["bracketed"] if found["plain"] is None else found["plain"]
    try:
        return Allowed(network, int(found["port"]))
    except ValueError as problem:
        raise NotAnAllowList(f"{entry[:60]!a}: {str(problem)[:120]}; {_FORMS}") from None
