"""Formats of importable files; apps register an object for each in their ``ready()``.

A format defines how a file is read and compared, its questions before the check, and the next
steps after the import.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

# A released migration names this function here.
from .format_parts import REGISTERED, Fits, Sample, Text, known_kinds as known_kinds, nothing_fits

if TYPE_CHECKING:
    from cqa_site.people.models import Study, User
    from cqa_site.tabular import FilePreview
    from .actions.imports import ImportOutcome, ImportSource, Line, Reconciliation
    from .models import ImportBatch, ImportFile

# Headings that kinds of files stand under, in order.
TEXTS, WRITTEN, JUDGED = "texts", "written", "judged"
HEADINGS: dict[str, Text] = {
    TEXTS: _("Comments, arguments and questions"),
    WRITTEN: _("Texts by systems and people"),
    JUDGED: _("Labels, scores and counts"),
}


@dataclass(frozen=True, slots=True)
class PageLink:
    """A button to another page."""

    title: Text
    address: str


@dataclass(frozen=True)
class Format:
    """How one kind of file is read, with its questions and texts.

    Attributes
    ----------
    name, title
        In the database, and for people.
    read
        Turns a file into a stream of entries, flags and notes.
    reconciliation
        Compares the entries with a study.
    asks, asking
        The end of the address of the page with questions before the first look, and the questions;
        empty if there are none.
    heading
        Its heading, one of `HEADINGS`.
    holds
        Expected content of such a file, for the page of its questions.
    is_mapped
        Whether these questions map columns.
    is_many
        Whether several files may be uploaded at once, because none needs its own questions.
    is_usual
        Whether the upload page proposes it.
    takes_lines
        Whether plain text may be a table of its lines.
    gives_way
        Whether it is offered only if a file's content fits no other kind.
    tells, tells_title
        Options that the format finds out about a file itself and that a person may correct, and
        their heading.
    next_step
        The next step after the import.
    home
        The study's page that shows the imported objects, and the label of its button.
    near_page
        The page of the object that a row's text nearly equals.
    fits
        Says of a file's beginning why it is of this format; empty where it is not, or could be of
        another one as well.
    sample
        A small invented file of the format.
    """

    name: str
    title: Text
    read: "Callable[[ImportSource], Iterator[Line]]"
    reconciliation: "type[Reconciliation]"
    heading: str = TEXTS
    asks: str = ""
    asking: type[Any] | None = None
    holds: Text = ""
    is_mapped: bool = False
    is_many: bool = False
    is_usual: bool = False
    takes_lines: bool = False
    gives_way: bool = False
    tells: Sequence[str] = ()
    tells_title: Text = ""
    next_step: Text = ""
    home: tuple[str, Text] | None = None
    near_page: str = ""
    fits: Fits = nothing_fits
    sample: Sample | None = None

    @property
    def asks_page(self) -> str:
        """Name of the address of its questions page."""
        return f"import_{self.asks.replace('-', '_')}" if self.asks else ""

    def guess_columns(
        self, study: "Study", preview: "FilePreview", options: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """Return the likely column of each field of a table."""
        return {}

    def is_own(self, preview: "FilePreview") -> bool:
        """Return whether the columns are those of an export of this site."""
        return False

    def is_clear(self, file: "ImportFile") -> bool:
        """Return whether the guess is complete, so that the first check needs no questions."""
        return False

    def told(self, file: "ImportFile") -> Mapping[str, Any]:
        """Return options as chosen or as given by the file's name; for options with ``tells``."""
        return {}

    def of_folder(self, folder: str) -> Mapping[str, Any]:
        """Return options implied by the name of the archive folder that holds such files."""
        return {}

    def applied(self, outcome: "ImportOutcome", actor: "User | None") -> None:
        """Run the follow-up of an import, in its transaction."""

    def follow(self, file: "ImportFile") -> Text:
        """Return the next step for the imported data."""
        return self.next_step

    def caution(self, file: "ImportFile") -> Text:
        """Return a warning before the import; empty if nothing is unusual."""
        return ""

    def links(self, study: "Study", file: "ImportFile | ImportBatch") -> list[PageLink]:
        if self.home is None:
            return []
        page, title = self.home
        return [PageLink(title, reverse(page, args=[study.public_id]))]


FORMATS: dict[str, Format] = REGISTERED


def register_format(*formats: Format) -> None:
    """Register formats in the order in which pages name them."""
    FORMATS.update({file_format.name: file_format for file_format in formats})


def under_headings(goal: str) -> list[tuple[Text, list[Format]]]:
    """Return all formats, once each: those for the study's goal, then by heading."""
    formats = sorted(FORMATS.values(), key=lambda file_format: not file_format.is_usual)
    meant = [
        file_format
        for file_format in formats
        if file_format.sample and goal in file_format.sample.goals
    ]
    rest = [file_format for file_format in formats if file_format not in meant]
    groups: list[tuple[Text, list[Format]]] = [(_("For the question of this study"), meant)]
    for heading, title in HEADINGS.items():
        groups.append(
            (title, [file_format for file_format in rest if file_format.heading == heading])
        )
    return [(title, own) for title, own in groups if own]


def kinds_under_headings(goal: str) -> list[tuple[Text, list[tuple[str, Text]]]]:
    """Return the formats under headings as choices of a form."""
    return [
        (title, [(file_format.name, file_format.title) for file_format in own])
        for title, own in under_headings(goal)
    ]


def batch_kinds() -> list[tuple[str, Text]]:
    """Return the kinds that allow several files at once, with their names."""
    return [(name, format.title) for name, format in FORMATS.items() if format.is_many]


def usual_kind() -> str:
    """Return the default kind of the upload page."""
    return next((name for name, format in FORMATS.items() if format.is_usual), "")


def format_of(kind: str) -> Format:
    """Return the format of a kind of file; raises KeyError if no app has registered it."""
    return FORMATS[kind]
