"""Cells of any table as parts of a score sheet; a cell that does not fit raises ValueError."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from annotation.corpus.methods.table_cells import CELL_READERS, as_text
from benchmark.judges.methods.judgement_keys import Reading
from cqa_site.tabular import Value
from cqa_site.tabular.strict_json import StrictJsonError, loads

STATES = ("submitted", "unscored", "open", "void")
_NUMBER = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")
# What a database cannot keep; workbooks can hold both.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MOST_REPLICATES, _MOST_CHOICES = 1_000, 32_767
_LONGEST_NOTE = 4_000


def read_points(cell: Value) -> int | float | str | None:
    """Points as a number, None for an empty cell; whatever else stands there comes back as text.

    Text is read as a number because a table knows nothing else; "1.0" is 1.

    Examples
    --------
    >>> read_points("1"), read_points(1.0), read_points("0.5"), read_points(" "), read_points("x")
    (1, 1, 0.5, None, 'x')
    """
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    if isinstance(cell, str) and _NUMBER.fullmatch(cell.strip()):
        cell = float(cell)
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    if not is_number or not math.isfinite(float(str(cell))):
        return str(cell)[:40]
    number = float(str(cell))
    return int(number) if number.is_integer() else number


def read_total(cell: Value) -> float | None:
    """A number, None for an empty cell."""
    number = read_points(cell)
    if isinstance(number, str):
        raise ValueError(f"{number!a} is no number")
    return None if number is None else float(number)


def read_texts(cell: Value) -> dict[str, str]:
    """A JSON object of texts, or an object of a JSON file; {} for an empty cell."""
    said: Any = cell
    if isinstance(cell, str):
        try:
            said = loads(cell) if cell.strip() else {}
        except StrictJsonError:
            raise ValueError('is no JSON object such as {"C1": "…"}') from None
    if said is None:
        return {}
    if not isinstance(said, Mapping) or not all(isinstance(each, str) for each in said.values()):
        raise ValueError("is no JSON object of texts")
    return {str(key)[:80]: each[:_LONGEST_NOTE] for key, each in said.items() if each}


def read_given(cell: Value) -> dict[str, int]:
    """A JSON object of whole numbers by criterion; {} for an empty cell."""
    said: Any = cell
    if isinstance(cell, str):
        try:
            said = loads(cell) if cell.strip() else {}
        except StrictJsonError:
            said = None
    if said is None and cell is None:
        return {}
    numbers = said.values() if isinstance(said, Mapping) else [None]
    if any(isinstance(each, bool) or not isinstance(each, int) for each in numbers):
        raise ValueError('is no JSON object of whole numbers such as {"C1": 2}')
    return {str(key)[:80]: each for key, each in said.items()}


def _id(text: str | None) -> str:
    if text is None or not text.strip():
        return ""
    try:
        return str(UUID(text.strip()))
    except ValueError:
        raise ValueError(f"{text[:40]!a} is no id as our exports give them") from None


def _trimmed(text: str | None) -> str:
    return (text or "").strip()


def _verbatim(text: str | None) -> str:
    return text or ""


def _scenario(text: str | None) -> int | None:
    given = _trimmed(text)
    if given and given not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"{given[:40]!a} is none of 0 to 4")
    return int(given) if given else None


def _replicate(text: str | None) -> int:
    return _below(text, _MOST_REPLICATES) or 0


def _choice(text: str | None) -> int | None:
    return _below(text, _MOST_CHOICES)


def _below(text: str | None, most: int) -> int | None:
    number = CELL_READERS["position"](text)
    if isinstance(number, int) and number >= most:
        raise ValueError(f"is not below {most}")
    return number if isinstance(number, int) else None


def _one_of(text: str | None, offered: tuple[str, ...]) -> str:
    given = _trimmed(text).lower()
    if given and given not in offered:
        raise ValueError(f"{given[:40]!a} is none of {', '.join(offered)}")
    return given


def _state(text: str | None) -> str:
    return _one_of(text, STATES)


def _reason(text: str | None) -> str:
    return _one_of(text, tuple(each.value for each in Reading if each is not Reading.VALID))


def _rater_kind(text: str | None) -> str:
    return str(CELL_READERS["rater_kind"](text) or "")


_TEXT_READERS: Mapping[str, Callable[[str | None], object]] = {
    "answer": _id,
    "sheet": _id,
    "source": _trimmed,
    "position": CELL_READERS["position"],
    "choice": _choice,
    "object1": _verbatim,
    "object2": _verbatim,
    "aspect": _trimmed,
    "system": _trimmed,
    "scenario": _scenario,
    "origin": _trimmed,
    "text": _verbatim,
    "rater": _trimmed,
    "rater_kind": _rater_kind,
    "rater_name": _trimmed,
    "replicate": _replicate,
    "comment": _verbatim,
    "submitted_at": CELL_READERS["started"],
    "rubric_sha256": _trimmed,
    "state": _state,
    "reason": _reason,
    "off_scale": _trimmed,
    "is_consolidated": CELL_READERS["is_extra"],
    "is_counted": CELL_READERS["is_extra"],
}


def read_field(field: str, cell: Value) -> Any:
    """The value of one of `score_columns.FIELDS`; KeyError for another."""
    if field == "total":
        return read_total(cell)
    if field in ("notes", "unable"):
        return read_texts(cell)
    if field == "given":
        return read_given(cell)
    if isinstance(cell, bool) and field.startswith("is_"):
        return cell
    text = as_text(cell)
    if text is not None and _UNSTORABLE.search(text):
        raise ValueError("holds a NUL character or half of a surrogate pair")
    return _TEXT_READERS[field](text)
