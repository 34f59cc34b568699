"""Extension points of an analysis: corrected shares, blinding rounds and summaries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext as _, ngettext

from argsum.analysis.models import Analysis
from argsum.datasets.models import CellArgument, Comment
from cqa_site.people.models import User
from cqa_site.runs.models import Run
from cqa_site.stats.estimate import Bounded
from .analyses import in_words

# Maps comments (by primary key) to their groups or periods; called only if there are audits.
Parts = Callable[[QuerySet[Comment]], Mapping[int, str]]


@dataclass(frozen=True)
class CorrectedShare:
    """The share (0–1) of comments that make a key point, and the pairs on which it is based."""

    share: Bounded
    pairs: int


class CorrectionSource(Protocol):
    """A source of corrected shares, keyed by the primary keys of key points."""

    def of_all(self, analysis: Analysis) -> Mapping[int, CorrectedShare]:
        """Map key points to their corrected shares of all comments."""

    def of_parts(
        self, analysis: Analysis, name: str, parts: Parts
    ) -> Mapping[tuple[int, str], CorrectedShare]:
        """Map key points and groups or periods to the corrected share of the comments in each.

        ``name`` distinguishes these parts from other parts of the same comments.
        """


CORRECTIONS: list[CorrectionSource] = []


def corrections_of(analysis: Analysis) -> dict[int, CorrectedShare]:
    """Map key points to their corrected shares, leaving out shares without an interval."""
    return {
        point: share for source in CORRECTIONS for point, share in source.of_all(analysis).items()
    }


def corrections_by_part(
    analysis: Analysis, name: str, parts: Parts
) -> dict[tuple[int, str], CorrectedShare]:
    """Map key points and groups or periods to corrected shares that have an interval."""
    corrected = (source.of_parts(analysis, name, parts) for source in CORRECTIONS)
    return {at: share for shares in corrected for at, share in shares.items()}


# Rounds that hide an analysis from the people who answer in them.

# Open rounds about an analysis in which a person has answered or can answer; each has
# ``has_answers``.
BlindingSource = Callable[[Analysis, User], Sequence[Any]]
BLINDING: list[BlindingSource] = []


def blinding_rounds(analysis: Analysis, user: User) -> list[Any]:
    """Return the open rounds that hide the analysis from the person."""
    return [round_ for source in BLINDING for round_ in source(analysis, user)]


# Summaries of an analysis in prose, for reports.


@dataclass(frozen=True)
class CitedStatement:
    """A statement that sentences cite by number, and the number of comments that contain it."""

    number: int
    statement: CellArgument
    comments: int

    @property
    def text(self) -> str:
        """Text of the statement."""
        return str(self.statement.text)

    @property
    def mentions(self) -> str:
        """The number of comments that contain the statement, as text."""
        # In a dataset without comments, each argument counts as one.
        number = max(1, self.comments)
        return ngettext("%s comment", "%s comments", number) % f"{number:,}"


@dataclass(frozen=True)
class PrintedSentence:
    """A sentence and the numbers of the cited statements that support it."""

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
        The run that wrote it, and when its sentences were checked.
    left_out
        Number of unsupported sentences, which are not printed.
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
SUMMARIES: list[Summaries] = []


def summary_of(analysis: Analysis) -> PrintedSummary | None:
    """Return the newest summary of an analysis with at least one printed sentence, or None."""
    return next(filter(None, (source(analysis) for source in SUMMARIES)), None)


def notes_of(summary: PrintedSummary) -> list[str]:
    """Return notes on the author of a summary, its omissions, and the limits of its check."""
    values = {
        "writer": in_words(summary.run),
        "number": summary.run.number,
        "day": date_format(summary.checked_at, "Y-m-d"),
    }
    notes = [
        _("Written by a language model: %(writer)s, run #%(number)d, %(day)s.") % values
        + " "
        + _(
            "Each sentence cites comments and was compared with them by the match scorer. "
            "This is only a rough comparison of meaning. It does not show that a sentence "
            "is true, so read the comments before you quote one."
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
