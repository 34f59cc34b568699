"""Strict parsing of a language model's replies: proposed key points, and codes of statements.

There are two kinds of replies. A *list of key points* is a proposal that people review, so
unusable entries are left out and counted. *Codes of statements* move statements, so nothing is
repaired or guessed: a statement without exactly one usable entry gets a reason instead of codes.

The model sees statements under codes that do not form a sequence (`argsum.writing.methods`). An
entry for an unknown statement therefore cannot be mistaken for one about another statement, and a
model that renumbers the statements is noticed. Key points have the same codes in every request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argsum.analysis.methods.key_points import AnalysisTools, is_sure, sides_of
from argsum.analysis.methods.statements import centred
from argsum.systems.methods.inputs import Scores
from argsum.writing.methods import LONGEST_KEY_POINT, code_of
from cqa_site.judging.extraction import ReplyNotUsable, UnscoredReason, extract_json
from cqa_site.judging.reply_parsing import LONGEST_REASON, closed_object, parse_prose
from cqa_site.stats.arrays import IntArray

# Increase this number with every change that may affect how a reply is read.
READER_VERSION = 1
NONE_FITS = "none"
LONGEST_THEME = 80
# Replies may exceed the requested limits by at most this factor: a longer text is not accepted as
# a key point, and a longer list is not accepted as a list.
TOO_LONG, TOO_MANY = 2, 3


@dataclass(frozen=True, slots=True)
class ProposedPoint:
    """One key point of a list, its theme, and the numbers of its source records."""

    theme: str
    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposedPoints:
    """A list of key points; ``dropped`` counts unusable and repeated entries."""

    points: tuple[ProposedPoint, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class StatementCodes:
    """Codes of the key points in a statement, with a note; empty if it fits no key point."""

    codes: tuple[str, ...]
    note: str = ""


def read_points(
    reply: str, finish_reason: str, *, most: int, words: int, records: int, refusal: str = ""
) -> ProposedPoints:
    """Read ``{"key_points": [{"theme": "…", "key_point": "…", "from": [1, 2]}, …]}``.

    The request asked for at most ``most`` key points of at most ``words`` words, and showed
    ``records`` records, numbered from 1. Raises ReplyNotUsable, with ``out_of_set`` for more than
    `TOO_MANY` times ``most`` entries.
    """
    entries = _list_in(reply, finish_reason, refusal, "key_points")
    if len(entries) > TOO_MANY * most:
        raise ReplyNotUsable(UnscoredReason.OUT_OF_SET, f"{len(entries)} key points")
    points: dict[str, ProposedPoint] = {}
    for entry in entries:
        point = _point_of(entry, words, records)
        if point is not None:
            points.setdefault(point.text.casefold(), point)
    if not points:
        raise ReplyNotUsable(UnscoredReason.EMPTY, "no key point")
    kept = tuple(points.values())[:most]
    return ProposedPoints(kept, len(entries) - len(kept))


def read_codes(
    reply: str,
    finish_reason: str,
    *,
    statements: int,
    codes: Collection[str],
    most: int,
    refusal: str = "",
) -> list[StatementCodes | UnscoredReason]:
    """Read ``{"statements": [{"id": "…", "reason": "…", "codes": ["K1", …]}, …]}`` in any order.

    A statement that fits no key point has ``["none"]``. The ``statements`` of the request are
    named by `code_of`, starting at 0; each may have at most ``most`` of the ``codes``.

    Returns
    -------
    The codes of each statement, or why it has none: ``missing_item``, ``duplicate_item`` (two
    entries, or a repeated code), ``out_of_set`` (an unknown code, or too many), ``ambiguous`` (a
    code and "none"), ``wrong_type``, ``empty`` or ``not_schema``. If the whole reply is
    unreadable, all statements have the same reason.
    """
    try:
        entries = _list_in(reply, finish_reason, refusal, "statements")
    except ReplyNotUsable as problem:
        return [problem.reason] * statements
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            return [UnscoredReason.NOT_SCHEMA] * statements
        by_id.setdefault(entry["id"], []).append(entry)
    return [_codes_or_reason(by_id.get(code_of(at), []), codes, most) for at in range(statements)]


def points_schema(most: int, words: int, records: int) -> dict[str, Any]:
    """Return the JSON schema for a list of key points."""
    numbers = {"type": "integer", "minimum": 1, "maximum": records}
    entry = closed_object(
        {
            "theme": {"type": "string", "maxLength": LONGEST_THEME},
            "key_point": {"type": "string", "maxLength": min(LONGEST_KEY_POINT, 24 * words)},
            "from": {"type": "array", "items": numbers, "maxItems": records},
        }
    )
    entries = {"type": "array", "items": entry, "minItems": 1, "maxItems": most}
    return closed_object({"key_points": entries})


def codes_schema(statements: int, codes: Sequence[str], most: int) -> dict[str, Any]:
    """Return the JSON schema for statement codes; the reason precedes the codes."""
    some = {"type": "string", "enum": [*codes, NONE_FITS]}
    entry = closed_object(
        {
            "id": {"type": "string", "enum": [code_of(at) for at in range(statements)]},
            "reason": {"type": "string", "maxLength": LONGEST_REASON},
            "codes": {"type": "array", "items": some, "minItems": 1, "maxItems": most},
        }
    )
    entries = {"type": "array", "items": entry, "minItems": statements, "maxItems": statements}
    return closed_object({"statements": entries})


def batches_of(is_apart: Sequence[bool], size: int) -> list[list[int]]:
    """Divide statements among requests; return the positions in each request.

    A statement that seems to address the model gets a separate request, so that it cannot affect
    other statements.

    Examples
    --------
    >>> batches_of([False, True, False, False], 2)
    [[0, 2], [3], [1]]
    """
    usual = [at for at, apart in enumerate(is_apart) if not apart]
    own = [[at] for at, apart in enumerate(is_apart) if apart]
    return [usual[start : start + size] for start in range(0, len(usual), size)] + own


def next_size(size: int, attempt: int) -> int:
    """Return the batch size for an attempt, which shrinks to limit the effect of bad statements.

    Examples
    --------
    >>> [next_size(10, attempt) for attempt in (1, 2, 3)]
    [10, 4, 1]
    """
    return (size, -(-size // 3), 1)[min(attempt, 3) - 1]


def _codes_or_reason(
    entries: Sequence[Mapping[str, Any]], known: Collection[str], most: int
) -> StatementCodes | UnscoredReason:
    if not entries:
        return UnscoredReason.MISSING_ITEM
    if len(entries) > 1:
        return UnscoredReason.DUPLICATE_ITEM
    entry = entries[0]
    codes, note = entry.get("codes"), entry.get("reason", "")
    if set(entry) - {"id", "reason", "codes"} or codes is None or not isinstance(note, str):
        return UnscoredReason.NOT_SCHEMA
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        return UnscoredReason.WRONG_TYPE
    if not codes:
        return UnscoredReason.EMPTY
    if len(set(codes)) < len(codes):
        return UnscoredReason.DUPLICATE_ITEM
    if any(code not in known and code != NONE_FITS for code in codes) or len(codes) > most:
        return UnscoredReason.OUT_OF_SET
    if NONE_FITS in codes and len(codes) > 1:
        return UnscoredReason.AMBIGUOUS
    note = " ".join(note.split())[:LONGEST_REASON]
    return StatementCodes(() if codes == [NONE_FITS] else tuple(codes), note)


def _point_of(entry: object, words: int, records: int) -> ProposedPoint | None:
    if not isinstance(entry, dict) or set(entry) - {"theme", "key_point", "from"}:
        return None
    text, theme = _line(entry.get("key_point")), _line(entry.get("theme", ""))
    sources = entry.get("from", [])
    if not text or len(text) > LONGEST_KEY_POINT or len(text.split()) > TOO_LONG * words:
        return None
    if not isinstance(sources, list) or len(theme) > LONGEST_THEME:
        return None
    numbers = [at for at in sources if type(at) is int and 1 <= at <= records]
    return ProposedPoint(theme, text, tuple(dict.fromkeys(numbers)))


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list_in(reply: str, finish_reason: str, refusal: str, name: str) -> list[Any]:
    """Return the list in a reply that must be an object with only the given key."""
    # A missing finish reason is accepted, because the end of an object is unambiguous.
    text = parse_prose(reply, finish_reason or "stop", refusal=refusal)
    answer: Mapping[str, Any] = extract_json(text)
    entries = answer.get(name)
    if set(answer) != {name} or not isinstance(entries, list):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, f"not one list of {name}")
    return entries


# Agreement of match scores with the codes from a language model


@dataclass(frozen=True)
class PointMatches:
    """Match scores of n statements against the texts of k key points.

    Attributes
    ----------
    scores : shape (n, k)
        Match scores on the scale of `argsum.analysis.methods.key_points.find_points`.
    sure : shape (n, k)
        Whether a score reaches the cut-off of the analysis; all False if the cut-off is unknown.
    barred : shape (n, k)
        Whether the statement and key point are on opposite sides, or the statement says nothing.
        Barred pairs never agree.
    """

    scores: Scores
    sure: NDArray[np.bool_]
    barred: NDArray[np.bool_]

    @property
    def nearest(self) -> IntArray:
        """Position of the best-matching key point of each statement, shape (n,)."""
        places: IntArray = self.scores.argmax(axis=1)
        return places

    def agrees(self, statement: int, points: Sequence[int]) -> list[bool]:
        """Return, for each key point assigned to a statement, whether match scores agree.

        They agree if the score is sure, or if no unassigned key point has a higher score. If all
        key points are assigned, only sure scores agree.

        Examples
        --------
        >>> scores = np.array([[0.9, 0.2, 0.5]])
        >>> PointMatches(scores, scores > 0.8, scores < 0).agrees(0, [0, 1])
        [True, False]
        """
        scores = self.scores[statement]
        others = np.delete(scores, list(points))
        least = others.max() if len(others) else np.inf
        agreeing = (self.sure[statement] | (scores >= least)) & ~self.barred[statement]
        return [bool(agreeing[at]) for at in points]

    def agrees_with_none(self, statement: int) -> bool:
        """Return whether no key point is a sure match for a statement."""
        return not (self.sure[statement] & ~self.barred[statement]).any()


def match_points(
    texts: Sequence[str], points: Sequence[str], tools: AnalysisTools
) -> PointMatches:
    """Match statements with the texts of one or more key points, as `find_points` does.

    ``texts`` are all statements of the analysis, in order, so that their mean can be subtracted.
    """
    tools.say(0.0, "reading the statements", 0.9)
    vectors = np.asarray(tools.vectors(texts), dtype=np.float32)
    named = np.asarray(tools.vectors(points), dtype=np.float32)
    filler = tools.filler(texts)
    middle = vectors[slice(None) if filler.all() else ~filler].mean(axis=0)
    same_side = np.outer(sides_of(vectors, tools), sides_of(named, tools))
    scores = centred(vectors, middle) @ centred(named, middle).T
    barred = (same_side < 0) | filler[:, None]
    return PointMatches(scores, is_sure(scores, same_side, tools), barred)
