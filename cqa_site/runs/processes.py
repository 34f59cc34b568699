"""Worker names that identify a process, so that a dead worker's leases end immediately.

A lease protects a call while it is unknown whether its worker is alive. On the worker's own
machine, this can be checked, because the process either exists or does not.
"""

import hashlib
import os
import secrets
import socket
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PROC = Path("/proc")
ROOT = Path(__file__).parents[2]
OURS = ("cqa_site", "annotation", "benchmark", "argsum")
UNKNOWN = "0"


def worker_name() -> str:
    """Return a new name for a worker in this process: machine, process id, start time and mark."""
    return process_name(os.getpid(), secrets.token_hex(3))


def process_name(pid: int, mark: str) -> str:
    """Return the name by which `gone` identifies a process on this machine."""
    return f"{_machine()}-{pid:x}-{_start_of(pid)}-{mark}"


def this_worker() -> str:
    """Return the worker name of this process for jobs; a forked process gets its own name."""
    return _name_in(os.getpid())


def gone(names: Iterable[str]) -> set[str]:
    """Return the workers whose process ran on this machine and no longer exists."""
    return {name for name in names if _is_gone(name)}


def mark_of_code() -> str:
    """Return a hash of the installed code, identical on all machines with the same files."""
    digest = hashlib.sha256()
    for package in OURS:
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def code_at_start() -> str:
    """Return the hash of the code that this process runs, computed at the first call."""
    return mark_of_code()


def _is_gone(name: str) -> bool:
    machine, _, rest = name.partition("-")
    parts = rest.split("-")
    if machine != _machine() or len(parts) != 3:
        return False
    pid = int(parts[0], 16)
    # An unreadable start time proves nothing; a process that just ended is found next time.
    return not _is_there(pid) or _start_of(pid) not in (UNKNOWN, parts[1])


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _stat(pid)[:1] != ["Z"]


def _start_of(pid: int) -> str:
    """Return the start time of a process in ticks since boot, because process ids are reused."""
    fields = _stat(pid)
    return f"{int(fields[19]):x}" if fields else UNKNOWN


def _stat(pid: int) -> list[str]:
    """Return the fields that follow a process's name in its stat file; see proc(5)."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


@cache
def _name_in(_pid: int) -> str:
    return worker_name()


@cache
def _machine() -> str:
    """Return an id for the current boot of this machine and its process id namespace."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        place = f"{boot}{(PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        place = socket.gethostname()
    return hashlib.sha256(place.encode()).hexdigest()[:8]
