"""A cell of a file, and the dataset it belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from argsum.datasets.methods.preprocessing import (
    ONE_KEY_POINT,
    ONE_SENTENCE,
    READ,
    SAYS_SOMETHING,
    UNIQUE,
)
from argsum.datasets.methods.raw_cells import RawCell
from cqa_site.files.actions.rows import Entry

BOOK = "cells"
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class CellEntry(Entry):
    """One topic and stance with everything that the file says about it."""

    is_row: ClassVar[bool] = False

    dataset: str
    source: str
    cell: RawCell
    # For the place of its remarks where one file has several members.
    place: str = ""


def dataset_name(options: Mapping[str, Any], file_name: str) -> str:
    """The name asked for, or the file's without its ending."""
    asked = str(options.get("dataset") or "").strip()
    return (asked or PurePath(file_name).stem or file_name)[:LONGEST_NAME]


def funnel_words(counts: Mapping[str, int]) -> str:
    """The counts of a funnel as one line."""
    words = {
        READ: _("%s read"),
        UNIQUE: _("%s unique"),
        ONE_KEY_POINT: _("%s with exactly one key point"),
        ONE_SENTENCE: _("%s of one sentence"),
        SAYS_SOMETHING: _("%s that say something"),
    }
    return " → ".join(words[step] % f"{number:,}" for step, number in counts.items())
