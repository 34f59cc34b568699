"""Settings of numeric packages for this machine, which read them once when loaded.

So this happens when settings are read, before a page, worker or command imports any of them.
Values already set in the environment take precedence.
"""

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Threads that wait by spinning take the machine from everybody else, and from themselves: on a
# busy machine a step of training cost several times its processor seconds.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
COMPILED = ("numba", "umap-learn", "pynndescent")


def prepare(folder: Path) -> None:
    """Set how threads wait, and keep compiled functions below the data folder.

    The name of their folder holds the versions: Numba notices that a file changed, not that one
    did whose functions were compiled into another's.
    """
    for name, value in WAITING.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder / "compiled" / _versions()))


def _versions() -> str:
    return "-".join(_version(package) for package in COMPILED)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
