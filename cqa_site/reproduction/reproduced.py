"""The interface between a paper's reproduction and `manage.py reproduce`.

A paper has two functions that are registered in the command: one computes its figures from the
released files, and the other computes the same tables from the rows of a live study. Both return a
`Reproduction` with the figures (`cqa_site.reproduction.figures`) and the layouts of the paper's
own tables (`cqa_site.reproduction.tables`).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqa_site.reproduction.figures import (
    ABSENT,
    AUTHORS,
    DIFFERS,
    MATCH,
    PaperFigure,
    ReproducedValue,
    outcome,
)
from cqa_site.reproduction.tables import TableLayout

# Progress of a long computation: done, total, and what is counted.
Say = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Reproduction:
    """All figures of a paper, in the paper's order, and its tables.

    ``is_imported`` means that our values come from a database into which the released files were
    imported, so that a difference from the released values is an error in the import.
    """

    figures: tuple[PaperFigure, ...]
    layouts: tuple[TableLayout, ...] = ()
    is_imported: bool = False

    @property
    def failing(self) -> list[str]:
        """Names of figures that differ without a reason or that the import changed."""
        return [
            figure.name
            for figure in self.figures
            if figure.is_unexplained or (self.is_imported and figure.is_changed)
        ]

    def summary(self) -> str:
        """Report how many published figures match, and how many do not."""
        published = [figure for figure in self.figures if figure.published]
        n, n_printed = len(published), sum(bool(figure.printed) for figure in published)
        times = Counter(figure.status for figure in published)
        lines = [
            f"{times[MATCH]} of {n} published figures match; {times[DIFFERS]} differ; "
            f"{times[ABSENT]} cannot be computed; "
            f"{len(self.figures) - n} rows have no published value."
        ]
        if n_printed < n:
            matches = sum(figure.status == MATCH for figure in published if not figure.printed)
            stated = [figure for figure in published if figure.printed and figure.is_only_stated]
            alike = sum(
                outcome(figure.printed, ReproducedValue(figure.found.stated))[0] == MATCH
                for figure in stated
            )
            lines.append(
                f"The paper prints {n_printed} of them; {n - n_printed} are only in {AUTHORS}, "
                f"where {matches} match. Of {len(stated)} printed figures that this file states "
                f"and nothing else gives, it has {alike} as printed."
            )
        if self.is_imported:
            checked = [
                figure.is_changed for figure in self.figures if figure.is_changed is not None
            ]
            lines.append(
                f"Import check: {checked.count(False)} of {len(checked)} figures are the same "
                "from the files and from the import."
            )
        return "\n".join(lines)


# Takes the folder of the released files and the options of the command; raises CommandError.
Paper = Callable[[Path, dict[str, Any], Say], Reproduction]
# Takes the name or id of a study and the options of the command; raises CommandError.
OfStudy = Callable[[str, dict[str, Any], Say], Reproduction]
