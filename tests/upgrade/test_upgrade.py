"""A backup of each version released is restored into this one, and tells what it told then."""

import gzip
import hashlib
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.db.migrations.loader import MigrationLoader

from cqa_site.upkeep.backups.archive import Archive

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
VERSIONS = sorted(path.stem for path in HERE.glob("*.zip"))
# Migrations as they were released, by path: later ones are added, these stay.
MIGRATIONS = HERE / "migrations.sha256"
TOLERANCE = 1e-6
# What later versions tell anew, on purpose: intervals, tests and the sentences on them, and how
# many values stand beside an agreement (only those that entered it). Every value itself, and the
# intervals of frozen boards, are told as they were.
TOLD_ANEW = {
    "0.1.0": re.compile(
        r"/(analyses|key-points|label-rounds|preferences|score-agreement)/.*"
        r"/(low|high|interval|reason|recipe|rank_low|rank_high|tie_group|test|p_alone"
        r"|result|finding|note|agreement/n_values)"
        r"|/boards/[0-9a-f-]+//warnings"
        # An estimate has one body everywhere.
        r"|/key-points/leaderboard//system_rows/\d+/figures/\w+/n"
        r"|/preferences//ranking/\d+/(log_strength|win_rate(_low|_high)?)"
        # Headings and explanations, in plain words; reasons by which counts are keyed are such.
        r"|/analyses/.*/(facts/\d+/(name|text)|caveats/\d+)|/preferences//figures/\d+/name"
        r"|/summarization-systems//systems/\d+/(about|parameters/\d+/title)"
        r"|/training-data//(datasheet|left_out/.*)"
        # An analysis has one cut-off instead of settings; what people placed is quoted first.
        r"|/analyses/.*/(choice|setting|caveats|quotations/\d+)"
        # Control pairs need no slots.
        r"|/preference-rounds/.*/(done|wanted)"
        # Newer kinds have prompts, too.
        r"|/prompts//(count|results)|/prompts/[0-9a-f-]+/"
    )
}


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_a_released_version_is_restored_and_tells_the_same(version, tmp_path):
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "cqa_site.settings", "DATA_DIR": str(tmp_path / "data"),
        "JOBS_INLINE": "true", "LOG_LEVEL": "ERROR",
    }  # fmt: skip
    # Whatever this run is about, the restored site is one of SQLite.
    env.pop("DATABASE_URL", None)
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
    found = dict(unlike(then, now, ""))
    anew = [path for path in found if TOLD_ANEW[version].fullmatch(path)]
    assert {path: found[path] for path in found if path not in anew} == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_backup_is_whole_and_what_it_was_made_with_is_still_here(version, settings):
    """Every row can be read, every table is one that the migrations make, and these are here."""
    with Archive(HERE / f"{version}.zip") as archive:
        archive.check()
        manifest = archive.manifest
        assert manifest.version == version
        for part in manifest.tables:
            assert len(list(archive.rows(part.table))) == part.rows
    ours = {app.label: Path(app.path) for app in apps.get_app_configs() if ROOT in
            Path(app.path).parents and "site-packages" not in app.path}  # fmt: skip
    made = [(app, name) for app, name in manifest.migrations if app in ours]
    assert len(made) > 8
    gone = [f"{app} {name}" for app, name in made
            if not (ours[app] / f"migrations/{name}.py").exists()]  # fmt: skip
    assert gone == []
    settings.MIGRATION_MODULES = {}
    then = MigrationLoader(None).project_state([tuple(each) for each in manifest.migrations]).apps
    known = {model._meta.db_table for model in then.get_models(include_auto_created=True)}
    assert {part.table.name for part in manifest.tables} <= known


def test_no_released_migration_was_edited():
    lines = MIGRATIONS.read_text().splitlines()
    released = {path: sha256 for sha256, path in map(str.split, lines)}
    assert len(released) > 8
    found = {path: hash_of(ROOT / path) for path in released}
    assert found == released


def test_migrations_change_rows_of_the_database_that_they_are_applied_to():
    """Which is another one than the site's own while a backup is restored."""
    paths = [path for app in apps.get_app_configs()
             if (path := Path(app.path)).parent in (ROOT, ROOT / "cqa_site")]  # fmt: skip
    texts = {file: file.read_text() for path in paths for file in path.glob("migrations/0*.py")}
    assert sum(".objects" in text for text in texts.values()) > 4
    assert [file for file, text in texts.items()
            if text.count(".objects") > text.count(".using(")] == []  # fmt: skip


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
        yield path, f"{then!r:.60} then, {now!r:.60} now"


def is_like(then, now):
    if isinstance(then, float) and isinstance(now, int | float):
        return math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return then == now
