"""The interface between a paper's reproduction and `manage.py reproduce`.

A paper is a function that computes its figures from the released files, registered in the command
as such, and a second one that computes the same tables from the rows of a live study. Both return
a `Reproduction`: the figures (`cqa_site.reproduction.figures`) and how the paper's own tables are
laid out (`cqa_site.reproduction.tables`).
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

# How much of a long computation is done: done, total, of what.
Say = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Reproduction:
    """All figures of a paper, in its order, and its tables.

    ``is_imported``: ours come from a database that the released files were imported into, so that
    a difference from the released values is a fault of the import.
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
        """Report how many published figures match, and the outcome of the others."""
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
                f"The paper prints {n_printed} of them; {n - n_printed} stand only in {AUTHORS}, "
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


# The folder of the released files, and the options of the command. Raises CommandError.
Paper = Callable[[Path, dict[str, Any], Say], Reproduction]
# Name or id of the study, and the options of the command. Raises CommandError.
OfStudy = Callable[[str, dict[str, Any], Say], Reproduction]
