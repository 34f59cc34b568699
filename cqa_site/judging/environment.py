"""The environment of packages: one process at a time changes it, and nothing in it stays half.

Needs nothing but Python: `cqa_site.judging.installing` begins without any package.
"""

import csv
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

LOCK = "language-packages.lock"
# What TORCH says by itself, and what uv calls the build that fits this machine.
CPU, CUDA, FITTING = "cpu", "cuda", "auto"


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Be the only one who changes an environment; wait for another one, and say so."""
    with (folder / LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stdout.write("Another command installs packages here; waiting for it ...\n")
            sys.stdout.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Installers inherit it, for one may outlive whoever started it.
        os.set_inheritable(lock.fileno(), True)
        yield


def is_changing(folder: Path) -> bool:
    """Whether somebody changes it now: a lock ends with its process, however that ends."""
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def is_whole(distribution: Distribution) -> bool:
    """Whether all files that its RECORD lists are there in full; compiled ones may be missing."""
    root = str(distribution.locate_file(""))
    rows = list(csv.reader((distribution.read_text("RECORD") or "").splitlines()))
    return bool(rows) and all(len(row) == 3 and _is_there(root, row[0], row[2]) for row in rows)


def _is_there(root: str, name: str, size: str) -> bool:
    try:
        return os.stat(os.path.join(root, name)).st_size == int(size) if size else True
    except OSError:
        return name.endswith(".pyc")


def remove_half_installed(folder: Path) -> None:
    """Delete the metadata of half-installed distributions: installers look at nothing else."""
    # Packages of the system may have no RECORD: only a virtual environment is repaired.
    place = "lib/python*/site-packages/" if (folder / "pyvenv.cfg").exists() else ""
    for info in folder.glob(f"{place}*.dist-info"):
        if not is_whole(Distribution.at(info)):
            shutil.rmtree(info)


def install(
    wanted: Sequence[str], *, log: TextIO | None = None, torch: Sequence[str] | None = None
) -> bool:
    """Install into the environment of this process: by uv, which takes seconds, else by pip.

    Without a log, what the last way says is shown. Where torch is among it, say with which options
    of uv; the first way gets the build that was asked for, from torch's own index.
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
    """Whether an installer succeeds."""
    quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
    return subprocess.call(command, **quiet, env=_variables(), close_fds=False) == 0


def _ways(torch: Sequence[str] | None) -> Iterator[list[str]]:
    """Commands to try in this order."""
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
    asked = os.environ.get("TORCH") or CPU
    return FITTING if asked == CUDA else asked


def _variables() -> dict[str, str]:
    """Tell uv where pip was told to look; as no argument, for addresses may hold passwords."""
    places = {
        "UV_FIND_LINKS": ",".join(os.environ.get("PIP_FIND_LINKS", "").split()),
        "UV_DEFAULT_INDEX": os.environ.get("PIP_INDEX_URL", ""),
        "UV_INDEX": os.environ.get("PIP_EXTRA_INDEX_URL", ""),
        "UV_HTTP_RETRIES": "1",
        "PIP_RETRIES": "1",
    }
    return {name: value for name, value in places.items() if value} | os.environ
