"""Columns, cells and rows of a table of score sheets."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation.corpus.methods.generic_table import CELL_READERS, one_of
from benchmark.judges.methods.judgements import JudgementState
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.tabular import Value
from cqa_site.tabular.cells import StrictJsonError, as_number, as_text, loads
from cqa_site.tabular.layout import bare, guess_by_name, mapping_errors

# Three ways to identify the answer of a sheet; the first one that a row provides counts.
BY_ID = ("answer",)
BY_PLACE = ("source", "position", "choice")
BY_DESCRIPTION = ("object1", "object2", "aspect", "system", "scenario", "origin", "choice", "text")
RATER = ("rater", "rater_kind", "rater_name", "replicate")
JUDGEMENT = ("total", "notes", "unable", "comment", "submitted_at")
# Additional columns in our own export.
RECORD = (
    "sheet", "rubric_sha256", "state", "reason", "off_scale", "given", "is_consolidated",
    "is_counted",
)  # fmt: skip
FIELDS = tuple(dict.fromkeys((*BY_ID, *BY_PLACE, *BY_DESCRIPTION, *RATER, *JUDGEMENT, *RECORD)))

_KNOWN_AS = {
    "answer": ("answerid", "answer"),
    "source": ("source", "file", "dataset"),
    "position": ("position", "index"),
    "choice": ("choice",),
    "object1": ("object1", "obj1", "objecta", "firstobject"),
    "object2": ("object2", "obj2", "objectb", "secondobject"),
    "system": ("system", "model", "generator"),
    "origin": ("filename", "originfile", "origin"),
    "text": ("text", "comparison", "answertext", "summary", "response"),
    "rater": ("raterid", "rater", "annotatorid", "annotator", "judge", "worker", "user"),
    "total": ("total", "sum", "score"),
    "comment": ("comment", "comments", "remark"),
    "submitted_at": ("submittedat", "answeredat", "timestamp", "time", "date"),
    "sheet": ("sheet", "sheetid"),
}


def guess_columns(columns: Sequence[str], rubric: Rubric) -> dict[str, str]:
    """Map fields and criteria to columns, each column at most once.

    Unclear columns stay unassigned.

    A criterion is found by its key ("C1", "1", "criterion 1", "score_dict.1") or by its name.

    Examples
    --------
    >>> from benchmark.rubrics.methods.rubric import COMPQA
    >>> guess = guess_columns(["Answer ID", "Annotator", "C1", "Aspects announced"], COMPQA)
    >>> guess["answer"], guess["rater"], guess["C1"], guess["C3"]
    ('Answer ID', 'Annotator', 'C1', 'Aspects announced')
    """
    names: dict[str, tuple[str, ...]] = {
        criterion.key: (
            criterion.key.lower(),
            criterion.key[1:],
            f"criterion{criterion.key[1:]}",
            f"scoredict{criterion.key[1:]}",
            bare(criterion.name),
        )
        for criterion in rubric.criteria
    }
    names |= {field: _KNOWN_AS.get(field, (field.replace("_", ""),)) for field in FIELDS}
    return guess_by_name(columns, names)


def check_columns(
    columns: Collection[str], mapping: Mapping[str, str], rubric: Rubric, *, has_rater: bool
) -> list[str]:
    """Return the errors in a choice of columns, as sentences; empty if the choice is valid.

    ``mapping`` maps fields and criteria to columns, and every criterion needs a column;
    ``has_rater`` is true if a single rater is named for all rows.
    """
    known = {*FIELDS, *rubric.keys}
    wrong = mapping_errors(columns, mapping, known=known, required=rubric.keys)
    if not has_rater and "rater" not in mapping:
        wrong.append("choose the column of the rater, or name one rater for all rows")
    return wrong + _about_the_answer(mapping)


def _about_the_answer(mapping: Mapping[str, str]) -> list[str]:
    named = "system" in mapping or "origin" in mapping
    by_description = named and all(field in mapping for field in ("object1", "object2"))
    if "answer" in mapping or by_description or ("source" in mapping and "position" in mapping):
        return []
    return [
        "identify the answer of a row by its ID, by source and position, or by both objects and "
        "the system (or a file name that names it)"
    ]


STATES = ("submitted", "unscored", "open", "void")
# Characters that the database cannot store, but workbooks can contain.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MOST_REPLICATES, _MOST_CHOICES = 1_000, 32_767
_LONGEST_NOTE = 4_000


def read_points(cell: Value) -> int | float | str | None:
    """Return points as a number, an empty cell as None, and any other content as text.

    Text is converted to a number because many tables contain only text; "1.0" is 1.

    Examples
    --------
    >>> read_points("1"), read_points(1.0), read_points("0.5"), read_points(" "), read_points("x")
    (1, 1, 0.5, None, 'x')
    """
    try:
        number = as_number(cell)
    except ValueError:
        return str(cell)[:40]
    return int(number) if number is not None and number.is_integer() else number


def read_by_criterion(cell: Value, kind: type, reason: str) -> dict[str, Any]:
    """Return texts or whole numbers by criterion from a JSON object; {} for an empty cell."""
    content: Any = cell
    if isinstance(cell, str):
        try:
            content = loads(cell) if cell.strip() else None
        except StrictJsonError:
            raise ValueError(reason) from None
    if content is None:
        return {}
    if not isinstance(content, Mapping) or {type(value) for value in content.values()} - {kind}:
        raise ValueError(reason)
    return {str(key)[:80]: value for key, value in content.items()}


def _id(text: str | None) -> str:
    if text is None or not text.strip():
        return ""
    try:
        return str(UUID(text.strip()))
    except ValueError:
        raise ValueError(f"{text[:40]!a} is not an ID from our exports") from None


def _trimmed(text: str | None) -> str:
    return (text or "").strip()


def _verbatim(text: str | None) -> str:
    return text or ""


def _scenario(text: str | None) -> int | None:
    digit = _trimmed(text)
    if digit and digit not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"{digit[:40]!a} is not a number from 0 to 4")
    return int(digit) if digit else None


def _below(most: int) -> Callable[[str | None], int | None]:
    def read(text: str | None) -> int | None:
        number = CELL_READERS["position"](text)
        if isinstance(number, int) and number >= most:
            raise ValueError(f"is not below {most}")
        return number if isinstance(number, int) else None

    return read


_TEXT_READERS: Mapping[str, Callable[[str | None], object]] = {
    "answer": _id,
    "sheet": _id,
    "source": _trimmed,
    "position": CELL_READERS["position"],
    "choice": _below(_MOST_CHOICES),
    "object1": _verbatim,
    "object2": _verbatim,
    "aspect": _trimmed,
    "system": _trimmed,
    "scenario": _scenario,
    "origin": _trimmed,
    "text": _verbatim,
    "rater": _trimmed,
    "rater_kind": CELL_READERS["rater_kind"],
    "rater_name": _trimmed,
    "replicate": _below(_MOST_REPLICATES),
    "comment": _verbatim,
    "submitted_at": CELL_READERS["started"],
    "rubric_sha256": _trimmed,
    "state": one_of(*STATES),
    "reason": one_of(*(state for state in JudgementState if state is not JudgementState.VALID)),
    "off_scale": _trimmed,
    "is_consolidated": CELL_READERS["is_extra"],
    "is_counted": CELL_READERS["is_extra"],
}


def read_field(field: str, cell: Value) -> Any:
    """Return the value of one of `FIELDS`; raise KeyError for any other field."""
    if field == "total":
        number = read_points(cell)
        if isinstance(number, str):
            raise ValueError(f"{number!a} is not a number")
        return None if number is None else float(number)
    if field in ("notes", "unable"):
        texts = read_by_criterion(cell, str, 'is not a JSON object of texts such as {"C1": "…"}')
        return {key: text[:_LONGEST_NOTE] for key, text in texts.items() if text}
    if field == "given":
        reason = 'is not a JSON object of whole numbers such as {"C1": 2}'
        return read_by_criterion(cell, int, reason)
    if isinstance(cell, bool) and field.startswith("is_"):
        return cell
    text = as_text(cell)
    if text is not None and _UNSTORABLE.search(text):
        raise ValueError("contains a NUL character or half of a surrogate pair")
    return _TEXT_READERS[field](text)


SUBMITTED, UNSCORED, EMPTY = "submitted", "unscored", "empty"


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One sheet as read from a row.

    Attributes
    ----------
    row : int
        Row number as a person sees it in the file.
    about : dict
        The row's values that describe the answer: those in `FIELDS` that are not empty.
    rater, rater_kind, rater_name : str
        The rater who gave the points.
    replicate : int
        0 for this rater's first judgement of this answer.
    points : dict of str to float
        Criterion → points; empty if unscored.
    unable : dict of str to str
        Criterion → reason for missing points.
    notes : dict of str to str
        Criterion → note.
    reason : str
        Reason why a judge's row is unscored; empty otherwise.
    off_scale : tuple of str
        Criteria with points outside the rubric's scale; only in consolidated sheets.
    given : dict of str to float
        Points from a judge's unscored row that names all criteria, even if they are off the scale.
    state : str
        State given in the row; otherwise "submitted", "unscored", or "empty" for a person's row
        without any points, which means that the answer was not scored.
    is_counted : bool
        False if our export marks the sheet as not counted.
    sheet, rubric_sha256 : str
        Values from our export; empty for other files.
    """

    row: int
    about: dict[str, Any]
    rater: str
    rater_kind: str
    rater_name: str = ""
    replicate: int = 0
    points: dict[str, float] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    submitted_at: datetime | None = None
    state: str = SUBMITTED
    reason: str = ""
    off_scale: tuple[str, ...] = ()
    given: dict[str, float] = field(default_factory=dict)
    is_consolidated: bool = False
    is_counted: bool = True
    sheet: str = ""
    rubric_sha256: str = ""
