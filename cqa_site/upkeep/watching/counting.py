"""Request counts of this process, summed over all processes of the site.

A server with several processes has one file for each, in a folder named after the server: all of
them start at zero, and files of earlier servers are deleted.
"""

import os
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cqa_site.runs.processes import gone, process_name

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram

SHARED = "PROMETHEUS_MULTIPROC_DIR"
# Of servers on other machines nobody here can say whether they live.
LEFT_BEHIND = 7 * 24 * 3600.0
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Around what people notice: a label in 50 ms, a page in a quarter of a second.
# Bytes that a new file of counts takes, and at most those of an entry beside its key.
ROOM, ENTRY = 1 << 20, 40
BUCKETS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class RequestCounts(NamedTuple):
    registry: "CollectorRegistry"
    requests: "Counter"
    seconds: "Histogram"


def share(folder: Path) -> None:
    """Store this process's counts beside its neighbours'; call before anything is counted.

    A count of a process that ended stays as long as the server: a sum that fell would look like
    a new beginning.
    """
    if SHARED in os.environ:
        return
    own = folder / process_name(os.getppid(), "web")
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ[SHARED] = str(own)
    others = [neighbour for neighbour in folder.iterdir() if neighbour != own]
    over = gone(neighbour.name for neighbour in others)
    for other in others:
        # A neighbour that starts at the same time may be taking it away already.
        with suppress(FileNotFoundError):
            changed = max(path.stat().st_mtime for path in (other, *other.glob("*")))
            if other.name in over or time.time() - changed > LEFT_BEHIND:
                shutil.rmtree(other, ignore_errors=True)


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count one response; every label has few values, whatever the request.

    Where a full disk has no room for one more count the answer is not counted.
    """
    method = method if method in METHODS else "other"
    with suppress(OSError):
        counts = _counts()
        counts.requests.labels(route, method, f"{status // 100}xx").inc()
        counts.seconds.labels(route).observe(seconds)


def counted() -> "CollectorRegistry":
    """Return the counts of all processes of this server."""
    if SHARED not in os.environ:
        return _counts().registry
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


@cache
def _counts() -> RequestCounts:
    """Create the counters at the first request, because the package reads the folder on load."""
    from prometheus_client import (
        CollectorRegistry,
        Counter,
        Histogram,
        disable_created_metrics,
    )

    disable_created_metrics()  # type: ignore[no-untyped-call]
    _reserve_room()
    registry = CollectorRegistry()
    return RequestCounts(
        registry,
        Counter(
            "counterpoint_requests",
            "Requests answered, by the name of the address.",
            ("route", "method", "status"),
            registry=registry,
        ),
        Histogram(
            "counterpoint_request_seconds",
            "Time until an answer began, by the name of the address.",
            ("route",),
            registry=registry,
            buckets=BUCKETS,
        ),
    )


def _reserve_room() -> None:
    """Reserve disk space for the files of counts before a process maps them.

    A page that is written where a full disk has no room for it ends the process (SIGBUS).
    """
    from prometheus_client import values
    from prometheus_client.mmap_dict import MmapedDict

    class Reserved(MmapedDict):
        def __init__(self, filename: str, read_mode: bool = False) -> None:
            if not read_mode:
                with open(filename, "ab") as file:
                    os.posix_fallocate(file.fileno(), 0, ROOM)
            super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]

        def _init_value(self, key: str) -> None:
            if self._used + len(key.encode()) + ENTRY > self._capacity:
                os.posix_fallocate(self._f.fileno(), self._capacity, self._capacity)
            super()._init_value(key)  # type: ignore[no-untyped-call]

    values.MmapedDict = Reserved  # type: ignore[misc]
