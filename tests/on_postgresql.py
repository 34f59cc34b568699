"""Run tests again on PostgreSQL, if a server answers: what a dialect can break, or ``--all``."""

import os
import subprocess
import sys
from urllib.parse import urlsplit

from benchmarks.databases import SERVER, postgres_answers

# tests/faults applies the migrations to
# both databases.
DIALECT = {
    # The SQL of every page and every address, with rows behind it: types, grouping, JSON.
    "security/test_matrix.py::test_roles_in_the_own_study",
    "api/test_access.py::test_whoever_may_gets_it",
    "api/test_behaviour.py",
    # What SQLite stores or compares and PostgreSQL refuses.
    "api/test_conformity.py",
    "api/test_filters.py",
    "api/test_bodies.py",
    "annotation/test_import_engine.py",
    "annotation/test_import_batches.py",
    "annotation/test_import_table.py",
    "annotation/test_answers_import.py",
    "argsum/test_argument_imports.py",
    "argsum/test_count_import.py",
    "argsum/test_score_imports.py",
    "benchmark/test_judged_import.py",
    "benchmark/test_score_sheet_import.py",
    # Locks, races, leases and claims.
    "annotation/test_locks.py",
    "annotation/test_generation_race.py",
    "annotation/test_serving.py",
    "annotation/test_editing_drafts.py",
    "argsum/test_counting_race.py",
    "benchmark/test_scoring_race.py",
    "benchmark/test_scoring_parts_race.py",
    "results",
    "runs/test_engine.py",
    "runs/test_jobs.py",
    "runs/test_keys.py",
    "runs/test_ledger.py",
    "runs/test_provider_batches.py",
    "runs/test_worked_example.py",
    # Constraints and what contradicts them.
    "annotation/test_campaigns_as_rounds.py",
    "annotation/test_conditions.py",
    "annotation/test_integrity.py",
    "benchmark/test_score_integrity.py",
    "benchmark/test_sheet_rows.py",
    "people/test_crowd.py",
    "people/test_invitations.py",
    "people/test_members.py",
    "people/test_unavailable.py",
    # Search, collation, aggregates and rows that are fingerprinted.
    "annotation/test_retrieval_search.py",
    "annotation/test_retrieval_corpora.py",
    "annotation/test_adoption.py",
    "annotation/test_consensus.py",
    "annotation/test_exports.py",
    "annotation/test_quality.py",
    "annotation/test_snapshots.py",
    "benchmark/test_boards.py",
    "argsum/test_leaderboard.py",
    "argsum/test_key_point_boards.py",
    "runs/test_database_options.py",
}
# With ``--all``: whatever asks a database anything.
FOLDERS = ["annotation", "api", "argsum", "benchmark", "people", "results", "runs", "security"]
PURE = ("annotation/methods", "argsum/methods", "benchmark/methods", "benchmark/test_finetune.py")


def main(arguments: list[str]) -> int:
    """Return pytest's exit code, or 0 with a sentence where there is no server."""
    if not postgres_answers():
        print("PostgreSQL does not answer on 127.0.0.1:5432: its tests are skipped.")
        return 0
    url = urlsplit(SERVER)._replace(path="/counterpoint").geturl()
    places = FOLDERS if "--all" in arguments else sorted(DIALECT)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope"]
    command += ["-m", "not slow and not browser", *(f"tests/{place}" for place in places)]
    command += [f"--ignore=tests/{path}" for path in PURE]
    return subprocess.run(command, env=os.environ | {"DATABASE_URL": url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
