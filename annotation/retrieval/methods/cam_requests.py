"""What is asked of a CAM service: two objects, aspects with a weight, over HTTP GET.

The Comparative Argumentative Machine (Schildwächter et al., 2019) takes everything as query
parameters. Services that want the objects inside the path, as the one of CAM 2.0 does, are
reached by an address with placeholders.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote

PLACEHOLDERS = ("objectA", "objectB", "aspects", "most")
_BRACED = re.compile(r"\{([^{}]*)\}")
MOST_ASPECTS = 5


def unknown_placeholders(address: str) -> list[str]:
    """Names in braces that mean nothing here.

    Examples
    --------
    >>> unknown_placeholders("https://cam.example/{objectA}/{colour}")
    ['colour']
    """
    return [name for name in _BRACED.findall(address) if name not in PLACEHOLDERS]


def request_of(
    address: str,
    *,
    object1: str,
    object2: str,
    aspects: Sequence[str] = (),
    weight: int = 1,
    most: int = 10,
) -> tuple[str, dict[str, str]]:
    """Address and query parameters of one request.

    Parameters
    ----------
    address
        Of the service. Placeholders (`PLACEHOLDERS`) are filled in, each as one part of the
        path; without any, everything goes into the query.
    object1, object2, aspects, weight
        What is compared; the weight is that of every aspect, 1 to 5 on CAM's own pages.
    most
        Sentences wanted per object. CAM itself has no such parameter: its reply is cut when
        it is read (`cam_replies.best`).

    Examples
    --------
    >>> request_of("https://cam.example/cam", object1="tea", object2="coffee", aspects=["price"])
    ... # doctest: +NORMALIZE_WHITESPACE
    ('https://cam.example/cam', {'model': 'default', 'fs': 'false', 'objectA': 'tea',
    'objectB': 'coffee', 'aspect1': 'price', 'weight1': '1'})
    >>> request_of("https://cam.example/{objectA},{objectB}/{most}", object1="a/b", object2="c")
    ('https://cam.example/a%2Fb,c/10', {})
    """
    if _BRACED.search(address):
        values = {
            "objectA": _part(object1),
            "objectB": _part(object2),
            "aspects": ",".join(map(_part, aspects)),
            "most": str(most),
        }
        return _BRACED.sub(lambda match: values.get(match[1], ""), address), {}
    query = {"model": "default", "fs": "false", "objectA": object1, "objectB": object2}
    for place, aspect in enumerate(aspects[:MOST_ASPECTS], start=1):
        query |= {f"aspect{place}": aspect, f"weight{place}": str(weight)}
    return address, query


def _part(text: str) -> str:
    """A text as part of a path; a comma inside would separate it."""
    return quote(text.replace(",", " "), safe="")
