"""Summaries in prose: the subjects of their requests, and the printed and omitted sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports.analyses import StatementSearch, edits_since
from argsum.analysis.reports.extensions import (
    CitedStatement,
    PrintedParagraph,
    PrintedSentence,
    PrintedSummary,
)
from argsum.analysis.reports.points import said_counts
from argsum.datasets.models import CellArgument
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Subject, Titles
from cqa_site.runs.models import Call, Run
from .models import ProseParagraph, ProseSummary

Verdict = ProseParagraph.Verdict


class ParagraphKey(NamedTuple):
    """Keys of a request: attempt, key points of the theme, and statements in order."""

    attempt: int
    points: tuple[int, ...]
    statements: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> ParagraphKey:
        """Read the keys from a request's row."""
        attempt, size, *rest = ids
        return cls(attempt, tuple(rest[:size]), tuple(rest[size:]))

    @property
    def group(self) -> int:
        """Identifier of a paragraph in its run: its first key point."""
        return self.points[0]

    @property
    def subject(self) -> Subject:
        """Subject for the engine; its name is unique in a run."""
        ids = (self.attempt, len(self.points), *self.points, *self.statements)
        return Subject(f"t{self.group}-{self.attempt}", ids)

    @property
    def again(self) -> ParagraphKey:
        """Key of the next attempt for the same theme."""
        return self._replace(attempt=self.attempt + 1)


def heading_of(points: Sequence[FoundPoint]) -> str:
    """Return the theme shared by the key points, the text of a single key point, or ""."""
    themes = {point.theme for point in points}
    if len(themes) == 1 and (theme := themes.pop()):
        return str(theme)
    return points[0].text if len(points) == 1 else ""


def best_attempts(rows: Sequence[ProseParagraph]) -> list[ProseParagraph]:
    """Return for each paragraph, in order, the attempt with the most printed sentences.

    Ties go to the attempt that leaves out the fewest sentences, then to the latest attempt.
    """
    best: dict[int, ProseParagraph] = {}
    for row in sorted(rows, key=lambda row: (row.attempt, row.call.position)):
        if row.group not in best or _rank(row) >= _rank(best[row.group]):
            best[row.group] = row
    return list(best.values())


def _rank(row: ProseParagraph) -> tuple[int, int]:
    outcomes = row.outcomes or []
    printed = sum(outcome["verdict"] == Verdict.SUPPORTED for outcome in outcomes)
    return printed, printed - len(outcomes)


@dataclass(frozen=True)
class CheckedSentence:
    """A written sentence with its outcome; ``verdict`` is empty until it is checked.

    ``cites`` are the statements that it cites; for a printed sentence, only the remaining
    citations.
    """

    text: str
    verdict: str
    cites: Sequence[CellArgument]
    closer: float | None = None

    @property
    def is_printed(self) -> bool:
        """Whether the sentence is supported."""
        return self.verdict == Verdict.SUPPORTED

    @property
    def outcome(self) -> str:
        """The verdict as text for display."""
        return str(Verdict(self.verdict).label) if self.verdict else _("Not checked yet")


@dataclass(frozen=True)
class CheckedParagraph:
    """The best attempt at a paragraph, with all its sentences."""

    row: ProseParagraph
    sentences: Sequence[CheckedSentence]

    @property
    def theme(self) -> str:
        """The heading of the paragraph."""
        return self.row.theme or _("Other points")

    @property
    def printed(self) -> list[CheckedSentence]:
        """The supported sentences."""
        return [sentence for sentence in self.sentences if sentence.is_printed]

    @property
    def left_out(self) -> list[CheckedSentence]:
        """The sentences that are not printed."""
        return [sentence for sentence in self.sentences if not sentence.is_printed]


def checked_paragraphs(run: Run) -> list[CheckedParagraph]:
    """Return the paragraphs of a run that have been written so far, in two queries."""
    rows = best_attempts(list(run.prose_paragraphs.select_related("call")))
    keys = {row.pk: ParagraphKey.of(row.call.subject_ids).statements for row in rows}
    arguments = CellArgument.objects.in_bulk({key for own in keys.values() for key in own})
    paragraphs = []
    for row in rows:
        outcomes = row.outcomes or [{}] * len(row.sentences)
        sentences = [
            CheckedSentence(
                sentence["text"],
                outcome.get("verdict", ""),
                [
                    arguments[keys[row.pk][number - 1]]
                    for number in outcome.get("cites") or sentence["cites"]
                    if keys[row.pk][number - 1] in arguments
                ],
                outcome.get("scores", {}).get("closer"),
            )
            for sentence, outcome in zip(row.sentences, outcomes, strict=True)
        ]
        paragraphs.append(CheckedParagraph(row, sentences))
    return paragraphs


def printed_summary(analysis: Analysis) -> PrintedSummary | None:
    """Return an analysis's newest summary with printed sentences, in four queries."""
    rows = ProseSummary.objects.filter(analysis=analysis, printed__gt=0)
    summary = rows.select_related("run__prompt").first()
    if summary is None or summary.checked_at is None:
        return None
    numbers: dict[int, int] = {}
    statements: dict[int, CellArgument] = {}
    paragraphs = []
    for paragraph in checked_paragraphs(summary.run):
        sentences = []
        for sentence in paragraph.printed:
            for statement in sentence.cites:
                numbers.setdefault(statement.pk, len(numbers) + 1)
                statements[statement.pk] = statement
            if sentence.cites:
                cites = sorted(numbers[statement.pk] for statement in sentence.cites)
                sentences.append(PrintedSentence(sentence.text, cites))
        if sentences:
            paragraphs.append(PrintedParagraph(paragraph.theme, sentences))
    counts = said_counts(list(numbers), StatementSearch())
    return PrintedSummary(
        summary.run,
        summary.checked_at,
        paragraphs,
        [
            CitedStatement(number, statements[pk], counts.get(pk, 0))
            for pk, number in numbers.items()
        ],
        summary.left_out,
        edits_since(analysis, summary.revision),
    )


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    keys = {call.pk: ParagraphKey.of(call.subject_ids) for call in calls}
    own = FoundPoint.objects.filter(analysis__study=study)
    points = own.in_bulk({pk for key in keys.values() for pk in key.points})
    rows = ProseParagraph.objects.filter(call__in=list(keys))
    written = {row.call_id: row for row in rows}
    return {
        pk: [
            _item([points[point] for point in key.points if point in points], key, written.get(pk))
        ]
        for pk, key in keys.items()
    }


def _item(
    points: Sequence[FoundPoint], key: ParagraphKey, row: ProseParagraph | None
) -> RequestItem | None:
    if not points:
        return None
    context = _("attempt %d") % key.attempt
    heading = heading_of(points) or _("Other points")
    if row is None:
        return RequestItem(heading, context)
    text = " ".join(sentence["text"] for sentence in row.sentences)
    printed = _rank(row)[0]
    note = ngettext("%d sentence printed", "%d sentences printed", printed) % printed
    return RequestItem(heading, context, text, note if row.outcomes else "", row.reason)


PARAGRAPH_CALLS = CallSubjects(
    Titles(lazy("Theme"), lazy("Text written"), lazy("Outcome")), _items
)
