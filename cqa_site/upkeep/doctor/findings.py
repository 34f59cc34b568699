"""What an examination found: a state, a sentence, and what to do about it.

Nothing here needs Django: the first look is made where it cannot start.
"""

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[3]


class State(StrEnum):
    """How it stands, worst first."""

    WRONG = "wrong"
    LOOK = "look"
    UNKNOWN = "unknown"
    WELL = "well"


@dataclass(frozen=True)
class Finding:
    """One sentence about what was found; a remedy and its command where there is one."""

    state: State
    says: str
    remedy: str = ""
    command: str = ""
    # Further sentences, where one examination found several things.
    more: tuple[str, ...] = ()


def well(says: str) -> Finding:
    """Nothing to be done."""
    return Finding(State.WELL, says)


def look(says: str, remedy: str = "", command: str = "", more: tuple[str, ...] = ()) -> Finding:
    """It works, and somebody should look at it."""
    return Finding(State.LOOK, says, remedy, command, more)


def wrong(says: str, remedy: str = "", command: str = "", more: tuple[str, ...] = ()) -> Finding:
    """It does not work, or is unsafe."""
    return Finding(State.WRONG, says, remedy, command, more)


def unknown(says: str, remedy: str = "") -> Finding:
    """It could not be examined."""
    return Finding(State.UNKNOWN, says, remedy)


class Told(Protocol):
    """An examination with what it found."""

    @property
    def key(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def finding(self) -> Finding: ...


def as_row(told: Told) -> dict[str, object]:
    """One examination as JSON; the names of its fields stay."""
    return {"key": told.key, "family": told.family, "name": told.name, **asdict(told.finding)}


def grouped(results: Iterable[Told], state: State) -> list[tuple[str, Finding]]:
    """What was found in a state, each once, under the names of all that found it."""
    groups: dict[Finding, list[Told]] = {}
    for each in results:
        if each.finding.state == state:
            groups.setdefault(each.finding, []).append(each)
    return [(_title(group), finding) for finding, group in groups.items()]


def _title(group: list[Told]) -> str:
    if len(group) == 1:
        return f"{group[0].family}: {group[0].name}"
    return ", ".join(each.name for each in group)


def python(arguments: str) -> str:
    """A command line for this environment's Python, short where it stands below the project."""
    program = Path(sys.executable)
    short = program.relative_to(ROOT) if program.is_relative_to(ROOT) else program.name
    return f"{short} {arguments}"


def manage(arguments: str) -> str:
    """A command line of this site."""
    return python(f"manage.py {arguments}")
