"""Run the tests that use the database once more on PostgreSQL, if a server answers."""

import os
import subprocess
import sys
from urllib.parse import urlsplit

from benchmarks.databases import SERVER, postgres_answers

# Who may see what is asked of the same querysets on either database: tests/security runs once.
FOLDERS = ["annotation", "api", "argsum", "benchmark", "people", "runs"]
# Who may call what is asked once, like tests/security; pure methods and a model that is trained
# ask no database anything.
ELSEWHERE = (
    "annotation/methods",
    "api/test_access.py",
    "api/test_parity.py",
    "api/test_schema.py",
    "argsum/methods",
    "benchmark/methods",
    "benchmark/test_finetune.py",
)


def main() -> int:
    """Return pytest's exit code, or 0 with a sentence where there is no server."""
    if not postgres_answers():
        print("PostgreSQL does not answer on 127.0.0.1:5432: its tests are skipped.")
        return 0
    url = urlsplit(SERVER)._replace(path="/counterpoint").geturl()
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope"]
    command += ["-m", "not slow and not browser", *(f"tests/{folder}" for folder in FOLDERS)]
    command += [f"--ignore=tests/{path}" for path in ELSEWHERE]
    return subprocess.run(command, env=os.environ | {"DATABASE_URL": url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
