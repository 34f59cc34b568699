"""Judged text made harmless to carry: nothing invisible, nothing that ends its own quotation.

The text under judgement may have been written to win over the judge. It is shown to the
model without characters that people cannot see, as a JSON string on one line between two
marker lines. The stored text stays as it was imported. This makes attacks visible and
harder; it does not make them impossible.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

LONGEST_BYTES = 65_536
TOKEN_DIGITS = 16

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# Removed for every language alike: joiners shape some scripts and emoji, but they carry
# hidden messages as well, and only the judge's copy of the text goes without them.
_INVISIBLE = re.compile(
    "(?P<control>[\x00-\x08\x0e-\x1f\x7f-\x9f]+)"
    "|(?P<surrogate>[\ud800-\udfff]+)"
    "|(?P<bidi>[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+)"
    "|(?P<zero_width>[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b-\u200d\u2060-\u2064"
    "\u3164\ufeff\uffa0]+)"
    "|(?P<variation>[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+)"
    "|(?P<tag>[\U000e0000-\U000e007f]+)"
    "|(?P<format>[\u206a-\u206f\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]+)"
)
KINDS = tuple(_INVISIBLE.groupindex)

_TO_THE_JUDGE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
    r"\b(?:instructions?|rules?|rubric|criteria|guidelines|prompt)\b"
    r"|\byou are (?:now )?(?:an? |the )?(?:\w+ )?(?:judge|grader|evaluator|annotator|assistant)\b"
    r"|\b(?:dear|attention|hey|note to(?: the)?) (?:judge|grader|evaluator|annotator|model)\b"
    r"|\b(?:give|assign|award|output|return|respond with|answer with|rate)\b.{0,40}"
    r"\b(?:labels?|scores?|ratings?|grades?|relevance)\b"
    r"|\b(?:system prompt|language model)\b"
    r"|[\"'](?:label|labels|score|relevance|reason)[\"']\s*:"
    r"|<\|[^|\n]{1,40}\|>|\[/?INST\]|</?(?:think|s|system|start_of_turn|end_of_turn)>"
    r"|^[ \t]*(?:#+[ \t]*)?(?:system|assistant)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# What chat templates take for the edge of a message, and what ends a line for somebody.
_ESCAPED = re.compile(r"<|\[(?=/?[A-Z])|[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Flags:
    """What was noticed about a text.

    Parameters
    ----------
    removed
        Characters taken out, by kind (`KINDS`); kinds without any are absent.
    characters_cut
        Dropped from the end because the text passed `LONGEST_BYTES`.
    addresses_judge
        Whether the wording looks meant for a judge. A few English patterns: a reason to look
        at the text, never to change a label.
    """

    removed: Mapping[str, int]
    characters_cut: int
    addresses_judge: bool

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each finding."""
        others = {"addresses_judge": self.addresses_judge, "cut": self.characters_cut}
        return (*self.removed, *(name for name, is_found in others.items() if is_found))


@dataclass(frozen=True, slots=True)
class Neutral:
    """A text fit to be shown to a judge."""

    text: str
    flags: Flags


def neutralise(text: str) -> Neutral:
    """Take out what cannot be seen, make line ends plain, and cap the length.

    Neutralising twice changes nothing more.

    Examples
    --------
    >>> neutral = neutralise("oak\\u200b is\\r\\nharder\\u202e")
    >>> neutral.text, dict(neutral.flags.removed)
    ('oak is\\nharder', {'zero_width': 1, 'bidi': 1})
    """
    removed: dict[str, int] = {}

    def count(match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        removed[kind] = removed.get(kind, 0) + len(match.group())
        return ""

    plain = text
    # Most sentences: nothing in them that could be taken out.
    if not (text.isascii() and text.isprintable()):
        plain = _INVISIBLE.sub(count, _LINE_ENDS.sub("\n", text))
    capped = plain.encode("utf-8")[:LONGEST_BYTES].decode("utf-8", "ignore")
    flags = Flags(
        removed=MappingProxyType(removed),
        characters_cut=len(plain) - len(capped),
        addresses_judge=_TO_THE_JUDGE.search(capped) is not None,
    )
    return Neutral(capped, flags)


def quote(text: str) -> str:
    """A text as one line of JSON that no chat template reads as its own marks.

    Escapes keep the value the same; letters of all scripts stay readable.
    """
    return _json_line(text)


def fence_token(identity: str, *texts: str) -> str:
    """Code of the marker lines: as good as random, yet the same for the same request.

    Parameters
    ----------
    identity
        What else the request is made of, such as the prompt's hash. Nothing that differs
        between two requests that should share a stored reply.
    texts
        What the fence will hold; the code occurs in none of them.

    Returns
    -------
    str
        `TOKEN_DIGITS` hexadecimal digits.
    """
    for attempt in range(1000):
        seed = json.dumps([attempt, identity, *texts]).encode("ascii")
        token = hashlib.sha256(seed).hexdigest()[:TOKEN_DIGITS]
        if not any(token in text.lower() for text in texts):
            return token
    raise ValueError("no code was found that is absent from the text")


def fence(text: str, token: str) -> str:
    """A text as a JSON string between two marker lines.

    Raises
    ------
    ValueError
        If the code occurs in the text.
    """
    return _between(token, [text], _json_line(text))


def fence_items(texts: Mapping[int, str] | Sequence[tuple[int, str]], token: str) -> str:
    """Several texts, one JSON object with ``id`` and ``sentence`` a line, between marker lines."""
    pairs = list(texts.items()) if isinstance(texts, Mapping) else list(texts)
    lines = [_json_line({"id": number, "sentence": text}) for number, text in pairs]
    return _between(token, [text for _, text in pairs], "\n".join(lines))


def fence_records(records: Sequence[Mapping[str, Any]], token: str) -> str:
    """Several records, one JSON object a line, between marker lines.

    Parameters
    ----------
    records
        Names of our own with texts, numbers or lists of texts; texts are neutralised already.
    token
        See `fence_token`.

    Raises
    ------
    ValueError
        If the code occurs in a record.
    """
    lines = [_json_line(record) for record in records]
    return _between(token, lines, "\n".join(lines))


def _between(token: str, texts: Sequence[str], lines: str) -> str:
    if not token or any(token in text.lower() for text in texts):
        raise ValueError("the code of the marker lines occurs in the text")
    return f"=== begin {token} ===\n{lines}\n=== end {token} ==="


def _json_line(value: Any) -> str:
    return _ESCAPED.sub(
        lambda match: f"\\u{ord(match.group()):04x}", json.dumps(value, ensure_ascii=False)
    )
