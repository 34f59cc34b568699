"""What a reader is given, and how it says that a record cannot be taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cqa_site.people.models import Study
from cqa_site.tabular import Problem

from .rows import Flag


@dataclass(frozen=True)
class Source:
    """A file and how to read it; ``scale`` holds the labels that exist.

    ``study`` is for readers that look up what the file only describes.
    """

    path: Path
    name: str
    scale: tuple[int, ...]
    campaign: str
    study: Study
    options: Mapping[str, Any] = field(default_factory=dict)


def rejected(problem: Problem, place: str = "", of: str = "votes") -> Flag:
    """A record its reader could not use, counted among the objects it would have made."""
    column = " · ".join(part for part in (place, problem.column or "") if part)
    return Flag(problem.row, column, problem.reason, is_rejection=True, object=of, place=place)
