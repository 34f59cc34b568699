"""Formats that can be imported: who reads each, and who compares what other apps take from it.

Readers and books are named by their dotted path and imported at first use, so
that an app above this one can add its own without being known here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from django.utils.module_loading import import_string

from annotation.models import ImportFile

from .rows import Line
from .source import Source

if TYPE_CHECKING:
    from .reconcile import Reconciliation

Kind = ImportFile.Kind
Reader = Callable[[Source], Iterator[Line]]
_SOURCES = "annotation.actions.importing.sources"
_ANSWERS = "annotation.actions.importing.answer_sources"


class Book(Protocol):
    """Compares one kind of an other app's rows with a study, and writes what is new."""

    def take(self, entries: Sequence[Any]) -> None:
        """Compare a piece of the file; its answers are known by now."""

    def finish(self) -> None:
        """Say what only the whole file shows."""


@dataclass(frozen=True, slots=True)
class Format:
    """How one kind of file is read.

    ``asks`` names the page that has questions before the first look (which
    column is what); ``has_answers`` says that system and scenario belong to it.
    """

    reader: str
    asks: str = ""
    has_answers: bool = False


FORMATS: dict[str, Format] = {
    Kind.TOLOKA: Format(f"{_SOURCES}.read_crowd"),
    Kind.EXPERT_WORKBOOK: Format(f"{_SOURCES}.read_experts"),
    Kind.FINAL_LABELS: Format(f"{_SOURCES}.read_released"),
    Kind.SILVER: Format(f"{_ANSWERS}.read_silver_answers", has_answers=True),
    Kind.GOLD: Format(f"{_ANSWERS}.read_gold_answers", has_answers=True),
    Kind.ANSWERS: Format(f"{_ANSWERS}.read_system_answers", has_answers=True),
    Kind.TABLE: Format(f"{_SOURCES}.read_mapped", asks="import_mapping"),
}
BOOKS: dict[str, str] = {}


def register_format(kind: str, format: Format) -> None:
    """Make the reader of a kind of file known."""
    FORMATS[kind] = format


def register_book(name: str, path: str) -> None:
    """Make the class known that takes the entries of that name (see `rows.Extra`)."""
    BOOKS[name] = path


def format_of(kind: str) -> Format:
    """How a kind of file is read; KeyError if no app has registered it."""
    return FORMATS[kind]


def reader_of(kind: str) -> Reader:
    """The function that turns a file of that kind into lines."""
    reader: Reader = import_string(FORMATS[kind].reader)
    return reader


def new_book(name: str, work: "Reconciliation") -> Book:
    """A book for one pass over one file."""
    book: Book = import_string(BOOKS[name])(work)
    return book
