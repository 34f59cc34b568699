"""One file holds everything, is whole or refused by name, and is restored completely or not."""

import errno
import json
import os
import signal
import time
import zipfile
from dataclasses import replace

import pytest
from cryptography.fernet import Fernet, MultiFernet
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test import override_settings

from annotation.corpus.models.questions import Argument
from cqa_site.people.models import Study, User
from cqa_site.runs import keys
from cqa_site.runs.jobs import beat
from cqa_site.runs.models import Endpoint, WorkerBeat
from cqa_site.sealing import resealed
from cqa_site.upkeep.backups import archive as archives
from cqa_site.upkeep.backups import files, loading, making, restoring, sealing, snapshot, targets
from cqa_site.upkeep.backups.archive import Archive
from cqa_site.upkeep.backups.columns import table_of
from cqa_site.upkeep.backups.moving import move_database
from cqa_site.upkeep.backups.refusals import BackupRefused, Damaged

from .backup_sites import (
    NUMBERS,
    PASSPHRASE,
    SECRET,
    TEXT,
    copy_of,
    flipped,
    make_empty,
    make_lab,
    make_tables,
    opened,
)

pytestmark = pytest.mark.django_db(transaction=True)

UPLOAD = b"object1,object2\n" * 5000


@pytest.fixture(autouse=True, scope="module")
def _cheap_passphrases():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sealing, "COST", 2**8)
        yield


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("files/imports/one", "scorers/a/model.safetensors", "scores/computed.npy"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(UPLOAD)
    with override_settings(DATA_DIR=folder):
        yield folder


@pytest.fixture(scope="module")
def backup(data_dir, django_db_setup, django_db_blocker, tmp_path_factory):
    """A backup of the lab, made once; the database is empty again afterwards."""
    path = tmp_path_factory.mktemp("backups") / "lab.zip"
    with django_db_blocker.unblock():
        make_lab()
        making.make_backup(path, keys=sealing.keys_here(), passphrase=PASSPHRASE)
        call_command("flush", interactive=False, verbosity=0)
    return path


@pytest.fixture(scope="module")
def empty(django_db_setup, django_db_blocker, tmp_path_factory):
    path = tmp_path_factory.mktemp("empty") / "site.sqlite3"
    with django_db_blocker.unblock():
        make_empty(path)
    return path


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
        opened_keys = sealing.unseal(archive.keys(), passphrase) if passphrase else None
        archive.check()
        return restoring.restore_backup(archive, config, folder, keys=opened_keys)


def rows_in(config):
    with opened(config) as alias:
        return {model.__name__: model.objects.using(alias).count() for model in (User, Study)}


def assert_empty(place):
    config, folder = place
    assert rows_in(config) == {"User": 0, "Study": 0}
    assert files.files_in(folder) == []
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["site.sqlite3"]


def test_what_is_restored_is_what_was_there(backup, fresh, data_dir):
    config, folder = fresh
    assert restore(backup, fresh).unreadable == []
    with opened(config) as alias:
        study, endpoint = Study.objects.using(alias).get(), Endpoint.objects.using(alias).get()
        assert (study.name, study.description) == ("Bär & Söhne", TEXT)
        assert endpoint.capabilities == NUMBERS
        assert str(endpoint.price_in) == "0.123456"
        assert keys.open_key(endpoint) == SECRET
        assert Argument.objects.using(alias).count() == 10
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT count(*) FROM annotation_corpussearch('coffee')")
            assert cursor.fetchone() == (3,)
        # Numbers go on behind those that were given.
        assert Study.objects.using(alias).create(name="Next").pk > study.pk
    kept = [path.relative_to(folder).as_posix() for path in files.files_in(folder)]
    assert kept == ["files/imports/one", "scorers/a/model.safetensors"]
    assert (folder / kept[0]).read_bytes() == UPLOAD


def test_the_file_belongs_to_its_owner_and_any_program_reads_it(backup):
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in backup.parent.iterdir()] == ["lab.zip"]
    with zipfile.ZipFile(backup) as opened_zip:
        assert opened_zip.testzip() is None
        line = opened_zip.read("tables/people_study.jsonl").splitlines()[0]
        assert "Bär & Söhne" in json.loads(line)
        manifest = json.loads(opened_zip.read("manifest.json"))
    assert manifest["engine"] == connection.vendor
    everything = backup.read_bytes()
    assert SECRET.encode() not in everything


def places_of(path):
    """Where the content of each kind of part lies, and what is to be named for it."""
    with zipfile.ZipFile(path) as opened_zip:
        for name in (
            "tables/people_study.jsonl",
            "files/files/imports/one",
            "keys.json",
            "manifest.json",
        ):
            about = opened_zip.getinfo(name)
            begin = about.header_offset + 30 + len(name) + 20
            yield name, begin + about.compress_size // 2
        first = opened_zip.infolist()[0]
        # Times and versions in heads, which no program that reads zips minds.
        yield "what stands between its parts", first.header_offset + 10
        yield "what stands between its parts", opened_zip.start_dir + 12
    yield "what stands between its parts", path.stat().st_size - 10
    yield "the directory at its end", path.stat().st_size - archives.SUM_LENGTH - 22


def test_a_flipped_bit_is_refused_with_the_name_of_its_part(backup, tmp_path, subtests):
    for part, at in places_of(backup):
        with subtests.test(f"{part} at {at}"):
            damaged = flipped(backup, tmp_path / "flipped.zip", at)
            with pytest.raises(Damaged) as refused, Archive(damaged) as archive:
                archive.check()
            assert refused.value.part == part


def test_every_bit_counts(backup, tmp_path):
    """Every 499th byte of the file, whatever it belongs to."""
    for at in range(0, backup.stat().st_size, 499):
        damaged = flipped(backup, tmp_path / "flipped.zip", at)
        with pytest.raises(BackupRefused), Archive(damaged) as archive:
            archive.check()


def test_a_file_that_is_cut_off_or_no_backup_is_refused(backup, tmp_path):
    whole = backup.read_bytes()
    for content in (whole[:-1], whole[: len(whole) // 2], b"", b"not a backup" * 99):
        path = tmp_path / "cut.zip"
        path.write_bytes(content)
        with pytest.raises(Damaged), Archive(path) as archive:
            archive.check()


def changed_manifest(path, target, **values):
    """The same tables under another manifest, and everything else in order."""
    with Archive(path) as archive, target.open("wb") as out:
        manifest = replace(archive.manifest, tables=[], files=[], keys=None, **values)
        with archives.Writer(out, manifest) as writer:
            for part in archive.manifest.tables:
                writer.table(part.table, archive.rows(part.table), lambda rows: None)
    return target


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"version": "99.1.0"}, "Install version 99.1.0 or a later one"),
        ({"format": 2}, "cannot read it"),
        ({"migrations": [["runs", "9999_later"]]}, "a migration that is not here"),
    ],
)
def test_a_backup_of_a_later_version_is_refused_in_words(backup, tmp_path, fresh, values, words):
    path = changed_manifest(backup, tmp_path / "later.zip", **values)
    with pytest.raises(BackupRefused, match=words):
        restore(path, fresh, passphrase="")
    assert_empty(fresh)


def test_a_wrong_passphrase_is_told_before_anything_is_touched(backup, fresh):
    with pytest.raises(BackupRefused, match="not the passphrase"):
        restore(backup, fresh, passphrase="another passphrase")
    assert_empty(fresh)


def test_without_the_passphrase_it_says_whose_key_is_needed_again(backup, fresh):
    with override_settings(SECRETS_KEYS=[Fernet.generate_key().decode()]):
        restored = restore(backup, fresh, passphrase="")
    assert restored.unreadable == ["endpoint Stub"]
    assert rows_in(fresh[0])["Study"] == 1


def test_with_the_passphrase_keys_are_readable_under_the_new_keys(backup, fresh):
    with override_settings(SECRETS_KEYS=[Fernet.generate_key().decode()]):
        assert restore(backup, fresh).unreadable == []
        with opened(fresh[0]) as alias:
            assert keys.open_key(Endpoint.objects.using(alias).get()) == SECRET


def test_secrets_within_json_are_encrypted_anew():
    old, new = (Fernet(Fernet.generate_key()) for _each in "ab")
    stored = {"secret": old.encrypt(b"totp").decode(), "plain": ["gAnything", 1, None]}
    taken = resealed(MultiFernet([new, old]), stored)
    assert new.decrypt(taken["secret"]) == b"totp"
    assert taken["plain"] == stored["plain"]


def test_an_installation_with_data_is_refused_with_what_it_holds(backup, fresh):
    restore(backup, fresh)
    with pytest.raises(BackupRefused, match=r"not empty; it holds .* in annotation_argument"):
        restore(backup, fresh)
    assert rows_in(fresh[0])["Study"] == 1


def test_files_without_rows_are_refused_too(backup, fresh):
    stray = fresh[1] / "files/imports/stray"
    stray.parent.mkdir(parents=True)
    stray.write_text("somebody's")
    with pytest.raises(BackupRefused, match="There are files"):
        restore(backup, fresh)
    assert stray.read_text() == "somebody's"


@pytest.mark.parametrize("where", ["load", "migrate_on", "put_files"])
def test_a_restore_that_fails_leaves_an_empty_installation(backup, fresh, monkeypatch, where):
    real = getattr(restoring, where)

    def fails(*arguments, **named):
        real(*arguments, **named)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(restoring, where, fails)
    with pytest.raises(OSError, match="No space"):
        restore(backup, fresh)
    assert_empty(fresh)


def test_rows_that_changed_on_their_way_are_refused_by_table(backup, fresh, monkeypatch):
    real = loading.writers

    def careless(table, vendor):
        converts = real(table, vendor)
        if table.name == "people_study":
            converts[2] = str.upper
        return converts

    monkeypatch.setattr(loading, "writers", careless)
    with pytest.raises(BackupRefused, match="people_study holds something else"):
        restore(backup, fresh)
    assert_empty(fresh)


def test_a_restore_that_is_killed_can_be_repeated(backup, fresh):
    """Killed when rows and files are written, right before they count."""
    config, folder = fresh
    if not (child := os.fork()):
        targets._copy = lambda source, target: os.kill(os.getpid(), signal.SIGKILL)
        restoring.filled = lambda config: targets._file_beside(folder / "another.sqlite3")
        loading.migrate_to = lambda connection, wanted: make_tables(connection.alias)
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
    monkeypatch.setattr(making, "files_in", lambda folder: [gone, *files.files_in(folder)[1:]])
    monkeypatch.setattr(making, "size_of", lambda paths: gone.unlink(missing_ok=True) or 0)
    made = making.make_backup(tmp_path / "backup.zip")
    assert made.vanished == ["files/imports/going"]
    assert made.keys is None
    assert [part.name for part in made.files] == ["files/scorers/a/model.safetensors"]


def test_a_full_disk_leaves_no_file(data_dir, tmp_path, monkeypatch):
    class Full(archives._Summed):
        written = 0

        def write(self, content):
            self.written += len(content)
            if self.written > 500 and not self.is_abandoned:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(content)

    monkeypatch.setattr(archives, "_Summed", Full)
    with pytest.raises(BackupRefused, match="No space left on device"):
        making.make_backup(tmp_path / "backup.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_may_be_too_small_is_refused_first(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "ROOM_TO_SPARE", 2**60)
    with pytest.raises(BackupRefused, match=r"may need .* MiB left"):
        making.make_backup(tmp_path / "backup.zip")


def test_what_a_killed_process_left_of_a_copy_goes(data_dir, tmp_path):
    old = data_dir / f"{snapshot.COPY}old.sqlite3"
    old.touch()
    os.utime(old, (time.time() - 10**6,) * 2)
    making.make_backup(tmp_path / "backup.zip")
    assert list(data_dir.glob(f"{snapshot.COPY}*")) == []


def test_a_site_moves_to_another_database(empty, tmp_path):
    make_lab()
    config = copy_of(empty, tmp_path / "moved")
    moved = move_database(config)
    assert moved["people_study"].rows == 1
    assert rows_in(config) == {"User": 1, "Study": 1}
    with pytest.raises(BackupRefused, match="not empty"):
        move_database(config)


def test_a_site_at_work_does_not_move(empty, tmp_path):
    make_lab()
    config = copy_of(empty, tmp_path / "moved")
    beat()
    with pytest.raises(BackupRefused, match=f"1 worker reported.*process {os.getpid()} on"):
        move_database(config)
    WorkerBeat.objects.all().delete()

    def write(_done, _total, table):
        # The last of all tables: what was written is in one that was read already.
        Study.objects.update(name=f"Renamed while {table} was read")

    with pytest.raises(BackupRefused, match="wrote to people_study while it was moved: 1 rows"):
        move_database(config, say=write)
    assert rows_in(config) == {"User": 0, "Study": 0}
    assert move_database(config)["people_study"].rows == 1


def test_commands_ask_for_what_they_need(data_dir, tmp_path, monkeypatch, capsys):
    path = tmp_path / "backup.zip"
    monkeypatch.delenv("BACKUP_PASSPHRASE", raising=False)
    with pytest.raises(CommandError, match="--without-keys"):
        call_command("backup", path)
    monkeypatch.setenv("BACKUP_PASSPHRASE", "short")
    with pytest.raises(CommandError, match="at least 8"):
        call_command("backup", path)
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\n")
    call_command("backup", path, passphrase_file=str(tmp_path / "passphrase"))
    with pytest.raises(CommandError, match="there already"):
        call_command("backup", path, without_keys=True)
    call_command("check_backup", path)
    said = capsys.readouterr().out
    assert "with keys" in said
    assert "It is whole" in said
    assert PASSPHRASE not in said


def test_how_to_keep_every_field_is_known():
    for model in apps.get_models(include_auto_created=True):
        table_of(model)


def test_a_name_in_a_backup_leads_nowhere_else(tmp_path):
    for name in ("files/../secret_key", "files/files/../../secret_key", "files/secret_key/x"):
        with pytest.raises(BackupRefused):
            files._place(archives.Part(name, 1, ""), tmp_path)
