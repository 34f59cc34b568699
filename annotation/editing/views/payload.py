"""What the desk may know: allow-lists without the system, the file and other people's work."""

import json
from dataclasses import dataclass

from django.utils.functional import Promise

from annotation.answers.actions.lists import relevance_of
from annotation.answers.reports.beside import ArgumentBeside, arguments_beside
from annotation.corpus.models.questions import ListedArgument
from annotation.editing.actions.checks import Reading
from annotation.editing.models import EditingSheet
from annotation.editing.reports.checks import TITLES


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


def desk_arguments(
    sheet: EditingSheet, entries: list[ListedArgument], reading: Reading
) -> list[ArgumentBeside]:
    """Arguments with label, source and whether the text cites them."""
    labels = relevance_of(sheet.round.study, {entry.argument_id for entry in entries})
    return arguments_beside(sheet.answer, entries, reading.cited, labels)


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
