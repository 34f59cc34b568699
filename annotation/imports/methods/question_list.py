"""Lists of comparative questions: one row a question, with or without arguments.

Columns are found by their headers: both objects are needed, aspect and wording are optional, and
every column whose header begins with "argument" or "sentence" holds one sentence. A JSON record
may hold a list of sentences there instead.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.corpus.methods.table_cells import as_text
from cqa_site.tabular import (
    DEFAULT_LIMITS,
    Limits,
    Problem,
    Row,
    UnreadableFile,
    Value,
    open_table,
)

from .record_values import BadValue

_KNOWN_AS = {
    "object1": ("object1", "obj1", "objecta", "firstobject", "a"),
    "object2": ("object2", "obj2", "objectb", "secondobject", "b"),
    "aspect": ("aspect", "criterion"),
    "wording": ("wording", "question"),
}
_SENTENCES = ("argument", "sentence")
_BETWEEN = re.compile(r"\s+(?:vs\.?|versus)\s+", re.IGNORECASE)
_PASTED = ("object1", "object2", "aspect", "wording")


@dataclass(frozen=True)
class ListedQuestion:
    """One row; texts as given, without white space around objects, aspect and wording."""

    row: int
    object1: str
    object2: str
    aspect: str
    wording: str
    arguments: tuple[str, ...]


def read_question_list(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[ListedQuestion | Problem]:
    """Read the rows in file order.

    Yields
    ------
    ListedQuestion or Problem
        One per row.

    Raises
    ------
    UnreadableFile
        At the first step if no column is an object, later if the file is damaged.
    """
    shown_name = name or Path(path).name
    opened = open_table(path, name=shown_name, encoding=encoding, sheet=sheet, limits=limits)
    with opened as table:
        columns = question_columns(table.columns)
        missing = [field for field in ("object1", "object2") if field not in columns]
        if missing:
            raise UnreadableFile(
                table.name,
                f"no column {' or '.join(missing)}; a list of questions has object1, object2 and, "
                "if wanted, aspect, wording and columns of arguments",
            )
        sentences = [each for each in table.columns if _bare(each).startswith(_SENTENCES)]
        for row in table.rows:
            try:
                yield _read_row(row, columns, sentences)
            except BadValue as bad:
                yield Problem(table.name, row.number, bad.column, bad.reason)


def question_columns(columns: Sequence[str]) -> dict[str, str]:
    """Field → header, for the headers that are known.

    >>> question_columns(["Object 1", "obj2", "Aspect", "note"])
    {'object1': 'Object 1', 'object2': 'obj2', 'aspect': 'Aspect'}
    """
    bare = {_bare(column): column for column in reversed(columns)}
    found = {
        field: next((bare[name] for name in names if name in bare), None)
        for field, names in _KNOWN_AS.items()
    }
    return {field: column for field, column in found.items() if column is not None}


def _read_row(row: Row, columns: dict[str, str], sentences: Sequence[str]) -> ListedQuestion:
    read = {field: _text(row, column) for field, column in columns.items()}
    for field in ("object1", "object2"):
        if not read[field]:
            raise BadValue(columns[field], "is empty")
    if read["object1"] == read["object2"]:
        raise BadValue(columns["object2"], "is the same as the other object")
    return ListedQuestion(
        row=row.number,
        object1=read["object1"],
        object2=read["object2"],
        aspect=read.get("aspect", ""),
        wording=read.get("wording", ""),
        arguments=tuple(text for column in sentences for text in _texts(row, column)),
    )


def _text(row: Row, column: str) -> str:
    value = row.values.get(column)
    if isinstance(value, list | dict):
        raise BadValue(column, "is not text")
    return (as_text(value) or "").strip()


def _texts(row: Row, column: str) -> list[str]:
    value: Value | list[Value] = row.values.get(column)
    listed = value if isinstance(value, list) else [value]
    if any(isinstance(each, list | dict) for each in listed):
        raise BadValue(column, "is neither a sentence nor a list of sentences")
    return [text for each in listed if (text := as_text(each) or "").strip()]


def pasted_list(text: str) -> tuple[str, bytes]:
    """A list as it was typed or pasted: the name of a file that holds it, and its bytes.

    A text with headers is a table. Without them, a line is one question: both objects, aspect and
    wording between tabs, or "A vs B". It becomes a record, so rows are the lines of the text.

    >>> pasted_list("tea vs coffee\\tprice")
    ('pasted-questions.jsonl', b'{"object1": "tea", "object2": "coffee", "aspect": "price"}')
    """
    first = text.lstrip().partition("\n")[0]
    for delimiter, ending in (("\t", "tsv"), (";", "csv"), (",", "csv")):
        if {"object1", "object2"} <= set(question_columns(first.strip().split(delimiter))):
            return f"pasted-questions.{ending}", text.lstrip().encode()
    lines = [json.dumps(_pasted(line)) if line.strip() else "" for line in text.splitlines()]
    return "pasted-questions.jsonl", "\n".join(lines).encode()


def _pasted(line: str) -> dict[str, str]:
    cells = [cell.strip() for cell in line.split("\t")]
    pair = _BETWEEN.split(cells[0], maxsplit=1)
    cells = [*pair, *cells[1:]] if len(pair) == 2 else cells
    return dict(zip(_PASTED, cells, strict=False)) | ({} if len(cells) > 1 else {"object2": ""})


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
