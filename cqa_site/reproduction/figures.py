"""One shape of a reproduced figure, for all papers; loads no Django.

A figure has up to three values. *Printed* is what the paper says, as text, so that its digits are
known. *Released* is computed from the released files by the paper's own recipe. *Ours* is what
Counterpoint makes of them (or of a live study); where its recipe is another one on purpose, the
recipe is named, and ours stands beside the others without being held against them.

The status follows from these numbers alone and cannot be set. A reason (``why``) can be given for
a figure that does not match, and is dropped where it does.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from numbers import Integral
from typing import Any

MATCH, NEAR, DIFFERS = "match", "within .01", "differs"
ABSENT, UNPRINTED = "not in the data", "not printed"
NEAR_ENOUGH = 0.01
# Digits of a computed number that nobody printed, and those shown beyond the printed ones.
DIGITS, MORE_DIGITS = 4, 2
# Of decimal numbers that floats cannot hold exactly.
ROUNDING = 1e-9
NOTHING = "–"
_BETWEEN = re.compile(r"\s*[±/]\s*")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*)?(\.\d+)?")

# The name of a table and of a figure in it.
Key = tuple[str, str]


@dataclass(frozen=True)
class Printed:
    """One figure as a paper prints it: "17.77 ± 1.06", "2,158", "0.25 / .37 ± .2".

    ``why`` is said if the data give something else, or cannot give it. A text that is no number
    ("2 to 60") may be printed as well; nothing matches it.
    """

    table: str
    cell: str
    text: str = ""
    why: str = ""

    @property
    def key(self) -> Key:
        return self.table, self.cell


@dataclass(frozen=True)
class Measured:
    """The numbers of one figure in the order they are printed, and over how many rows.

    ``signs`` stand between them, one for each gap or one for all: "±" for mean and sd. Counts
    are whole numbers (int) and shown without decimals; NaN is a number that is not defined.
    """

    numbers: tuple[float, ...]
    n: int | None = None
    signs: str = "/"

    def text(self, digits: Iterable[int] = (), *, default: int = DIGITS) -> str:
        """The numbers with these digits behind the point, ``default`` where none are given."""
        wanted = list(digits)
        wanted += [default] * (len(self.numbers) - len(wanted))
        shown = [_text(each, digit) for each, digit in zip(self.numbers, wanted, strict=False)]
        signs = self.signs * len(shown) if len(self.signs) == 1 else self.signs
        return shown[0] + "".join(
            f" {sign} {each}" for sign, each in zip(signs, shown[1:], strict=False)
        )

    def part(self, first: int, last: int) -> "Measured":
        """Some neighbouring numbers, from ``first`` until before ``last``."""
        signs = self.signs * len(self.numbers) if len(self.signs) == 1 else self.signs
        return Measured(self.numbers[first:last], self.n, signs[first : last - 1] or "/")


@dataclass(frozen=True)
class Found:
    """What was computed for one figure.

    Attributes
    ----------
    released : Measured or None
        By the paper's recipe from the released files.
    ours : Measured or None
        As Counterpoint shows it.
    recipe : str
        What ours does differently on purpose; empty if it should be the same number.
    """

    released: Measured | None = None
    ours: Measured | None = None
    recipe: str = ""

    @property
    def claims(self) -> list[Measured]:
        """The values that should be the printed one."""
        values = (self.released, None if self.recipe else self.ours)
        return [each for each in values if each is not None]


@dataclass(frozen=True)
class Figure:
    """A figure of a paper with what was found for it."""

    table: str
    cell: str
    printed: str
    found: Found
    status: str
    why: str

    @property
    def key(self) -> Key:
        return self.table, self.cell

    @property
    def name(self) -> str:
        return f"{self.table}: {self.cell}"

    @property
    def is_unexplained(self) -> bool:
        """It differs, and nobody says why."""
        return self.status == DIFFERS and not self.why

    @property
    def verdict(self) -> str:
        """The status, why it is so, and what ours does differently."""
        ours = f"ours: {self.found.recipe}" if self.found.recipe and self.found.ours else ""
        return "; ".join(
            each for each in (": ".join(filter(None, (self.status, self.why))), ours) if each
        )

    def shown(self, value: Measured | None) -> str:
        """A value with two digits more than are printed."""
        if value is None:
            return NOTHING
        return value.text(each + MORE_DIGITS if each else 0 for each in digits_of(self.printed))

    def as_row(self) -> tuple[str, ...]:
        """Cells under `HEADINGS`."""
        released, ours = self.found.released, self.found.ours
        return (
            self.table,
            self.cell,
            self.printed or NOTHING,
            self.shown(released),
            _n(released),
            self.shown(ours),
            _n(ours),
            self.verdict,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; numbers that are not defined are null."""
        return {
            "table": self.table,
            "cell": self.cell,
            "printed": self.printed,
            "released": _plain(self.found.released),
            "ours": _plain(self.found.ours),
            "recipe": self.found.recipe,
            "status": self.status,
            "why": self.why,
        }


HEADINGS = ("table", "figure", "paper", "released data", "n", "ours", "n", "status")


def compare(
    found: Mapping[Key, Found],
    printed: Iterable[Printed] = (),
    *,
    reasons: Mapping[Key, str] | None = None,
) -> list[Figure]:
    """Put what was found beside what is printed.

    Parameters
    ----------
    found
        By table and cell. Figures that nobody printed are kept, behind the printed ones of
        their table.
    printed
        What the paper says, in its order; a figure may also be named here without a text, to
        give it a place or a reason.
    reasons
        Why single figures differ this time, before the reasons of ``printed``: an option that
        was asked for, for example.

    Raises
    ------
    ValueError
        If one figure is printed twice.
    """
    rows = list(printed)
    named = {each.key for each in rows}
    if len(named) < len(rows):
        raise ValueError("a figure is printed twice")
    extra = [Printed(*key) for key in found if key not in named]
    order = {table: place for place, table in enumerate(dict.fromkeys(_tables(rows + extra)))}
    asked = reasons or {}
    return [
        _figure(each, found.get(each.key, Found()), asked.get(each.key, ""))
        for each in sorted(rows + extra, key=lambda each: order[each.table])
    ]


def status_of(printed: str, found: Found) -> str:
    """What the numbers say about a figure.

    The worst of the comparisons counts. Match: equal once rounded to the printed digits; within
    .01: not so, but no number is further away. What ours makes by a recipe of its own supports no
    printed figure. With nothing printed, ours is held against the released value.
    """
    claims = found.claims
    if printed:
        verdicts = {nearness(printed, each) for each in claims}
        return next((each for each in (DIFFERS, NEAR, MATCH) if each in verdicts), ABSENT)
    if found.released and found.ours and not found.recipe:
        return nearness(found.released.text(), found.ours)
    return ABSENT if found.released is None and found.ours is None else UNPRINTED


def nearness(printed: str, value: Measured) -> str:
    """How near the numbers are to the printed ones, each to half a unit of its last digit."""
    texts = _BETWEEN.split(printed)
    if len(texts) != len(value.numbers) or not all(map(_is_number, texts)):
        return DIFFERS
    off = [abs(each - _number(text)) for text, each in zip(texts, value.numbers, strict=True)]
    halves = [0.5 * 10 ** -_digits(text) for text in texts]
    if all(each <= half + ROUNDING for each, half in zip(off, halves, strict=True)):
        return MATCH
    return NEAR if all(each <= NEAR_ENOUGH + ROUNDING for each in off) else DIFFERS


def digits_of(printed: str) -> list[int]:
    """Digits behind the points of a printed figure."""
    return [_digits(each) for each in _BETWEEN.split(printed)] if printed else []


def _figure(printed: Printed, found: Found, asked: str) -> Figure:
    status = status_of(printed.text, found)
    why = "" if status in (MATCH, UNPRINTED) else asked or printed.why
    return Figure(printed.table, printed.cell, printed.text, found, status, why)


def _tables(rows: Iterable[Printed]) -> list[str]:
    return [each.table for each in rows]


def _text(number: float, digits: int) -> str:
    if isinstance(number, Integral):
        return f"{number:,}"
    if math.isnan(number):
        return NOTHING
    # Halves go up, as people round: 17.415 is 17.42 although its float is a little less.
    exact = Decimal(repr(round(float(number), 9)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}".replace("-", "−")


def _n(value: Measured | None) -> str:
    return NOTHING if value is None or value.n is None else f"{value.n:,}"


def _plain(value: Measured | None) -> dict[str, Any] | None:
    if value is None:
        return None
    numbers = [None if math.isnan(each) else each for each in map(_builtin, value.numbers)]
    return {"numbers": numbers, "n": value.n}


def _builtin(number: float) -> float:
    return int(number) if isinstance(number, Integral) else float(number)


def _is_number(text: str) -> bool:
    return bool(text) and _NUMBER.fullmatch(text.replace("−", "-")) is not None


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _digits(text: str) -> int:
    return len(text.partition(".")[2])
