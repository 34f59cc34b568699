"""Read released final labels and silver and gold answers, and unify names of raters."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from annotation.corpus.methods.generic_table import RELEVANCE_SCALE, parse_label
from cqa_site.tabular import BadCell, Problem, TableRow, Value, open_table

# Records in JSON files, with a check of every cell

Record = TypeVar("Record")


def text_of(row: TableRow, column: str) -> str:
    """Return the text exactly as given; raise BadCell if it has no visible character."""
    value = row.values.get(column)
    if not isinstance(value, str) or not value.strip():
        raise BadCell(column, "is missing or not text")
    return value


def optional_text_of(row: TableRow, column: str) -> str | None:
    """Return a text without surrounding white space; None if it is empty, null or absent.

    Raises BadCell for anything else.
    """
    value = row.values.get(column)
    if value is not None and not isinstance(value, str):
        raise BadCell(column, "is neither text nor null")
    return (value or "").strip() or None


def texts_of(row: TableRow, column: str) -> list[str]:
    """Return a list of texts, including empty texts; raise BadCell for anything else."""
    value: Value = row.values.get(column)
    if not isinstance(value, list):
        raise BadCell(column, "is not a list")
    texts = [text for text in value if isinstance(text, str)]
    if len(texts) < len(value):
        raise BadCell(column, "contains something that is not text")
    return texts


def read_records(
    path: str | os.PathLike[str], read_one: Callable[[TableRow], Record], *, name: str | None
) -> Iterator[Record | Problem]:
    """Yield the result of ``read_one`` for each record, or a problem if it raises BadCell.

    Raises `UnreadableFile` on the first iteration if the file is not a JSON list of records.
    """
    with open_table(path, name=name, kind="json") as table:
        yield from table.records(read_one)


# Answers by one system as released with CompQA: a list of records, one text each
#
# The records contain neither the system nor the prompt, but the file name does
# (`propose_origin`). Several answers to one question are consecutive, so the
# choice is the position of a record among them.

HUMAN = "human"
_WITH_SCENARIO = re.compile(r"(.+?)[ _-]*scenario[ _-]*([1-4])", re.IGNORECASE)
# Additions to a system's name in releases, and file extensions; a dot may be part of the name.
_ENDING = re.compile(r"\.(json|jsonl|ndjson|csv|tsv|txt|xlsx)$", re.IGNORECASE)
_AROUND = re.compile(
    r"^(?:scored|judged|rated|raw)[ _-]+|[ _-]+(?:comparisons?|summar(?:y|ies)|answers?)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RawAnswer:
    """One answer from a released file.

    ``position`` counts from 1 in the file. ``choice`` counts from 1 among
    consecutive records with the same objects and aspect. ``aspect`` is None if
    the file has "" or null. ``text`` is verbatim.
    """

    position: int
    object1: str
    object2: str
    aspect: str | None
    text: str
    choice: int


def read_raw_answers(
    path: str | os.PathLike[str], *, name: str | None = None
) -> Iterator[RawAnswer | Problem]:
    """Read the records like `read_records`; unknown keys are ignored."""
    question: tuple[str, str, str | None] | None = None
    choice = 0
    for record in read_records(path, _read_record, name=name):
        if isinstance(record, Problem):
            yield record
            continue
        position, subject, text = record
        choice = choice + 1 if subject == question else 1
        question = subject
        yield RawAnswer(position, *subject, text, choice)


def _read_record(row: TableRow) -> tuple[int, tuple[str, str, str | None], str]:
    question = (text_of(row, "object1"), text_of(row, "object2"), optional_text_of(row, "aspect"))
    return row.number, question, text_of(row, "comparison")


def propose_origin(file_name: str) -> tuple[str, int]:
    """Guess the system and scenario (0 for none) from a file name.

    >>> propose_origin("gpt3-5_scenario_1.json")
    ('gpt3-5', 1)
    >>> propose_origin("human_2.json"), propose_origin("yahoo.json")
    (('human', 0), ('yahoo', 0))
    >>> propose_origin("scored_gpt4_scenario_3_comparison"), propose_origin("scored_cam_summaries")
    (('gpt4', 3), ('cam', 0))
    """
    name = _ENDING.sub("", Path(file_name).name) or file_name
    stem = _AROUND.sub("", name) or name
    match = _WITH_SCENARIO.fullmatch(stem)
    if match is not None:
        return match[1], int(match[2])
    return (HUMAN, 0) if is_human(stem) else (stem, 0)


def is_human(system: str) -> bool:
    """Return whether a system's name indicates that people wrote its answers."""
    return system.casefold().startswith(HUMAN)


# Released comparisons: silver comparisons, in which machine answers cite numbered arguments, and
# gold comparisons, with the texts as edited by people

_NUMBERED = re.compile(r"(\d{1,4})\. (.*)", re.DOTALL)


@dataclass(frozen=True)
class NumberedArgument:
    """An argument with the number that answers use to cite it; `text` excludes the number."""

    number: int
    text: str


@dataclass(frozen=True)
class ReleasedComparison:
    """One comparison with its answers.

    ``position`` counts from 1. ``aspect`` and ``question`` are None if the file lacks them.
    ``texts`` are verbatim: the machine's texts in the released order, or one text per editor. The
    numbers of ``arguments`` are unique, but their texts may repeat. A gold file has no arguments;
    its answers cite those in the silver file.
    """

    position: int
    object1: str
    object2: str
    aspect: str | None
    texts: list[str]
    question: str | None = None
    arguments: Sequence[NumberedArgument] = ()


def read_silver(
    path: str | os.PathLike[str], *, name: str | None = None
) -> Iterator[ReleasedComparison | Problem]:
    """Read comparisons with numbered arguments and machine answers, like `read_records`."""
    return read_records(path, partial(_read_comparison, texts="gpt_answers"), name=name)


def read_gold(
    path: str | os.PathLike[str], *, name: str | None = None
) -> Iterator[ReleasedComparison | Problem]:
    """Read comparisons with edited answers, like `read_records`."""
    return read_records(path, partial(_read_comparison, texts="comparison"), name=name)


def _read_comparison(row: TableRow, texts: str) -> ReleasedComparison:
    is_silver = texts == "gpt_answers"
    return ReleasedComparison(
        position=row.number,
        object1=text_of(row, "object1"),
        object2=text_of(row, "object2"),
        aspect=optional_text_of(row, "aspect"),
        texts=texts_of(row, texts),
        question=None if is_silver else optional_text_of(row, "question"),
        arguments=_numbered_arguments(row) if is_silver else (),
    )


def _numbered_arguments(row: TableRow) -> list[NumberedArgument]:
    arguments = [_numbered(text) for text in texts_of(row, "arguments")]
    if len({argument.number for argument in arguments}) < len(arguments):
        raise BadCell("arguments", "two arguments have the same number")
    return arguments


def _numbered(text: str) -> NumberedArgument:
    match = _NUMBERED.fullmatch(text)
    if match is None:
        raise BadCell("arguments", f"{text[:40]!a} does not begin with a number and a full stop")
    return NumberedArgument(int(match[1]), match[2])


# Released final labels: JSON comparisons with labelled arguments
#
# The release repeats some sentences and labels a few of them differently. A unit
# is (object1, object2, text), and the importer decides between its labels.

Unit = tuple[str, str, str]


@dataclass(frozen=True)
class ReleasedLabel:
    """One argument of one comparison.

    Attributes
    ----------
    row : int
        Position in the whole file, counted from 1 across all comparisons.
    index : int
        The release's own sequence number, as written.
    text : str or None
        None if the release has null; the labels are then meaningless.
    label, model_label : int or None
        Labels by people and by the language model.
    """

    row: int
    object1: str
    object2: str
    index: int
    text: str | None
    label: int | None
    model_label: int | None

    @property
    def unit(self) -> Unit | None:
        """The unit that the labels refer to, or None if there is no text."""
        return None if self.text is None else (self.object1, self.object2, self.text)


def read_final_labels(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    scale: Collection[int] = RELEVANCE_SCALE,
) -> Iterator[ReleasedLabel | Problem]:
    """Read the arguments of all comparisons in file order, including those with a null text.

    Raises `UnreadableFile` on the first iteration if the file does not have this format.
    """
    position = 0
    with open_table(path, name=name, kind="json") as table:
        for comparison in table.rows:
            objects = [comparison.values.get(key) for key in ("obj1", "obj2")]
            entries = comparison.values.get("arguments")
            if not isinstance(entries, list) or not all(_is_filled(side) for side in objects):
                reason = f"comparison {comparison.number} lacks obj1, obj2 or arguments"
                yield Problem(table.name, None, None, reason)
                continue
            for entry in entries:
                position += 1
                try:
                    yield _read_entry(entry, position, objects, scale)
                except BadCell as bad:
                    yield Problem(table.name, position, bad.column, bad.reason)


def _is_filled(value: Value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _read_entry(
    entry: Value, position: int, objects: list[Value], scale: Collection[int]
) -> ReleasedLabel:
    if not isinstance(entry, dict):
        raise BadCell("arguments", "this argument is not an object")
    index, text = entry.get("index"), entry.get("argument")
    if isinstance(index, bool) or not isinstance(index, int):
        raise BadCell("index", "is not a whole number")
    if text is not None and not isinstance(text, str):
        raise BadCell("argument", "is neither text nor null")
    labels: list[int | None] = []
    for column in ("relevance", "relevance_gpt"):
        try:
            labels.append(parse_label(entry.get(column), scale))
        except ValueError as error:
            raise BadCell(column, str(error)) from None
    return ReleasedLabel(position, str(objects[0]), str(objects[1]), index, text, *labels)


_DIGIT = re.compile(r"\d")


class RaterNames:
    """Names of raters, each in its first spelling.

    Names or e-mail addresses that differ only in case or white space mean the same person. Ids
    with digits, as on crowd platforms, must match exactly.

    Examples
    --------
    >>> names = RaterNames(["Anna"])
    >>> names.of("anna"), names.of("w1A"), names.of("w1a")
    ('Anna', 'w1A', 'w1a')
    >>> names.notes()
    ['“anna” and “Anna” are treated as one rater, “Anna”.']
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._first: dict[str, str] = {}
        self._joined: dict[str, set[str]] = {}
        for name in known:
            self._first.setdefault(_folded(name), name)

    def of(self, name: str) -> str:
        """Return the first spelling of a name."""
        first = self._first.setdefault(_folded(name), name)
        if first != name:
            self._joined.setdefault(first, set()).add(name)
        return first

    def notes(self) -> list[str]:
        """Return notes on spellings that are treated as the same name."""
        return [
            f"“{'”, “'.join(sorted(others))}” and “{first}” are treated as one rater, “{first}”."
            for first, others in self._joined.items()
        ]


def _folded(name: str) -> str:
    if _DIGIT.search(name) and "@" not in name:
        return name
    return " ".join(name.split()).casefold()
