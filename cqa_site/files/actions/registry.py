"""Formats that can be imported: who reads each, and who compares what other apps take from it.

Readers and books are named by their dotted path and imported at first use, so
that an app above this one can add its own without being known here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from django.utils.module_loading import import_string

from cqa_site.files.models import ImportFile
from cqa_site.tabular import Preview

from .rows import Line
from .source import Source

if TYPE_CHECKING:
    from .reconcile import Reconciliation

Kind = ImportFile.Kind
Reader = Callable[[Source], Iterator[Line]]
_SOURCES = "annotation.imports.actions.sources"
_ANSWERS = "annotation.imports.actions.answer_sources"


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
    column is what); ``has_answers`` says that system and scenario belong to it; ``is_many``
    that several files may come at once, because nothing has to be said of each. ``guess`` then
    finds out from a file what its page would have asked: a function of the file and a preview
    of its rows that returns options.
    """

    reader: str
    asks: str = ""
    has_answers: bool = False
    is_many: bool = False
    guess: str = ""


FORMATS: dict[str, Format] = {
    Kind.TOLOKA: Format(f"{_SOURCES}.read_crowd", is_many=True),
    Kind.EXPERT_WORKBOOK: Format(f"{_SOURCES}.read_experts"),
    Kind.FINAL_LABELS: Format(f"{_SOURCES}.read_released"),
    Kind.SILVER: Format(f"{_ANSWERS}.read_silver_answers", has_answers=True, is_many=True),
    Kind.GOLD: Format(f"{_ANSWERS}.read_gold_answers", has_answers=True, is_many=True),
    Kind.ANSWERS: Format(f"{_ANSWERS}.read_system_answers", has_answers=True, is_many=True),
    Kind.QUESTIONS: Format(
        "annotation.imports.actions.question_sources.read_questions", is_many=True
    ),
    Kind.TABLE: Format(
        f"{_SOURCES}.read_mapped",
        asks="import_mapping",
        is_many=True,
        guess="cqa_site.files.actions.guessing.table_options",
    ),
}
BOOKS: dict[str, str] = {}


def register_format(kind: str, format: Format) -> None:
    """Make the reader of a kind of file known."""
    FORMATS[kind] = format


def register_book(name: str, path: str) -> None:
    """Make the class known that takes the entries of that name (see `rows.Extra`)."""
    BOOKS[name] = path


def known_kinds() -> list[tuple[str, Any]]:
    """Kinds of files that some app reads, with their names."""
    return [(kind, name) for kind, name in Kind.choices if kind in FORMATS]


def format_of(kind: str) -> Format:
    """How a kind of file is read; KeyError if no app has registered it."""
    return FORMATS[kind]


def reader_of(kind: str) -> Reader:
    """The function that turns a file of that kind into lines."""
    reader: Reader = import_string(FORMATS[kind].reader)
    return reader


def guesser_of(kind: str) -> Callable[[ImportFile, Preview], dict[str, Any]] | None:
    """The function that finds out how such a file is to be read; None if nothing is asked."""
    path = FORMATS[kind].guess
    return import_string(path) if path else None


def new_book(name: str, work: "Reconciliation") -> Book:
    """A book for one pass over one file."""
    book: Book = import_string(BOOKS[name])(work)
    return book
