"""The command where little or nothing works: refused settings, no package, no database."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cqa_site.upkeep.doctor import starting
from tests.people.test_production import long

ROOT = Path(__file__).parents[2]


def doctor(folder, *arguments, **environment):
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", "doctor", *arguments],
        cwd=ROOT,
        env=kept | {"DATA_DIR": str(folder)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "words", "remedy"),
    [
        ({"PRODUCTION": "true"}, "PRODUCTION needs SECRET_KEY", "secrets.token_urlsafe(64)"),
        ({"DATABASE_URL": "mysql://u:hunter2@h/d"}, "must begin with sqlite://", ".env"),
        long({"DATABASE_URL": "postgres://u:hunter2/x@h/d"}, "DATABASE_URL", ".env"),
        long({"EXPORT_RETENTION_DAYS": "hunter2"}, "EXPORT_RETENTION_DAYS", ".env"),
        long({"DATA_DIR": "/proc/nowhere"}, "/proc/nowhere", "DATA_DIR"),
    ],
)
def test_settings_that_are_refused_are_named(tmp_path, environment, words, remedy):
    found = doctor(tmp_path, **environment)
    assert found.returncode == 1
    assert found.stderr == ""
    assert found.stdout.startswith("WRONG    Settings: Start\n")
    assert words in found.stdout
    assert remedy in found.stdout
    assert "hunter2" not in found.stdout


def test_a_package_that_is_missing(tmp_path):
    """A module of its name that cannot be found stands before the real one."""
    (tmp_path / "csp.py").write_text("raise ModuleNotFoundError('gone', name='csp')")
    found = doctor(tmp_path, "--json", PYTHONPATH=str(tmp_path))
    (row,) = json.loads(found.stdout)
    assert found.returncode == 1
    assert (row["key"], row["family"], row["more"]) == ("settings.start", "Settings", [])
    assert "the package csp is not installed" in row["says"]
    assert row["command"].endswith("-m pip install -r requirements-site.txt")


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("sentry_sdk", "requirements-watching.txt"),
        ("opentelemetry.sdk", "requirements-watching.txt"),
        ("django_htmx", "requirements-site.txt"),
    ],
)
def test_a_missing_package_is_looked_for_where_it_is_named(monkeypatch, module, file):
    def missing():
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr("django.setup", missing)
    found = starting.why_not()
    assert module in found.says
    assert found.command.endswith(f"-m pip install -r {file}")


@pytest.mark.long
def test_a_database_that_hangs_costs_seconds_and_all_else_is_examined(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgres://site:hunter2@127.0.0.1:{silent.getsockname()[1]}/lab"
        began = time.monotonic()
        found = doctor(tmp_path, "--json", DATABASE_URL=url)
    assert time.monotonic() - began < 20
    assert found.returncode == 1
    rows = {row["key"]: row for row in json.loads(found.stdout)}
    away = rows["database.answers"]
    assert away["state"] == "wrong"
    assert "PostgreSQL on 127.0.0.1 (database lab) does not answer" in away["says"]
    assert away["command"].startswith("pg_isready -h 127.0.0.1")
    assert rows["database.migrations"]["says"] == "The database does not answer."
    assert rows["files.media"]["state"] == "well"
    assert "hunter2" not in found.stdout + found.stderr
