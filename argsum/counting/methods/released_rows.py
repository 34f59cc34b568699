"""One row of an annotator's released counts; see `released`."""

import re
from dataclasses import dataclass
from pathlib import PurePath

from cqa_site.tabular import Row

NOT_DONE, UNSURE = -2.0, -1.0
# Systems whose rows the paper leaves out of every figure: single words instead of sentences.
LEFT_OUT = "summetix"
_NUMBERED = re.compile(r"^\s*(\d+)\s*[:.)]\s?", re.MULTILINE)


class BadRow(ValueError):
    """A row that cannot be read; ``column`` says where."""

    def __init__(self, column: str, reason: str) -> None:
        self.column = column
        super().__init__(reason)


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
        """Topic, stance as text, and system: sorts sets as the stored scores are sorted."""
        return self.topic, str(self.stance), self.system

    @property
    def is_left_out(self) -> bool:
        """Whether the paper leaves the system out."""
        return LEFT_OUT in self.system


def counted_set(row: Row) -> CountedSet | None:
    """The judgement of a row; None where it was not done.

    Raises
    ------
    BadRow
        Naming the column.
    """
    coverage, redundancy = (_share(row, column) for column in ("coverage", "redundancy"))
    if NOT_DONE in (coverage, redundancy):
        if coverage != redundancy:
            raise BadRow("redundancy", "only one of coverage and redundancy is -2")
        return None
    references, summaries = (_texts(row, column) for column in ("reference", "prediction"))
    return CountedSet(
        row=row.number,
        topic=_text(row, "topic"),
        stance=_stance(row),
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
    for found in _NUMBERED.finditer(cell):
        # A number at the start of a line may belong to the text itself.
        if int(found[1][:9]) == len(starts) + 1:
            starts.append((found.start(), found.end()))
    if not starts or cell[: starts[0][0]].strip():
        raise ValueError("is no list of texts numbered from 1")
    ends = [start for start, _ in starts[1:]] + [len(cell)]
    texts = tuple(cell[start:end].strip() for (_, start), end in zip(starts, ends, strict=True))
    if not all(texts):
        raise ValueError("is a list of texts numbered from 1 in which one is empty")
    return texts


def _text(row: Row, column: str) -> str:
    text = str(row.values.get(column) or "").strip()
    if not text:
        raise BadRow(column, "is empty")
    return text


def _texts(row: Row, column: str) -> tuple[str, ...]:
    try:
        return numbered_texts(_text(row, column))
    except BadRow:
        raise
    except ValueError as error:
        raise BadRow(column, str(error)) from None


def _stance(row: Row) -> int:
    text = _text(row, "stance")
    if text not in ("-1", "1"):
        raise BadRow("stance", f"{text!r} is neither 1 nor -1")
    return int(text)


def _number(row: Row, column: str) -> float:
    text = _text(row, column)
    try:
        return float(text)
    except ValueError:
        raise BadRow(column, f"{text[:40]!r} is no number") from None


def _share(row: Row, column: str) -> float:
    value = _number(row, column)
    if value in (NOT_DONE, UNSURE) or 0 <= value <= 1:
        return value
    raise BadRow(column, f"{value:g} lies not between 0 and 1, and is neither -1 nor -2")


def _count(row: Row, column: str, most: int) -> float | None:
    if not str(row.values.get(column) or "").strip():
        return None
    value = _number(row, column)
    if value == UNSURE:
        return None
    if not 0 <= value <= most or (2 * value) % 1:
        raise BadRow(column, f"{value:g} is no count in half steps from 0 to {most}")
    return value
