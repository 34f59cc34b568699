"""Backups that workers make: when, how many stay, who sees them, and what a click does."""

import json
import os
import zipfile
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.urls import reverse
from django.utils import timezone

from cqa_site.people.models import AuditEvent, User
from cqa_site.runs.models import Job
from cqa_site.upkeep.backups import backup as handlers
from cqa_site.upkeep.backups.archive import FORMAT, MANIFEST, Archive, ArchiveWriter, Manifest
from cqa_site.upkeep.backups.tables import BackupRefused
from cqa_site.web.housekeeping import CHORES
from tests import cast

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.BACKUP_DIR = tmp_path / "backups"
    return settings.BACKUP_DIR


@pytest.fixture
def quick(monkeypatch):
    """Backups that hold nothing, so that no test here waits for one."""

    def make(path, *, keys=None, passphrase="", say=None):
        say(1, 1, "people_study")
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as target, ArchiveWriter(target, about()) as writer:
            if keys:
                writer.keys(passphrase.encode())

    monkeypatch.setattr(handlers, "make_backup", make)


@pytest.fixture
def admin():
    """Somebody who looks after the site and is in no study."""
    return cast.sign_in(User.objects.create_superuser("admin@site.example"))


def about():
    return Manifest(FORMAT, "0.1.0", timezone.now().isoformat(), "sqlite", [])


def put(folder, made_at):
    folder.mkdir(exist_ok=True)
    path = folder / f"counterpoint-{made_at:{handlers.STAMP}}Z.zip"
    with path.open("wb") as target, ArchiveWriter(target, about()):
        pass
    return path


def put_days(folder, count):
    return [put(folder, NOW - timedelta(days=days)) for days in range(count)]


def test_of_each_day_and_each_week_the_newest_stays(folder, settings):
    settings.BACKUP_KEEP_DAYS, settings.BACKUP_KEEP_WEEKS = 3, 3
    paths = put_days(folder, 30)
    earlier_that_day = put(folder, NOW - timedelta(hours=2))
    foreign = folder / "somebody's.zip"
    foreign.touch()
    gone = handlers.throw_away_old()
    left = {path.name for path in folder.iterdir()}
    # Wednesday to Monday, then the Sundays that end the two weeks before.
    stay = {paths[0].name, paths[1].name, paths[2].name, paths[3].name, paths[10].name}
    assert left == stay | {foreign.name}
    assert earlier_that_day.name in gone


def test_the_newest_stays_and_what_is_not_whole_counts_for_nothing(folder, monkeypatch):
    """So do backups of long ago, while no others come."""
    paths = put_days(folder, 5)
    assert handlers.throw_away_old() == []
    assert handlers.newest() == NOW
    assert [each.path for each in handlers.all_kept()] == paths
    damaged = put(folder, NOW + timedelta(days=2))
    damaged.write_bytes(damaged.read_bytes()[:-200])
    opened = []
    with monkeypatch.context() as patch:
        patch.setattr(handlers, "Archive", lambda path: opened.append(path) or Archive(path))
        assert handlers.newest() == NOW
    # Those before it are not opened.
    assert len(opened) == 2
    assert handlers.all_kept()[0].manifest is None
    assert handlers.throw_away_old() == []


def test_odd_files_in_the_folder_keep_nobody_from_the_rest(admin, folder):
    path = put(folder, NOW)
    os.mkfifo(folder / "counterpoint-20270101T000000Z.zip")
    (folder / "counterpoint-20270102T000000Z.zip").mkdir()
    (folder / "counterpoint-20271399T999999Z.zip").touch()
    for day, version in enumerate(("\u00b2.1", "9" * 5000, 7), start=3):
        content = json.dumps({"format": FORMAT, "version": version})
        with zipfile.ZipFile(folder / f"counterpoint-2027010{day}T000000Z.zip", "w") as odd:
            odd.writestr(MANIFEST, content)
    assert handlers.newest() == NOW
    shown = admin.get(reverse("site_backups")).text
    assert path.name in shown
    assert shown.count("Damaged") == 3
    assert handlers.throw_away_old() == []


def test_a_backup_is_due_when_the_newest_is_older_than_the_schedule(settings, folder, quick):
    settings.BACKUP_EVERY_HOURS = 24
    assert handlers.is_due(None)
    assert handlers.is_due(timezone.now() - timedelta(hours=25))
    assert not handlers.is_due(timezone.now() - timedelta(hours=23))
    assert CHORES["scheduled backups"]() == 1
    assert Job.objects.get().study is None
    # Never two at a time.
    assert handlers.ask_for_backup() == Job.objects.get()
    settings.BACKUP_EVERY_HOURS = 0
    assert not handlers.is_due(None)


def test_an_administrator_makes_checks_and_takes_one(
    admin, folder, quick, django_capture_on_commit_callbacks
):
    page = reverse("site_backups")
    assert "No backup yet" in admin.get(page).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert admin.post(reverse("site_backup_new")).status_code == 302
    (path,) = folder.iterdir()
    shown = admin.get(page).content.decode()
    assert path.name in shown
    assert "when created" in shown
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(reverse("site_backup_check", args=[path.name]))
    assert "when created" not in admin.get(page).content.decode()
    sent = admin.get(reverse("site_backup_file", args=[path.name]))
    assert b"".join(sent.streaming_content) == path.read_bytes()
    assert "attachment" in sent["Content-Disposition"]
    verbs = AuditEvent.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["backup.asked", "backup.downloaded"]


def test_what_is_damaged_and_why_none_could_be_made_is_shown(
    admin, folder, monkeypatch, django_capture_on_commit_callbacks
):
    path = put(folder, NOW)
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(content)
    refuse = mock.Mock(side_effect=BackupRefused("A backup may need 900 MiB, and the disk has 3."))
    monkeypatch.setattr(handlers, "make_backup", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(reverse("site_backup_check", args=[path.name]))
    shown = admin.get(reverse("site_backups")).content.decode()
    assert "The backup is damaged: the bytes between its parts" in shown
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(reverse("site_backup_new"))
    assert "may need 900 MiB" in admin.get(reverse("site_backups")).content.decode()


def test_progress_is_for_administrators_and_of_no_study(admin, quick):
    job = handlers.ask_for_backup()
    address = reverse("site_job_progress", args=[job.public_id])
    assert address in admin.get(reverse("site_backups")).content.decode()
    assert address in admin.get(address).content.decode()
    of_study = Job.objects.create(study=cast.make_study(), kind="x", key="x")
    assert admin.get(reverse("site_job_progress", args=[of_study.public_id])).status_code == 404


def test_no_name_but_one_of_the_list_is_ever_opened(admin, folder, tmp_path):
    put(folder, NOW)
    (tmp_path / "counterpoint-20260101T000000Z.zip").write_text("outside")
    for name in ("..", "..%2Fcounterpoint-20260101T000000Z.zip", "counterpoint-1.zip"):
        address = reverse("site_backups") + f"{name}/"
        assert admin.get(address).status_code == 404
        assert admin.post(f"{address}check/").status_code == 404


def test_nobody_else_sees_or_does_anything(folder):
    name = put(folder, NOW).name
    client = cast.sign_in(cast.make_member(cast.make_study(), "admin"))
    for page, *ids in (
        *(["site_backups"], ["site_backup_new"]),
        *(["site_backup_file", name], ["site_backup_check", name]),
    ):
        address = reverse(page, args=ids)
        assert client.get(address).status_code == client.post(address).status_code == 403


def test_scheduled_backups_seal_keys_where_a_passphrase_is_set(settings, folder, tmp_path, quick):
    (tmp_path / "passphrase").write_text("a long passphrase\n")
    settings.BACKUP_PASSPHRASE_FILE = str(tmp_path / "passphrase")
    handlers.back_up(_Work())
    (backup,) = handlers.all_kept()
    assert backup.manifest.keys
    settings.BACKUP_PASSPHRASE_FILE = str(tmp_path / "gone")
    with pytest.raises(handlers.JobRefused, match="cannot be read"):
        handlers.back_up(_Work())


class _Work:
    def progress(self, done, total, note):
        assert done <= total


def test_half_a_file_of_a_worker_that_died_goes_later(folder):
    put(folder, NOW)
    old, new = (folder / f"counterpoint-x.zip.{n}{handlers.UNFINISHED}" for n in "ab")
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    handlers.throw_away_old()
    assert not old.exists()
    assert new.exists()
