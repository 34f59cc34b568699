"""Summaries of an analysis in prose, as reports show them; a later room registers its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.analysis.models import Analysis
from argsum.datasets.models import CellArgument
from cqa_site.runs.models import Run

from .analyses import in_words


@dataclass(frozen=True)
class CitedStatement:
    """A statement that sentences cite by its number, and the number of comments with it."""

    number: int
    statement: CellArgument
    comments: int

    @property
    def text(self) -> str:
        """Text of the statement."""
        return str(self.statement.text)

    @property
    def mentions(self) -> str:
        """The number of comments with it, in words."""
        # Arguments of a dataset without comments count as one each.
        number = max(1, self.comments)
        return ngettext("%s comment", "%s comments", number) % f"{number:,}"


@dataclass(frozen=True)
class PrintedSentence:
    """A sentence that has support by the statements it cites, by number."""

    text: str
    cites: Sequence[int]


@dataclass(frozen=True)
class PrintedParagraph:
    """A theme with its sentences."""

    theme: str
    sentences: Sequence[PrintedSentence]


@dataclass(frozen=True)
class PrintedSummary:
    """The printed part of a summary.

    Attributes
    ----------
    run, checked_at
        Who wrote it, and when its sentences were checked.
    left_out
        How many sentences have no support and are not printed.
    edits
        Number of edits of the analysis since the run began.
    """

    run: Run
    checked_at: datetime
    paragraphs: Sequence[PrintedParagraph]
    citations: Sequence[CitedStatement]
    left_out: int
    edits: int


Summaries = Callable[[Analysis], PrintedSummary | None]
SOURCES: list[Summaries] = []


def summary_of(analysis: Analysis) -> PrintedSummary | None:
    """Return the newest summary of an analysis with at least one printed sentence, or None."""
    return next(filter(None, (source(analysis) for source in SOURCES)), None)


def notes_of(summary: PrintedSummary) -> list[str]:
    """Return who wrote a summary, what was left out, and what its check cannot tell."""
    values = {
        "writer": in_words(summary.run),
        "number": summary.run.number,
        "day": date_format(summary.checked_at, "Y-m-d"),
    }
    notes = [
        _("Written by a language model: %(writer)s, run #%(number)d, %(day)s.") % values
        + " "
        + _(
            "Each sentence cites comments and was compared with them by the match scorer. This "
            "compares meaning roughly. It does not show that a sentence is true, so read the "
            "comments before you quote one."
        )
    ]
    if summary.left_out:
        text = ngettext(
            "%s sentence was left out: it broke a rule, or the comments that it cites do not "
            "support it.",
            "%s sentences were left out: they broke a rule, or the comments that they cite do not "
            "support them.",
            summary.left_out,
        )
        notes.append(text % f"{summary.left_out:,}")
    if summary.edits:
        text = ngettext(
            "Since this summary was written, the key points were edited %s time.",
            "Since this summary was written, the key points were edited %s times.",
            summary.edits,
        )
        notes.append(text % f"{summary.edits:,}")
    return notes
