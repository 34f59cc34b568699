"""Create, list and restore backups by command or job, and move a database."""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.utils import timezone

from cqa_site import __version__
from cqa_site.people.models import User
from cqa_site.runs.actions.runs import PausedWork, hold_back
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue, handles, workers_alive
from cqa_site.runs.models import Job
from cqa_site.sealing import reseal
from cqa_site.web.housekeeping import chore
from .archive import FORMAT, Archive, ArchiveWriter, Manifest, Say, quiet
from .files import (
    Keys,
    all_or_none,
    files_and_links,
    files_in,
    keys_here,
    put_files,
    read_passphrase,
    refuse_small,
    seal,
    size_of,
)
from .tables import SQLITE, BackupRefused, Config, Contents, in_words, name_of
from .transfer import DatabaseSnapshot, filled, load, migrate_on, refuse_full, remove_old, snapshot

UNFINISHED = ".part"


def make_backup(
    path: Path, *, keys: Keys | None = None, passphrase: str = "", say: Say = quiet
) -> Manifest:
    """Write a backup and read it back.

    `path` only appears once the backup is complete and on disk.
    """
    # First, so that a passphrase that is too short does not waste an hour.
    sealed = seal(keys, passphrase) if keys else b""
    with in_words("The backup could not be written"):
        _check_room_for_backup(path.parent)
        with _unfinished(path) as unfinished:
            manifest = _write(unfinished, sealed, say)
            with Archive(unfinished) as archive:
                archive.check(say)
    return manifest


def _write(path: Path, sealed: bytes, say: Say) -> Manifest:
    # The snapshot contains everything that was acknowledged before this time.
    moment = timezone.now()
    with path.open("wb") as target:
        with (
            snapshot() as db_snapshot,
            ArchiveWriter(target, _about(db_snapshot, moment)) as writer,
        ):
            for done, table in enumerate(db_snapshot.tables):
                tell = partial(_tell_rows, say, done, len(db_snapshot.tables), table.name)
                tell(0)
                writer.table(table, db_snapshot.rows(table), tell)
            _write_files(writer, Path(settings.DATA_DIR), say)
            if sealed:
                writer.keys(sealed)
        target.flush()
        os.fsync(target.fileno())
    return writer.manifest


def _about(snapshot: DatabaseSnapshot, moment: datetime) -> Manifest:
    migrations = [list(migration) for migration in sorted(snapshot.migrations)]
    engine = snapshot.connection.vendor
    return Manifest(FORMAT, __version__, moment.isoformat(), engine, migrations)


def _tell_rows(say: Say, done: int, total: int, name: str, rows: int) -> None:
    say(done, total, f"{name}: {rows:,}" if rows else name)


def _write_files(writer: ArchiveWriter, folder: Path, say: Say) -> None:
    """Write the files after the rows, so that only files deleted meanwhile can be missing."""
    paths, links = files_and_links(folder)
    writer.manifest.left_out.extend(link.relative_to(folder).as_posix() for link in links)
    for done, path in enumerate(paths):
        name = path.relative_to(folder).as_posix()
        say(done, len(paths), name)
        try:
            source = path.open("rb")
        except FileNotFoundError:
            writer.manifest.vanished.append(name)
            continue
        with source:
            writer.file(name, source)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces the target file if nothing is raised."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only the owner may read files created by mkstemp.
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=UNFINISHED, dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        Path(name).replace(path)
        _sync_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_room_for_backup(folder: Path) -> None:
    """Refuse to start if the disk might be too small for the uncompressed backup."""
    data, database = Path(settings.DATA_DIR), _database_bytes()
    needs = [(folder, size_of(files_in(data)) + database)]
    if connections["default"].vendor == "sqlite":
        # The database file is copied first.
        needs.append((data, database))
    refuse_small(needs, "A backup")


def _database_bytes() -> int:
    connection = connections["default"]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            )
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


# Only files named by the site are listed, sent or deleted.
NAME = re.compile(r"counterpoint-(\d{8}T\d{6})Z\.zip")
STAMP = "%Y%m%dT%H%M%S"
# A process that is still running would have added to its file within this time.
LEFTOVER_SECONDS = 60 * 60


@dataclass(frozen=True)
class StoredBackup:
    """A backup in the folder, opened only when its manifest is read."""

    path: Path
    made_at: datetime
    bytes: int

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest of the backup, or None if the backup cannot be opened."""
        try:
            with Archive(self.path) as archive:
                return archive.manifest
        except BackupRefused:
            return None

    @property
    def name(self) -> str:
        return self.path.name


def folder() -> Path:
    return Path(settings.BACKUP_DIR)


def all_kept() -> list[StoredBackup]:
    """Return every backup in the folder, newest first, without opening the files."""
    if not folder().is_dir():
        return []
    backups = filter(None, map(_kept, folder().iterdir()))
    return sorted(backups, key=lambda backup: backup.made_at, reverse=True)


def newest(backups: Iterable[StoredBackup] | None = None) -> datetime | None:
    """Return the time of the newest complete backup, or None if there is none."""
    candidates = all_kept() if backups is None else backups
    return next((backup.made_at for backup in candidates if backup.manifest), None)


def is_due(last: datetime | None) -> bool:
    """Return whether the schedule requires a backup now; `last` is the result of `newest`."""
    every = settings.BACKUP_EVERY_HOURS
    return every > 0 and (last is None or timezone.now() - last >= timedelta(hours=every))


def throw_away_old() -> list[str]:
    """Delete old backups and leftovers of killed processes; return the deleted backups' names."""
    remove_old(folder().glob(f"counterpoint-*{UNFINISHED}"), LEFTOVER_SECONDS)
    whole = [backup for backup in all_kept() if backup.manifest]
    wanted = {backup.name for backup in to_keep(whole)}
    gone = [backup for backup in whole if backup.name not in wanted]
    for old_backup in gone:
        old_backup.path.unlink(missing_ok=True)
    return [backup.name for backup in gone]


def to_keep(backups: Iterable[StoredBackup]) -> list[StoredBackup]:
    """Return the newest backup of each of the most recent days and weeks that have backups."""
    newest_first = sorted(backups, key=lambda backup: backup.made_at, reverse=True)
    days: dict[object, StoredBackup] = {}
    weeks: dict[object, StoredBackup] = {}
    for candidate in newest_first:
        days.setdefault(candidate.made_at.date(), candidate)
        weeks.setdefault(candidate.made_at.isocalendar()[:2], candidate)
    daily = list(days.values())[: settings.BACKUP_KEEP_DAYS]
    weekly = list(weeks.values())[: settings.BACKUP_KEEP_WEEKS]
    survivors = {backup.name: backup for backup in [*newest_first[:1], *daily, *weekly]}
    return list(survivors.values())


def _kept(path: Path) -> StoredBackup | None:
    """Return a stored backup, or None if the file is missing or was not named by the site."""
    if not (match := NAME.fullmatch(path.name)) or not path.is_file():
        return None
    # The date may be invalid, or the file may have just been deleted.
    with suppress(ValueError, FileNotFoundError):
        made_at = datetime.strptime(match[1], STAMP).replace(tzinfo=UTC)
        return StoredBackup(path, made_at, path.stat().st_size)
    return None


# Restores into an empty installation, completely or not at all.

# SQLite writes the rows of a backup to two files with indexes, which exist at the same time.
TIMES_ROWS = 4


@dataclass(frozen=True)
class RestoreResult:
    """The result of a restore; `unreadable` names items whose key must be entered again."""

    manifest: Manifest
    unreadable: list[str]
    held: PausedWork


def restore_backup(
    archive: Archive, config: Config, folder: Path, *, keys: Keys | None, say: Say = quiet
) -> RestoreResult:
    """Fill the database and the folder from a checked backup.

    Files are in place before the rows are committed; any failure undoes both.
    """
    # Migrations trust the rows of a crafted backup, so they may raise any error.
    with in_words("The backup could not be restored", (Exception,)):
        refuse_full(config)
        needs = [(folder, sum(part.bytes for part in archive.manifest.files))]
        if config["ENGINE"] == SQLITE:
            rows = sum(part.bytes for part in archive.manifest.tables)
            needs.append((Path(config["NAME"]).parent, TIMES_ROWS * rows))
        refuse_small(needs, "A restore")
        with all_or_none(folder, whose=name_of(config)), filled(config) as alias:
            load(archive, alias, say)
            migrate_on(alias)
            _count, unreadable = reseal(using=alias, older=keys["SECRETS_KEYS"] if keys else ())
            held = hold_back(alias)
            put_files(archive, folder, say)
    return RestoreResult(archive.manifest, unreadable, held)


STOP = "Stop all web servers and workers, then try again. Nothing was changed."


def move_database(config: Config, *, say: Say = quiet) -> dict[str, Contents]:
    """Copy this database into another database; return the copied contents by table.

    Files are not moved, and encrypted values remain readable, because the site stays the same.
    Raises BackupRefused if workers are running, or if data changed during the copy.
    """
    refuse_full(config)
    _refuse_at_work()
    with in_words("The database could not be moved"), filled(config) as alias:
        with snapshot() as db_snapshot:
            moved = load(db_snapshot, alias, say)
        migrate_on(alias)
        with snapshot() as later:
            _refuse_written(later, moved)
    return moved


def _refuse_at_work() -> None:
    if alive := workers_alive():
        processes = ", ".join(f"process {beat.process_id} on {beat.host}" for beat in alive[:3])
        raise BackupRefused(
            f"The site is running: {len(alive)} worker{'s' * (len(alive) > 1)} reported within "
            f"the last minute ({processes}). {STOP}"
        )


def _refuse_written(later: DatabaseSnapshot, moved: dict[str, Contents]) -> None:
    for table in later.tables:
        now = Contents.of(table, later.rows(table))
        if now.sha256 != moved[table.name].sha256:
            raise BackupRefused(
                f"{table.name} was changed during the move: {now.rows:,} rows now, "
                f"{moved[table.name].rows:,} before. {STOP}"
            )


BACKUP_JOB, CHECK_JOB = "backup", "check_backup"


def ask_for_backup(actor: User | None = None) -> Job:
    """Queue a backup unless one is already queued."""
    return enqueue(study=None, kind=BACKUP_JOB, key="site", actor=actor)


def ask_for_check(backup: StoredBackup, actor: User) -> Job:
    """Queue a job that checks a whole backup."""
    return enqueue(study=None, kind=CHECK_JOB, key=backup.name, actor=actor, name=backup.name)


@handles(BACKUP_JOB, is_long=True)
def back_up(work: JobContext) -> None:
    """Make a backup, then delete old backups."""
    file = settings.BACKUP_PASSPHRASE_FILE
    try:
        passphrase = read_passphrase(file) if file else ""
        make_backup(
            folder() / f"counterpoint-{timezone.now().astimezone(UTC):{STAMP}}Z.zip",
            keys=keys_here() if file else None,
            passphrase=passphrase,
            say=_progress_of(work),
        )
    except BackupRefused as refusal:
        raise JobRefused(str(refusal)) from refusal
    throw_away_old()


@handles(CHECK_JOB, is_long=True)
def check(work: JobContext) -> None:
    """Read a backup; the job fails if a part is damaged, and names that part."""
    backup = {candidate.name: candidate for candidate in all_kept()}.get(work.payload["name"])
    if backup is None:
        raise JobRefused("The backup no longer exists.")
    try:
        with Archive(backup.path) as archive:
            archive.check(_progress_of(work))
    except BackupRefused as refusal:
        raise JobRefused(str(refusal)) from refusal


def _progress_of(work: JobContext) -> Say:
    """Return a progress callback that truncates notes too long for a job."""
    return lambda done, total, note: work.progress(done, total, note[:200])


@chore("scheduled backups")
def back_up_if_due() -> int:
    """Queue a backup if the schedule requires it; return the number of queued backups."""
    if not is_due(newest()):
        return 0
    ask_for_backup()
    return 1
