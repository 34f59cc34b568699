"""What the reproduction of a paper hands to `manage.py reproduce`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# How much of a long computation is done: done, total, of what.
Say = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Row:
    """One figure: as printed, as values for JSON, and whether it differs without a reason."""

    name: str
    cells: tuple[str, ...]
    values: dict[str, Any]
    is_unexplained: bool


@dataclass(frozen=True)
class Reproduced:
    """The figures of a paper; ``widths`` are those of all columns but the last."""

    headings: tuple[str, ...]
    widths: tuple[int, ...]
    rows: tuple[Row, ...]


# The folder of the released files, and the options of the command. Raises CommandError.
Paper = Callable[[Path, dict[str, Any], Say], Reproduced]
