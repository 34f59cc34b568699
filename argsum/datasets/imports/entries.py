"""A cell of a file, and the dataset it belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from argsum.datasets.methods.halves import LARGEST_SEED, PARTS, Half
from argsum.datasets.methods.preprocessing import (
    HALF,
    ONE_KEY_POINT,
    ONE_ROW,
    ONE_SENTENCE,
    PUBLISHED_SENTENCE,
    READ,
    SAYS_SOMETHING,
    UNIQUE,
)
from argsum.datasets.methods.raw_cells import RawCell
from cqa_site.files.actions.rows import Entry, ImportRefused

BOOK = "cells"
LONGEST_NAME = 120
PUBLISHED_RECIPE = "published"


@dataclass(frozen=True, slots=True)
class CellEntry(Entry):
    """One topic and stance with everything that the file says about it."""

    is_row: ClassVar[bool] = False

    dataset: str
    source: str
    cell: RawCell
    # For the place of its remarks where one file has several members.
    place: str = ""
    # What was asked for the recipe of a new dataset.
    recipe: str = ""
    half: Half | None = None


def dataset_name(options: Mapping[str, Any], file_name: str) -> str:
    """The name asked for, or the file's without its ending."""
    asked = str(options.get("dataset") or "").strip()
    return (asked or PurePath(file_name).stem or file_name)[:LONGEST_NAME]


def recipe_of(options: Mapping[str, Any]) -> str:
    """The recipe asked for: empty, or `PUBLISHED_RECIPE`; raises ImportRefused."""
    asked = str(options.get("recipe") or "").strip()
    if asked not in ("", PUBLISHED_RECIPE):
        raise ImportRefused(_("There is no recipe called “%s”.") % asked[:40])
    return asked


def asked_half(options: Mapping[str, Any]) -> Half | None:
    """The half asked for, with its seed; raises ImportRefused."""
    part, seed = (str(_given(options, name)).strip() for name in ("half", "seed"))
    if not part:
        return None
    if part not in PARTS:
        raise ImportRefused(_("A half is test or dev, not “%s”.") % part[:40])
    if not (seed or "1").isdecimal() or int(seed or 1) > LARGEST_SEED:
        raise ImportRefused(_("The seed “%s” is no whole number from 0.") % seed[:40])
    return Half(part, int(seed or 1))


def _given(options: Mapping[str, Any], name: str) -> Any:
    value = options.get(name)
    return "" if value is None else value


def funnel_words(counts: Mapping[str, int]) -> str:
    """The counts of a funnel as one line."""
    words = {
        READ: _("%s read"),
        UNIQUE: _("%s unique"),
        ONE_KEY_POINT: _("%s with exactly one key point"),
        ONE_ROW: _("%s with a match in exactly one row"),
        ONE_SENTENCE: _("%s of one sentence"),
        PUBLISHED_SENTENCE: _("%s of one sentence"),
        SAYS_SOMETHING: _("%s that say something"),
        HALF: _("%s in the half"),
    }
    return " → ".join(words[step] % f"{number:,}" for step, number in counts.items())
