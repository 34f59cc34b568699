"""The lanes of the checks: ``python -m tests.lanes NAME [--long] [pytest's own arguments]``.

Without ``--long`` a lane runs what `make test` runs; with it, what only `make test-all` does.
Every test belongs to one lane, and to one of the two.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit
from zlib import crc32

from benchmarks.databases import SERVER, postgres_answers

ROOT = Path(__file__).parents[1]
# What pytest returns where a lane has no test of the length that was asked for.
NO_TESTS = 5
# Where nothing needs Django; so is every folder called `methods`.
PURE = ("tests/stats", "tests/judging", "tests/tabular")
BY_FILE = ("-n", "2", "--dist", "loadscope")
# Every process would load what only browsers need.
LEAN = ("-p", "no:playwright", "-p", "no:anyio")
WITHOUT_DJANGO = (
    *("-p", "no:django", "-o", "addopts=-q --strict-markers"),
    *("-W", "ignore::pytest.PytestConfigWarning"),
)
# `make test` runs the lane web in parts, one process each: less to collect, nobody to ask for the
# next test, and one of them loads torch. What no part names is in web-rest.
PARTS = {
    "web-studies": ("tests/api", "tests/security"),
    "web-comments": ("tests/argsum", "tests/benchmark"),
    "web-labels": ("tests/annotation", "tests/files", "tests/golden", "tests/results"),
}
# Locks, races, leases, search, JSON, collation, constraints and the SQL of every address: what a
# database can do otherwise. Asked of PostgreSQL where it answers, else of SQLite; `make test-all`
# asks both.
DIALECT = (
    "annotation/answers/test_conditions.py",
    "annotation/consensus/test_adjudication_race.py",
    "annotation/consensus/test_consensus.py",
    "annotation/editing/test_editing_drafts.py",
    "annotation/generation/test_generation_race.py",
    "annotation/imports/test_import_engine.py",
    "annotation/labelling/test_locks.py",
    "annotation/labelling/test_serving.py",
    "annotation/labelling/test_shared_table.py",
    "annotation/quality/test_quality.py",
    "annotation/retrieval/test_retrieval_corpora.py",
    "annotation/retrieval/test_retrieval_search.py",
    "argsum/counting/test_counting_race.py",
    "argsum/datasets/test_attribute_names.py",
    "argsum/leaderboard/test_leaderboard.py",
    "benchmark/leaderboard/test_boards.py",
    "benchmark/scoring/test_scoring_race.py",
    "benchmark/scoring/test_sheet_rows.py",
    "pay/test_payments.py",
    "pay/test_submissions.py",
    "people/sign_in/test_providers.py",
    "people/test_crowd.py",
    "people/test_invitations.py",
    "people/test_members.py",
    "people/test_unavailable.py",
    "results/test_keeping.py",
    "results/test_race.py",
    "rounds/onboarding/test_step_race.py",
    "rounds/test_crowd_race.py",
    "rounds/test_deciding.py",
    "rounds/test_integrity.py",
    "rounds/test_rules.py",
    "rounds/test_saving.py",
    "rounds/test_serving.py",
    "runs/test_engine.py",
    "runs/test_jobs.py",
    "runs/test_keys.py",
    "runs/test_ledger.py",
    "runs/test_provider_batches.py",
    "security/test_hostile_queries.py",
    "upkeep/test_doctor_database.py",
    "upkeep/test_whole_deletion.py",
)


@dataclass(frozen=True)
class Lane:
    """Arguments of pytest for one lane, and the variables that it sees."""

    arguments: Callable[[], list[str]]
    variables: Callable[[], dict[str, str]] = dict


def pure_places() -> list[str]:
    """Folders whose tests run without Django."""
    folders = sorted(path for path in (ROOT / "tests").rglob("methods") if path.is_dir())
    return [*PURE, *(str(path.relative_to(ROOT)) for path in folders)]


def dialect_places() -> list[str]:
    """Files of the lane of PostgreSQL."""
    return [f"tests/{place}" for place in DIALECT]


def everything_but(*places: str) -> list[str]:
    """All tests that are neither pure nor drive browsers or servers, without some files."""
    others = (*pure_places(), "tests/browser", "tests/faults", *places)
    return [*LEAN, *(f"--ignore={place}" for place in others)]


def web_arguments() -> list[str]:
    """Everything that no other lane of `make test` runs."""
    return everything_but(*(dialect_places() if postgres_answers() else ()))


def part_arguments(places: tuple[str, ...]) -> list[str]:
    """What the lane runs of some folders."""
    return [*web_arguments(), *places]


def rest_arguments() -> list[str]:
    """What no other part of the lane runs."""
    others = (f"--ignore={place}" for places in PARTS.values() for place in places)
    return [*web_arguments(), *others, "tests"]


def postgres_url() -> dict[str, str]:
    """The database that pytest makes and removes; each checkout has its own."""
    path = f"/counterpoint_{crc32(bytes(ROOT)):08x}"
    return {"DATABASE_URL": urlsplit(SERVER)._replace(path=path).geturl()}


LANES = {
    "pure": Lane(lambda: ["-n", "2", *LEAN, *WITHOUT_DJANGO, *pure_places()]),
    "web": Lane(lambda: [*BY_FILE, *web_arguments(), "tests"]),
    **{name: Lane(partial(part_arguments, places)) for name, places in PARTS.items()},
    "web-rest": Lane(rest_arguments),
    "postgres": Lane(lambda: [*BY_FILE, *LEAN, *dialect_places()], postgres_url),
    # Every address of the interface with rows behind it: a dear world, asked of SQLite before.
    "api-on-postgres": Lane(
        lambda: ["tests/api/test_answered.py", "tests/api/test_behaviour.py"], postgres_url
    ),
    # What PostgreSQL was asked, of SQLite.
    "dialect": Lane(lambda: [*BY_FILE, *LEAN, *dialect_places()]),
    "everything-on-postgres": Lane(lambda: [*BY_FILE, *everything_but(), "tests"], postgres_url),
    "browser": Lane(lambda: ["-n", "2", "--dist", "loadgroup", "tests/browser"]),
    # One after the other: two drills at once would make each other late.
    "faults": Lane(lambda: [*LEAN, "tests/faults"]),
}


def command(name: str, is_long: bool, more: list[str]) -> list[str]:
    """The command line of a lane."""
    length = ["--long"] if is_long else []
    return [sys.executable, "-m", "pytest", *length, *LANES[name].arguments(), *more]


def main(arguments: list[str]) -> int:
    """Return pytest's exit code, or 0 with a sentence where a lane has nothing to run."""
    name, *more = [word for word in arguments if word != "--long"]
    is_long, lane = "--long" in arguments, LANES[name]
    if (lane.variables is postgres_url or name == "dialect") and not postgres_answers():
        print("PostgreSQL does not answer on 127.0.0.1:5432: the lane web ran these on SQLite.")
        return 0
    process = subprocess.run(
        command(name, is_long, more), cwd=ROOT, env=os.environ | lane.variables(), check=False
    )
    # A lane may have no long test; one without any short test is broken.
    return 0 if is_long and process.returncode == NO_TESTS else process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
