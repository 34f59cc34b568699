"""What housekeeping throws away, and what it leaves alone."""

import os
import threading
import time
from datetime import timedelta
from types import SimpleNamespace
from unittest import mock

import pytest
from celery.concurrency.base import apply_target
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.exports import actions as exports
from annotation.exports.models import ExportFile
from cqa_site.celery import _do, look_around
from cqa_site.files.actions import exports as retention
from cqa_site.files.actions.exports import ExportOptions
from cqa_site.files.actions.files import request_check, store_upload, stored_path
from cqa_site.files.models import ImportFile
from cqa_site.people.models import AuditEvent
from cqa_site.runs import jobs
from cqa_site.runs.tasks import housekeeping, wake
from cqa_site.web.housekeeping import CHORES, run_chores
from tests.cast import make_label_round, sign_in

pytestmark = pytest.mark.django_db
NOTHING = dict.fromkeys(
    (
        "expired sessions",
        "roles from removed provider groups",
        "ended sign-ins",
        "heartbeats of stopped workers",
        "expired exports",
        "uploads never imported",
        "leftover files",
        "scheduled backups",
        "interrupted study deletions",
        "corpora never loaded",
        "unused cached scores",
    ),
    0,
)


@pytest.fixture(autouse=True)
def media(files_apart, settings):
    settings.MEDIA_ROOT.mkdir()
    return settings.MEDIA_ROOT


def days_ago(days):
    return timezone.now() - timedelta(days=days)


def age(path, days):
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))


def exported(label_round, actor, days):
    """A finished export of that age."""
    asked = {"contents": ["votes"], "format": "csv", "options": ExportOptions(), "snapshot": None}
    (file,) = exports.request_exports(label_round=label_round, actor=actor, **asked)
    jobs.drain()
    ExportFile.objects.filter(pk=file.pk).update(finished_at=days_ago(days))
    file.refresh_from_db()
    for path in (file.path, file.manifest_path):
        age(path, days)
    return file


def uploaded(study, days, **changes):
    """An upload of that age."""
    about = {"study": study, "kind": "table", "name": "votes.csv", "actor": None}
    file = store_upload(**about, chunks=[b"a,b\n1,2\n"])
    ImportFile.objects.filter(pk=file.pk).update(created_at=days_ago(days), **changes)
    age(stored_path(file), days)
    return file


def test_old_exports_lose_their_files_keep_their_rows_and_say_so(
    study, researcher, media, settings
):
    label_round = make_label_round(study)
    settings.EXPORT_RETENTION_DAYS = 7
    old, new = exported(label_round, researcher, 8), exported(label_round, researcher, 6)
    client, place = sign_in(researcher), [study.public_id, label_round.public_id]
    names = ("export_download", "export_manifest")
    addresses = [reverse(name, args=[*place, old.public_id]) for name in names]
    assert [client.get(address).status_code for address in addresses] == [200, 200]
    assert run_chores() == NOTHING | {"expired exports": 1, "leftover files": 2}
    assert sorted((media / "exports").iterdir()) == sorted([new.path, new.manifest_path])
    old.refresh_from_db()
    assert (old.stored_as, len(old.sha256)) == ("", 64)
    assert run_chores() == NOTHING
    shown = client.get(reverse("exports", args=place)).text
    assert "Expired" in shown
    assert old.sha256[:12] in shown
    for address in addresses:
        gone = client.get(address)
        assert gone.status_code == 404
        assert "deleted because of its age" in gone.text
        assert address not in shown


def test_what_killed_processes_left_behind_goes_after_a_day(study, media):
    folder = media / "exports"
    folder.mkdir()
    names = ["1" * 32 + ".part", "2" * 32 + ".csv", "2" * 32 + ".manifest.json"]
    for name in names:
        (folder / name).write_text("half")
        age(folder / name, 1.1)
    (folder / ("3" * 32 + ".part")).write_text("being written")
    assert retention.remove_leftovers() == 3
    assert [path.name for path in folder.iterdir()] == ["3" * 32 + ".part"]


def test_old_uploads_that_nobody_imported_or_looked_at_lately_are_discarded(
    study, researcher, inline
):
    waiting = [uploaded(study, 31, state=state) for state in ("uploaded", "checked", "refused")]
    kept = [uploaded(study, 31, state=state) for state in ("applied", "applying")]
    kept += [uploaded(study, 29), uploaded(study, 31)]
    request_check(import_file=kept[-1], actor=researcher)
    jobs.drain()
    with inline():
        assert retention.discard_old_imports() == 3
    assert run_chores() == NOTHING
    assert set(ImportFile.objects.all()) == set(kept)
    assert all(stored_path(file).exists() for file in kept)
    assert not any(stored_path(file).exists() for file in waiting)
    assert AuditEvent.objects.filter(verb="import_discarded", actor=None).count() == len(waiting)


@pytest.mark.long
def test_worker_and_command_do_the_same(study, researcher, capsys):
    """Sessions that ran out are deleted, too."""
    sign_in(researcher)
    sign_in(researcher)
    Session.objects.filter(pk=Session.objects.first().pk).update(expire_date=days_ago(0.1))
    exported(make_label_round(study), researcher, 31)
    housekeeping()
    assert Session.objects.count() == 1
    call_command("housekeeping")
    assert capsys.readouterr().out.splitlines() == [f"{name}: 0" for name in NOTHING]


def test_one_failing_chore_does_not_keep_the_others_from_theirs(study, monkeypatch):
    uploaded(study, 31)
    monkeypatch.setitem(CHORES, "expired exports", mock.Mock(side_effect=PermissionError))
    with pytest.raises(CommandError):
        call_command("housekeeping")
    assert not ImportFile.objects.exists()


def test_every_worker_looks_for_work_at_once_and_keeps_house_beside(monkeypatch, settings):
    asked, ends, kept = [], [], []
    monkeypatch.setattr("cqa_site.runs.tasks.run_chores", lambda: kept.append(1))
    settings.SWEEP_SECONDS = 0.01

    def apply(do, args, callback):
        asked.append(args[0].name)
        ends.append(callback)

    look_around(instance=SimpleNamespace(pool=SimpleNamespace(apply_async=apply)))
    try:
        # However busy the pool is.
        wait_for(lambda: asked and kept)
        time.sleep(0.1)
        assert asked == [wake.name], "it goes on still"
        ends[0](None)
        wait_for(lambda: asked == [wake.name, wake.name])
    finally:
        jobs.STOP.set()
        ends[-1](None)
        for thread in threading.enumerate():
            if thread.name.startswith("every "):
                thread.join(10)
        jobs.STOP.clear()


def wait_for(is_so, seconds=10):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_turn_that_fails_is_not_the_last(caplog):
    task = mock.Mock(side_effect=ZeroDivisionError)
    task.name = "a task"
    done = mock.Mock()
    apply_target(_do, (task,), callback=done)
    done.assert_called_once()
    assert "a task failed" in caplog.text
