"""Features of a comparative sentence for the trained relevance judge."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.corpus.methods.sentences import GENERAL, WORD_LISTS, is_comparing, split_sentence
from cqa_site.stats.arrays import FloatArray

# Comparative sentences without the names of the compared objects
#
# The objects are replaced by two fixed words in the order of their first mention. A model sees
# neither their names nor their order in the comparison, so it cannot learn that arguments about a
# certain pair are often relevant.

Spans = tuple[tuple[int, int], ...]

# Two short everyday words that embedders represent well; fixed before any model was fitted.
STAND_INS = ("cats", "dogs")
_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")


@dataclass(frozen=True)
class MaskedSentence:
    """A sentence with its objects replaced by `STAND_INS`.

    Attributes
    ----------
    text : str
    first, second, comparison : tuple of (start, stop)
        Positions in `text` of the object named first, the object named second, and comparative
        words; empty if not mentioned.
    """

    text: str
    first: Spans
    second: Spans
    comparison: Spans


def mask_objects(sentence: str, object1: str, object2: str) -> MaskedSentence:
    """Replace the objects with `STAND_INS` in order of first mention.

    Examples
    --------
    >>> mask_objects("Tea is milder than coffee.", "coffee", "tea").text
    'cats is milder than dogs.'
    """
    text, spans = replace_objects(sentence, object1, object2, STAND_INS)
    comparing = tuple(
        match.span() for match in _WORD.finditer(text) if is_comparing(match[0].lower())
    )
    return MaskedSentence(text, tuple(spans[0]), tuple(spans[1]), comparing)


def replace_objects(
    sentence: str, object1: str, object2: str, names: tuple[str, str]
) -> tuple[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """Replace the objects with ``names`` in order of first mention; also return the positions."""
    order: list[int] = []
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    text = ""
    for part in split_sentence(sentence, object1, object2):
        if part.mark is None:
            text += part.text
            continue
        if part.mark not in order:
            order.append(part.mark)
        slot = order.index(part.mark)
        spans[slot].append((len(text), len(text) + len(names[slot])))
        text += names[slot]
    return text, spans


# Words, positions and punctuation of a comparative sentence, as numbers.
#
# The objects are masked first, so that no feature depends on their names.

_CAP = 15
_LONGEST = 400
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)*|\d+(?:[.,]\d+)*%?|[^\w\s]")
# Control characters, which never occur as words and are separate tokens.
_FIRST, _SECOND = "\x02", "\x03"


def lexical_features(sentences: Sequence[str], objects: Sequence[tuple[str, str]]) -> FloatArray:
    """Return counts and positions, shape (n, len(FEATURE_NAMES)), all finite.

    Distances are in words and capped at 15, which also means "absent". Most counts are capped at
    4. Only the first 400 words of a sentence are used. Each column that begins with ``words_``
    counts the words of one list in `WORD_LISTS`.
    """
    rows = [_describe(text, *pair) for text, pair in zip(sentences, objects, strict=True)]
    table = [[float(row[name]) for name in FEATURE_NAMES] for row in rows]
    return np.array(table, dtype=np.float64).reshape(len(rows), len(FEATURE_NAMES))


def _describe(sentence: str, object1: str, object2: str) -> dict[str, float]:
    masked, _spans = replace_objects(sentence, object1, object2, (_FIRST, _SECOND))
    words = _TOKEN.findall(masked.lower().replace("’", "'"))[:_LONGEST]
    first = [place for place, word in enumerate(words) if word == _FIRST]
    second = [place for place, word in enumerate(words) if word == _SECOND]
    return {
        **_mentions(words, first, second),
        **_name_parts(sentence, object1, object2),
        **_comparison(words, first, second),
        **_neighbours(words, sorted(first + second)),
        **_surface(sentence, masked, words),
        **{
            f"words_{name}": min(sum(word in listed for word in words), 4)
            for name, listed in WORD_LISTS.items()
        },
    }


def _mentions(words: list[str], first: list[int], second: list[int]) -> dict[str, float]:
    """Return the number and positions of the objects' mentions."""
    places, length = first + second, max(len(words), 1)
    start, stop = (min(places), max(places)) if places else (_CAP, -1)
    between = words[start + 1 : stop]
    apart = [abs(place - other) for place in first for other in second]
    return {
        "objects_named": bool(first) + bool(second),
        "first_mentions": min(len(first), 4),
        "second_mentions": min(len(second), 4),
        "first_position": start / length if places else 1.0,
        "last_position": stop / length if places else 0.0,
        "words_before": min(start, _CAP),
        "words_apart": min([*apart, _CAP]),
        "content_between": min(sum(map(_is_content, between)), 8) if apart else 0,
        "stop_between": bool(apart) and any(word in ",;:.()" for word in between),
    }


def _name_parts(sentence: str, object1: str, object2: str) -> dict[str, float]:
    """Return, for each name, the share of its words that begin a word of the sentence."""
    words = re.findall(r"\w+", sentence.lower())
    shares = sorted(_share_found(name, words) for name in (object1, object2))
    return {"name_found_less": shares[0], "name_found_more": shares[1]}


def _share_found(name: str, words: list[str]) -> float:
    parts = re.findall(r"\w+", name.lower())
    stems = [part if len(part) <= 3 else part[: max(4, len(part) - 2)] for part in parts]
    hits = [
        part in words or (len(part) > 3 and any(word.startswith(stem) for word in words))
        for part, stem in zip(parts, stems, strict=True)
    ]
    return sum(hits) / max(len(hits), 1)


def _comparison(words: list[str], first: list[int], second: list[int]) -> dict[str, float]:
    """Return features of comparatives, the position of "than", and the presence of an aspect.

    "Better" is general, but "lighter" and "better battery" name an aspect.
    """
    objects = first + second
    general = [place for place, word in enumerate(words) if word in GENERAL]
    comparing = [place for place, word in enumerate(words) if is_comparing(word)]
    than = [place for place, word in enumerate(words) if word == "than"]
    after = [place - word for word in than for place in objects if place > word]
    before = [word - place for word in than for place in objects if place < word]
    names_content = any(_is_content(_at(words, place + 1)) for place in general)
    is_argued = len(comparing) > len(general) or names_content
    return {
        "both_argued": bool(first and second) and is_argued,
        "both_unargued": bool(first and second) and not is_argued,
        "general": min(len(general), 4),
        "specific": min(len(comparing) - len(general), 4),
        "only_general": bool(general) and len(general) == len(comparing),
        "no_comparison": not comparing,
        "than": min(len(than), 4),
        "objects_across_than": any(
            min(first) < word < max(second) for word in than if first and second
        ),
        "than_to_object": min([*after, _CAP]),
        "object_to_than": min([*before, _CAP]),
        "comparison_to_object": _nearest(comparing, objects),
        "comparison_to_than": _nearest(comparing, than),
        "general_then_than": any(place + 1 in than for place in general),
        "general_then_content": names_content,
        "content_then_general": any(_is_content(_at(words, p - 1)) for p in general),
        "comparisons_listed": sum(_at(words, p + 1) in ("and", ",", "or") for p in comparing),
    }


def _neighbours(words: list[str], objects: list[int]) -> dict[str, float]:
    """Return features of the words next to the objects, and of those after the last object."""
    following = [_at(words, place + 1) for place in objects]
    preceding = [_at(words, place - 1) for place in objects]
    tail = [word for word in words[objects[-1] + 1 :] if word[0].isalnum()] if objects else []
    count = max(len(objects), 1)
    listed = ("or", "and", "/", ",")
    return {
        "object_modifies": sum(map(_is_content, following)) / count,
        "object_modified": sum(map(_is_content, preceding)) / count,
        "last_object_modifies": bool(objects) and _is_content(following[-1]),
        "owned": any(word in WORD_LISTS["owner"] for word in preceding),
        "object_listed": any(word in listed for word in following + preceding),
        "object_attached": sum(word in ("-", "/", "'") for word in following + preceding),
        "object_is": any(word in WORD_LISTS["being"] for word in following),
        "tail_words": min(len(tail), 2 * _CAP),
        "tail_empty": bool(objects) and not tail,
        "tail_explains": bool(tail)
        and (tail[0] in WORD_LISTS["aspect"] or tail[0] in WORD_LISTS["reason"]),
    }


def _surface(sentence: str, masked: str, words: list[str]) -> dict[str, float]:
    """Return features of length, punctuation and the start of the sentence."""
    opening = words[0] if words else ""
    lower = sentence.lower()
    return {
        "log_words": math.log(max(len(words), 1)),
        "commas": min(sentence.count(","), 6),
        "semicolons": min(sentence.count(";") + sentence.count(":"), 4),
        "question": "?" in sentence,
        "exclamation": "!" in sentence,
        "quotes": min(sum(sentence.count(mark) for mark in '"“”'), 4),
        "brackets": "(" in sentence,
        "numbers": min(sum(word[0].isdigit() for word in words), 6),
        "measured": "%" in sentence or " times " in lower,
        "other_names": min(len(re.findall(r"(?<=[a-z,] )[A-Z]\w+", masked)), 6),
        "name_after_than": bool(re.search(r"\bthan (?:the |an? |my )?[A-Z]", masked)),
        "opens_with_pronoun": opening in WORD_LISTS["pronoun"],
        "opens_with_speaker": opening in WORD_LISTS["speaker"],
        "opens_with_comparison": is_comparing(opening),
        "opens_small": sentence[:1].islower(),
        "ends_properly": sentence.rstrip()[-1:] in tuple(".!?"),
        "as_as": bool(re.search(r"\bas \w+ as\b", lower)),
        "than_pronoun": bool(re.search(r"\bthan (?:it|they|he|she|i|we|you|that|ever)\b", lower)),
    }


def _at(words: list[str], place: int) -> str:
    return words[place] if 0 <= place < len(words) else "."


def _is_content(word: str) -> bool:
    return word.isalpha() and word not in WORD_LISTS["function"] and not is_comparing(word)


def _nearest(places: list[int], others: list[int]) -> int:
    return min([abs(place - other) for place in places for other in others] + [_CAP])


FEATURE_NAMES: tuple[str, ...] = tuple(_describe("", "", ""))

# Features of a comparative sentence for the trained relevance judge
#
# A row is one sentence with the two objects of its comparison masked. `lexical_features` uses word
# counts and positions and needs only numpy. The mention vectors of `describe_sentences` come from
# a sentence embedder.

Progress = Callable[[int, int], None]


class SpanEmbedder(Protocol):
    """Interface of an embedder, such as `cqa_site.judging.embedding.SentenceEmbedder`."""

    name: str

    def encode_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[Sequence[Spans]],
        progress: Progress | None = None,
    ) -> NDArray[np.float32]:
        """Return one vector per text, made from the text and each of its groups of spans."""


@dataclass(frozen=True, eq=False)
class RelevanceFeatures:
    """Features of n sentences.

    Attributes
    ----------
    lexical : float array, shape (n, len(FEATURE_NAMES))
    mentions : float array, shape (n, d), or None
        Concatenated vectors of the sentence, both objects and the comparative words; None without
        an embedder.
    embedding_model : str
        Name of the embedder; empty if there is none.
    """

    lexical: FloatArray
    mentions: NDArray[np.float32] | None = None
    embedding_model: str = ""

    def __len__(self) -> int:
        return len(self.lexical)

    def take(self, rows: NDArray[np.int64]) -> RelevanceFeatures:
        """Return the features of some rows, in the given order."""
        mentions = None if self.mentions is None else self.mentions[rows]
        return RelevanceFeatures(self.lexical[rows], mentions, self.embedding_model)


def describe_sentences(
    sentences: Sequence[str],
    objects: Sequence[tuple[str, str]],
    embedder: SpanEmbedder | None = None,
    progress: Progress | None = None,
) -> RelevanceFeatures:
    """Return all features of sentences about pairs of objects.

    Parameters
    ----------
    sentences
        n texts; may be empty.
    objects
        n pairs (object1, object2), one for each sentence.
    embedder
        If None, all features are lexical.
    progress
        Called by the embedder with (done, total).
    """
    lexical = lexical_features(sentences, objects)
    if embedder is None:
        return RelevanceFeatures(lexical)
    masked = [mask_objects(text, *pair) for text, pair in zip(sentences, objects, strict=True)]
    spans = [(sentence.first, sentence.second, sentence.comparison) for sentence in masked]
    mentions = embedder.encode_spans([sentence.text for sentence in masked], spans, progress)
    return RelevanceFeatures(lexical, mentions, embedder.name)


def pair_key(object1: str, object2: str) -> str:
    """Return a key that ignores order and case, to keep a pair in one fold.

    Examples
    --------
    >>> pair_key("Nike", "Adidas") == pair_key("adidas", "nike")
    True
    """
    names = (" ".join(name.split()).casefold() for name in (object1, object2))
    return "\n".join(sorted(names))
