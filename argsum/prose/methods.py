"""Paragraphs by a language model: request content, reading of replies, and support."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotation.answers.methods.answer_text import words_of
from annotation.faithfulness.methods.segments import (
    SOUND,
    MeasuredSegment,
    distances,
    similarities,
)
from argsum.analysis.methods.statements import unlike
from argsum.scorers.methods.encoders import SHIPPED
from argsum.systems.methods.inputs import Scores
from cqa_site.judging.encoders import MPNET
from cqa_site.judging.extraction import ReplyNotUsable, UnscoredReason, extract_json
from cqa_site.judging.prompts import neutralise
from cqa_site.judging.reply_parsing import closed_object, parse_prose

# Up to this number, each key point without a theme has its own paragraph.
FEW = 3


def paragraphs_of(points: Sequence[tuple[int, str, int]], most: int) -> list[list[int]]:
    """Group key points into paragraphs by theme, most comments first.

    Parameters
    ----------
    points
        Key point, its theme (empty for none), and the number of comments of the theme, or of the
        key point if it has no theme; in the order in which a paragraph names them.
    most
        Maximum number of paragraphs. If no key point has a theme, each is a paragraph.

    Examples
    --------
    >>> paragraphs_of([(1, "Price", 5), (2, "", 7), (3, "Price", 5), (4, "Staff", 6)], 3)
    [[2], [4], [1, 3]]
    """
    loose = [point for point, theme, _comments in points if not theme]
    is_together = FEW < len(loose) < len(points)
    groups: dict[object, list[int]] = {}
    sizes: dict[object, int] = {}
    for point, theme, comments in points:
        key: object = theme or ("" if is_together else point)
        groups.setdefault(key, []).append(point)
        sizes[key] = comments
    # Key points without a theme come last, whatever their size.
    rest = groups.pop("", None)
    rows = [groups[key] for key in sorted(groups, key=lambda key: -sizes[key])]
    if rest:
        return [*rows[: most - 1], rest]
    return rows[:most]


def statements_for(candidates: Sequence[Sequence[tuple[int, str]]], most: int) -> list[int]:
    """Choose statements with different wordings, spread over key points.

    The best statement of each key point comes first, then the second-best of each, and so on. A
    statement that addresses a language model is left out, because it is useless as a source.
    ``candidates`` are the statements of each key point with their texts, best first.
    """
    depth = max(map(len, candidates), default=0)
    row = [own[at] for at in range(depth) for own in candidates if at < len(own)]
    # A statement may support several key points.
    texts = dict(row)
    keys = [key for key, text in texts.items() if not neutralise(text).flags.addresses_judge]
    return [keys[at] for at in unlike([texts[key] for key in keys], most)]


# A paragraph read from a reply: its sentences and their citations.

# Increase this with every change that may read a reply differently.
READER_VERSION = 1
LONGEST_SENTENCE = 600
# Maximum words of a sentence and sentences of a reply, as a multiple of the requested number.
TOO_LONG_BY = 2
MOST_CITED = 6
# Results of checking a sentence; see `support_of`.
SUPPORTED, UNSUPPORTED, PART = "supported", "unsupported", "part"
# Reasons why a sentence breaks the rules, whatever its statements say.
EMPTY, TOO_LONG, UNCITED, UNKNOWN = "empty", "too_long", "uncited", "unknown"
TOO_MANY, REPEATED, FIGURE = "too_many", "repeated", "figure"
FAULTS = (EMPTY, TOO_LONG, UNCITED, UNKNOWN, TOO_MANY, REPEATED, FIGURE)


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence, the numbers of statements that it cites, and the rule it breaks, if any."""

    text: str
    cites: tuple[int, ...]
    fault: str = ""

    @property
    def stored(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"cites": list(self.cites)}


def read_sentences(
    reply: str, finish_reason: str, *, statements: int, most: int, words: int, refusal: str = ""
) -> list[WrittenSentence]:
    """Read ``{"sentences": [{"text": "…", "cites": [1, 4]}, …]}``.

    A sentence that breaks a rule keeps its text and records the rule; other sentences are not
    affected. Only citations of shown statements are kept, without repetitions; statements are
    numbered from 1. The request allowed ``most`` sentences of up to ``words`` words.

    Raises
    ------
    ReplyNotUsable
        With the reason: ``not_schema`` for anything but such a list, ``wrong_type`` for a citation
        that is not an integer, ``out_of_set`` for more than twice the requested sentences,
        ``empty`` if no sentence has any text.
    """
    # Even without a finish reason, because a JSON object shows where it ends.
    answer = extract_json(parse_prose(reply, finish_reason or "stop", refusal=refusal))
    entries = answer.get("sentences")
    if set(answer) != {"sentences"} or not isinstance(entries, list):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not one list of sentences")
    if len(entries) > TOO_LONG_BY * most:
        raise ReplyNotUsable(UnscoredReason.OUT_OF_SET, f"{len(entries)} sentences")
    sentences: list[WrittenSentence] = []
    for text, numbers in map(_entry, entries):
        cites = tuple(dict.fromkeys(n for n in numbers if 1 <= n <= statements))
        is_known = len(cites) == len(set(numbers))
        earlier = {sentence.text.casefold() for sentence in sentences}
        fault = _fault(text, cites, is_known, TOO_LONG_BY * words, earlier)
        sentences.append(WrittenSentence(text[:LONGEST_SENTENCE], cites, fault))
    if not any(sentence.text for sentence in sentences):
        raise ReplyNotUsable(UnscoredReason.EMPTY, "no sentence")
    return sentences


def sentences_schema(statements: int, most: int) -> dict[str, Any]:
    """Return the JSON schema of a reply that cites statements numbered from 1."""
    cites = {
        "type": "array",
        "items": {"type": "integer", "enum": list(range(1, statements + 1))},
        "minItems": 1,
        "maxItems": MOST_CITED,
    }
    text = {"type": "string", "maxLength": LONGEST_SENTENCE}
    entry = closed_object({"text": text, "cites": cites})
    return closed_object(
        {"sentences": {"type": "array", "items": entry, "minItems": 1, "maxItems": most}}
    )


def _entry(entry: object) -> tuple[str, list[int]]:
    """Return the text of an entry on one line, and the numbers it cites."""
    if not isinstance(entry, Mapping) or set(entry) != {"text", "cites"}:
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not a text with citations")
    text, cites = entry["text"], entry["cites"]
    if not isinstance(text, str) or not isinstance(cites, list):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not a text with citations")
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in cites):
        raise ReplyNotUsable(UnscoredReason.WRONG_TYPE, "a citation that is not a whole number")
    return " ".join(neutralise(text).text.split()), cites


def _fault(
    text: str, cites: tuple[int, ...], is_known: bool, most_words: int, earlier: set[str]
) -> str:
    faults = {
        EMPTY: not any(character.isalpha() for character in text),
        TOO_LONG: len(text) > LONGEST_SENTENCE or len(text.split()) > most_words,
        UNKNOWN: not is_known,
        UNCITED: not cites,
        TOO_MANY: len(cites) > MOST_CITED,
        REPEATED: text.casefold() in earlier,
    }
    return next((fault for fault, is_so in faults.items() if is_so), "")


# Numbers in a sentence that occur in none of its statements. Counts are printed beside the text,
# so a language model need not write any. Number words in English, German and French, except
# "one".
_WORDS: dict[str, tuple[str, ...]] = {
    "2": ("two", "both", "zwei", "beide", "deux"),
    "3": ("three", "drei", "trois"),
    "4": ("four", "vier", "quatre"),
    "5": ("five", "fünf", "cinq"),
    "6": ("six", "sechs"),
    "7": ("seven", "sieben", "sept"),
    "8": ("eight", "acht", "huit"),
    "9": ("nine", "neun"),
    "10": ("ten", "zehn", "dix"),
    "11": ("eleven", "elf", "onze"),
    "12": ("twelve", "dozen", "dozens", "zwölf", "dutzend", "douze", "douzaine"),
    "20": ("twenty", "zwanzig", "vingt"),
    "100": ("hundred", "hundreds", "hundert", "hunderte", "cent", "centaines"),
    "1000": ("thousand", "thousands", "tausend", "tausende", "mille", "milliers"),
    "1/2": ("half", "hälfte", "moitié"),
    "1/3": ("third", "thirds", "drittel", "tiers"),
    "1/4": ("quarter", "quarters", "viertel", "quart"),
    "majority": ("majority", "mehrheit", "majorité"),
    "minority": ("minority", "minderheit", "minorité"),
}
_NUMBER_OF = {word: number for number, words in _WORDS.items() for word in words}
# "Most visitors", not "the most dangerous junctions" or "most serious".
_MOST = re.compile(
    r"(?<!\bthe )\bmost (?:of|people|\w+(?<!ou)s)\b|\bdie meisten\b|\bla plupart\b", re.IGNORECASE
)
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
_PERCENT = re.compile(r"%|\bper ?cent\b|\bpercentage\b|\bprozent\b|\bpour cent\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def numbers_in(text: str) -> set[str]:
    """Return the numbers in a text (number words as digits) and its quantity words.

    Examples
    --------
    >>> sorted(numbers_in("Two of 20 % wait; most of them for 3.5 hours."))
    ['%', '2', '20', '3.5', 'most']
    """
    words = (word.casefold() for word in _WORD.findall(text))
    numbers = {*_FIGURE.findall(text), *(_NUMBER_OF[word] for word in words if word in _NUMBER_OF)}
    # Signs such as ½ or ② are not digits.
    numbers |= {sign for sign in text if sign.isnumeric() and not sign.isdecimal()}
    numbers |= {"%"} if _PERCENT.search(text) else set()
    return numbers | {"most"} if _MOST.search(text) else numbers


def has_new_number(text: str, cited: Iterable[str]) -> bool:
    """Return whether a sentence has a number that occurs in none of the statements it cites."""
    known = {number for statement in cited for number in numbers_in(statement)}
    return not numbers_in(text) <= known


# Support of a sentence by the statements it cites, judged by vectors.

# The maximum share of statements at other key points that may be closer to the sentence than the
# closest one it cites; likewise for each of its clauses and each citation.
CLOSER, CLAUSE_CLOSER, CITED_CLOSER = 0.02, 0.10, 0.10
# Minimum cosine of a sentence with the mean of the statements it cites, by encoder of the match
# scorer; unknown for other encoders.
NEAR_FROM = {SHIPPED: 0.70, MPNET: 0.58}
# If there are fewer statements at other key points, all uncited statements are compared.
FEWEST = 20
# Differences smaller than this are ignored because the engine computes in another precision.
ROUNDING = 1e-4
SHORTEST_CLAUSE = 4
_LINKS = "and|but|while|whereas|und|aber|während|sondern|et|mais|tandis que"
_BOUNDARY = re.compile(
    rf"(?:[.!?]\s+|\s*[,;:–—]\s+)(?:(?:{_LINKS})\s+)?|\s+(?:{_LINKS})\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """Result of checking a sentence.

    Attributes
    ----------
    verdict
        `SUPPORTED`, `UNSUPPORTED`, or `PART` if a clause is not supported.
    cites
        The remaining citations: statements that the sentence is close to.
    scores
        ``similarity`` to the closest cited statement; ``overlap``, the Jaccard index of their
        words; ``near``, the cosine with the mean of all cited statements; ``closer``, the share of
        statements at other key points that are closer; ``clause``, the largest such share of any
        clause.
    """

    verdict: str
    cites: tuple[int, ...]
    scores: Mapping[str, float]


def clauses_of(text: str) -> list[str]:
    """Return the parts of a sentence that make sense alone; if none do, return the whole text.

    Parts of fewer than four words are joined to their neighbour.

    Examples
    --------
    >>> clauses_of("Staff are friendly and patient, but nobody answers the phone at night.")
    ['Staff are friendly patient', 'nobody answers the phone at night']
    """
    parts: list[str] = []
    for part in filter(None, _BOUNDARY.split(text.strip().rstrip(".!?"))):
        is_short = len(part.split()) < SHORTEST_CLAUSE
        if parts and (is_short or len(parts[-1].split()) < SHORTEST_CLAUSE):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return parts if len(parts) > 1 else [text]


def texts_of(text: str) -> list[str]:
    """Return the sentence and its clauses, whose vectors `support_of` needs."""
    return list(dict.fromkeys([text, *clauses_of(text)]))


def support_of(
    text: str,
    cited: Mapping[int, str],
    vectors: Mapping[str, Scores],
    others: Scores,
    near_from: float | None = None,
) -> SentenceSupport:
    """Compare a sentence with the statements it cites and with those at other key points.

    Parameters
    ----------
    text
        The sentence.
    cited
        Number → statement; at least one.
    vectors
        Unit vectors of all texts in ``texts_of(text)`` and of every cited statement.
    others : shape (n, d)
        Unit vectors of statements at other key points.
    near_from
        See `NEAR_FROM`; None leaves this condition out.
    """
    numbers, parts = tuple(cited), clauses_of(text)
    whole, *clauses = [MeasuredSegment(part, words_of(part), numbers) for part in (text, *parts)]
    alone = [MeasuredSegment(text, whole.words, (number,)) for number in numbers]
    similarity, *further = similarities(
        [whole, *clauses, *alone],
        cited,
        SOUND,
        lambda texts: np.array([vectors[key] for key in texts]),
    )
    (overlap,), _edits = distances([whole], cited, SOUND)
    closer = _closer(others, vectors[text], similarity)
    clause = max(
        _closer(others, vectors[part], value)
        for part, value in zip(parts, further[: len(parts)], strict=True)
    )
    stay = tuple(
        number
        for number, value in zip(numbers, further[len(parts) :], strict=True)
        if _closer(others, vectors[text], value) <= CITED_CLOSER
    )
    middle = np.mean([vectors[statement] for statement in cited.values()], axis=0)
    near = float(vectors[text] @ middle / max(float(np.linalg.norm(middle)), 1e-9))
    values = {"similarity": similarity, "overlap": overlap, "near": near}
    values |= {"closer": closer, "clause": clause}
    verdict = SUPPORTED if clause <= CLAUSE_CLOSER else PART
    if closer > CLOSER or (near_from is not None and near < near_from):
        verdict = UNSUPPORTED
    return SentenceSupport(verdict, stay, {name: round(v, 4) for name, v in values.items()})


def _closer(others: Scores, vector: Scores, similarity: float) -> float:
    """Return the share of other statements that are closer to a text than ``similarity``."""
    if not len(others):
        return 0.0
    return float(np.mean(others @ vector > similarity + ROUNDING))


def compared(placed: Sequence[set[int]], points: set[int], cited: Sequence[int]) -> list[int]:
    """Return the positions of the statements to compare with a sentence.

    ``placed`` lists the key points of each statement; ``points`` are those of the ``cited``
    statements.
    """
    away = [at for at, own in enumerate(placed) if own.isdisjoint(points)]
    if len(away) < FEWEST:
        away = list(range(len(placed)))
    return sorted(set(away) - set(cited))
