"""The answer checklist on one sheet's text: what it counts, and where."""

from dataclasses import dataclass

from annotation.answers.actions.lists import numbered_texts
from annotation.editing.models import EditingSheet


@dataclass(frozen=True)
class Reading:
    """A text as the checklist reads it.

    Parameters
    ----------
    checks
        Results in the order of the checklist; see `annotation.answers.methods.checks.Check`.
    cited
        Numbers of arguments that the text cites, ascending.
    """

    checks: list
    cited: list[int]

    def snapshot(self) -> dict[str, bool | None]:
        """{name of a check: passed}, as a revision keeps it."""
        return {check.name: check.is_passed for check in self.checks}


def arguments_of(sheet: EditingSheet) -> dict[int, str]:
    """Number → sentence of the arguments that the sheet's answer was written from."""
    key = sheet.answer.argument_list_id
    return numbered_texts([key])[key] if key else {}


def read_text(sheet: EditingSheet, text: str, arguments: dict[int, str]) -> Reading:
    """Run the checklist over a text of the sheet."""
    from annotation.answers.methods.checks import check_answer
    from annotation.answers.methods.citations import find_citations

    comparison = sheet.answer.question.comparison
    cited = {number for citation in find_citations(text) for number in citation.numbers}
    return Reading(
        checks=check_answer(text, arguments, comparison.object1, comparison.object2),
        cited=sorted(cited),
    )
