"""The released final labels: JSON comparisons with their labelled arguments.

The release repeats some sentences and labels a few of them differently; a
unit is (object1, object2, text), and deciding is left to whoever imports.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation.corpus.methods.label_scale import RELEVANCE_SCALE, parse_label
from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Value, open_table

Unit = tuple[str, str, str]


@dataclass(frozen=True)
class FinalLabel:
    """One argument of one comparison.

    Attributes
    ----------
    row : int
        Position in the whole file, counted from 1 over all comparisons.
    index : int
        The release's own running number, as written.
    text : str or None
        None where the release has null; the labels then stand for nothing.
    label, model_label : int or None
        By people and by the language model.
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
        """What the labels are about; None without a text."""
        return None if self.text is None else (self.object1, self.object2, self.text)


def read_final_labels(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    scale: Collection[int] = RELEVANCE_SCALE,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[FinalLabel | Problem]:
    """Read the arguments of all comparisons in file order.

    Yields
    ------
    FinalLabel or Problem
        One per argument; entries with a null text are given, not dropped.

    Raises
    ------
    UnreadableFile
        At the first step, if the file is not such JSON.
    """
    shown_name = name or Path(path).name
    position = 0
    with open_table(path, name=shown_name, kind="json", limits=limits) as table:
        for comparison in table.rows:
            objects = [comparison.values.get(key) for key in ("obj1", "obj2")]
            entries = comparison.values.get("arguments")
            if not isinstance(entries, list) or not all(_is_filled(each) for each in objects):
                reason = f"comparison {comparison.number} lacks obj1, obj2 or arguments"
                yield Problem(table.name, None, None, reason)
                continue
            for entry in entries:
                position += 1
                yield _read_entry(entry, position, objects, scale, table.name)


def _is_filled(value: Value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _read_entry(
    entry: Value, position: int, objects: list[Value], scale: Collection[int], file: str
) -> FinalLabel | Problem:
    if not isinstance(entry, dict):
        return Problem(file, position, "arguments", "this argument is no object")
    index, text = entry.get("index"), entry.get("argument")
    if isinstance(index, bool) or not isinstance(index, int):
        return Problem(file, position, "index", "is no whole number")
    if text is not None and not isinstance(text, str):
        return Problem(file, position, "argument", "is neither text nor null")
    labels: list[int | None] = []
    for column in ("relevance", "relevance_gpt"):
        try:
            labels.append(parse_label(entry.get(column), scale))
        except ValueError as error:
            return Problem(file, position, column, str(error))
    return FinalLabel(position, str(objects[0]), str(objects[1]), index, text, *labels)
