"""Run tests on PostgreSQL, if a server answers: what a dialect can break, or ``--all``.

``--here-only`` prints what the other lane may leave out because it is asked here.
"""

import os
import subprocess
import sys
from urllib.parse import urlsplit

from benchmarks.databases import SERVER, postgres_answers

# Asked of one database on every commit: PostgreSQL is the stricter one, for it refuses what SQLite
# stores and compares. What is released is imported and counted on SQLite by tests/golden, what is
# made for the demo by tests/browser.
HERE_ONLY = {
    # Walks of whole tables, and one thing in many orders.
    "annotation/editing/test_editing_drafts.py::TestTwoTabs::test_no_text_is_lost_in_any_order",
    "annotation/exports/test_exports.py::test_every_content_has_the_same_rows_in_every_format",
    "annotation/quality/test_quality.py",
    "security/test_matrix.py::test_roles_in_the_own_study",
    # The SQL of every address, with rows behind it: types, grouping, JSON.
    "api/test_access.py::test_whoever_may_gets_it",
    "api/test_behaviour.py",
    "api/test_conformity.py",
    "api/test_filters.py",
    # What is read from files.
    "annotation/imports/test_import_engine.py",
    "annotation/imports/test_import_table.py",
    "annotation/imports/test_answers_import.py",
    "argsum/datasets/test_argument_imports.py",
    "argsum/counting/test_count_import.py",
    "argsum/imports/test_score_imports.py",
    "benchmark/imports/test_judged_import.py",
    "benchmark/imports/test_score_sheet_import.py",
    "files/test_import_batches.py",
    # Constraints and what contradicts them.
    "annotation/labelling/test_campaigns_as_rounds.py",
    "annotation/answers/test_conditions.py",
    "annotation/labelling/test_integrity.py",
    "benchmark/scoring/test_score_integrity.py",
    "benchmark/scoring/test_sheet_rows.py",
    "people/test_invitations.py",
    "people/test_members.py",
    # Collation, aggregates and rows that are fingerprinted.
    "annotation/consensus/test_adoption.py",
    "annotation/consensus/test_consensus.py",
    "annotation/figures/test_snapshots.py",
    "benchmark/leaderboard/test_boards.py",
    "argsum/leaderboard/test_leaderboard.py",
    "argsum/leaderboard/test_key_point_boards.py",
}
# Of both on every commit; tests/faults applies the migrations to both.
DIALECT = HERE_ONLY | {
    # Locks, races, leases and claims.
    "annotation/labelling/test_locks.py",
    "people/sign_in/test_providers.py",
    "annotation/labelling/test_serving.py",
    "annotation/generation/test_generation_race.py",
    "annotation/editing/test_editing_drafts.py",
    "argsum/analysis/test_point_writing.py",
    "argsum/counting/test_counting_race.py",
    "benchmark/scoring/test_scoring_race.py",
    "benchmark/scoring/test_scoring_parts_race.py",
    "people/test_crowd.py",
    "people/test_unavailable.py",
    "results/test_keeping.py",
    "results/test_race.py",
    "runs/test_engine.py",
    # The server's own clock, and which migrations it knows.
    "upkeep/test_doctor_database.py",
    "runs/test_jobs.py",
    "runs/test_keys.py",
    "runs/test_ledger.py",
    "runs/test_provider_batches.py",
    "runs/test_worked_example.py",
    # Search has a language of its own in each.
    "annotation/retrieval/test_retrieval_search.py",
    "annotation/retrieval/test_retrieval_corpora.py",
    "argsum/datasets/test_attribute_names.py",
    "runs/test_database_options.py",
    "upkeep/test_metrics.py",
}
# With ``--all``: whatever asks a database anything.
FOLDERS = [
    "annotation",
    "api",
    "argsum",
    "benchmark",
    "files",
    "people",
    "results",
    "runs",
    "security",
    "upkeep",
]
PURE = ("benchmark/preferences/methods", "benchmark/distillation/test_finetune.py")


def main(arguments: list[str]) -> int:
    """Return pytest's exit code, or 0 with a sentence where there is no server."""
    if "--here-only" in arguments:
        print(*(left_out() if postgres_answers() else ()))
        return 0
    if not postgres_answers():
        print("PostgreSQL does not answer on 127.0.0.1:5432: its tests are skipped.")
        return 0
    url = urlsplit(SERVER)._replace(path="/counterpoint").geturl()
    is_all = "--all" in arguments
    places = FOLDERS if is_all else sorted(DIALECT)
    wanted = "not slow and not browser" + ("" if is_all else " and not again")
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope"]
    command += ["-m", wanted, *(f"tests/{place}" for place in places)]
    command += [f"--ignore=tests/{path}" for path in PURE]
    return subprocess.run(command, env=os.environ | {"DATABASE_URL": url}, check=False).returncode


def left_out() -> list[str]:
    """Arguments for pytest in the lane of SQLite."""
    return [
        f"--{'deselect' if '::' in place else 'ignore'}=tests/{place}"
        for place in sorted(HERE_ONLY)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
