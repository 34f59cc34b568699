"""Searching sentences for two objects: from what people type to a safe full-text query.

A sentence is found if it names both objects and, where an aspect is given, has one of the
aspect's words. An object is its words one after the other, or any one of its words. Words are
runs of letters and digits; everything else that is typed separates words and reaches no query,
so that no input has a meaning in the query language of SQLite's FTS5 or of PostgreSQL.

Sentences that compare (`is_comparative`) come before all others; among themselves they stand
in the order of the database (bm25, or cover density).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from annotation.corpus.methods.comparison_words import WORD_LISTS, is_comparing
from annotation.corpus.methods.highlight import split_sentence

_WORD = re.compile(r"[^\W_]+")
# Signs that are part of a name but of no word: a sentence about C names neither C++ nor C#.
_SIGNS = re.compile(r"[^\w\s.,:;&/'’()-]")
MOST_WORDS = 16
LONGEST_WORD = 64


class NothingToSearch(ValueError):
    """A name without any letter or digit cannot be looked up."""


@dataclass(frozen=True, slots=True)
class Term:
    """Words of a query: one after the other (``is_phrase``), or any one of them."""

    words: tuple[str, ...]
    is_phrase: bool


@dataclass(frozen=True, slots=True)
class Query:
    """Terms that a sentence must all have.

    Parameters
    ----------
    terms
        Object 1, object 2 and, where given, the aspect.
    names
        The two objects as typed, if their words alone do not tell them apart from others
        (`Query.accepts`); else None.
    """

    terms: tuple[Term, ...]
    names: tuple[str, str] | None = None

    def accepts(self, sentence: str) -> bool:
        """Whether a sentence with all the words names the objects as well."""
        if self.names is None:
            return True
        # The exact look costs much more than this one, which most sentences fail.
        if not all(name.casefold() in sentence.casefold() for name in self.names):
            return False
        return {part.mark for part in split_sentence(sentence, *self.names)} >= {1, 2}


def words_of(text: str) -> list[str]:
    """The first words of a text, long ones cut.

    Examples
    --------
    >>> words_of('"x-ray" NEAR(a, b)*')
    ['x', 'ray', 'NEAR', 'a', 'b']
    """
    return [match.group()[:LONGEST_WORD] for match in islice(_WORD.finditer(text), MOST_WORDS)]


def build_query(object1: str, object2: str, *, aspect: str = "", any_word: bool = False) -> Query:
    """What to look for.

    Parameters
    ----------
    object1, object2
        Names as people write them.
    aspect
        Any of its words is enough; may be empty.
    any_word
        Whether any word of a name stands for the object, function words apart.

    Raises
    ------
    NothingToSearch
        For a name, or an aspect that is not blank, without a letter or digit.

    Examples
    --------
    >>> query = build_query("Java", "New York", aspect="cost")
    >>> fts5_expression(query)
    '"Java" AND "New York" AND "cost"'
    """
    terms = [_term(name, is_phrase=not any_word) for name in (object1, object2)]
    if aspect.strip():
        terms.append(_term(aspect, is_phrase=False))
    same = terms[0].words == terms[1].words
    is_unclear = same or any(_SIGNS.search(name) for name in (object1, object2))
    names = (" ".join(object1.split()), " ".join(object2.split()))
    return Query(tuple(terms), names if is_unclear and not any_word else None)


def fts5_expression(query: Query) -> str:
    """The query in the language of SQLite's FTS5; every word stands in quotation marks."""
    return " AND ".join(
        _written(term, lambda words: f'"{" ".join(words)}"', " OR ") for term in query.terms
    )


def tsquery_expression(query: Query) -> str:
    """The query in the language of PostgreSQL's ``to_tsquery``; every word stands in quotes.

    Examples
    --------
    >>> tsquery_expression(build_query("Java", "New York"))
    "'Java' & ('New' <-> 'York')"
    """
    return " & ".join(
        _written(term, lambda words: " <-> ".join(f"'{word}'" for word in words), " | ")
        for term in query.terms
    )


def is_comparative(sentence: str) -> bool:
    """Whether a sentence has a word that compares: better, lighter, more, than, versus.

    Examples
    --------
    >>> is_comparative("Tea is lighter than coffee."), is_comparative("I had tea and coffee.")
    (True, False)
    """
    words = set(re.findall(r"[a-z]+", sentence.lower()))
    return "than" in words or bool(words & WORD_LISTS["versus"]) or any(map(is_comparing, words))


def _term(text: str, *, is_phrase: bool) -> Term:
    words = words_of(text)
    if not words:
        raise NothingToSearch(f"{text[:60]!r} has no letter or digit to look for")
    if not is_phrase:
        words = [word for word in words if word.lower() not in WORD_LISTS["function"]] or words
    return Term(tuple(words), is_phrase)


def _written(term: Term, phrase: Callable[[Sequence[str]], str], either: str) -> str:
    """A term as a phrase, or as its single words with an "or" between them."""
    if term.is_phrase or len(term.words) == 1:
        text = phrase(term.words)
        return f"({text})" if "<->" in text else text
    return f"({either.join(phrase([word]) for word in term.words)})"
