"""The authors' released counts: files, rows, and the matching of references."""

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
# System that the paper leaves out of every figure, because it wrote single words instead of
# sentences.
LEFT_OUT = "summetix"
_NUMBERED = re.compile(r"^\s*(\d+)\s*[:.)]\s?", re.MULTILINE)


@dataclass(frozen=True)
class CountedSet:
    """One annotator's judgement of one set.

    Attributes
    ----------
    row
        Line of the file on which the row starts.
    stance
        -1 or 1.
    system
        The name of the system's file without its extension.
    references, summaries
        Texts in order, without their numbers.
    covered, unique
        Counts in half steps as in the file; None if missing or -1.
    coverage, redundancy
        0–1; None if the annotator was unsure.
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
        """Topic, stance as text, and system: the sort key for the order of the stored scores."""
        return self.topic, str(self.stance), self.system

    @property
    def is_left_out(self) -> bool:
        """Whether the paper leaves out the system."""
        return LEFT_OUT in self.system


def counted_set(row: TableRow) -> CountedSet | None:
    """Return the judgement in a row, or None if the set was not judged.

    Raises
    ------
    BadCell
        If a value is not valid; the error names the column.
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
    r"""Return the texts of a cell that numbers them line by line, from 1.

    Raises
    ------
    ValueError
        If the numbers are not consecutive from 1, or a text is empty.

    Examples
    --------
    >>> numbered_texts("1: Buses are safe\n2: Buses are\ncheap")
    ('Buses are safe', 'Buses are\ncheap')
    """
    starts: list[tuple[int, int]] = []
    for match in _NUMBERED.finditer(cell):
        # A number at the start of a line may be part of the text.
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


# Released counts: one file per annotator, one row per set
#
# A row contains topic, stance, references and summaries as numbered lines, the two counts, the
# resulting coverage and redundancy, and the file name of the system that wrote the summaries. -2
# marks a set that the annotator did not get, -1 a count of which the annotator was unsure.
# Coverage and redundancy are read from their own columns, because the counts in one released file
# lost their halves.

COLUMNS = ("topic", "stance", "reference", "prediction", "coverage", "redundancy", "file_name")


@dataclass(frozen=True)
class CountFile:
    """One annotator's counts.

    Attributes
    ----------
    rater
        The name of the file without its extension.
    sets : tuple of CountedSet
        In file order, without sets that were not judged.
    not_done
        Number of rows with -2.
    problems : tuple of Problem
        Unreadable rows, each with file, row, column and reason; no other count includes them.
    """

    rater: str
    sets: tuple[CountedSet, ...]
    not_done: int
    problems: tuple[Problem, ...]


def read_counts(path: str | os.PathLike[str], *, name: str | None = None) -> CountFile:
    """Read one annotator's counts from a CSV file with a header line.

    Raises `UnreadableFile` if the file is not such a table.
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


# Matching of a file's references with those of a dataset, even if they are worded differently
#
# Figures depend only on the number of references. The wording in a file may therefore differ from
# the dataset if the match is clear. References are matched first by equal texts, then by texts
# that differ only in case, punctuation and white space, then one to one by shared words.

# Minimum share of words (twice the shared words over the words of both texts) for a match, and the
# minimum lead over every other pair.
FLOOR, MARGIN = 0.4, 0.15


class OtherReferences(ValueError):
    """The references differ, or their match is unclear."""


@dataclass(frozen=True)
class ReferenceMatch:
    """A differently worded reference of the file; ``shared`` is None if the words are the same."""

    given: str
    known: str
    shared: float | None


def same_references(texts: Sequence[str], known: Sequence[str]) -> list[ReferenceMatch]:
    """Match a file's references with those of a dataset; identical texts are left out.

    Raises
    ------
    OtherReferences
        If the number of references differs, or if a reference shares too few words with every
        remaining reference or matches several of them about equally well.

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
    """Match references by order, as the user chose."""
    if len(texts) != len(known):
        raise OtherReferences(f"{len(texts)} references, but the dataset has {len(known)}")
    pairs = zip(texts, known, strict=True)
    return [ReferenceMatch(old, new, _shared(old, new)) for old, new in pairs if old != new]


def _by_words(texts: Sequence[str], known: Sequence[str]) -> list[ReferenceMatch]:
    # File readers are loaded at startup, scipy only when needed.
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
    """Return twice the number of shared words divided by the number of words in both texts."""
    first, second = set(words(text)), set(words(other))
    return 2 * len(first & second) / max(1, len(first) + len(second))
