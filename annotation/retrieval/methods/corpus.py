"""Sentences in an uploaded corpus file, and full-text queries for two objects."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from annotation.corpus.methods.column_guess import guess_mapping
from annotation.corpus.methods.generic_table import CELL_READERS
from annotation.corpus.methods.sentences import WORD_LISTS, is_comparing, split_sentence
from cqa_site.tabular import Limits, Table, UnreadableFile, open_table, printable_name
from cqa_site.tabular.cells import as_text
from cqa_site.tabular.detection import binary_family, open_text
from cqa_site.tabular.shapes import MEGABYTE

# Sentences in an uploaded file: a text file with one sentence per line, or a table
#
# A row is one sentence with its source address, if the file contains addresses. White space is
# reduced to single spaces, so that copies of a sentence in different files are equal.

LONGEST_SENTENCE = 2_000
LIMITS = Limits(text_bytes=64 * MEGABYTE, rows=1_000_000)
_HEAD_BYTES = 4_096


class LeftOut(StrEnum):
    BLANK = "blank"
    TOO_LONG = "too_long"
    NOT_TEXT = "not_text"


@dataclass(frozen=True, slots=True)
class CorpusLine:
    """One sentence; `row` is its line, row or position in the file."""

    row: int
    text: str
    address: str


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row without a sentence."""

    row: int
    reason: LeftOut


Entry: TypeAlias = CorpusLine | SkippedRow


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file that can be read once.

    Parameters
    ----------
    columns
        Columns of a table; empty for a text file.
    text, url
        Columns that are read; ``url`` may be empty.
    entries
        One entry per row, in file order. Iteration raises `UnreadableFile` at a damaged position.
    """

    columns: list[str]
    text: str
    url: str
    entries: Iterator[Entry]


def open_sentences(
    path: str | os.PathLike[str],
    *,
    name: str,
    text: str = "",
    url: str = "",
    encoding: str | None = None,
    limits: Limits = LIMITS,
) -> CorpusFile:
    """Open a file of sentences: ``.txt`` with one sentence per line, or any other file as a table.

    Parameters
    ----------
    path, name
        Path on disk, and file name as given by the user.
    text, url
        Columns of a table; if empty, they are guessed from the headers.
    encoding
        Encoding, as accepted by `cqa_site.tabular.open_table`.
    limits
        Limits on the file's size and contents.

    Raises
    ------
    UnreadableFile
        If the file cannot be read, or if the column of sentences is neither given nor clear.
    """
    if name.lower().endswith(".txt"):
        return CorpusFile([], "", "", _lines(path, printable_name(name), encoding, limits))
    table = open_table(path, name=name, encoding=encoding, limits=limits)
    try:
        chosen = _columns(table, text, url)
    except BaseException:
        table.close()
        raise
    return CorpusFile(table.columns, *chosen, _rows(table, *chosen))


def _columns(table: Table, text: str, url: str) -> tuple[str, str]:
    for column in filter(None, (text, url)):
        if column not in table.columns:
            raise UnreadableFile(table.name, f"has no column {column!a}")
    guess = guess_mapping(table.columns)
    text = text or guess.get("text", "") or (table.columns[0] if len(table.columns) == 1 else "")
    if not text:
        raise UnreadableFile(table.name, "has no column that is clearly the sentence; choose one")
    if text == url:
        raise UnreadableFile(
            table.name, "cannot have the sentence and the address in the same column"
        )
    url = url or guess.get("source_url", "")
    return text, "" if url == text else url


def _rows(table: Table, text: str, url: str) -> Iterator[Entry]:
    with table:
        for row in table.rows:
            try:
                address = as_text(row.values[url]) if url else None
                yield _entry(row.number, as_text(row.values[text]) or "", address or "")
            except ValueError:
                yield SkippedRow(row.number, LeftOut.NOT_TEXT)


def _lines(
    path: str | os.PathLike[str], name: str, encoding: str | None, limits: Limits
) -> Iterator[Entry]:
    with Path(path).open("rb") as file:
        if binary_family(file.read(_HEAD_BYTES), name) != "text":
            raise UnreadableFile(name, "is not a text file")
        stream = open_text(file, name=name, asked=encoding, limits=limits)
        number = 0
        while line := stream.readline(limits.row_chars + 1):
            number += 1
            if number > limits.rows:
                raise UnreadableFile(name, f"has more than {limits.rows:,} lines", row=number)
            if len(line) > limits.row_chars:
                reason = f"this line is longer than {limits.row_chars:,} characters"
                raise UnreadableFile(name, reason, row=number)
            yield _entry(number, line, "")


def _entry(row: int, text: str, address: str) -> Entry:
    tidy = " ".join(text.split())
    if not tidy:
        return SkippedRow(row, LeftOut.BLANK)
    if len(tidy) > LONGEST_SENTENCE:
        return SkippedRow(row, LeftOut.TOO_LONG)
    return CorpusLine(row, tidy, web_address(address))


def web_address(text: str) -> str:
    """Return an http(s) address unchanged, or an empty text if pages must not link to it."""
    try:
        return str(CELL_READERS["source_url"](text) or "")
    except ValueError:
        return ""


# Search for sentences about two objects: from typed words to a safe full-text query
#
# A sentence matches if it names both objects and, if an aspect is given, contains a word from the
# aspect. An object matches by all its words in sequence, or by any of its words. Words are runs of
# letters and digits. All other characters only separate words and are never part of a query, so
# input cannot be interpreted as query syntax by SQLite's FTS5 or PostgreSQL.
#
# Comparative sentences (`is_comparative`) come before all others. Within each group, sentences are
# ranked by the database (bm25, or cover density).

_WORD = re.compile(r"[^\W_]+")
# Characters that can be part of a name but not of a word: a sentence about C names neither C++ nor
# C#.
_SIGNS = re.compile(r"[^\w\s.,:;&/'’()-]")
MOST_WORDS = 16
LONGEST_WORD = 64


class NothingToSearch(ValueError):
    """The name has no letters or digits to search for."""


@dataclass(frozen=True, slots=True)
class Term:
    """Words of a query, matched in sequence (``is_phrase``) or individually."""

    words: tuple[str, ...]
    is_phrase: bool


@dataclass(frozen=True, slots=True)
class Query:
    """Terms that must all occur in a sentence.

    Parameters
    ----------
    terms
        Object 1, object 2 and, if given, the aspect.
    names
        The two objects as typed, if words alone cannot identify them (see `Query.accepts`);
        otherwise None.
    """

    terms: tuple[Term, ...]
    names: tuple[str, str] | None = None

    def accepts(self, sentence: str) -> bool:
        """Whether a sentence with all words of the query also names the objects."""
        if self.names is None:
            return True
        # Most sentences fail this check, which is much cheaper than the exact one.
        if not all(name.casefold() in sentence.casefold() for name in self.names):
            return False
        return {part.mark for part in split_sentence(sentence, *self.names)} >= {1, 2}


def words_of(text: str) -> list[str]:
    """Return the first words of a text, truncating long words.

    Examples
    --------
    >>> words_of('"x-ray" NEAR(a, b)*')
    ['x', 'ray', 'NEAR', 'a', 'b']
    """
    return [match.group()[:LONGEST_WORD] for match in islice(_WORD.finditer(text), MOST_WORDS)]


def build_query(object1: str, object2: str, *, aspect: str = "", any_word: bool = False) -> Query:
    """Return the query for two objects.

    Parameters
    ----------
    object1, object2
        Names as people write them.
    aspect
        Aspect to search for; any of its words is sufficient. May be empty.
    any_word
        Whether any word in a name, except function words, matches the object.

    Raises
    ------
    NothingToSearch
        If a name, or an aspect that is not blank, has no letter or digit.

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
    """Return the query in the syntax of SQLite's FTS5, with every word in quotes."""
    return " AND ".join(
        _written(term, lambda words: f'"{" ".join(words)}"', " OR ") for term in query.terms
    )


def tsquery_expression(query: Query) -> str:
    """Return the query in the syntax of PostgreSQL's ``to_tsquery``, with every word in quotes.

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
    """Whether a sentence has a comparative word, such as better, lighter, more, than, versus.

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
        raise NothingToSearch(f"{text[:60]!r} has no letter or digit to search for")
    if not is_phrase:
        words = [word for word in words if word.lower() not in WORD_LISTS["function"]] or words
    return Term(tuple(words), is_phrase)


def _written(term: Term, phrase: Callable[[Sequence[str]], str], either: str) -> str:
    """Return a term as a phrase or as single words joined by "or"."""
    if term.is_phrase or len(term.words) == 1:
        text = phrase(term.words)
        return f"({text})" if "<->" in text else text
    return f"({either.join(phrase([word]) for word in term.words)})"
