"""Names of workers that say which process they are, so that a dead one's leases end at once.

A lease protects a call while nobody can tell whether its worker lives. On the machine where
the worker ran, somebody can: the process is there or it is not.
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
    """A new name for a worker of this process: machine, process, its start, and a mark."""
    return process_name(os.getpid(), secrets.token_hex(3))


def process_name(pid: int, mark: str) -> str:
    """What `gone` knows a process of this machine by."""
    return f"{_machine()}-{pid:x}-{_start_of(pid)}-{mark}"


def this_worker() -> str:
    """The name under which this process does jobs; a forked one gets its own."""
    return _name_in(os.getpid())


def gone(names: Iterable[str]) -> set[str]:
    """Those workers whose process is surely over: it ran on this machine and is not there."""
    return {name for name in names if _is_gone(name)}


def mark_of_code() -> str:
    """A mark of the code that lies here; the same on every machine that has the same files."""
    digest = hashlib.sha256()
    for package in OURS:
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def code_at_start() -> str:
    """The mark when this process first asked: it runs what lay here then."""
    return mark_of_code()


def _is_gone(name: str) -> bool:
    machine, _, rest = name.partition("-")
    parts = rest.split("-")
    if machine != _machine() or len(parts) != 3:
        return False
    pid = int(parts[0], 16)
    # A start that cannot be read says nothing; a process that ends meanwhile is found next time.
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
    """When a process began, in ticks since the machine did; a number is given away again."""
    fields = _stat(pid)
    return f"{int(fields[19]):x}" if fields else UNKNOWN


def _stat(pid: int) -> list[str]:
    """State and numbers of a process after its name, which may hold anything; see proc(5)."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


@cache
def _name_in(_pid: int) -> str:
    return worker_name()


@cache
def _machine() -> str:
    """A mark of this boot of this machine and the space in which its process numbers count."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text()
        place = f"{boot}{(PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        place = socket.gethostname()
    return hashlib.sha256(place.encode()).hexdigest()[:8]
