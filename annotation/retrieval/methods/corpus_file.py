"""Sentences out of an uploaded file: a text file with one per line, or a table.

A row is one sentence with the address it came from, if the file names one. White space is
reduced to single spaces, so that the same sentence out of two files is the same.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from annotation.corpus.methods.column_guess import guess_mapping
from annotation.corpus.methods.table_cells import CELL_READERS, as_text
from cqa_site.tabular import Limits, Table, UnreadableFile, open_table, printable_name
from cqa_site.tabular.encodings import open_text
from cqa_site.tabular.kinds import binary_family
from cqa_site.tabular.shapes import MEGABYTE

LONGEST_SENTENCE = 2_000
LIMITS = Limits(text_bytes=64 * MEGABYTE, rows=1_000_000)
_HEAD_BYTES = 4_096


class LeftOut(StrEnum):
    """Why a row gives no sentence."""

    BLANK = "blank"
    TOO_LONG = "too_long"
    NOT_TEXT = "not_text"


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence; `row` is the line, row or position a person sees in the file."""

    row: int
    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row without a sentence."""

    row: int
    reason: LeftOut


Entry: TypeAlias = Line | Skipped


@dataclass(frozen=True, slots=True)
class Opened:
    """A file ready to be read once.

    Parameters
    ----------
    columns
        Of a table; empty for a text file.
    text, url
        The columns that are read; ``url`` may be empty.
    entries
        One per row, in file order. Iterating raises `UnreadableFile` where the file breaks.
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
) -> Opened:
    """Open a file of sentences; ``.txt`` is one per line, everything else a table.

    Parameters
    ----------
    path, name
        Where it lies, and what the person called it.
    text, url
        Columns of a table; empty: guessed from the headers.
    encoding
        As `cqa_site.tabular.open_table` takes it.
    limits
        What the file may cost.

    Raises
    ------
    UnreadableFile
        For a file that cannot be read, and for a table whose column of sentences is neither
        named nor clear.
    """
    if name.lower().endswith(".txt"):
        return Opened([], "", "", _lines(path, printable_name(name), encoding, limits))
    table = open_table(path, name=name, encoding=encoding, limits=limits)
    try:
        chosen = _columns(table, text, url)
    except BaseException:
        table.close()
        raise
    return Opened(table.columns, *chosen, _rows(table, *chosen))


def _columns(table: Table, text: str, url: str) -> tuple[str, str]:
    for column in filter(None, (text, url)):
        if column not in table.columns:
            raise UnreadableFile(table.name, f"has no column {column!a}")
    guess = guess_mapping(table.columns)
    text = text or guess.get("text", "") or (table.columns[0] if len(table.columns) == 1 else "")
    if not text:
        raise UnreadableFile(table.name, "has no column that is clearly the sentence; choose it")
    if text == url:
        raise UnreadableFile(table.name, "cannot have sentence and address in one column")
    url = url or guess.get("source_url", "")
    return text, "" if url == text else url


def _rows(table: Table, text: str, url: str) -> Iterator[Entry]:
    with table:
        for row in table.rows:
            try:
                address = as_text(row.values[url]) if url else None
                yield _entry(row.number, as_text(row.values[text]) or "", address or "")
            except ValueError:
                yield Skipped(row.number, LeftOut.NOT_TEXT)


def _lines(
    path: str | os.PathLike[str], name: str, encoding: str | None, limits: Limits
) -> Iterator[Entry]:
    with Path(path).open("rb") as file:
        if binary_family(file.read(_HEAD_BYTES), name) != "text":
            raise UnreadableFile(name, "is no text file")
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
        return Skipped(row, LeftOut.BLANK)
    if len(tidy) > LONGEST_SENTENCE:
        return Skipped(row, LeftOut.TOO_LONG)
    return Line(row, tidy, web_address(address))


def web_address(text: str) -> str:
    """An http(s) address as it is; empty for anything else, which no page may link to."""
    try:
        return str(CELL_READERS["source_url"](text) or "")
    except ValueError:
        return ""
