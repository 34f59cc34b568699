"""The authors' released counts: files, rows, and matching references."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from argsum.datasets.methods.argument_cells import as_stance
from argsum.datasets.methods.statements import plain, words
from cqa_site.tabular import BadCell, Problem, TableRow, open_table

NOT_DONE, UNSURE = -2.0, -1.0
# Systems whose rows the paper leaves out of every figure: single words instead of sentences.
LEFT_OUT = "summetix"
_NUMBERED = re.compile(r"^\s*(\d+)\s*[:.)]\s?", re.MULTILINE)


@dataclass(frozen=True)
class CountedSet:
    """One annotator's judgement of one set.

    Attributes
    ----------
    row
        Line of the file on which it starts.
    stance
        -1 or 1.
    system
        The name of the system's file without its ending.
    references, summaries
        In order, without their numbers.
    covered, unique
        Counts in half steps as the file has them; None where it has none, or -1.
    coverage, redundancy
        0–1; None where the annotator was not sure.
    """

    row: int
    topic: str
    stance: int
    system: str
    references: tuple[str, ...]
    summaries: tuple[str, ...]
    covered: float | None
    unique: float | None
    coverage: float | None
    redundancy: float | None

    @property
    def key(self) -> tuple[str, str, str]:
        """Topic, stance as text, and system: sorts sets in the order of the stored scores."""
        return self.topic, str(self.stance), self.system

    @property
    def is_left_out(self) -> bool:
        """Whether the paper leaves the system out."""
        return LEFT_OUT in self.system


def counted_set(row: TableRow) -> CountedSet | None:
    """Return the judgement of a row; None if it was not judged.

    Raises
    ------
    BadCell
        Naming the column.
    """
    coverage, redundancy = (_share(row, column) for column in ("coverage", "redundancy"))
    if NOT_DONE in (coverage, redundancy):
        if coverage != redundancy:
            raise BadCell("redundancy", "only one of coverage and redundancy is -2")
        return None
    references, summaries = (_texts(row, column) for column in ("reference", "prediction"))
    return CountedSet(
        row=row.number,
        topic=_text(row, "topic"),
        stance=as_stance(row.values),
        system=PurePath(_text(row, "file_name")).stem,
        references=references,
        summaries=summaries,
        covered=_count(row, "n_covered", len(references)),
        unique=_count(row, "n_unique", len(summaries)),
        coverage=None if coverage == UNSURE else coverage,
        redundancy=None if redundancy == UNSURE else redundancy,
    )


def numbered_texts(cell: str) -> tuple[str, ...]:
    r"""The texts of a cell that numbers them line by line, from 1.

    Raises
    ------
    ValueError
        If the numbers do not run from 1, or a text is empty.

    Examples
    --------
    >>> numbered_texts("1: Buses are safe\n2: Buses are\ncheap")
    ('Buses are safe', 'Buses are\ncheap')
    """
    starts: list[tuple[int, int]] = []
    for match in _NUMBERED.finditer(cell):
        # A number at the start of a line may belong to the text itself.
        if int(match[1][:9]) == len(starts) + 1:
            starts.append((match.start(), match.end()))
    if not starts or cell[: starts[0][0]].strip():
        raise ValueError("is not a list of texts numbered from 1")
    ends = [start for start, _ in starts[1:]] + [len(cell)]
    texts = tuple(cell[start:end].strip() for (_, start), end in zip(starts, ends, strict=True))
    if not all(texts):
        raise ValueError("has an empty text in its list numbered from 1")
    return texts


def _text(row: TableRow, column: str) -> str:
    text = str(row.values.get(column) or "").strip()
    if not text:
        raise BadCell(column, "is empty")
    return text


def _texts(row: TableRow, column: str) -> tuple[str, ...]:
    text = _text(row, column)
    try:
        return numbered_texts(text)
    except ValueError as error:
        raise BadCell(column, str(error)) from None


def _number(row: TableRow, column: str) -> float:
    text = _text(row, column)
    try:
        return float(text)
    except ValueError:
        raise BadCell(column, f"{text[:40]!r} is not a number") from None


def _share(row: TableRow, column: str) -> float:
    value = _number(row, column)
    if value in (NOT_DONE, UNSURE) or 0 <= value <= 1:
        return value
    raise BadCell(column, f"{value:g} is not between 0 and 1, and is neither -1 nor -2")


def _count(row: TableRow, column: str, most: int) -> float | None:
    if not str(row.values.get(column) or "").strip():
        return None
    value = _number(row, column)
    if value == UNSURE:
        return None
    if not 0 <= value <= most or (2 * value) % 1:
        raise BadCell(column, f"{value:g} is not a count in half steps from 0 to {most}")
    return value


# People's counts as the authors release them: one file for each annotator, one row for each set.
#
# A row holds topic, stance, the references and the summaries as numbered lines, the two counts,
# the coverage and the redundancy that followed, and the file of the system that wrote the
# summaries. -2 is a set that the annotator was not given, -1 a count the annotator was not sure
# of. Coverage and redundancy are read from their own columns: one released file lost the halves of
# its counts.

COLUMNS = ("topic", "stance", "reference", "prediction", "coverage", "redundancy", "file_name")


@dataclass(frozen=True)
class CountFile:
    """Counts of one annotator.

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


def read_counts(path: str | os.PathLike[str], *, name: str | None = None) -> CountFile:
    """Read the counts of one annotator, a CSV file with a header line.

    Raises `UnreadableFile` if it is not such a table.
    """
    sets: dict[tuple[str, str, str], CountedSet] = {}

    def once(row: TableRow) -> CountedSet | None:
        record = counted_set(row)
        if record and record is not (first := sets.setdefault(record.key, record)):
            raise BadCell("file_name", f"the same set as in row {first.row}")
        return record

    with open_table(path, name=name) as table:
        table.require(COLUMNS)
        records = list(table.records(once))
    problems = tuple(record for record in records if isinstance(record, Problem))
    rater = PurePath(name or path).stem
    return CountFile(rater, tuple(sets.values()), records.count(None), problems)


def sets_of(files: Iterable[CountFile]) -> list[tuple[str, str, str]]:
    """Return the keys of all counted sets, sorted by topic, stance and system."""
    return sorted({record.key for file in files for record in file.sets})


# Whether the references of a file are those of a dataset, also where they are worded otherwise.
#
# People's counts are about references, and their number alone enters a figure. So the references
# of a file may differ in their words from those of the dataset, as long as it is clear which
# stands for which: first by equal texts, then by texts that differ in case, punctuation and white
# space alone, then, one to one, by the words that they share.

# Shared words (twice their number over that of both texts) that two wordings need at least, and
# by how much every other reference has to share less.
FLOOR, MARGIN = 0.4, 0.15


class OtherReferences(ValueError):
    """The references differ, or their match is unclear."""


@dataclass(frozen=True)
class ReferenceMatch:
    """A differently worded reference of the file; ``shared`` is None for equal words."""

    given: str
    known: str
    shared: float | None


def same_references(texts: Sequence[str], known: Sequence[str]) -> list[ReferenceMatch]:
    """Match references of a file with those of a dataset; equal texts are left out.

    Raises
    ------
    OtherReferences
        If there are more or fewer of them, one shares too few words with all that are left, or
        another one shares nearly as many.

    Examples
    --------
    >>> [each.known for each in same_references(["buses are SAFE"], ["Buses are safe."])]
    ['Buses are safe.']
    """
    if len(texts) != len(known):
        raise OtherReferences(f"{len(texts)} references, but the dataset has {len(known)}")
    matches, left, there = [], [], list(known)
    for text in texts:
        if text in there:
            there.remove(text)
        else:
            left.append(text)
    others = []
    for text in left:
        fitting = [reference for reference in there if plain(reference) == plain(text)]
        if len(fitting) == 1:
            there.remove(fitting[0])
            matches.append(ReferenceMatch(text, fitting[0], None))
        else:
            others.append(text)
    return [*matches, *_by_words(others, there)] if others else matches


def by_order(texts: Sequence[str], known: Sequence[str]) -> list[ReferenceMatch]:
    """Match references by order, because the user chose to."""
    if len(texts) != len(known):
        raise OtherReferences(f"{len(texts)} references, but the dataset has {len(known)}")
    pairs = zip(texts, known, strict=True)
    return [ReferenceMatch(old, new, _shared(old, new)) for old, new in pairs if old != new]


def _by_words(texts: Sequence[str], known: Sequence[str]) -> list[ReferenceMatch]:
    # Readers of files are loaded at start.
    from scipy.optimize import linear_sum_assignment

    shared: NDArray[np.float64] = np.array(
        [[_shared(text, other) for other in known] for text in texts]
    )
    rows, columns = linear_sum_assignment(-shared)
    matches = []
    for row, column in zip(rows, columns, strict=True):
        own = float(shared[row, column])
        if own < FLOOR:
            raise OtherReferences(f"no reference matches “{texts[row]}”")
        beside = [*np.delete(shared[row], column), *np.delete(shared[:, column], row)]
        if max(beside, default=0.0) > own - MARGIN:
            raise OtherReferences(f"several references match “{texts[row]}”")
        matches.append(ReferenceMatch(texts[row], known[column], own))
    return matches


def _shared(text: str, other: str) -> float:
    """Return twice the number of shared words over the words of both texts, 0–1."""
    first, second = set(words(text)), set(words(other))
    return 2 * len(first & second) / max(1, len(first) + len(second))
