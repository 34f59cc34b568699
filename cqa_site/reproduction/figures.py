"""Reproduced figures in one format for all papers; does not import Django.

A figure has up to four values. Two are published: *printed* is the text in the paper, which shows
the number of digits; *stated* is a result given in the authors' files. Two are computed:
*released* from the released files by the paper's own recipe, and *ours* by Counterpoint from an
import or a live study. If our recipe differs on purpose, the difference is named, and our
figure is shown without a comparison.

The status compares a computed value with a published one, never two computed values. It is
derived from these numbers and cannot be set. A reason (``why``) can be given for a figure that
does not match, and is ignored if the figure matches.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from numbers import Integral
from typing import Any

MATCH, DIFFERS = "match", "differs"
ABSENT, UNPUBLISHED = "cannot be computed", "no published value"
AUTHORS = "the authors' results file"
ONLY_STATED = "the files state it without the scores behind it"
# A larger difference needs a reason.
NEAR_ENOUGH = 0.01
# Digits of a computed number without a printed one, and extra digits beyond the printed ones.
DIGITS, MORE_DIGITS = 4, 2
# Tolerance for decimal numbers that floats cannot represent exactly.
ROUNDING = 1e-9
NOTHING = "–"
_BETWEEN = re.compile(r"\s*[±/]\s*")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*)?(\.\d+)?")

# The names of a table and of a figure in it.
Key = tuple[str, str]


@dataclass(frozen=True)
class PrintedFigure:
    """One figure as a paper prints it: "17.77 ± 1.06", "2,158", "0.25 / .37 ± .2".

    ``why`` is the reason if the data give a different value or no value. ``place`` is the section
    or table of the paper, if the name of the table does not contain it. The text does not have to
    be a number ("after every 4"), but then no value matches it.
    """

    table: str
    cell: str
    text: str = ""
    why: str = ""
    place: str = ""

    @property
    def key(self) -> Key:
        return self.table, self.cell


@dataclass(frozen=True)
class MeasuredFigure:
    """The numbers of one figure in printed order, and the number of rows behind them.

    ``signs`` separate the numbers, with one sign for each gap or one for all: "±" for mean and sd.
    Counts are integers and shown without decimals; NaN is an undefined number.
    """

    numbers: tuple[float, ...]
    n: int | None = None
    signs: str = "/"

    def text(self, digits: Iterable[int] = (), *, default: int = DIGITS) -> str:
        """Format each number to the number of decimals in ``digits``, or to ``default``."""
        wanted = list(digits)
        wanted += [default] * (len(self.numbers) - len(wanted))
        texts = [_text(number, digit) for number, digit in zip(self.numbers, wanted, strict=False)]
        signs = self.signs * len(texts) if len(self.signs) == 1 else self.signs
        return texts[0] + "".join(
            f" {sign} {number}" for sign, number in zip(signs, texts[1:], strict=False)
        )

    def part(self, first: int, last: int) -> "MeasuredFigure":
        """Return the neighbouring numbers from ``first`` up to, but not including, ``last``."""
        signs = self.signs * len(self.numbers) if len(self.signs) == 1 else self.signs
        return MeasuredFigure(self.numbers[first:last], self.n, signs[first : last - 1] or "/")


@dataclass(frozen=True)
class ReproducedValue:
    """The values computed for one figure.

    Attributes
    ----------
    released : MeasuredFigure or None
        By the paper's recipe from the released files.
    ours : MeasuredFigure or None
        As Counterpoint shows it.
    recipe : str
        Intended differences in our recipe; empty if the numbers should be equal.
    stated : MeasuredFigure or None
        The authors' own result, read from their files: published, not computed.
    """

    released: MeasuredFigure | None = None
    ours: MeasuredFigure | None = None
    recipe: str = ""
    stated: MeasuredFigure | None = None

    @property
    def claims(self) -> list[MeasuredFigure]:
        """The computed values that should equal the published value."""
        values = (self.released, None if self.recipe else self.ours)
        return [value for value in values if value is not None]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper with its reproduced value.

    ``off`` contains the differences between the reproduced and the published numbers.
    """

    table: str
    cell: str
    printed: str
    place: str
    found: ReproducedValue
    status: str
    off: tuple[float, ...]
    why: str

    @property
    def key(self) -> Key:
        return self.table, self.cell

    @property
    def name(self) -> str:
        return f"{self.table}: {self.cell}"

    @property
    def published(self) -> str:
        """The figure printed in the paper, or the one in the authors' files if none is printed."""
        return self.printed or _published(self.found)

    @property
    def is_only_stated(self) -> bool:
        """Whether the authors' files contain the result but not the data behind it."""
        return self.status == ABSENT and self.found.stated is not None

    @property
    def is_unexplained(self) -> bool:
        """Whether the figure differs by more than .01 without a given reason."""
        is_near = bool(self.off) and all(
            abs(difference) <= NEAR_ENOUGH + ROUNDING for difference in self.off
        )
        return self.status == DIFFERS and not self.why and not is_near

    @property
    def is_changed(self) -> bool | None:
        """Whether our number differs from the released one; None if either is missing."""
        released, ours = self.found.released, self.found.ours
        if released is None or ours is None or self.found.recipe:
            return None
        return outcome(released.text(), ReproducedValue(ours=ours))[0] != MATCH

    @property
    def verdict(self) -> str:
        """The status, the size of the difference, its reason, and how our recipe differs."""
        digits = [
            decimals + MORE_DIGITS if decimals else 0 for decimals in digits_of(self.published)
        ]
        off = zip(self.off, digits, strict=True) if self.status == DIFFERS and self.off else ()
        by = " / ".join(f"{difference:+,.{digit}f}" for difference, digit in off).replace("-", "−")
        status = " by ".join(filter(None, (self.status, by)))
        ours = f"ours: {self.found.recipe}" if self.found.recipe and self.found.ours else ""
        return "; ".join(filter(None, (": ".join(filter(None, (status, self.why))), ours)))

    def shown(self, value: MeasuredFigure | None) -> str:
        """Format a value with two more digits than printed."""
        if value is None:
            return NOTHING
        return value.text(
            digit + MORE_DIGITS if digit else 0 for digit in digits_of(self.published)
        )

    def as_row(self) -> tuple[str, ...]:
        """Return the cells under `HEADINGS`."""
        released, ours = self.found.released or self.found.stated, self.found.ours
        return (
            self.table,
            self.cell,
            self.published or NOTHING,
            self.place or NOTHING,
            self.shown(released),
            _n(released),
            self.shown(ours),
            _n(ours),
            self.verdict,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with null for undefined numbers."""
        return {
            "table": self.table,
            "cell": self.cell,
            "printed": self.printed,
            "stated": _plain(self.found.stated),
            "place": self.place,
            "released": _plain(self.found.released),
            "ours": _plain(self.found.ours),
            "recipe": self.found.recipe,
            "status": self.status,
            "off": list(self.off),
            "why": self.why,
        }


HEADINGS = ("table", "figure", "published", "in", "released data", "n", "ours", "n", "status")


def compare(
    values: Mapping[Key, ReproducedValue],
    printed: Iterable[PrintedFigure] = (),
    *,
    reasons: Mapping[Key, str] | None = None,
) -> list[PaperFigure]:
    """Compare reproduced values with the printed figures.

    Parameters
    ----------
    values
        The reproduced values, by table and cell. In each table, figures that were not printed
        follow the printed figures.
    printed
        Figures in the order of the paper; a figure without a text only sets the order and is
        omitted if it has no value.
    reasons
        Why individual figures differ this time, for example because of an option. They take
        precedence over the reasons in ``printed``.

    Raises
    ------
    ValueError
        If one figure is printed twice.
    """
    rows = [figure for figure in printed if figure.text or figure.key in values]
    named = {row.key for row in rows}
    if len(named) < len(rows):
        raise ValueError("a figure is printed twice")
    extra = [PrintedFigure(*key) for key in values if key not in named]
    tables = dict.fromkeys(row.table for row in rows + extra)
    order = {table: place for place, table in enumerate(tables)}
    explanations = reasons or {}
    return [
        _figure(row, values.get(row.key, ReproducedValue()), explanations.get(row.key, ""))
        for row in sorted(rows + extra, key=lambda figure: order[figure.table])
    ]


def outcome(published: str, value: ReproducedValue) -> tuple[str, tuple[float, ...]]:
    """Return the status of the numbers and their differences from the published ones.

    The worst of the computed values counts. A value matches if it is equal after rounding to the
    published digits. A value computed by our own recipe does not confirm a published
    figure.
    """
    if not published or not value.claims:
        return (ABSENT if published else UNPUBLISHED), ()
    compared = [_differences(published, claim) for claim in value.claims]
    worst = max(compared, key=_excess)
    off = tuple(difference for difference, _half in worst)
    is_match = _excess(worst) <= ROUNDING
    return (MATCH if is_match else DIFFERS), off if all(map(math.isfinite, off)) else ()


def _differences(published: str, value: MeasuredFigure) -> list[tuple[float, float]]:
    """Pair each number's difference with half a unit of its last digit; inf for non-numbers."""
    texts = _BETWEEN.split(published)
    if len(texts) != len(value.numbers) or not all(map(_is_number, texts)):
        return [(math.inf, 0.0)]
    return [
        (math.inf if math.isnan(number) else number - _number(text), 0.5 * 10 ** -_digits(text))
        for text, number in zip(texts, value.numbers, strict=True)
    ]


def _excess(differences: Iterable[tuple[float, float]]) -> float:
    return max(abs(difference) - half for difference, half in differences)


def digits_of(printed: str) -> list[int]:
    """Return the number of decimals of each number in a published figure."""
    return [_digits(part) for part in _BETWEEN.split(printed)] if printed else []


def _figure(printed: PrintedFigure, value: ReproducedValue, reason: str) -> PaperFigure:
    published = printed.text or _published(value)
    status, off = outcome(published, value)
    reasons = (reason or printed.why, ONLY_STATED if value.stated and status == ABSENT else "")
    why = "; ".join(filter(None, reasons)) if status in (DIFFERS, ABSENT) else ""
    place = (printed.place or printed.table) if printed.text else published and AUTHORS
    return PaperFigure(printed.table, printed.cell, printed.text, place, value, status, off, why)


def _published(value: ReproducedValue) -> str:
    """Return the authors' result as text, rounded to the digits that are compared."""
    return value.stated.text() if value.stated else ""


def _text(number: float, digits: int) -> str:
    if isinstance(number, Integral):
        return f"{number:,}"
    if math.isnan(number):
        return NOTHING
    # Round half up, as people do: 17.415 becomes 17.42, although its float is slightly smaller.
    exact = Decimal(repr(round(float(number), 9)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}".replace("-", "−")


def _n(value: MeasuredFigure | None) -> str:
    return NOTHING if value is None or value.n is None else f"{value.n:,}"


def _plain(value: MeasuredFigure | None) -> dict[str, Any] | None:
    if value is None:
        return None
    numbers = [None if math.isnan(number) else number for number in map(_builtin, value.numbers)]
    return {"numbers": numbers, "n": value.n}


def _builtin(number: float) -> float:
    return int(number) if isinstance(number, Integral) else float(number)


def _is_number(text: str) -> bool:
    return bool(text) and _NUMBER.fullmatch(text.replace("−", "-")) is not None


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _digits(text: str) -> int:
    return len(text.partition(".")[2])
