"""What the desk may know: allow-lists without the system, the file and other people's work."""

import json
from dataclasses import dataclass

from django.utils.functional import Promise

from annotation.answers.actions.lists import relevance_of
from annotation.corpus.methods.highlight import Segment, split_sentence
from annotation.corpus.models.questions import ListedArgument
from annotation.editing.actions.checks import Reading
from annotation.editing.models import EditingSheet
from annotation.editing.reports.checks import TITLES


@dataclass(frozen=True)
class DeskArgument:
    """One numbered argument beside the text."""

    number: int
    text: str
    segments: list[Segment]
    label: int | None
    source: str
    is_cited: bool

    @property
    def link(self) -> str:
        """The source as an address, if it is one."""
        return self.source if self.source.startswith(("https://", "http://")) else ""


@dataclass(frozen=True)
class DeskCheck:
    """One line of the checklist; ``places`` are character ranges as JSON."""

    name: str
    title: str | Promise
    is_passed: bool | None
    counted: str
    wanted: str
    places: str
    is_marked: bool


@dataclass(frozen=True)
class Checklist:
    """Every line, and how many of those that could be judged are passed."""

    lines: list[DeskCheck]

    @property
    def passed(self) -> int:
        """Lines that are passed."""
        return sum(line.is_passed is True for line in self.lines)

    @property
    def judged(self) -> int:
        """Lines that could be judged."""
        return sum(line.is_passed is not None for line in self.lines)


def listed_arguments(sheet: EditingSheet) -> list[ListedArgument]:
    """The arguments the answer was written from, by number."""
    if sheet.answer.argument_list_id is None:
        return []
    entries = ListedArgument.objects.filter(argument_list=sheet.answer.argument_list_id)
    return list(entries.select_related("argument").order_by("number"))


def desk_arguments(
    sheet: EditingSheet, entries: list[ListedArgument], reading: Reading
) -> list[DeskArgument]:
    """Arguments with label, source and whether the text cites them."""
    comparison = sheet.answer.question.comparison
    labels = relevance_of(sheet.round.study, {entry.argument_id for entry in entries})
    return [
        DeskArgument(
            number=entry.number,
            text=entry.argument.text,
            segments=split_sentence(entry.argument.text, comparison.object1, comparison.object2),
            label=labels[entry.argument_id],
            source=entry.argument.source_url,
            is_cited=entry.number in reading.cited,
        )
        for entry in entries
    ]


def checklist(reading: Reading) -> Checklist:
    """The checklist with titles."""
    return Checklist(
        [
            DeskCheck(
                name=check.name,
                title=TITLES[check.name],
                is_passed=check.is_passed,
                counted=check.counted,
                wanted=check.wanted,
                places=json.dumps(check.places),
                is_marked=bool(check.places),
            )
            for check in reading.checks
        ]
    )
