"""What the reproduction of a paper hands to `manage.py reproduce`.

A paper is a function that computes its figures from the released files, registered in the command
as such, and a second one that computes the same tables from the rows of a live study. Both return
a `Reproduction`: the figures (`cqa_site.reproduction.figures`) and how the paper's own tables are
laid out (`cqa_site.reproduction.tables`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqa_site.reproduction.figures import Figure
from cqa_site.reproduction.tables import Layout

# How much of a long computation is done: done, total, of what.
Say = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Reproduction:
    """All figures of a paper in its order, and its tables."""

    figures: tuple[Figure, ...]
    layouts: tuple[Layout, ...] = ()


# The folder of the released files, and the options of the command. Raises CommandError.
Paper = Callable[[Path, dict[str, Any], Say], Reproduction]
# Name or id of the study, and the options of the command. Raises CommandError.
OfStudy = Callable[[str, dict[str, Any], Say], Reproduction]
