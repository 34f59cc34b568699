"""Our figures beside a paper's and its release's, each with a verdict; loads no Django.

A figure's numbers stand as text, so that their digits are known.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .reproduced import Reproduced, Row

MATCH, NEAR, DIFFERS, ABSENT = "match", "within 0.01", "differs", "not in the data"
NEAR_ENOUGH = 0.01
HEADINGS = ("table", "cell", "paper", "released data", "ours", "n", "verdict")
# Of decimal numbers that floats cannot hold exactly.
ROUNDING = 1e-9
_BETWEEN = re.compile(r"\s*[±/]\s*")

Key = tuple[str, str]


@dataclass(frozen=True)
class Published:
    """One figure; ``released`` is empty where the data cannot support the paper's."""

    table: str
    cell: str
    paper: str = ""
    released: str = ""
    why: str = ""


@dataclass(frozen=True)
class Measured:
    """The numbers of one figure in the order they are printed, and over how many rows."""

    numbers: tuple[float, ...]
    n: int | None = None


@dataclass(frozen=True)
class Figure:
    """A published figure with ours beside it; ``n`` is what ours was made of.

    ``paper`` and ``released`` are as printed, empty where there is nothing.
    """

    table: str
    cell: str
    paper: str
    released: str
    ours: tuple[float, ...] | None
    n: int | None
    status: str
    why: str

    @property
    def shown(self) -> str:
        """Ours with the digits and the signs between of the release's figure."""
        if self.ours is None:
            return "–"
        like = self.released or self.paper
        digits = [_digits(each) for each in _BETWEEN.split(like)]
        texts = [f"{value:,.{digit}f}" for value, digit in zip(self.ours, digits, strict=True)]
        return (" ± " if "±" in like else " / ").join(texts)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def as_row(self) -> Row:
        """A line of `manage.py reproduce`, under `HEADINGS`."""
        verdict = self.status + (f": {self.why}" if self.why else "")
        cells = (
            self.table,
            self.cell,
            self.paper or "–",
            self.released or "–",
            self.shown,
            "–" if self.n is None else f"{self.n:,}",
            verdict,
        )
        return Row(
            name=f"{self.table}: {self.cell}",
            cells=cells,
            values=self.as_dict(),
            is_unexplained=self.status == DIFFERS and not self.why,
        )


def reproduced(figures: Iterable[Figure], widths: tuple[int, ...]) -> Reproduced:
    """The figures as `manage.py reproduce` prints them; widths of all columns but the last."""
    return Reproduced(HEADINGS, widths, tuple(each.as_row() for each in figures))


def compare(values: Mapping[Key, Measured], published: Iterable[Published]) -> list[Figure]:
    """Put ours beside each published figure; those without ours differ unless absent.

    Raises
    ------
    KeyError
        If one of ours belongs to no published figure, so that none is dropped unseen.
    """
    rows = list(published)
    unknown = values.keys() - {(each.table, each.cell) for each in rows}
    if unknown:
        raise KeyError(*sorted(unknown))
    return [_figure(each, values.get((each.table, each.cell))) for each in rows]


def _figure(published: Published, ours: Measured | None) -> Figure:
    numbers = None if ours is None else ours.numbers
    return Figure(
        table=published.table,
        cell=published.cell,
        paper=published.paper,
        released=published.released,
        ours=numbers,
        n=None if ours is None else ours.n,
        status=_status(published, numbers),
        why=published.why,
    )


def _status(published: Published, numbers: tuple[float, ...] | None) -> str:
    """The worse of the verdicts against the paper and against its release."""
    if not published.released:
        return ABSENT
    if numbers is None:
        return DIFFERS
    printed = [each for each in (published.paper, published.released) if each]
    found = {_nearness(text, numbers) for text in printed}
    return next(each for each in (DIFFERS, NEAR, MATCH) if each in found)


def _nearness(printed: str, numbers: tuple[float, ...]) -> str:
    """Match: ours rounds to the printed numbers, to half a unit of each one's last digit."""
    texts = _BETWEEN.split(printed)
    if len(texts) != len(numbers):
        return DIFFERS
    off = [abs(value - _number(text)) for text, value in zip(texts, numbers, strict=True)]
    halves = [0.5 * 10 ** -_digits(text) for text in texts]
    if all(each <= half + ROUNDING for each, half in zip(off, halves, strict=True)):
        return MATCH
    return NEAR if max(off) <= NEAR_ENOUGH + ROUNDING else DIFFERS


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _digits(text: str) -> int:
    return len(text.partition(".")[2])
