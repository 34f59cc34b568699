"""People's counts as the authors release them: one file for each annotator, one row for each set.

A row holds topic, stance, the references and the summaries as numbered lines, the two counts, the
coverage and the redundancy that followed, and the file of the system that wrote the summaries.
-2 is a set that the annotator was not given, -1 a count the annotator was not sure of. Coverage
and redundancy are read from their own columns: one released file lost the halves of its counts.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, UnreadableFile, open_table

from .released_rows import BadRow, CountedSet, counted_set

COLUMNS = ("topic", "stance", "reference", "prediction", "coverage", "redundancy", "file_name")


@dataclass(frozen=True)
class CountFile:
    """What one annotator counted.

    Attributes
    ----------
    rater
        The name of the file without its ending.
    sets : tuple of CountedSet
        In file order, without those that were not done.
    not_done
        Rows that say -2.
    problems : tuple of Problem
        Rows that cannot be read, each with file, row, column and reason; they are in no other
        count.
    """

    rater: str
    sets: tuple[CountedSet, ...]
    not_done: int
    problems: tuple[Problem, ...]


def read_counts(
    path: str | os.PathLike[str], *, name: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> CountFile:
    """Read the counts of one annotator.

    Parameters
    ----------
    path, name
        The file, and what it is called in messages; CSV with a header line.
    limits
        What the file may cost.

    Raises
    ------
    UnreadableFile
        If it is no such table.
    """
    shown = name or Path(path).name
    sets: dict[tuple[str, str, str], CountedSet] = {}
    problems: list[Problem] = []
    not_done = 0
    with open_table(path, name=shown, limits=limits) as table:
        missing = [column for column in COLUMNS if column not in table.columns]
        if missing:
            raise UnreadableFile(shown, f"has no column {', '.join(missing)}")
        for row in table.rows:
            try:
                found = counted_set(row)
                if found and found.key in sets:
                    raise BadRow("file_name", f"the same set as in row {sets[found.key].row}")
            except BadRow as error:
                problems.append(Problem(table.name, row.number, error.column, str(error)))
                continue
            if found is None:
                not_done += 1
            else:
                sets[found.key] = found
    return CountFile(PurePath(shown).stem, tuple(sets.values()), not_done, tuple(problems))


def sets_of(files: Iterable[CountFile]) -> list[tuple[str, str, str]]:
    """Keys of all sets that anybody counted, sorted by topic, stance and system."""
    return sorted({each.key for file in files for each in file.sets})
