"""Requests to a CAM service, and the sentences in its replies."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from .corpus import LONGEST_SENTENCE, web_address

# Requests to a CAM service: two objects and weighted aspects, sent with HTTP GET
#
# The Comparative Argumentative Machine (Schildwächter et al., 2019) accepts everything as query
# parameters. For services that expect the objects in the path, such as CAM 2.0, the address
# contains placeholders.

PLACEHOLDERS = ("objectA", "objectB", "aspects", "most")
_BRACED = re.compile(r"\{([^{}]*)\}")
MOST_ASPECTS = 5


def unknown_placeholders(address: str) -> list[str]:
    """Return the unknown names in braces.

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
    """Return the address and query parameters of one request.

    Parameters
    ----------
    address
        Address of the service. Placeholders (`PLACEHOLDERS`) are filled in, each as a single part
        of the path; without placeholders, everything is sent in the query.
    object1, object2, aspects, weight
        The objects, the aspects, and the weight of every aspect (1 to 5 on CAM's own pages).
    most
        Maximum number of sentences per object. CAM has no such parameter, so its reply is
        truncated on reading (`best`).

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
    """Quote a text as part of a path; commas become spaces, because commas separate texts."""
    return quote(text.replace(",", " "), safe="")


# Replies of a CAM service: sentences with sources, scores and favoured objects
#
# Two formats are supported. The Comparative Argumentative Machine sends ``object1`` and
# ``object2``, each with ``sentences``. A sentence has ``text``, ``CAM_score`` and ``id_pair``,
# whose keys are the documents that contain it (addresses of web pages). Older releases send pairs
# of score and text, or only texts. CAM 2.0 sends ``firstObjectArguments`` and
# ``secondObjectArguments`` as lists of ``value`` and ``source``. Each sentence is listed under the
# object it favours.

LONGEST_ID = 200
LONGEST_SAID = 200
_SIDES = (
    (("object1", "sentences"), ("object2", "sentences")),
    (("firstObjectArguments",), ("secondObjectArguments",)),
)
_TEXT = ("text", "value", "sentence")
_SOURCE = ("source", "url", "document_id")
_SCORE = ("CAM_score", "score", "ES_score")


class NotACamReply(ValueError):
    """The document is not a reply from a CAM service; the message states the problem."""


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """One sentence in a reply.

    Parameters
    ----------
    text
        Text with single spaces, up to 2,000 characters.
    address, document
        The http(s) address of the first document that contains the sentence, or its id if it has
        no such address; at most one of the two is set.
    score
        Score computed by the service, comparable within a reply; None if not sent.
    favours
        1 or 2: the object whose list contains it.
    """

    text: str
    address: str
    document: str
    score: float | None
    favours: int


@dataclass(frozen=True, slots=True)
class CamReply:
    """Distinct sentences in a reply, best first; ``unreadable`` counts the other entries."""

    sentences: tuple[FoundSentence, ...]
    unreadable: int


def read_reply(document: Any) -> CamReply:
    """Return the sentences in a decoded reply.

    Parameters
    ----------
    document
        The JSON value as received, which is not trusted.

    Raises
    ------
    NotACamReply
        If the two lists of sentences are missing, or if none of their entries is a sentence.

    Examples
    --------
    >>> side = {"sentences": [{"text": "Tea wins.", "CAM_score": 2, "id_pair": {"d17": 7}}]}
    >>> read_reply({"object1": side, "object2": {"sentences": []}}).sentences
    (FoundSentence(text='Tea wins.', address='', document='d17', score=2.0, favours=1),)
    """
    read = [
        _sentence(entry, favours)
        for favours, entries in enumerate(_sides(document), start=1)
        for entry in entries
    ]
    sentences = [sentence for sentence in read if sentence is not None]
    if read and not sentences:
        raise NotACamReply("none of its entries is a sentence")
    return CamReply(tuple(_once(_best_first(sentences))), len(read) - len(sentences))


def best(sentences: Iterable[FoundSentence], most: int) -> list[FoundSentence]:
    """Return the first ``most`` sentences for each object, in the given order."""
    left = {1: most, 2: most}
    selection = []
    for sentence in sentences:
        if left[sentence.favours] > 0:
            left[sentence.favours] -= 1
            selection.append(sentence)
    return selection


def _sides(document: Any) -> tuple[list[Any], list[Any]]:
    if not isinstance(document, Mapping):
        raise NotACamReply("it is not a JSON object")
    for first, second in _SIDES:
        sides = _at(document, first), _at(document, second)
        if isinstance(sides[0], list) and isinstance(sides[1], list):
            return sides[0], sides[1]
    message = document.get("error") or document.get("message")
    if isinstance(message, str):
        raise NotACamReply(f"it says “{_tidy(message)[:LONGEST_SAID]}”")
    raise NotACamReply("it has no lists of sentences for the two objects")


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _sentence(entry: Any, favours: int) -> FoundSentence | None:
    """Parse an entry in any supported format; None if its text is empty or too long."""
    fields = _fields(entry)
    text = _tidy(_first(fields, _TEXT, str) or "")
    if not text or len(text) > LONGEST_SENTENCE:
        return None
    documents = fields.get("id_pair")
    source = next(iter(documents), "") if isinstance(documents, Mapping) else ""
    source = _tidy(str(source or _first(fields, _SOURCE, str) or ""))
    address = web_address(source)
    document = "" if address else source[:LONGEST_ID]
    score = _number(_first(fields, _SCORE, (int, float)))
    return FoundSentence(text, address, document, score, favours)


def _fields(entry: Any) -> Mapping[str, Any]:
    if isinstance(entry, Mapping):
        return entry
    parts = entry if isinstance(entry, list) else [entry]
    texts = [part for part in parts if isinstance(part, str)]
    scores = [part for part in parts if isinstance(part, (int, float))]
    return {"text": texts[0] if texts else None, "score": scores[0] if scores else None}


def _first(fields: Mapping[str, Any], names: Iterable[str], kind: Any) -> Any:
    return next((fields[name] for name in names if isinstance(fields.get(name), kind)), None)


def _number(value: Any) -> float | None:
    """Return a finite number or None; integers may have any length."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _tidy(text: str) -> str:
    """Return the text with single spaces, without NUL or lone surrogates (not storable)."""
    storable = text.replace("\x00", " ").encode("utf-8", "replace").decode()
    return " ".join(storable.split())


def _best_first(sentences: list[FoundSentence]) -> list[FoundSentence]:
    return sorted(
        sentences,
        key=lambda sentence: -math.inf if sentence.score is None else sentence.score,
        reverse=True,
    )


def _once(sentences: Iterable[FoundSentence]) -> Iterable[FoundSentence]:
    by_text: dict[str, FoundSentence] = {}
    for sentence in sentences:
        by_text.setdefault(sentence.text, sentence)
    return by_text.values()
