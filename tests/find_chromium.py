"""Find a Chromium for the browser tests, or get one, or say what to install."""

import os
import shutil
import subprocess

# The first draws pages without a browser around them, which halves the processor time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PACKAGES = ("chromium-headless-shell", "chromium")
ADVICE = (
    "The browser tests need Chromium and are skipped without it. "
    "On Debian or Ubuntu: sudo apt-get install chromium. "
    "Elsewhere install Chrome or Chromium and name it: CHROMIUM=/path/to/chrome make test"
)


def find() -> str | None:
    """Path of a Chromium: the one named in CHROMIUM, else one on the PATH."""
    named = os.environ.get("CHROMIUM")
    return named if named else next(filter(None, map(shutil.which, NAMES)), None)


def install() -> None:
    """As root on Debian, install the smaller package, or where there is none the whole browser."""
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("Installing Chromium for the browser tests (once) ...", flush=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
    options = ["-y", "-qq", "--no-install-recommends"]
    for package in PACKAGES:
        command = ["apt-get", "install", *options, package, "fonts-dejavu-core"]
        if subprocess.run(command, check=False, **quiet).returncode == 0:
            return


if __name__ == "__main__":
    if not find():
        install()
    if not find():
        print(ADVICE)
