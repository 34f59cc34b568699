"""Formats of importable files; apps register an object for each format in their ``ready()``.

A format defines how a file is read and compared, which questions are asked before the check, and
which steps follow the import.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

# A released migration refers to this function in this module.
from .format_parts import REGISTERED, Fits, Sample, Text, known_kinds as known_kinds, nothing_fits

if TYPE_CHECKING:
    from cqa_site.people.models import Study, User
    from cqa_site.tabular import FilePreview
    from .actions.imports import ImportOutcome, ImportSource, Line, Reconciliation
    from .models import ImportBatch, ImportFile

# Headings for kinds of files, in order.
TEXTS, WRITTEN, JUDGED = "texts", "written", "judged"
HEADINGS: dict[str, Text] = {
    TEXTS: _("Comments, arguments and questions"),
    WRITTEN: _("Texts by systems and people"),
    JUDGED: _("Labels, scores and counts"),
}


@dataclass(frozen=True, slots=True)
class PageLink:
    """A button that leads to another page."""

    title: Text
    address: str


@dataclass(frozen=True)
class Format:
    """A kind of file: how it is read, its questions and its texts.

    Attributes
    ----------
    name, title
        Name in the database, and title for people.
    read
        Turns a file into a stream of entries, flags and notes.
    reconciliation
        Compares the entries with a study.
    asks, asking
        URL suffix of the page with the questions to answer before the check, and the questions
        themselves; empty if there are none.
    heading
        Heading of the format, one of `HEADINGS`.
    holds
        Expected content of such a file, shown on the questions page.
    is_mapped
        Whether the questions map columns.
    is_many
        Whether several files may be uploaded at once, because they need no separate questions.
    is_usual
        Whether the upload page proposes the format.
    takes_lines
        Whether plain text may be read as a table of its lines.
    gives_way
        Whether the format is offered only if a file's content fits no other kind.
    tells, tells_title
        Options that the format derives from a file and that a person may correct, and their
        heading.
    next_step
        The next step after the import.
    home
        The study page that shows the imported objects, and the label of its button.
    near_page
        The page of the object whose text nearly matches a row's text.
    fits
        Returns the reason why the beginning of a file fits this format; empty if it does not fit
        or could equally well be in another format.
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
        """URL name of the format's questions page."""
        return f"import_{self.asks.replace('-', '_')}" if self.asks else ""

    def guess_columns(
        self, study: "Study", preview: "FilePreview", options: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """Return the most likely column for each field."""
        return {}

    def is_own(self, preview: "FilePreview") -> bool:
        """Return whether the columns are those of an export from this site."""
        return False

    def is_clear(self, file: "ImportFile") -> bool:
        """Return whether the guess is complete, so that the first check needs no questions."""
        return False

    def told(self, file: "ImportFile") -> Mapping[str, Any]:
        """Return the values of the options in ``tells``, chosen or taken from the file's name."""
        return {}

    def of_folder(self, folder: str) -> Mapping[str, Any]:
        """Return options implied by the name of the archive folder that contains such files."""
        return {}

    def applied(self, outcome: "ImportOutcome", actor: "User | None") -> None:
        """Run the follow-up steps of an import in its transaction."""

    def follow(self, file: "ImportFile") -> Text:
        """Return the next step for the imported data."""
        return self.next_step

    def caution(self, file: "ImportFile") -> Text:
        """Return a warning to show before the import, or an empty text."""
        return ""

    def links(self, study: "Study", file: "ImportFile | ImportBatch") -> list[PageLink]:
        if self.home is None:
            return []
        page, title = self.home
        return [PageLink(title, reverse(page, args=[study.public_id]))]


FORMATS: dict[str, Format] = REGISTERED


def register_format(*formats: Format) -> None:
    """Register formats in the order in which pages list them."""
    FORMATS.update({file_format.name: file_format for file_format in formats})


def under_headings(goal: str) -> list[tuple[Text, list[Format]]]:
    """Return each format once: those for the study's goal, then the others under headings."""
    formats = sorted(FORMATS.values(), key=lambda file_format: not file_format.is_usual)
    meant = [
        file_format
        for file_format in formats
        if file_format.sample and goal in file_format.sample.goals
    ]
    rest = [file_format for file_format in formats if file_format not in meant]
    groups: list[tuple[Text, list[Format]]] = [(_("For the research goal of this study"), meant)]
    for heading, title in HEADINGS.items():
        groups.append(
            (title, [file_format for file_format in rest if file_format.heading == heading])
        )
    return [(title, own) for title, own in groups if own]


def kinds_under_headings(goal: str) -> list[tuple[Text, list[tuple[str, Text]]]]:
    """Return the formats, grouped under headings, as choices for a form."""
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
