"""Faults of the database, planted: away, damaged, older or newer than the code, another clock."""

import sqlite3
from datetime import datetime, timedelta
from types import SimpleNamespace
from unittest import mock

import pytest
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from cqa_site.people.models import AuditEvent
from cqa_site.upkeep.doctor.examinations import installation, work
from cqa_site.upkeep.doctor.findings import CheckState

pytestmark = pytest.mark.django_db
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="a file of SQLite")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A database file with some pages, that examinations take for the site's."""
    path = tmp_path / "site.sqlite3"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE label (id INTEGER PRIMARY KEY, words TEXT UNIQUE)")
        made.executemany(
            "INSERT INTO label (words) VALUES (?)", ((f"{i}" * 50,) for i in range(900))
        )
    made.close()
    monkeypatch.setitem(connection.settings_dict, "NAME", str(path))
    return path


@on_sqlite
def test_a_database_that_cannot_be_opened(finds, tmp_path, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "none" / "site.sqlite3"))
    finds.wrong("database.answers", "unable to open", "DATABASE_URL")


def test_a_server_that_does_not_answer(finds, monkeypatch):
    """How long that may take: test_doctor_page.py; with a server that hangs: `make test-all`."""
    finds.well("database.answers")
    place = {"HOST": "127.0.0.1", "PORT": "5433", "NAME": "lab", "PASSWORD": "hunter2"}
    away = SimpleNamespace(vendor="postgresql", settings_dict=place)
    monkeypatch.setattr(installation, "connection", away)
    monkeypatch.setattr(
        installation, "ask_database", mock.Mock(side_effect=OperationalError("gone"))
    )
    found = finds.wrong(
        "database.answers",
        "PostgreSQL on 127.0.0.1 (database lab) does not respond",
        "pg_isready -h 127.0.0.1 -p 5433",
    )
    assert "hunter2" not in repr(found)


@on_sqlite
def test_a_damaged_file(finds, file):
    finds.well("database.integrity")
    with file.open("r+b") as bytes_:
        bytes_.seek(4096 * 3)
        bytes_.write(b"\xff" * 4096)
    finds.wrong("database.integrity", "backup")


@on_sqlite
def test_a_file_in_wal_mode_is_safe_with_a_new_library_only(file):
    old = (3, 40, 1)
    assert installation.wal_fault(file, old) is None
    with sqlite3.connect(file) as made:
        made.execute("PRAGMA journal_mode=WAL")
    made.close()
    assert installation.wal_fault(file, (3, 51, 3)) is None
    found = installation.wal_fault(file, old)
    assert found.state == CheckState.WRONG
    assert "3.40.1" in found.says
    assert "journal_mode=TRUNCATE" in found.command


def test_a_file_on_a_network_file_system(tmp_path):
    """Of two that are mounted the nearer one counts."""
    mounts = tmp_path / "mountinfo"
    (tmp_path / "share").mkdir()
    mounts.write_text(
        f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 0:9 / {tmp_path}/share rw - nfs4 host:/x rw\n"
    )
    assert installation.file_system(tmp_path / "share" / "site.sqlite3", mounts) == "nfs4"
    assert installation.file_system(tmp_path / "site.sqlite3", mounts) == "ext4"
    assert "nfs4" in installation.REMOTE_FILES


@pytest.fixture
def migrated(settings):
    """The table of applied migrations, which the tests' own database has not; all are applied."""
    settings.MIGRATION_MODULES = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app VARCHAR(255), "
            "name VARCHAR(255), applied TIMESTAMP WITH TIME ZONE)"
        )
    rows = MigrationRecorder(connection).migration_qs
    names = sorted(MigrationLoader(connection).disk_migrations)
    now = timezone.now()
    rows.bulk_create(
        rows.model(pk=pk, app=app, name=name, applied=now) for pk, (app, name) in enumerate(names)
    )
    return rows


def test_migrations_pending_and_unknown(finds, migrated):
    finds.well("database.migrations")
    last = migrated.filter(app="runs").order_by("name").last()
    migrated.filter(pk=last.pk).delete()
    finds.wrong(
        "database.migrations",
        f"1 migration is not applied: runs.{last.name}",
        "manage.py migrate",
    )
    migrated.create(pk=9_999, app="runs", name="0999_of_tomorrow", applied=timezone.now())
    finds.wrong("database.migrations", "newer than this code", "0999_of_tomorrow")


def test_rows_from_the_future(finds):
    event = AuditEvent.objects.create(verb="tested", subject="the clock")
    finds.well("database.clock")
    AuditEvent.objects.filter(pk=event.pk).update(at=timezone.now() + timedelta(hours=5))
    finds.wrong("database.clock", "newest row", "timedatectl status")


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no clock of its own")
@pytest.mark.parametrize(
    ("seconds", "state", "word"),
    [(60, CheckState.WRONG, "60 seconds ahead"), (-5, CheckState.LOOK, "5 seconds behind")],
)
def test_a_clock_that_is_not_the_servers(finds, monkeypatch, seconds, state, word):
    class Off(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(seconds=seconds)

    monkeypatch.setattr(work, "datetime", Off)
    found = finds("database.clock")
    assert found.state == state
    assert word in found.says
    assert "NTP" in found.remedy


def test_a_cache_that_is_not_there(finds, settings):
    usual = {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "no_such_table"}
    settings.CACHES = {"default": usual}
    finds.wrong("database.cache", "createcachetable")
    away = {"BACKEND": "django.core.cache.backends.redis.RedisCache"}
    settings.CACHES = {"default": away | {"LOCATION": "redis://:hunter2@127.0.0.1:1/0"}}
    found = finds.wrong("database.cache")
    assert "hunter2" not in repr(found)
