"""Which column of a table of score sheets is what: the fields, a guess, and what cannot work."""

import re
from collections.abc import Collection, Mapping, Sequence

from benchmark.rubrics.methods.rubric import Rubric

# Three ways to say which answer a sheet is about; the first that a row has counts.
BY_ID = ("answer",)
BY_PLACE = ("source", "position", "choice")
BY_DESCRIPTION = (
    "object1",
    "object2",
    "aspect",
    "system",
    "scenario",
    "origin",
    "choice",
    "text",
)
RATER = ("rater", "rater_kind", "rater_name", "replicate")
SAID = ("total", "notes", "unable", "comment", "submitted_at")
# As our own export has them.
RECORD = (
    "sheet",
    "rubric_sha256",
    "state",
    "reason",
    "off_scale",
    "given",
    "is_consolidated",
    "is_counted",
)
FIELDS = tuple(dict.fromkeys((*BY_ID, *BY_PLACE, *BY_DESCRIPTION, *RATER, *SAID, *RECORD)))

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
    """Field or criterion to column, each column at most once; what is unclear stays open.

    A criterion is found by its key ("C1", "1", "criterion 1", "score_dict.1") or by its name.

    Examples
    --------
    >>> from .compqa_rubric import COMPQA
    >>> found = guess_columns(["Answer ID", "Annotator", "C1", "Aspects announced"], COMPQA)
    >>> found["answer"], found["rater"], found["C1"], found["C3"]
    ('Answer ID', 'Annotator', 'C1', 'Aspects announced')
    """
    bare = {_bare(column): column for column in reversed(columns)}
    names: dict[str, tuple[str, ...]] = {
        each.key: (
            each.key.lower(),
            each.key[1:],
            f"criterion{each.key[1:]}",
            f"scoredict{each.key[1:]}",
            _bare(each.name),
        )
        for each in rubric.criteria
    }
    names |= {field: _KNOWN_AS.get(field, (field.replace("_", ""),)) for field in FIELDS}
    guess: dict[str, str] = {}
    for field, known in names.items():
        found = next((bare[name] for name in known if name in bare), None)
        if found is not None and found not in guess.values():
            guess[field] = found
    return guess


def check_columns(
    columns: Collection[str], mapping: Mapping[str, str], rubric: Rubric, *, has_rater: bool
) -> list[str]:
    """What is wrong with a choice of columns, as sentences; empty if nothing is.

    Parameters
    ----------
    columns : collection of str
        Headers of the table.
    mapping : mapping of str to str
        Field or key of a criterion → header.
    rubric : Rubric
        Which criteria there are; each needs a column.
    has_rater : bool
        Whether a name was given for the rater of all rows.
    """
    known = {*FIELDS, *rubric.keys}
    wrong = [f"there is no field {field[:40]!a}" for field in mapping if field not in known]
    wrong += [
        f"there is no column {column[:80]!a} for {field}"
        for field, column in mapping.items()
        if column not in columns
    ]
    missing = [key for key in rubric.keys if key not in mapping]
    if missing:
        wrong.append(f"choose a column for {', '.join(missing)}")
    if not has_rater and "rater" not in mapping:
        wrong.append("choose the column of the rater, or name the one rater of all rows")
    wrong += _about_the_answer(mapping)
    if len(set(mapping.values())) < len(mapping):
        wrong.append("one column is chosen for two fields")
    return wrong


def _about_the_answer(mapping: Mapping[str, str]) -> list[str]:
    named = "system" in mapping or "origin" in mapping
    by_description = named and all(field in mapping for field in ("object1", "object2"))
    if "answer" in mapping or by_description or ("source" in mapping and "position" in mapping):
        return []
    return [
        "say which answer a row is about: its id, or source and position, or both objects and "
        "the system (or a file name that tells it)"
    ]


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
