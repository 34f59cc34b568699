"""One judgement as a file states it, and what it goes into."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from argsum.counting.methods.released_rows import CountedSet
from cqa_site.files.actions.rows import Entry, ImportRefused

BOOK = "counts"
# Where sets come from that a file of counts brings; a set is known by its cell and system.
SOURCE = "human counts"
# Files of several people are about the same sets, so the name of a file names no dataset.
DATASET = "Judged by people"
LONGEST_NAME = 120
# What may be said of references that are worded otherwise; usually whatever is clear is taken.
ONLY_SAME, BY_ORDER = "same", "order"


def dataset_of(options: Mapping[str, Any]) -> str:
    """The name of the dataset asked for."""
    return (str(options.get("dataset") or "").strip() or DATASET)[:LONGEST_NAME]


def rater_of(options: Mapping[str, Any], file_name: str) -> str:
    """The name of the rater asked for, or the file's without its ending."""
    asked = str(options.get("rater") or "").strip()
    return (asked or PurePath(file_name).stem or file_name)[:LONGEST_NAME]


def references_of(options: Mapping[str, Any]) -> str:
    """What was said of references that are worded otherwise; raises ImportRefused."""
    asked = str(options.get("references") or "").strip()
    if asked not in ("", ONLY_SAME, BY_ORDER):
        raise ImportRefused(_("References are “same” or in “order”, not “%s”.") % asked[:40])
    return asked


@dataclass(frozen=True, slots=True)
class CountEntry(Entry):
    """One rater's counts for one set; known by set and rater."""

    is_row: ClassVar[bool] = False

    row: int

    dataset: str
    source: str
    rater: str
    counted: CountedSet
    references: str = ""
