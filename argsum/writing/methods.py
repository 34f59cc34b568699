"""Key points read from a language model's replies.

The model sees clusters under codes that do not follow a sequence, and a reply is read by these
codes alone. Therefore a reply with missing, extra, reordered or renumbered clusters never gives
a key point to the wrong cluster: entries under names that are not codes are ignored.

Source: argument summarization paper, appendix B. The paper numbers its clusters.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cqa_site.judging.extraction import ReplyNotUsable, UnscoredReason, extract_json
from cqa_site.judging.reply_parsing import closed_object, parse_prose

# Increase this with every change that may read a reply differently.
READER_VERSION = 1
LONGEST_KEY_POINT = 500
# A list with more than this multiple of the requested entries is not a list of key points.
TOO_MANY = 3
MOST_CODES = 5_000
# Markers before the entries of a list in prose.
_MARK = re.compile(r"^(?:\d{1,2}[.)]|[-*•])\s+")
_LETTERS, _DIGITS = "BCDFGHJKLMNPQRSTVWXZ", "23456789"


@dataclass(frozen=True, slots=True)
class ReplyContent:
    """Content of a reply.

    Attributes
    ----------
    texts
        Maps the name of a cluster, or ``"1"``, ``"2"``, … in list order, to its key point.
    dropped
        Number of entries that match no requested cluster or only repeat another entry.
    missing
        Clusters without exactly one key point.
    """

    texts: Mapping[str, str]
    dropped: int = 0
    missing: Sequence[int] = field(default=())


@lru_cache(maxsize=1)
def _all_codes() -> tuple[str, ...]:
    codes: dict[str, None] = {}
    place = 0
    while len(codes) < MOST_CODES:
        a, b, c, d, *_ = hashlib.sha256(f"cluster {place}".encode()).digest()
        code = _LETTERS[a % 20] + _DIGITS[b % 8] + _LETTERS[c % 20] + _DIGITS[d % 8]
        codes.setdefault(code)
        place += 1
    return tuple(codes)


def code_of(cluster: int) -> str:
    """Return the code of a cluster for a model; an id always has the same code.

    Raises
    ------
    ValueError
        If the id is negative or not below `MOST_CODES`.

    Examples
    --------
    >>> len({code_of(cluster) for cluster in range(500)})
    500
    """
    if not 0 <= cluster < MOST_CODES:
        raise ValueError(f"There is no code for cluster {cluster}.")
    return _all_codes()[cluster]


def read_list(reply: str, finish_reason: str, *, most: int, refusal: str = "") -> ReplyContent:
    """Read ``{"key_points": ["…", …]}``.

    A number or dash before a text is not part of it. A text that only repeats an earlier one
    (apart from case and spaces) is dropped and counted.

    Raises
    ------
    ReplyNotUsable
        With the reason, which is ``out_of_set`` for more than `TOO_MANY` times ``most`` entries.
    """
    answer = dict(_pairs(reply, finish_reason, refusal))
    entries = answer.get("key_points")
    if set(answer) != {"key_points"} or not isinstance(entries, list):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not one list of key points")
    if len(entries) > TOO_MANY * most:
        raise ReplyNotUsable(UnscoredReason.OUT_OF_SET, f"{len(entries)} key points")
    texts = [_MARK.sub("", _key_point(entry)) for entry in entries]
    first: dict[str, str] = {}
    for text in filter(None, texts):
        first.setdefault(text.casefold(), text)
    key_points = list(first.values())
    if not key_points:
        raise ReplyNotUsable(UnscoredReason.EMPTY, "no key point")
    return ReplyContent(
        {str(number): text for number, text in enumerate(key_points, start=1)},
        len(texts) - len(key_points),
    )


def read_one(reply: str, finish_reason: str, cluster: int, *, refusal: str = "") -> ReplyContent:
    """Read ``{"key_point": "…"}``, the key point of one cluster.

    Raises
    ------
    ReplyNotUsable
        With the reason.
    """
    pairs = _pairs(reply, finish_reason, refusal)
    if [name for name, _value in pairs] != ["key_point"]:
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not one key point")
    text = _key_point(pairs[0][1])
    if not text:
        raise ReplyNotUsable(UnscoredReason.EMPTY, "no key point")
    return ReplyContent({str(cluster): text})


def read_clusters(
    reply: str, finish_reason: str, clusters: Sequence[int], *, refusal: str = ""
) -> ReplyContent:
    """Read ``{"<code>": "<key point>", …}`` by cluster codes, in any order.

    Entries under other names are dropped and counted. A cluster that has no entry, an unusable
    one, or two different ones is missing; other clusters keep their key points.

    Raises
    ------
    ReplyNotUsable
        If the reply as a whole cannot be read.
    """
    codes = {code_of(cluster): cluster for cluster in clusters}
    key_points: dict[int, set[str]] = {}
    dropped = 0
    for name, value in _pairs(reply, finish_reason, refusal):
        cluster = codes.get(name.strip())
        if cluster is None:
            dropped += 1
        else:
            key_points.setdefault(cluster, set()).add(_key_point(value))
    texts = {
        cluster: text
        for cluster, key_point in key_points.items()
        if len(key_point) == 1 and (text := next(iter(key_point)))
    }
    return ReplyContent(
        {str(cluster): texts[cluster] for cluster in clusters if cluster in texts},
        dropped,
        tuple(cluster for cluster in clusters if cluster not in texts),
    )


def list_schema(fewest: int, most: int) -> dict[str, Any]:
    """Return the schema of ``{"key_points": ["…", …]}``."""
    entry = {"type": "string", "maxLength": LONGEST_KEY_POINT}
    return closed_object(
        {"key_points": {"type": "array", "items": entry, "minItems": fewest, "maxItems": most}}
    )


def one_schema() -> dict[str, Any]:
    """Return the schema of ``{"key_point": "…"}``."""
    return closed_object({"key_point": {"type": "string", "maxLength": LONGEST_KEY_POINT}})


def clusters_schema(clusters: Sequence[int]) -> dict[str, Any]:
    """Return the schema of an object with every cluster's code and key point."""
    entry = {"type": "string", "maxLength": LONGEST_KEY_POINT}
    return closed_object({code_of(cluster): entry for cluster in clusters})


def _key_point(value: object) -> str:
    """Return a text on one line, or "" if the value is not a usable key point."""
    if not isinstance(value, str):
        return ""
    text = " ".join(value.split())
    return text if len(text) <= LONGEST_KEY_POINT else ""


def _pairs(reply: str, finish_reason: str, refusal: str) -> list[tuple[str, Any]]:
    """Return names and values of a reply's only object, including repeated names."""
    # Even without a finish reason, because a JSON object shows where it ends.
    text = parse_prose(reply, finish_reason or "stop", refusal=refusal)
    try:
        answer: Mapping[str, Any] = extract_json(text)
    except ReplyNotUsable as problem:
        repeated = _repeated(text) if problem.reason is UnscoredReason.NO_JSON else None
        if repeated is None:
            raise
        return repeated
    return list(answer.items())


def _repeated(text: str) -> list[tuple[str, Any]] | None:
    """Return the pairs of a flat object that repeats a name, or None for anything else.

    Strict JSON rejects such an object as a whole, including clusters that are named only once.
    """
    start, stop = text.find("{"), text.rfind("}")
    try:
        pairs = json.loads(text[start : stop + 1], object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None
    is_flat = isinstance(pairs, list) and all(
        isinstance(pair, tuple) and isinstance(pair[1], str) for pair in pairs
    )
    return pairs if is_flat and text.count("{") == 1 else None
