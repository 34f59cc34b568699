"""Read lists of comparative questions, and split each question into objects and aspect."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from cqa_site.tabular import (
    BadCell,
    Problem,
    ReadingLog,
    TableRow,
    UnreadableFile,
    Value,
    open_table,
)
from cqa_site.tabular.cells import as_text
from cqa_site.tabular.layout import bare, guess_by_name

_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_VERSUS = re.compile(r"\s+(?:vs\.?|versus)\s+", re.IGNORECASE)
_FOR = r"(?:for|in terms of|regarding|with regard to|when it comes to)"
# Tried in order: "Which is better for X: A or B?", "Is A or B better for X?", "A or B?".
_FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.DOTALL)
    for form in (
        rf"(?:which|what|who)\b.*?(?:\b{_FOR}\s+(?P<aspect>[^:,]+?))?\s*[:,]\s*"
        r"(?P<one>[^,:?]+?),?\s+or\s+(?P<two>[^,:?]+?)\s*\?*",
        rf"(?:which|what|who)\b[^:,]*[:,]\s*(?P<one>[^,:?]+?),?\s+or\s+(?P<two>[^,:?]+?),?\s+"
        rf"{_FOR}\s+(?P<aspect>[^?]+?)\s*\?*",
        r"(?:is|are|do|does|did|can|will|would|should)\s+(?P<one>[^,:?]+?)\s+or\s+(?P<two>[^,:?]+?)"
        rf"\s+(?:the\s+)?(?:better|best|preferable|superior)(?:\s+{_FOR}\s+(?P<aspect>[^?]+?))?\s*\?*",
        rf"(?:is|are)\s+(?P<one>[^,:?]+?)\s+(?:better|preferable|superior)\s+(?:than|to)\s+"
        rf"(?P<two>[^,:?]+?)(?:\s+{_FOR}\s+(?P<aspect>[^?]+?))?\s*\?+",
        r"(?!(?:should|can|could|do|does|is|are|will|would|which|what|who)\b)"
        r"(?P<one>[^,:?]+?)\s+or\s+(?P<two>[^,:?]+?)\s*\?+",
    )
)
# This site's wording of a question without its own wording.
_OWN = re.compile(
    r"Which is better(?: for (?P<aspect>.+?))?: (?P<one>[^:?]+?) or (?P<two>[^:?]+?)\?"
)


def asked(text: str) -> dict[str, str]:
    """Return objects, aspect and wording of a question; {} if it does not name two objects.

    The wording is included only if this site would phrase the question differently.

    Examples
    --------
    >>> asked("Which is better for long trips: train or plane?")
    {'object1': 'train', 'object2': 'plane', 'aspect': 'long trips'}
    >>> asked("Is a bus or a tram better?")["object2"], asked("tea vs coffee"), asked("Tea.")
    ('tram', {'object1': 'tea', 'object2': 'coffee'}, {})
    """
    line = " ".join(text.split())
    pair = _VERSUS.split(line, maxsplit=1)
    if len(pair) == 2 and all(pair):
        return {"object1": pair[0], "object2": pair[1]}
    for form in (_OWN, *_FORMS):
        if match := form.fullmatch(line):
            parts = match.groupdict()
            named = {"object1": _bare_object(parts["one"]), "object2": _bare_object(parts["two"])}
            if aspect := (parts.get("aspect") or "").strip():
                named["aspect"] = aspect
            return named if form is _OWN else named | {"wording": line}
    return {}


def _bare_object(name: str) -> str:
    return _ARTICLE.sub("", name.strip())


# Lists of comparative questions, one question per row, with or without arguments
#
# Columns are found by their headers. Both objects are required, aspect and wording are optional,
# and every column whose header begins with "argument" or "sentence" contains one sentence. A JSON
# record may contain a list of sentences instead.

_KNOWN_AS = {
    "object1": ("object1", "obj1", "objecta", "firstobject", "a"),
    "object2": ("object2", "obj2", "objectb", "secondobject", "b"),
    "aspect": ("aspect", "criterion"),
    "wording": ("wording", "question"),
}
_SENTENCES = ("argument", "sentence")
_PASTED = ("object1", "object2", "aspect", "wording")


@dataclass(frozen=True)
class ListedQuestion:
    """One row in a list; objects, aspect and wording have no surrounding white space."""

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
    log: ReadingLog | None = None,
    **how: Any,
) -> Iterator[ListedQuestion | Problem]:
    """Read the rows in file order; pass ``log`` and ``how`` to `cqa_site.tabular.open_table`.

    Raises `UnreadableFile` on the first iteration if the columns of the objects are missing.
    """
    with open_table(path, name=name, log=log, **how) as table:
        columns = question_columns(table.columns)
        missing = [field for field in ("object1", "object2") if field not in columns]
        if missing and "wording" not in columns:
            raise UnreadableFile(
                table.name,
                f"no column {' or '.join(missing)}; a list of questions has object1, object2 and, "
                "optionally, aspect, wording and columns of arguments",
            )
        sentences = [column for column in table.columns if bare(column).startswith(_SENTENCES)]
        if log is not None:
            read = {*columns.values(), *sentences}
            log.unread += [column for column in table.columns if column not in read]
        yield from table.records(partial(_read_row, columns=columns, sentences=sentences))


def question_columns(columns: Sequence[str]) -> dict[str, str]:
    """Map fields to known headers.

    >>> question_columns(["Object 1", "obj2", "Aspect", "note"])
    {'object1': 'Object 1', 'object2': 'obj2', 'aspect': 'Aspect'}
    """
    return guess_by_name(columns, _KNOWN_AS)


def _read_row(row: TableRow, columns: dict[str, str], sentences: Sequence[str]) -> ListedQuestion:
    read = {field: _text(row, column) for field, column in columns.items()}
    if not read.get("object1") and not read.get("object2"):
        # The question itself names the objects.
        read |= asked(read.get("wording", ""))
    for field in ("object1", "object2"):
        if not read.get(field):
            raise BadCell(columns.get(field, columns.get("wording", field)), _missing(read))
    if read["object1"] == read["object2"]:
        column = columns.get("object2", columns.get("wording", ""))
        raise BadCell(column, "is the same as the other object")
    return ListedQuestion(
        row=row.number,
        object1=read["object1"],
        object2=read["object2"],
        aspect=read.get("aspect", ""),
        wording=read.get("wording", ""),
        arguments=tuple(text for column in sentences for text in _texts(row, column)),
    )


def _missing(read: dict[str, str]) -> str:
    text = " ".join(filter(None, read.values()))[:80]
    if not text:
        return "is empty"
    return f"is empty: “{text}” names one object; write “A vs B” or “Which is better: A or B?”"


def _text(row: TableRow, column: str) -> str:
    value = row.values.get(column)
    if isinstance(value, list | dict):
        raise BadCell(column, "is not text")
    return (as_text(value) or "").strip()


def _texts(row: TableRow, column: str) -> list[str]:
    value: Value | list[Value] = row.values.get(column)
    listed = value if isinstance(value, list) else [value]
    if any(isinstance(element, list | dict) for element in listed):
        raise BadCell(column, "is neither a sentence nor a list of sentences")
    return [text for element in listed if (text := as_text(element) or "").strip()]


def pasted_list(text: str) -> tuple[str, bytes]:
    """Return a typed or pasted list as a file: its name and its bytes.

    A text with headers is a table. Without headers, each line is one question: both objects,
    aspect and wording separated by tabs, "A vs B", or the question itself, such as "Which is
    better for X, A or B?". Each line becomes a record, so row numbers are line numbers.

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
    if "\t" not in line.strip() or _VERSUS.search(cells[0]):
        named = asked(cells[0]) or {"object1": cells[0], "object2": ""}
        return named | dict(zip(_PASTED[2:], cells[1:], strict=False))
    return dict(zip(_PASTED, cells, strict=False))
