"""Input of a system: scorers, and a grid of parameter values."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# Parameters of systems: the format of their values and the size of a grid.
#
# A grid maps each parameter to its values. Every combination is one setting, which has a unique
# text.

Value = float | int | bool
Grid = dict[str, list[Value]]
MOST_VALUES = 200
# Each number matches in only one way, so that a long text cannot cause backtracking.
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
LONGEST_PART = 100
_RANGE = re.compile(
    rf"({_NUMBER})\s*(?:–|—|-|\.\.|to|:)\s*({_NUMBER})\s*(?:step|by|/|:)\s*({_NUMBER})", re.I
)
_WORDS = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


class GridNotValid(ValueError):
    """Invalid values; the message is for the person who entered them."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a system.

    Attributes
    ----------
    name
        As spelled in settings.
    published
        The values in the paper; empty for parameters that the paper does not have. A grid may omit
        such a parameter; settings then omit it, too.
    low, high
        Bounds, both inclusive.
    kind
        ``"float"``, ``"int"`` or ``"switch"``.
    usual
        The value in the system's own publication.
    title, help
        Label and help text in forms; the label defaults to the name.
    only
        The variants that use it; all variants if empty.
    """

    name: str
    published: tuple[Value, ...]
    low: float = 0.0
    high: float = 1.0
    kind: str = "float"
    usual: Value | None = None
    title: str = ""
    help: str = ""
    only: tuple[str, ...] = ()


def read_values(text: str, parameter: Parameter) -> list[Value]:
    """Read typed values: ``0.05–0.95 step 0.025``, a list, or both, without repeated values.

    Raises
    ------
    GridNotValid
        If a value is invalid or out of bounds, or if there are too many.

    Examples
    --------
    >>> read_values("0.2 – 0.3 step 0.05, 0.9", Parameter("threshold", ()))
    [0.2, 0.25, 0.3, 0.9]
    >>> read_values("on, off", Parameter("iterative", (), kind="switch"))
    [True, False]
    """
    parts = [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    values = [value for part in parts for value in _values_of(part, parameter)]
    if not values:
        raise GridNotValid("Give at least one value.")
    if len(values) > MOST_VALUES:
        raise GridNotValid(f"At most {MOST_VALUES} values are possible.")
    return list(dict.fromkeys(values))


def check_values(values: Sequence[object], parameter: Parameter) -> list[Value]:
    """Check values given as numbers; raises `GridNotValid` like `read_values`."""
    return read_values(", ".join(_text(value) for value in values), parameter)


def write_values(values: Sequence[Value]) -> str:
    """Return values in the `read_values` format, as a range if at least four are evenly spaced.

    Examples
    --------
    >>> write_values([0.1, 0.2, 0.3, 0.4]), write_values([0.1, 0.3]), write_values([True])
    ('0.1–0.4 step 0.1', '0.1, 0.3', 'on')
    """
    if len(values) >= 4 and not any(isinstance(value, bool) for value in values):
        step = round(values[1] - values[0], 9)
        even = all(math.isclose(b - a, step, abs_tol=1e-9) for a, b in itertools.pairwise(values))
        if even and step > 0:
            return f"{values[0]:g}–{values[-1]:g} step {step:g}"
    return ", ".join(_text(value) for value in values)


def combinations(grid: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Return all settings of a grid, varying the last parameter fastest.

    An empty grid has one setting.

    Examples
    --------
    >>> combinations({"a": [1, 2], "b": [True]})
    [{'a': 1, 'b': True}, {'a': 2, 'b': True}]
    """
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def count_combinations(grid: Mapping[str, Sequence[Value]]) -> int:
    """Return the number of settings of a grid without building them."""
    return math.prod(len(values) for values in grid.values())


def setting_of(parameters: Mapping[str, Value]) -> str:
    """Return the canonical text of a setting; empty if there are no parameters.

    Examples
    --------
    >>> setting_of({"threshold": 0.5, "fill_up": 0.1})
    'threshold=0.5 fill_up=0.1'
    """
    return " ".join(f"{name}={_text(value)}" for name, value in parameters.items())


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return f"{value:.9g}"
    return str(value)


def _values_of(part: str, parameter: Parameter) -> list[Value]:
    if len(part) > LONGEST_PART:
        raise GridNotValid(f"“{part[:40]} …” is longer than {LONGEST_PART} characters.")
    if parameter.kind == "switch":
        if part.lower() not in _WORDS:
            raise GridNotValid(f"“{part[:40]}” must be on or off.")
        return [_WORDS[part.lower()]]
    if match := _RANGE.fullmatch(part):
        first, last, step = (float(text) for text in match.groups())
        return _range(first, last, step, parameter)
    try:
        value = float(part)
    except ValueError:
        raise GridNotValid(
            f"“{part[:40]}” is not a number or a range such as 0.05–0.95 step 0.025."
        ) from None
    return [_checked(value, parameter)]


def _range(first: float, last: float, step: float, parameter: Parameter) -> list[Value]:
    if not all(map(math.isfinite, (first, last, step))) or step <= 0 or last < first:
        raise GridNotValid("A range must increase in steps above 0.")
    steps = (last - first) / step
    # A quotient of finite numbers may be infinite.
    count = math.floor(min(steps, 1e9) + 1e-6) + 1
    if count > MOST_VALUES:
        raise GridNotValid(f"The range has {count:,} values; at most {MOST_VALUES} are possible.")
    return [_checked(round(first + step * place, 9), parameter) for place in range(count)]


def _checked(value: float, parameter: Parameter) -> Value:
    if not math.isfinite(value) or not parameter.low <= value <= parameter.high:
        raise GridNotValid(f"{value:g} is not between {parameter.low:g} and {parameter.high:g}.")
    if parameter.kind != "int":
        return value
    if value != int(value):
        raise GridNotValid(f"{value:g} is not a whole number.")
    return int(value)


# Match scorers and quality scorers, and the arithmetic that they share.
#
# A match score says how well two texts express the same point, a quality score how good an
# argument is; higher is better. Source: argument summarization paper, sections 3.1 and 3.3.

Scores = NDArray[np.float32]

# Rows whose cosines are computed at once: 1,024 x 10,000 x 4 bytes are 41 MB.
ROWS_AT_ONCE = 1024


class MatchScorer(Protocol):
    """Scores every row text against every column text."""

    def matrix(self, rows: Sequence[str], columns: Sequence[str], *, topic: str = "") -> Scores:
        """Return match scores of all pairs.

        Parameters
        ----------
        rows : r texts
            Arguments.
        columns : c texts
            Key points, or arguments.
        topic
            Used only by a scorer that was trained with topics. A bi-encoder reads it before each
            text; a model that reads both texts together reads it before the first. See
            `with_topic`.

        Returns
        -------
        float array, shape (r, c)
            Cosines are in -1…1 and not clipped; a model that reads both texts together gives 0–1.
        """
        ...


class QualityScorer(Protocol):
    """Scores each argument separately."""

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Return the quality of n arguments, shape (n,), about 0–1; NaN if unknown."""
        ...


def with_topic(texts: Sequence[str], topic: str) -> list[str]:
    """Return each text preceded by the topic, or unchanged if the topic is empty.

    Examples
    --------
    >>> with_topic(["It is safer."], "Night buses")
    ['Night buses: It is safer.']
    """
    return [f"{topic}: {text}" for text in texts] if topic else list(texts)


def cosines_into(out: Scores, rows: Scores, columns: Scores) -> Scores:
    """Write cosines of unit vectors, shape (r, c), block by block; return ``out``."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        stop = start + ROWS_AT_ONCE
        np.matmul(rows[start:stop], columns.T, out=out[start:stop])
    return out


def sigmoid(values: Scores) -> Scores:
    """Map logits to 0–1, without overflow."""
    exponents = np.exp(-np.abs(values))
    probabilities: Scores = np.where(values >= 0, 1, exponents) / (1 + exponents)
    return probabilities
