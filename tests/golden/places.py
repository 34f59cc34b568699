"""Where the released data lie: beside the repository, or where the environment says."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
ARGSUM, COMPQA = DATA / "argsum", DATA / "compqa"


def needs(*paths: Path) -> list[pytest.MarkDecorator]:
    """Return the marks of tests that read these released files."""
    absent = ", ".join(path.name for path in paths if not path.exists())
    reason = f"released data absent: {absent} (set COUNTERPOINT_REFERENCE_DATA)"
    return [pytest.mark.reference, pytest.mark.skipif(bool(absent), reason=reason)]


def reads(*paths: Path):
    """Mark one test that reads these released files."""
    is_read, is_skipped = needs(*paths)
    return lambda test: is_read(is_skipped(test))
