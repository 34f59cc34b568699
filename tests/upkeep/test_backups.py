"""One file holds everything, is whole or refused by name, and is restored completely or not."""

import errno
import io
import json
import os
import shutil
import signal
import time
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import Error, connection, connections, transaction
from django.test import override_settings
from django.utils import timezone

from annotation.corpus.models import Argument
from benchmarks.databases import SERVER, postgres_answers
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.runs import PausedWork
from cqa_site.runs.jobs import beat
from cqa_site.runs.ledger import gates
from cqa_site.runs.models import Endpoint, Job, Run, WorkerBeat
from cqa_site.sealing import resealed
from cqa_site.upkeep.backups import (
    archive as archives,
    backup as making,
    backup as restoring,
    files,
    transfer,
)
from cqa_site.upkeep.backups.archive import Archive
from cqa_site.upkeep.backups.backup import move_database
from cqa_site.upkeep.backups.tables import (
    BackupColumn,
    BackupRefused,
    BackupTable,
    DamagedBackup,
    from_url,
    registered,
    table_of,
    why,
)
from cqa_site.upkeep.management.commands.restore import Command as RestoreCommand
from .backup_sites import (
    NUMBERS,
    PASSPHRASE,
    SECRET,
    TEXT,
    UPLOAD,
    copy_of,
    flipped,
    make_lab,
    make_tables,
    opened,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("cheap_passphrases"),
]


@pytest.fixture(autouse=True)
def _connections_of_its_own(transactional_db, django_db_blocker):
    """A backup reads, and a restore writes, by connections that no test knows the names of."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def fresh(empty, tmp_path):
    """An empty installation: its database and its folder."""
    return copy_of(empty, tmp_path / "fresh"), tmp_path / "fresh"


def restore(path, place, passphrase=PASSPHRASE):
    config, folder = place
    with Archive(path) as archive:
        opened_keys = files.unseal(archive.keys(), passphrase) if passphrase else None
        archive.check()
        return making.restore_backup(archive, config, folder, keys=opened_keys)


def rows_in(config):
    with opened(config) as alias:
        return {model.__name__: model.objects.using(alias).count() for model in (User, Study)}


def assert_empty(place):
    config, folder = place
    assert rows_in(config) == {"User": 0, "Study": 0}
    assert files.files_in(folder) == []
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["site.sqlite3"]


def test_what_is_restored_is_what_was_there(backup, fresh, data_dir):
    """Keys of the endpoints, too, under new keys of the site; into what is not empty, nothing."""
    config, folder = fresh
    with override_settings(SECRETS_KEYS=[Fernet.generate_key().decode()]):
        restored = restore(backup, fresh)
        with opened(config) as alias:
            assert gates.open_key(Endpoint.objects.using(alias).get()) == SECRET
    assert restored.unreadable == []
    assert restored.held == PausedWork(runs=1, jobs=1)
    with opened(config) as alias:
        study, endpoint = Study.objects.using(alias).get(), Endpoint.objects.using(alias).get()
        assert (study.name, study.description) == ("Bär & Söhne", TEXT)
        assert endpoint.capabilities == NUMBERS
        assert str(endpoint.price_in) == "0.123456"
        run = Run.objects.using(alias).get()
        assert (run.state, run.pause_reason) == (Run.State.PAUSED, Run.RESTORED)
        assert Argument.objects.using(alias).count() == 10
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT count(*) FROM annotation_corpussearch('coffee')")
            assert cursor.fetchone() == (3,)
        # Numbers go on behind those that were given.
        assert Study.objects.using(alias).create(name="Next").pk > study.pk
    kept = [path.relative_to(folder).as_posix() for path in files.files_in(folder)]
    assert kept == ["files/imports/one", "scorers/a/model.safetensors"]
    assert (folder / kept[0]).read_bytes() == UPLOAD
    with pytest.raises(BackupRefused, match=r"not empty: it has .* in annotation_argument"):
        restore(backup, fresh)
    assert rows_in(config)["Study"] == 2


def test_the_file_belongs_to_its_owner_and_any_program_reads_it(backup):
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in backup.parent.iterdir()] == ["lab.zip"]
    with zipfile.ZipFile(backup) as opened_zip:
        assert opened_zip.testzip() is None
        line = opened_zip.read("tables/people_study.jsonl").splitlines()[0]
        assert "Bär & Söhne" in json.loads(line)
        manifest = json.loads(opened_zip.read("manifest.json"))
    assert manifest["engine"] == connection.vendor
    assert SECRET.encode() not in backup.read_bytes()


def places_of(path):
    """Where the content of each kind of part lies, and what is to be named for it."""
    names = ("tables/people_study.jsonl", "files/files/imports/one", "keys.json", "manifest.json")
    between, size = "the bytes between its parts", path.stat().st_size
    with zipfile.ZipFile(path) as opened_zip:
        for name in names:
            about = opened_zip.getinfo(name)
            yield name, about.header_offset + 30 + len(name) + 20 + about.compress_size // 2
        # Times and versions in heads, which no program that reads zips minds.
        yield between, opened_zip.infolist()[0].header_offset + 10
        yield between, opened_zip.start_dir + 12
    yield between, size - 10
    yield "the directory at its end", size - archives.SUM_LENGTH - 22


def test_a_flipped_bit_is_refused_with_the_name_of_its_part(backup, tmp_path, subtests):
    for part, at in places_of(backup):
        with subtests.test(f"{part} at {at}"):
            damaged = flipped(backup, tmp_path / "flipped.zip", at)
            with pytest.raises(DamagedBackup) as refused, Archive(damaged) as archive:
                archive.check()
            assert refused.value.part == part


def changed_manifest(path, target, change=lambda written: None, **values):
    """The same tables under another manifest, and everything else in order."""
    with Archive(path) as archive, target.open("wb") as out:
        manifest = replace(archive.manifest, tables=[], files=[], keys=None, **values)
        with archives.ArchiveWriter(out, manifest) as writer:
            for part in archive.manifest.tables:
                writer.table(part.table, archive.rows(part.table), lambda rows: None)
            change(writer.manifest)
    return target


def part_of(manifest, table):
    return next(part for part in manifest.tables if part.table.name == table)


def test_a_part_that_is_larger_than_it_says_is_read_no_further(backup, tmp_path):
    def shrink(manifest):
        part = part_of(manifest, "people_study")
        manifest.tables[manifest.tables.index(part)] = replace(part, bytes=part.bytes - 1)

    path = changed_manifest(backup, tmp_path / "crafted.zip", shrink)
    with Archive(path) as archive:
        part = part_of(archive.manifest, "people_study")
        out = io.BytesIO()
        with pytest.raises(DamagedBackup, match="people_study"):
            archive.copy(part, out)
    assert out.tell() <= part.bytes


def test_a_row_and_a_manifest_have_a_largest_size(backup, data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_LINE", 64)
    with pytest.raises(BackupRefused, match=r"A row of .* is too large"):
        changed_manifest(backup, tmp_path / "large.zip")
    monkeypatch.setattr(archives, "BLOCK", 16)
    with Archive(backup) as archive, pytest.raises(DamagedBackup, match="a row is too long"):
        list(archive.rows(part_of(archive.manifest, "people_study").table))
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MOST_MANIFEST", 999)
    with pytest.raises(DamagedBackup, match=r"manifest\.json"):
        Archive(backup)
    with pytest.raises(BackupRefused, match=r"\d files are too many"):
        making.make_backup(tmp_path / "backup.zip")
    assert not (tmp_path / "backup.zip").exists()


LATER = [
    ({"version": "99.1.0"}, "Install version 99.1.0 or a later one"),
    ({"format": 2}, "cannot read it"),
    ({"migrations": [["runs", "9999_later"]]}, "a migration that is missing here"),
]


def test_a_backup_of_a_later_version_is_refused_in_words(backup, tmp_path, fresh):
    for values, words in LATER:
        path = changed_manifest(backup, tmp_path / "later.zip", **values)
        with pytest.raises(BackupRefused, match=words):
            restore(path, fresh, passphrase="")
        assert_empty(fresh)


def test_a_wrong_passphrase_is_told_before_anything_is_touched(backup, fresh):
    with Archive(backup) as archive:
        held = files.unseal(archive.keys(), PASSPHRASE)
    assert held == {"SECRETS_KEYS": settings.SECRETS_KEYS}, "and nothing else"
    with pytest.raises(BackupRefused, match="not the passphrase"):
        restore(backup, fresh, passphrase="another passphrase")
    assert_empty(fresh)


@pytest.mark.long
def test_without_the_passphrase_it_says_whose_key_is_needed_again(backup, fresh):
    with override_settings(SECRETS_KEYS=[Fernet.generate_key().decode()]):
        restored = restore(backup, fresh, passphrase="")
    assert restored.unreadable == ["endpoint Stub"]
    assert rows_in(fresh[0])["Study"] == 1


def test_secrets_within_json_are_encrypted_anew():
    old, new = (Fernet(Fernet.generate_key()) for _each in "ab")
    stored = {"secret": old.encrypt(b"totp").decode(), "plain": ["gAnything", 1, None]}
    taken = resealed(MultiFernet([new, old]), stored)
    assert new.decrypt(taken["secret"]) == b"totp"
    assert taken["plain"] == stored["plain"]


@pytest.mark.long
def test_what_belongs_to_nobody_is_no_data_and_what_is_not_ours_stays(backup, fresh):
    """What a worker leaves where nobody works, and files whose names only look like ours."""
    config, folder = fresh
    with opened(config) as alias:
        seen = timezone.now()
        WorkerBeat.objects.using(alias).create(worker="w", host="h", process_id=1, seen_at=seen)
        job = Job.objects.using(alias).create(kind="backup", key="backup:site")
    ours = [folder / f"restoring-{'0f' * 16}.sqlite3{end}" for end in ("", "-journal")]
    theirs = [folder / name for name in ("restoring-guide.txt", "restoring-0f.sqlite3")]
    for path in ours + theirs:
        path.touch()
    restore(backup, fresh)
    with opened(config) as alias:
        assert not Job.objects.using(alias).filter(public_id=job.public_id).exists()
        assert not WorkerBeat.objects.using(alias).exists()
    assert [path for path in ours + theirs if path.exists()] == theirs


def test_work_of_a_study_is_data_and_so_are_files_without_rows(backup, fresh):
    stray = fresh[1] / "files/imports/stray"
    stray.parent.mkdir(parents=True)
    stray.write_text("somebody's")
    with pytest.raises(BackupRefused, match="There are files"):
        restore(backup, fresh)
    assert stray.read_text() == "somebody's"
    with opened(fresh[0]) as alias:
        study = Study.objects.using(alias).create(name="A")
        Job.objects.using(alias).create(kind="export", key="x", study=study)
    with pytest.raises(BackupRefused, match="1 in runs_job"):
        transfer.refuse_full(fresh[0])


@pytest.mark.parametrize(
    "where", ["load", pytest.param("migrate_on", marks=pytest.mark.long), "put_files"]
)
def test_a_restore_that_fails_leaves_an_empty_installation(backup, fresh, monkeypatch, where):
    real = getattr(restoring, where)

    def fails(*arguments, **named):
        real(*arguments, **named)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(restoring, where, fails)
    with pytest.raises(BackupRefused, match="could not be restored: No space left on device"):
        restore(backup, fresh)
    assert_empty(fresh)


def test_rows_that_changed_on_their_way_are_refused_by_table(backup, fresh, monkeypatch):
    real = transfer.writers

    def careless(table, vendor):
        converts = real(table, vendor)
        if table.name == "people_study":
            converts[2] = str.upper
        return converts

    monkeypatch.setattr(transfer, "writers", careless)
    with pytest.raises(BackupRefused, match="people_study was not stored correctly"):
        restore(backup, fresh)
    assert_empty(fresh)


REFUSED = [
    (None, r"rows of people_study: .*people_study\.public_id"),
    ("secret \ud800", "people_study contains a value that does not fit its column"),
    ({"secret": 1}, "rows of people_study: "),
]


def test_rows_that_a_database_refuses_are_told_without_what_they_hold(fresh):
    table = table_of(Study)
    names = [column.name for column in table.columns]
    for value, words in REFUSED:
        row = [value if name == "name" else None for name in names]
        source = SimpleNamespace(rows=lambda _table, row=row: iter([row]))
        with opened(fresh[0]) as alias, pytest.raises(BackupRefused, match=words) as refused:
            transfer._load_table(connections[alias], source, table)
        assert "secret" not in str(refused.value)
    # One that refers to a missing row, by its column.
    with opened(fresh[0]) as alias, connections[alias].constraint_checks_disabled():
        Job.objects.using(alias).create(kind="export", key="x", study_id=987654)
        with pytest.raises(Error) as refused:
            connections[alias].check_constraints()
    assert why(refused.value) == "runs_job.study_id refers to a missing row"


@pytest.mark.postgres
@pytest.mark.skipif(not postgres_answers(), reason="no PostgreSQL server answers")
def test_postgresql_says_which_column_and_not_what_is_in_it():
    columns = (BackupColumn("id", "integer"), BackupColumn("name", "text"))
    table, said = BackupTable("bk_told", "id", columns), []
    create = "CREATE TEMPORARY TABLE bk_told (id int PRIMARY KEY, name text NOT NULL)"
    with registered("told", from_url(SERVER)) as alias:
        for rows in ([["secret", "a"]], [[1, "secret"], [1, "secret"]], [[1, None]]):
            with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
                cursor.execute(create)
                with pytest.raises(Error) as refused, transaction.atomic(using=alias):
                    transfer._write(connections[alias], table, rows)
                said.append(why(refused.value))
                transaction.set_rollback(True, using=alias)
    assert said[0] == "InvalidTextRepresentation (column id)"
    assert "unique constraint" in said[1]
    assert said[2].endswith("(column name)")
    assert "secret" not in " ".join(said)


@pytest.mark.long
def test_a_restore_that_is_killed_can_be_repeated(backup, fresh):
    """Killed when rows and files are written, right before they count."""
    config, folder = fresh
    if not (child := os.fork()):
        transfer._copy = lambda source, target: os.kill(os.getpid(), signal.SIGKILL)
        making.filled = lambda config: transfer._file_beside(folder / "another.sqlite3")
        transfer.migrate_to = lambda connection, wanted: make_tables(connection.alias)
        restore(backup, fresh)
    _pid, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert rows_in(config) == {"User": 0, "Study": 0}
    assert files.files_in(folder)
    restore(backup, fresh)
    assert rows_in(config)["Study"] == 1
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["site.sqlite3"]


def test_what_vanishes_meanwhile_is_named_and_the_rest_is_there(data_dir, tmp_path, monkeypatch):
    gone = data_dir / "files/imports/going"
    gone.write_text("soon gone")
    # What a killed process left of a copy goes.
    old = data_dir / f"{transfer.COPY}old.sqlite3"
    old.touch()
    os.utime(old, (time.time() - 10**6,) * 2)
    real = files.files_and_links
    monkeypatch.setattr(
        making, "files_and_links", lambda folder: ([gone, *real(folder)[0][1:]], real(folder)[1])
    )
    monkeypatch.setattr(making, "size_of", lambda paths: gone.unlink(missing_ok=True) or 0)
    made = making.make_backup(tmp_path / "backup.zip")
    assert (made.vanished, made.keys) == (["files/imports/going"], None)
    assert [part.name for part in made.files] == ["files/scorers/a/model.safetensors"]
    assert list(data_dir.glob(f"{transfer.COPY}*")) == []


def test_links_within_their_folder_are_followed_and_others_are_named(data_dir, tmp_path, capsys):
    models, outside = data_dir / "models", tmp_path / "outside"
    for path in (models / "blobs/weights", models / "other/more", outside / "weights"):
        path.parent.mkdir(parents=True)
        path.write_text("of a model")
    links = {"current": "blobs", "one": "blobs/weights", "blobs/round": "..", "gone": "nowhere"}
    links |= {"self": "self", "out": outside, "out-file": outside / "weights"}
    links |= {"key": "../secret_key", "blobs/on": "../other"}
    (data_dir / "secret_key").touch()
    for name, target in links.items():
        (models / name).symlink_to(target)
    try:
        call_command("backup", tmp_path / "backup.zip", without_keys=True)
        call_command("check_backup", tmp_path / "backup.zip")
    finally:
        shutil.rmtree(models)
        (data_dir / "secret_key").unlink()
    said = capsys.readouterr().out
    with Archive(tmp_path / "backup.zip") as archive:
        manifest = archive.manifest
    kept = [part.name for part in manifest.files if "/models/" in part.name]
    names = ("blobs/on/more", "blobs/weights", "current/weights", "one", "other/more")
    assert kept == [f"files/models/{name}" for name in names]
    left = ("blobs/round", "current/on", "current/round", "gone", "key", "out", "out-file", "self")
    assert manifest.left_out == [f"models/{name}" for name in left]
    for name in manifest.left_out:
        assert said.count(f"not included: {name}\n") == 2


def test_a_name_that_is_no_text_is_refused_by_its_name(data_dir, tmp_path):
    odd = os.fsencode(data_dir / "files") + b"/b\xe4r"
    os.close(os.open(odd, os.O_CREAT))
    try:
        with pytest.raises(BackupRefused, match=r"not UTF-8.*b\\xe4r"):
            making.make_backup(tmp_path / "backup.zip")
    finally:
        os.unlink(odd)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_file(data_dir, tmp_path, monkeypatch):
    class Full(archives._HashedFile):
        written = 0

        def write(self, content):
            self.written += len(content)
            if self.written > 500 and not self.is_abandoned:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(content)

    monkeypatch.setattr(archives, "_HashedFile", Full)
    with pytest.raises(BackupRefused, match="No space left on device"):
        making.make_backup(tmp_path / "backup.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_may_be_too_small_is_refused_first(
    backup, fresh, data_dir, tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "ROOM_TO_SPARE", 2**60)
    with pytest.raises(BackupRefused, match=r"A backup may need .* MiB left"):
        making.make_backup(tmp_path / "backup.zip")
    with pytest.raises(BackupRefused, match=r"A restore may need .* MiB left"):
        restore(backup, fresh)
    assert_empty(fresh)


@pytest.mark.long
def test_a_site_moves_to_another_database_unless_it_is_at_work(empty, tmp_path):
    make_lab()
    config = copy_of(empty, tmp_path / "moved")
    beat()
    with pytest.raises(BackupRefused, match=f"1 worker reported.*process {os.getpid()} on"):
        move_database(config)
    WorkerBeat.objects.all().delete()

    def write(_done, _total, table):
        # The last of all tables: what was written is in one that was read already.
        Study.objects.update(name=f"Renamed while {table} was read")

    with pytest.raises(BackupRefused, match="people_study was changed during the move: 1 rows"):
        move_database(config, say=write)
    assert rows_in(config) == {"User": 0, "Study": 0}
    assert move_database(config)["people_study"].rows == 1
    assert rows_in(config) == {"User": 1, "Study": 1}
    with opened(config) as alias:
        # It is the same site, which goes on.
        assert Run.objects.using(alias).get().state == Run.State.RUNNING
        assert Job.objects.using(alias).get().is_active
    with pytest.raises(BackupRefused, match="not empty"):
        move_database(config)


def test_commands_ask_for_what_they_need(data_dir, tmp_path, monkeypatch, capsys):
    path = tmp_path / "backup.zip"
    monkeypatch.delenv("BACKUP_PASSPHRASE", raising=False)
    with pytest.raises(CommandError, match="--without-keys"):
        call_command("backup", path)
    monkeypatch.setenv("BACKUP_PASSPHRASE", "short")
    with pytest.raises(CommandError, match="at least 8"):
        call_command("backup", path)
    (tmp_path / "passphrase").write_bytes(b"p\xe4ssphrase")
    with pytest.raises(CommandError, match="not UTF-8 text"):
        call_command("backup", path, passphrase_file=str(tmp_path / "passphrase"))
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\n")
    call_command("backup", path, passphrase_file=str(tmp_path / "passphrase"))
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", path, without_keys=True)
    call_command("check_backup", path)
    said = capsys.readouterr().out
    assert "with keys" in said
    assert "The backup is intact" in said
    assert PASSPHRASE not in said


def test_a_restore_tells_what_was_held_back_and_leaves_out_what_belongs_to_a_machine(
    backup, capsys
):
    with Archive(backup) as archive:
        held = PausedWork(runs=3, jobs=2)
        restored = making.RestoreResult(archive.manifest, ["endpoint Stub"], held)
    RestoreCommand()._tell(restored)
    said = capsys.readouterr().out
    assert "in progress that are now paused: 3." in said
    assert "would have sent something: 2." in said
    assert "Enter it again: endpoint Stub" in said
    # A table that is added here is lost with every restore.
    assert {"django_session", "usersessions_usersession", "runs_workerbeat"} == transfer.LEFT_OUT
