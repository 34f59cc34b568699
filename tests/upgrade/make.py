"""Make what `test_upgrade` restores: a backup of the demo study, and all that it tells.

``python -m tests.upgrade.make VERSION`` is run once, when a version is released; its two files
stay as they are from then on.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main(version: str) -> None:
    """Build, look at every page so that its figures are computed, write down, back up."""
    backup = HERE / f"{version}.zip"
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"DATA_DIR": folder, "JOBS_INLINE": "true"}
        for command in (
            ["manage.py", "demo"],
            ["-m", "tests.upgrade.told", HERE / f"{version}.json.gz", "--look"],
            ["manage.py", "backup", backup, "--without-keys"],
        ):
            subprocess.run([sys.executable, *command], cwd=ROOT, env=env, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
