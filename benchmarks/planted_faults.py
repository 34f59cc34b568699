"""Plant forty known faults in a copy of the project, one at a time, and see which tests fail.

For each fault, its ``aims`` run first, in every test lane, up to the first failing test. If they
miss the fault, all of ``make test`` (or ``make test-all``) runs, unless ``--aims`` is given.

    python -m benchmarks.planted_faults [--only NAME …] [--aims] [--quick]
        [--lane test|all] [--out FILE.json] [--tree DIR]

The faults are in `benchmarks.planted.faults`. The working tree and its environment are not
changed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.databases import SERVER, postgres_answers
from benchmarks.planted.faults import FAULTS, Fault
from tests import lanes

ROOT = Path(__file__).parents[1]
# Stop at the first failure and print its name on a separate line.
PYTEST = ("-x", "-rfE", "--tb=no", "-p", "no:cacheprovider")
# Exit codes of pytest.
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5
# A test that hangs because of a fault counts as failed.
LONGEST_SECONDS = 1800
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR|SUBFAILED.*?) (tests/.+?)(?: - .*)?$", re.M)
FAILED_TARGET = re.compile(r"\*\*\* \[\S+ ([\w-]+)\] Error")
MISSED = "nobody"


@dataclass(frozen=True)
class Lane:
    """A part of the checks: the paths of its tests, and pytest's options."""

    name: str
    places: tuple[str, ...]
    options: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    database: str = ""


def lanes_of(checks: str) -> tuple[Lane, ...]:
    """Return the test lanes of ``make test``, and for "all" also those of ``make test-all``."""
    pure, dialect = tuple(lanes.pure_places()), tuple(lanes.dialect_places())
    apart = (*pure, "tests/browser", "tests/faults")
    # A unique name, because other tests may run on the same server.
    url = urlsplit(SERVER)._replace(path=f"/planted_{os.getpid()}").geturl()
    on_server = (Lane("postgres", dialect, database=url),) if postgres_answers() else ()
    short = (
        Lane("pure", pure, lanes.WITHOUT_DJANGO),
        Lane("web", ("tests",), without=(*apart, *(dialect if on_server else ()))),
        *on_server,
        Lane("browser", ("tests/browser",)),
        Lane("faults", ("tests/faults",)),
    )
    if checks != "all":
        return short
    return (*short, *(replace(lane, options=("--long", *lane.options)) for lane in short))


@dataclass(frozen=True)
class Verdict:
    """The first test that failed because of a fault, and its lane; empty if none failed."""

    name: str
    lane: str
    test: str
    seconds: float
    means: str


@dataclass
class Checks:
    """The checks of a copy of the project."""

    copy: Path
    lanes: tuple[Lane, ...]
    target: str
    environment: dict[str, str]
    is_quick: bool
    # Lane and path of tests that pass without a fault.
    sound: set[tuple[str, str]] = field(default_factory=set)

    def examine(self, fault: Fault, *, aims_only: bool) -> Verdict:
        """Plant a fault and return which test noticed it."""
        if not self.is_quick:
            self.check_unplanted(fault.aims)
        started = time.monotonic()
        with planted(self.copy, fault):
            lane, test = self.aimed(fault)
        seconds = time.monotonic() - started
        if self.is_quick:
            self.check_unplanted([test])
        if not test and not aims_only:
            self.check_everything()
            started = time.monotonic()
            with planted(self.copy, fault):
                lane, test = self.make()
            seconds = time.monotonic() - started
        return Verdict(fault.name, lane or MISSED, test, round(seconds, 1), fault.means)

    def check_unplanted(self, aims: Iterable[str]) -> None:
        """Exit unless the tests pass without a fault; each test is checked once."""
        for lane in self.lanes:
            known = [place for name, place in self.sound if name == lane.name]
            tests = [
                place
                for place in places_in(lane, aims)
                if not any(is_inside(place, each) for each in known)
            ]
            if failed := self.run(lane, tests):
                sys.exit(f"Without any fault {failed} fails already. Nothing was measured.")
            self.sound |= {(lane.name, place) for place in tests}

    def check_everything(self) -> None:
        """Exit unless all checks pass without a fault."""
        if ("", self.target) in self.sound:
            return
        lane, failed = self.make()
        if lane:
            sys.exit(f"make {self.target} fails without any fault: {failed}.")
        self.sound.add(("", self.target))

    def aimed(self, fault: Fault) -> tuple[str, str]:
        """Return the lane and name of the first failing test among the aims."""
        for aim in fault.aims:
            for lane in self.lanes:
                if failed := self.run(lane, places_in(lane, (aim,))):
                    return lane.name, failed
        return "", ""

    def run(self, lane: Lane, tests: list[str]) -> str:
        """Run tests of one lane; return the first one that fails."""
        if not tests:
            return ""
        left_out = [
            f"--{'deselect' if '::' in place else 'ignore'}={place}" for place in lane.without
        ]
        command = [sys.executable, "-m", "pytest", *PYTEST, *left_out, *lane.options]
        environment = {"DATABASE_URL": lane.database} if lane.database else {}
        code, said = self._run([*command, *tests], environment)
        if code in (PASSED, NONE_CHOSEN):
            return ""
        if code == FAILED and (found := FAILED_TEST.search(said)):
            return found[1]
        if code is None:
            return f"no end after {LONGEST_SECONDS} seconds: {' '.join(tests)}"
        sys.exit(f"pytest ended with {code} in the lane {lane.name}:\n{said[-3000:]}")

    def make(self) -> tuple[str, str]:
        """Run all checks; return the lane and name of the first failure."""
        environment = {"PYTEST_ADDOPTS": " ".join(PYTEST)}
        code, said = self._run(["make", self.target], environment)
        if code == PASSED:
            return "", ""
        if found := FAILED_TEST.search(said):
            return self.lane_of(found[1]), found[1]
        target = FAILED_TARGET.search(said)
        return "make", target[1] if target else said[-200:]

    def lane_of(self, test: str) -> str:
        """Return the first lane that may contain a test."""
        holding = (lane for lane in self.lanes if places_in(lane, (test,)))
        return next((lane.name for lane in holding), "web")

    def _run(self, command: list[str], environment: dict[str, str]) -> tuple[int | None, str]:
        """Return exit code and output; the code is None after a timeout."""
        try:
            done = subprocess.run(
                command,
                cwd=self.copy,
                env=self.environment | environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LONGEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout


def places_in(lane: Lane, aims: Iterable[str]) -> list[str]:
    """Return the aims, or parts of them, that a lane runs."""
    found: dict[str, None] = {}
    for aim in aims:
        for place in lane.places:
            if is_inside(aim, place):
                found[aim] = None
            elif is_inside(place, aim):
                found[place] = None
    return [each for each in found if not any(is_inside(each, left) for left in lane.without)]


def is_inside(path: str, other: str) -> bool:
    """Whether a test path equals the other path or is inside it."""
    return path == other or path.startswith((f"{other}/", f"{other}::", f"{other}["))


@contextmanager
def planted(copy: Path, fault: Fault) -> Iterator[None]:
    """Plant a fault in a file of the copy, and undo it at the end of the block."""
    path = copy / fault.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


@contextmanager
def copied(tree: Path) -> Iterator[Path]:
    """Yield a temporary copy of all files that git tracks or would add."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=tree, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copy = Path(folder, "tree")
        for name in filter(None, names.split("\0")):
            if (tree / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / name, copy / name)
        for requirements in copy.glob("requirements*.txt"):
            # Older than the environment, so that make does not install anything into it.
            os.utime(requirements, (0, 0))
        environment = Path(sys.executable).parents[1]
        (copy / ".venv").symlink_to(environment)
        for models in (tree / ".models", environment.resolve().parent / ".models"):
            if models.is_dir() and not (copy / ".models").exists():
                (copy / ".models").symlink_to(models)
        yield copy


def check_table(tree: Path, faults: Iterable[Fault]) -> None:
    """Exit unless the text that each fault replaces occurs exactly once in its file."""
    for fault in faults:
        count = (tree / fault.file).read_text(encoding="utf-8").count(fault.old)
        if count != 1:
            sys.exit(f"{fault.name}: the old text stands {count} times in {fault.file}, not once.")
        if missing := [aim for aim in fault.aims if not (tree / aim).exists()]:
            sys.exit(f"{fault.name}: there is no {missing[0]}.")


def main() -> None:
    """Print a line for each fault, and how many faults were caught."""
    parser = argparse.ArgumentParser(description="Which tests notice which planted fault.")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[one.name for one in FAULTS])
    parser.add_argument("--lane", choices=("test", "all"), default="test")
    parser.add_argument("--aims", action="store_true", help="run nothing but the aims")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="without the fault run only the test that noticed it, not all aims before",
    )
    parser.add_argument("--out", type=Path, help="write the verdicts as JSON")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the project that is copied")
    asked = parser.parse_args()
    tree = asked.tree.resolve()
    faults = [fault for fault in FAULTS if not asked.only or fault.name in asked.only]
    check_table(tree, faults)
    data = os.environ.get("COUNTERPOINT_REFERENCE_DATA", str(tree.parent / "shared" / "data"))
    environment = os.environ | {"COUNTERPOINT_REFERENCE_DATA": data}
    target = "test-all" if asked.lane == "all" else "test"
    verdicts: list[Verdict] = []
    print("fault | caught by | test | seconds")
    with copied(tree) as copy:
        checks = Checks(copy, lanes_of(asked.lane), target, environment, asked.quick)
        for fault in faults:
            verdict = checks.examine(fault, aims_only=asked.aims)
            verdicts.append(verdict)
            print(
                f"{verdict.name} | {verdict.lane} | {verdict.test or '–'} | {verdict.seconds}",
                flush=True,
            )
            if asked.out:
                asked.out.write_text(json.dumps([asdict(each) for each in verdicts], indent=1))
    caught = sum(verdict.lane != MISSED for verdict in verdicts)
    print(f"{caught} of {len(verdicts)} planted faults were caught.")


if __name__ == "__main__":
    main()
