"""Making a backup while people work."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.utils import timezone

from cqa_site import __version__

from .archive import FORMAT, Archive, Manifest, Say, Writer, quiet
from .files import files_and_links, files_in, refuse_small, size_of
from .refusals import in_words
from .sealing import Keys, seal
from .snapshot import Snapshot, snapshot

UNFINISHED = ".part"


def make_backup(
    path: Path, *, keys: Keys | None = None, passphrase: str = "", say: Say = quiet
) -> Manifest:
    """Write a backup and read it again; `path` appears when it is whole and on disk, or never.

    Without `keys` it holds none.
    """
    # First, so that a passphrase that is too short costs nobody an hour.
    sealed = seal(keys, passphrase) if keys else b""
    with in_words("The backup could not be written"):
        _check_room(path.parent)
        with _unfinished(path) as unfinished:
            manifest = _write(unfinished, sealed, say)
            with Archive(unfinished) as archive:
                archive.check(say)
    return manifest


def _write(path: Path, sealed: bytes, say: Say) -> Manifest:
    # Whatever was acknowledged before this moment is in the snapshot.
    moment = timezone.now()
    with path.open("wb") as target:
        with snapshot() as taken, Writer(target, _about(taken, moment)) as writer:
            _write_tables(writer, taken, say)
            _write_files(writer, Path(settings.DATA_DIR), say)
            if sealed:
                writer.keys(sealed)
        target.flush()
        os.fsync(target.fileno())
    return writer.manifest


def _about(taken: Snapshot, moment: datetime) -> Manifest:
    migrations = [list(each) for each in sorted(taken.migrations)]
    engine = taken.connection.vendor
    return Manifest(FORMAT, __version__, moment.isoformat(), engine, migrations)


def _write_tables(writer: Writer, taken: Snapshot, say: Say) -> None:
    for done, table in enumerate(taken.tables):
        tell = partial(_tell_rows, say, done, len(taken.tables), table.name)
        tell(0)
        writer.table(table, taken.rows(table), tell)


def _tell_rows(say: Say, done: int, total: int, name: str, rows: int) -> None:
    say(done, total, f"{name}: {rows:,}" if rows else name)


def _write_files(writer: Writer, folder: Path, say: Say) -> None:
    """After the rows, so that every file a row knows was there already; one may go meanwhile."""
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
    """A file beside the one that is wanted, which it becomes if nothing is raised."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only the owner may read it, as mkstemp makes every file.
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


def _check_room(folder: Path) -> None:
    """Refuse before the first byte where all would not fit even without compression."""
    data, database = Path(settings.DATA_DIR), _database_bytes()
    needs = [(folder, size_of(files_in(data)) + database)]
    if connections["default"].vendor == "sqlite":
        # It is copied first.
        needs.append((data, database))
    refuse_small(needs, "A backup")


def _database_bytes() -> int:
    """What the database takes on disk."""
    connection = connections["default"]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            )
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])
