"""Environment variables for numeric packages, which read them only when they are imported.

The variables are therefore set together with the settings, before any page, worker or command
imports these packages. Values already in the environment take precedence.
"""

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Threads that spin while they wait slow down all other processes and themselves: on a busy
# machine, a training step took several times its processor seconds.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
COMPILED = ("numba", "umap-learn", "pynndescent")


def prepare(folder: Path) -> None:
    """Set how threads wait, and store compiled functions in the data folder.

    The folder name contains the package versions, because Numba notices changes to a file, but not
    to other files whose functions were compiled into it.
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
