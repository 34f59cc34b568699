"""Key points written by a system, from a table, JSON, or a plain list.

A table has one row per key point: topic, stance, key_point and, if known, system, setting,
prevalence and the ids or texts of its arguments. A list (.txt) has one key point per line. A JSON
object maps topics to stances to lists of key points. Settings may occur at any depth as tuples of
numbers in text, as in the summary files of the argument summarization paper. There, a leaf has
``sums`` (cluster → text, or texts of several attempts) and sometimes ``sum_ids``, the key point of
every argument in the file's own order.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from argsum.datasets.methods.argument_cells import LONGEST_TEXT, LONGEST_TOPIC, as_stance, as_text
from argsum.imports.methods.released_scores import is_number, read_json, seconds_of
from cqa_site.tabular import (
    BadCell,
    Problem,
    ReadingLog,
    UnreadableFile,
    open_table,
    printable_name,
)
from cqa_site.tabular.cells import StrictJsonError, as_whole, loads
from cqa_site.tabular.layout import guess_by_name

# In lower case, with letters and digits only.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "topic": ("topic", "motion"),
    "stance": ("stance", "polarity"),
    "key_point": ("keypoint", "kp", "summary", "prediction"),
    "system": ("system", "systemname", "model", "method"),
    "setting": ("setting", "parameters"),
    "prevalence": ("prevalence", "matches", "matched"),
    "arguments": ("arguments", "argumentids", "argids", "members"),
}
LONGEST = {"topic": LONGEST_TOPIC, "system": 120, "setting": 200}
MOST_POINTS = 500
# Keys of an object that contain its key points.
INSIDE = ("summaries", "key_points")
_LEAF = ("sums", "key_points")
_STANCES = {"1": 1, "pro": 1, "supporting": 1, "-1": -1, "con": -1, "opposing": -1, "0": 0}
_TUPLE = re.compile(r"\(.*\)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+\s*[.):])\s+")
_BETWEEN = re.compile(r"[;|\n]")


@dataclass(frozen=True)
class Point:
    """One key point; ``arguments`` contains ids or texts, or is None if the file names none."""

    text: str
    prevalence: int | None = None
    arguments: tuple[str, ...] | None = None
    cluster: int | None = None


@dataclass(frozen=True)
class SystemSet:
    """Key points of one system and setting for one topic and stance.

    ``topic`` and ``system`` are empty and ``stance`` is None if the file does not give them.
    ``places`` contains the position of each argument's key point (-1 for no key point) if the
    file gives these positions in its own order. A set without ``points`` is a system without a
    result.
    """

    row: int | None
    topic: str
    stance: int | None
    system: str = ""
    setting: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    points: tuple[Point, ...] = ()
    places: tuple[int, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True)
class SystemFile:
    """Sets read from a file; invalid rows appear only in ``problems``."""

    sets: Sequence[SystemSet]
    problems: Sequence[Problem] = ()


def read_system_file(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    log: ReadingLog | None = None,
    **how: Any,
) -> SystemFile:
    """Read key points in any of the formats described at the top of this module.

    ``log`` and ``how`` are passed to `cqa_site.tabular.open_table`.

    Raises
    ------
    UnreadableFile
        If the file has none of these formats; the error names the location in the file.
    """
    file_name = name or Path(path).name
    if file_name.lower().endswith(".txt"):
        return _read_list(Path(path), file_name)
    if content := _object(Path(path), file_name):
        return SystemFile(list(_of_object(content, file_name)))
    return _read_table(path, file_name, log, how)


def holds_key_points(content: Mapping[str, Any]) -> bool:
    """Return whether a JSON object looks like key points by topic rather than scores."""
    if any(isinstance(content.get(name), dict) for name in INSIDE):
        return True
    leaves = [
        leaf
        for stances in content.values()
        if isinstance(stances, dict)
        for leaf in stances.values()
    ]
    return bool(leaves) and all(
        isinstance(leaf, list) and all(isinstance(text, str) for text in leaf) for leaf in leaves
    )


def _read_list(path: Path, name: str) -> SystemFile:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (UnicodeDecodeError, OSError) as error:
        raise UnreadableFile(name, f"is not UTF-8 text ({error})") from None
    texts = [_BULLET.sub("", line).strip() for line in lines if line.strip()]
    if not texts or len(texts) > MOST_POINTS:
        raise UnreadableFile(name, f"has {len(texts)} key points, not 1 to {MOST_POINTS}")
    points = tuple(_point(text, name, f"line of {text[:20]!a}") for text in texts)
    return SystemFile([SystemSet(1, "", None, points=points)])


def columns_of(headers: Sequence[str]) -> dict[str, str]:
    """Map the meaning of each column to its header."""
    return guess_by_name(headers, COLUMNS)


def _read_table(
    path: str | os.PathLike[str], name: str, log: ReadingLog | None, how: Mapping[str, Any]
) -> SystemFile:
    sets: dict[tuple[str, int | None, str, str], list[tuple[int, Point]]] = {}
    problems: list[Problem] = []
    with open_table(path, name=name, log=log, **how) as table:
        columns = columns_of(table.columns)
        if "key_point" not in columns:
            raise UnreadableFile(table.name, "has no column 'key_point'")
        if log is not None:
            log.unread += [heading for heading in table.columns if heading not in columns.values()]
        for row in table.rows:
            values = {meaning: row.values[header] for meaning, header in columns.items()}
            try:
                key, point = _of_row(values)
            except BadCell as misfit:
                column = columns.get(misfit.column, misfit.column)
                problems.append(Problem(table.name, row.number, column, misfit.reason))
                continue
            points = sets.setdefault(key, [])
            points.append((row.number, point))
            if len(points) > MOST_POINTS:
                raise UnreadableFile(table.name, f"has more than {MOST_POINTS} in one set")
    system_sets = [
        SystemSet(
            points[0][0], topic, stance, system, setting, points=tuple(p for _r, p in points)
        )
        for (topic, stance, system, setting), points in sets.items()
    ]
    return SystemFile(system_sets, problems)


def _of_row(values: dict[str, Any]) -> tuple[tuple[str, int | None, str, str], Point]:
    text = as_text(values, "key_point").strip()
    if not text:
        raise BadCell("key_point", "is empty")
    if len(text) > LONGEST_TEXT:
        raise BadCell("key_point", f"longer than {LONGEST_TEXT:,} characters")
    named = {name: as_text(values, name).strip() for name in LONGEST}
    for name, most in LONGEST.items():
        if len(named[name]) > most:
            raise BadCell(name, f"longer than {most} characters")
    has_stance = bool(as_text(values, "stance").strip())
    stance = as_stance(values, is_needed=False) if has_stance else None
    point = Point(text, _prevalence(values), _arguments(values))
    return (named["topic"], stance, named["system"], named["setting"]), point


def _prevalence(values: dict[str, Any]) -> int | None:
    try:
        number = as_whole(values.get("prevalence"))
    except ValueError:
        number = -1
    if number is not None and number < 0:
        text = str(values["prevalence"])[:40]
        raise BadCell("prevalence", f"{text!a} is not a whole number of 0 or more")
    return number


def _arguments(values: dict[str, Any]) -> tuple[str, ...] | None:
    """Return ids or texts from a JSON list or from text separated by semicolons, bars or lines."""
    listed: Any = values.get("arguments")
    if not isinstance(listed, list):
        text = as_text(values, "arguments").strip()
        if not text:
            return None
        listed = _BETWEEN.split(text) if text[0] != "[" else _json_list(text)
    if not isinstance(listed, list) or not all(isinstance(name, str | int) for name in listed):
        raise BadCell("arguments", "is not a list of ids or texts")
    return tuple(str(name).strip() for name in listed if str(name).strip())


def _json_list(text: str) -> Any:
    try:
        return loads(text.encode(), max_bytes=4 * len(text))
    except StrictJsonError:
        return _BETWEEN.split(text)


def _object(path: Path, name: str) -> dict[str, Any] | None:
    """Return the content of a file with a single JSON object, or None for any other file."""
    with path.open("rb") as file:
        begins = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if not begins or name.lower().endswith((".jsonl", ".ndjson")):
        return None
    content = read_json(path, name)
    return content if isinstance(content, dict) else None


def _of_object(content: dict[str, Any], name: str) -> Iterator[SystemSet]:
    system = content.get("system")
    inside: Any = next(
        (content[key] for key in INSIDE if isinstance(content.get(key), dict)), None
    )
    if inside is None:
        inside = {key: value for key, value in content.items() if key != "system"}
    names = [
        element
        for key, value in content.items()
        if isinstance(value, list) and value and all(isinstance(text, str) for text in value)
        for element in value
    ]
    sets = list(_walk(inside, [], names, name))
    if not sets:
        raise UnreadableFile(name, "has no key points by topic and stance")
    for system_set in sets:
        yield replace(system_set, system=system if isinstance(system, str) else "")


def _walk(value: Any, keys: list[str], names: Sequence[str], file: str) -> Iterator[SystemSet]:
    if isinstance(value, dict) and not any(key in value for key in _LEAF):
        for key, inner in value.items():
            yield from _walk(inner, [*keys, key], names, file)
        return
    place = printable_name(", ".join(keys), 120)
    topic, stance, parameters, setting = _about(keys, names, file, place)
    if isinstance(value, list):
        value = {"sums": value}
    if not isinstance(value, dict | None):
        raise UnreadableFile(file, "is not a list of key points", column=place)
    leaf = value or {}
    sums = leaf.get("sums", leaf.get("key_points"))
    about: dict[str, Any] = {"row": None, "topic": topic, "stance": stance}
    about["seconds"] = seconds_of(leaf)
    attempts = _attempts(sums, file, place)
    for number, points in enumerate(attempts, start=1):
        more = {"attempt": float(number)} if len(attempts) > 1 else {}
        words = [setting, *(f"{key}={amount:g}" for key, amount in more.items())]
        yield SystemSet(
            **about,
            setting=", ".join(filter(None, words))[: LONGEST["setting"]],
            parameters=parameters | more,
            points=points,
            places=_places(leaf.get("sum_ids"), sums, file, place),
        )


def _about(
    keys: Sequence[str], names: Sequence[str], file: str, place: str
) -> tuple[str, int | None, dict[str, float], str]:
    """Return topic, stance, parameters and setting from the keys above a leaf."""
    topics = [key for key in keys if not _TUPLE.fullmatch(key) and key.strip() not in _STANCES]
    stances = [_STANCES[key.strip()] for key in keys if key.strip() in _STANCES]
    if len(topics) > 1 or len(stances) > 1:
        raise UnreadableFile(file, "is not grouped by topic and stance", column=place)
    topic = topics[0] if topics else ""
    if len(topic) > LONGEST_TOPIC:
        raise UnreadableFile(file, f"a topic is longer than {LONGEST_TOPIC}", column=place)
    pieces = [
        part.strip() for key in keys if _TUPLE.fullmatch(key) for part in key[1:-1].split(",")
    ]
    parts = [part for part in pieces if part]
    try:
        values = [float(part) for part in parts]
    except ValueError:
        return topic, next(iter(stances), None), {}, ", ".join(parts)
    known = list(names) if len(names) == len(values) else []
    called = known or [f"parameter {at}" for at in range(1, len(values) + 1)]
    parameters = dict(zip(called, values, strict=True))
    setting = ", ".join(f"{key}={amount:g}" for key, amount in parameters.items())
    return topic, next(iter(stances), None), parameters, setting


def _attempts(sums: Any, file: str, place: str) -> list[tuple[Point, ...]]:
    """Return the key points of each attempt; a single empty attempt means no result."""
    if sums is None:
        return [()]
    if isinstance(sums, list):
        return [tuple(_any_point(point, file, place) for point in sums)]
    if not isinstance(sums, dict):
        raise UnreadableFile(file, "is not a list of key points", column=place)
    times = max((len(texts) for texts in sums.values() if isinstance(texts, list)), default=1)
    return [
        tuple(
            _point(text, file, place, cluster=int(key) if key.lstrip("-").isdecimal() else None)
            for key, texts in sums.items()
            if (text := _of_attempt(texts, at)) is not None
        )
        for at in range(times)
    ]


def _of_attempt(content: Any, at: int) -> Any:
    if isinstance(content, list):
        return content[at] if at < len(content) else None
    return content


def _any_point(content: Any, file: str, place: str) -> Point:
    """Read a key point from a text, or from an object with text, prevalence and arguments."""
    if not isinstance(content, dict):
        return _point(content, file, place)
    text = content.get("key_point", content.get("text"))
    point = _point(text, file, place)
    try:
        return Point(point.text, _prevalence(content), _arguments(content))
    except BadCell as misfit:
        raise UnreadableFile(file, str(misfit), column=place) from None


def _point(text: Any, file: str, place: str, *, cluster: int | None = None) -> Point:
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
        reason = (
            f"{printable_name(str(text), 40)} is not a text of 1 to {LONGEST_TEXT:,} characters"
        )
        raise UnreadableFile(file, reason, column=place)
    return Point(text.strip(), cluster=cluster)


def _places(numbers: Any, sums: Any, file: str, place: str) -> tuple[int, ...]:
    """Return the key point position of each argument, from the keys of ``sums``."""
    if numbers is None or not isinstance(sums, dict):
        return ()
    if any(isinstance(text, list) or text is None for text in sums.values()):
        return ()
    at = {key: position for position, key in enumerate(sums)} | {"-1": -1}
    if not isinstance(numbers, list) or not all(
        is_number(number) and str(int(number)) in at for number in numbers
    ):
        raise UnreadableFile(
            file, "sum_ids refers to key points that are not in sums", column=place
        )
    return tuple(at[str(int(number))] for number in numbers)
