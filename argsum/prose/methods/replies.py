"""A paragraph by a language model, read from its reply: sentences and what each cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cqa_site.judging.extraction import ReplyNotUsable, UnscoredReason, extract_json
from cqa_site.judging.prompts import neutralise
from cqa_site.judging.reply_parsing import closed_object, parse_prose

# Increased with every change that may read a reply differently.
READER_VERSION = 1
LONGEST_SENTENCE = 600
# More words than this times what was asked for are too many, and so are more sentences.
TOO_LONG_BY = 2
MOST_CITED = 6
# Results of checking a sentence; see `support`.
SUPPORTED, UNSUPPORTED, PART = "supported", "unsupported", "part"
# Why a sentence breaks the rules, whatever its statements say.
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
    reply: str,
    finish_reason: str,
    *,
    statements: int,
    most: int,
    words: int,
    refusal: str = "",
) -> list[WrittenSentence]:
    """Read ``{"sentences": [{"text": "…", "cites": [1, 4]}, …]}``.

    A sentence that breaks a rule keeps its text and says which one; the others are not affected.
    Of its citations, those of statements that were shown are kept, without repetitions; they are
    numbered from 1. ``most`` sentences of ``words`` were asked for.

    Raises
    ------
    ReplyNotUsable
        With the reason: ``not_schema`` for anything but such a list, ``wrong_type`` for a citation
        that is no whole number, ``out_of_set`` for twice as many sentences as asked for, ``empty``
        if none has a text.
    """
    # Without a finish reason, too: an object says itself where it ends.
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
    """Return the schema of such a reply about so many statements."""
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
    """Return the text of an entry, on one line, and the numbers it cites."""
    if not isinstance(entry, Mapping) or set(entry) != {"text", "cites"}:
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not a text with citations")
    text, cites = entry["text"], entry["cites"]
    if not isinstance(text, str) or not isinstance(cites, list):
        raise ReplyNotUsable(UnscoredReason.NOT_SCHEMA, "not a text with citations")
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in cites):
        raise ReplyNotUsable(UnscoredReason.WRONG_TYPE, "a citation that is no whole number")
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


# Numbers of a sentence that none of its statements has. Counts are printed beside the text, so a
# language model has none to write. Words for numbers in English, German and French, "one" apart.
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
    r"(?<!\bthe )\bmost (?:of|people|\w+(?<!ou)s)\b|\bdie meisten\b|\bla plupart\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
_PERCENT = re.compile(r"%|\bper ?cent\b|\bpercentage\b|\bprozent\b|\bpour cent\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text, spelled ones as digits, and words that say how many.

    Examples
    --------
    >>> sorted(numbers_in("Two of 20 % wait; most of them for 3.5 hours."))
    ['%', '2', '20', '3.5', 'most']
    """
    words = (word.casefold() for word in _WORD.findall(text))
    numbers = {*_FIGURE.findall(text), *(_NUMBER_OF[word] for word in words if word in _NUMBER_OF)}
    # Signs such as ½ or ② are no digits.
    numbers |= {sign for sign in text if sign.isnumeric() and not sign.isdecimal()}
    numbers |= {"%"} if _PERCENT.search(text) else set()
    return numbers | {"most"} if _MOST.search(text) else numbers


def has_new_number(text: str, cited: Iterable[str]) -> bool:
    """Whether a sentence has a number that none of the statements it cites has."""
    known = {number for statement in cited for number in numbers_in(statement)}
    return not numbers_in(text) <= known
