"""A backup of each version released is restored into this one, and tells what it told then."""

import gzip
import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VERSIONS = sorted(path.stem for path in HERE.glob("*.zip"))
# Migrations as they were released, by path: later ones are added, these stay.
MIGRATIONS = HERE / "migrations.sha256"
TOLERANCE = 1e-6


@pytest.mark.parametrize("version", VERSIONS)
def test_a_released_version_is_restored_and_tells_the_same(version, tmp_path):
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "cqa_site.settings", "DATA_DIR": str(tmp_path / "data"),
        "JOBS_INLINE": "true", "LOG_LEVEL": "ERROR",
    }  # fmt: skip
    told = tmp_path / "told.gz"
    for command in (
        ["manage.py", "restore", HERE / f"{version}.zip", "--without-keys"],
        ["-m", "tests.upgrade.told", told],
    ):
        ran = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
    then, now = read(HERE / f"{version}.json.gz"), read(told)
    assert len(then) > 150
    assert list(unlike(then, now, "")) == []


def test_no_released_migration_was_edited():
    lines = MIGRATIONS.read_text().splitlines()
    released = {path: sha256 for sha256, path in map(str.split, lines)}
    assert len(released) > 8
    found = {path: hash_of(ROOT / path) for path in released}
    assert found == released


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"


def read(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def unlike(then, now, path):
    """Where what is told differs; a later version may tell more, never less."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in then:
            yield from unlike(then[key], now.get(key, "missing"), f"{path}/{key}")
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for place, pair in enumerate(zip(then, now, strict=True)):
            yield from unlike(*pair, f"{path}/{place}")
    elif not is_like(then, now):
        yield f"{path}: {then!r:.60} then, {now!r:.60} now"


def is_like(then, now):
    if isinstance(then, float) and isinstance(now, int | float):
        return math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return then == now
