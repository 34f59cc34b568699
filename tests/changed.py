"""Run the tests of what changed since ``main``: those files, rooms, and files of the same name."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What pytest returns where every test of the files is slow, drives a browser or reads the release.
NONE_CHOSEN = 5
APPS = ("annotation", "argsum", "benchmark")
# Of the platform each package has a folder; settings and addresses belong to the web.
PLATFORM = ("files", "judging", "people", "results", "runs", "stats", "tabular", "web")


def main() -> int:
    """Return pytest's exit code; 0 where nothing that has tests was changed."""
    places = sorted({place for name in changed() for place in tests_of(name)})
    if not places:
        print("Nothing changed that has tests of its own.")
        return 0
    print("Tests of what changed:", *places)
    chosen = ["-m", "not browser and not reference"]
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope", "-x", *chosen]
    code = subprocess.run([*command, *places], cwd=ROOT, check=False).returncode
    return 0 if code == NONE_CHOSEN else code


def changed() -> list[str]:
    """Files that differ from where this branch left ``main``, and those git does not know yet."""
    base = git("merge-base", "HEAD", "main") or ["HEAD"]
    # On main itself: the last commit and what is not committed yet.
    since = "HEAD~1" if base == git("rev-parse", "HEAD") else base[0]
    return git("diff", "--name-only", since) + git("ls-files", "--others", "--exclude-standard")


def tests_of(name: str) -> list[str]:
    """Where the tests of one file are: those of its room, or those that are named like it."""
    path = Path(name)
    if path.parts[0] == "tests":
        is_test = path.name.startswith("test_") and (ROOT / path).exists()
        return [name] if is_test else []
    if path.suffix != ".py" or "migrations" in path.parts:
        return []
    folder = path.parts[1] if len(path.parts) > 2 else ""
    if path.parts[0] in APPS:
        room = Path("tests", path.parts[0], folder)
        if folder and (ROOT / room).is_dir():
            # Names of files are short in a room, and a room's tests are few: all of them.
            return [str(room)]
        place = path.parts[0]
    else:
        place = folder if path.parts[0] == "cqa_site" and folder in PLATFORM else ""
    return [str(each.relative_to(ROOT)) for each in _named(ROOT / "tests" / place, path.stem)]


def _named(folder: Path, stem: str) -> list[Path]:
    """Tests whose name has a word of the file's name; those named the same come alone."""
    found = [each for each in folder.rglob("test_*.py") if each.stem.endswith(stem)]
    words = [word for word in stem.split("_") if len(word) > 3]
    return found or [
        each for each in folder.rglob("test_*.py") if any(word in each.stem for word in words)
    ]


def git(*arguments: str) -> list[str]:
    """Lines that git answers, none where it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


if __name__ == "__main__":
    sys.exit(main())
