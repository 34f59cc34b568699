"""The archive file of a backup, and the progress line of the backup commands."""

import hashlib
import json
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import IO, Any, get_origin

from django.core.management.base import OutputWrapper

from .tables import (
    JSON_TYPES,
    WRITERS,
    BackupColumn,
    BackupRefused,
    BackupTable,
    Contents,
    DamagedBackup,
    Value,
    as_line,
)

# Backup file: a zip with a manifest, one part for each table and file, and the keys.
#
# Any program that reads zip files can open it, and table rows are lines of JSON. The zip comment,
# in the last 64 bytes, is the SHA-256 hash of all preceding bytes; the manifest contains a hash of
# every part. Any changed bit can therefore be detected and traced to a part.

FORMAT = 1
MANIFEST, KEYS = "manifest.json", "keys.json"
SUM_LENGTH = 64
BLOCK = 2**20
# More than any site needs (a manifest lists a million files), but small enough to read at once.
MOST_MANIFEST, MOST_LINE = 2**28, 2**28
# Rows and texts shrink to a tenth at any level; the lowest levels are fastest.
LEVEL = 3
# Compression method and file mode of every entry.
METHOD, MODE = zipfile.ZIP_DEFLATED, 0o600 << 16
# Uploads, exports, trained weights and models added by hand. All other contents of the data folder
# can be recomputed or apply only to this machine.
FOLDERS = ("files", "scorers", "models")
# Longer than any file name of a site, but too short for more subfolders than Python can handle.
MOST_NAME = 1000
# Progress callback: finished parts, total parts, and a note on the current part.
Say = Callable[[int, int, str], None]


def quiet(done: int, total: int, note: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class ArchivePart:
    """A part of the archive, with its name in the zip, its uncompressed size and its hash."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class TablePart(ArchivePart):
    """The rows of a table, and the hash of their content."""

    table: BackupTable
    rows: int
    content: str


@dataclass
class Manifest:
    """The description and contents of a backup."""

    format: int
    version: str
    made_at: str
    engine: str
    migrations: list[list[str]]
    tables: list[TablePart] = field(default_factory=list)
    files: list[ArchivePart] = field(default_factory=list)
    keys: ArchivePart | None = None
    # Files that were deleted while the backup was made.
    vanished: list[str] = field(default_factory=list)
    # Links that are broken or lead out of the site's folders.
    left_out: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.tables)

    @property
    def parts(self) -> list[ArchivePart]:
        """All parts except the manifest itself."""
        return [*self.tables, *self.files, *([self.keys] if self.keys else [])]


class ArchiveWriter:
    """A writer that adds parts one after another in bounded memory, and closes the file."""

    def __init__(self, target: IO[bytes], manifest: Manifest) -> None:
        self.manifest = manifest
        self._target = _HashedFile(target)
        # If it cannot seek, zipfile writes sizes after a part instead of into its header.
        self._zip = zipfile.ZipFile(self._target, "w")
        self._zip.comment = b"0" * SUM_LENGTH

    def table(
        self, table: BackupTable, rows: Iterator[list[Value]], say: Callable[[int], None]
    ) -> None:
        """Write the rows of a table, and report the count to `say` from time to time."""
        contents = Contents(table)
        with self._part(f"tables/{table.name}.jsonl") as part:
            for row in rows:
                line = as_line(row)
                if len(line) > MOST_LINE:
                    raise BackupRefused(f"A row of {table.name} is too large for a backup.")
                part.write(line)
                contents.add(row, line)
                if contents.rows % 5000 == 0:
                    say(contents.rows)
        table_part = TablePart(*part.told, table, contents.rows, contents.sha256)
        self.manifest.tables.append(table_part)

    def file(self, name: str, source: IO[bytes]) -> None:
        with self._part(f"files/{name}") as part:
            while block := source.read(BLOCK):
                part.write(block)
        self.manifest.files.append(ArchivePart(*part.told))

    def keys(self, content: bytes) -> None:
        with self._part(KEYS) as part:
            part.write(content)
        self.manifest.keys = ArchivePart(*part.told)

    def __enter__(self) -> "ArchiveWriter":
        return self

    def __exit__(self, raised: type[BaseException] | None, *_more: object) -> None:
        if raised:
            self._abandon()
            return
        manifest = json.dumps(asdict(self.manifest), indent=1).encode()
        if len(manifest) > MOST_MANIFEST:
            self._abandon()
            raise BackupRefused(f"{len(self.manifest.files):,} files are too many for a backup.")
        with self._part(MANIFEST) as part:
            part.write(manifest)
        self._zip.close()
        self._target.close()

    def _abandon(self) -> None:
        """Prevent the zip from writing its directory when it is discarded."""
        self._target.is_abandoned = True
        self._zip.close()

    @contextmanager
    def _part(self, name: str) -> "Iterator[_PartWriter]":
        about = zipfile.ZipInfo(name)
        about.compress_type, about.external_attr = METHOD, MODE
        about._compresslevel = LEVEL  # type: ignore[attr-defined]
        with self._zip.open(about, "w", force_zip64=True) as target:
            yield _PartWriter(name, target)


class _PartWriter:
    def __init__(self, name: str, target: IO[bytes]) -> None:
        self._name, self._target = name, target
        self._bytes, self._hash = 0, hashlib.sha256()

    def write(self, content: bytes) -> None:
        self._target.write(content)
        self._hash.update(content)
        self._bytes += len(content)

    @property
    def told(self) -> tuple[str, int, str]:
        return self._name, self._bytes, self._hash.hexdigest()


class _HashedFile:
    """A non-seekable file whose last 64 bytes are the hash of all other bytes."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target, self._hash, self._last = target, hashlib.sha256(), b""
        self.is_abandoned = False

    def write(self, content: bytes) -> int:
        if self.is_abandoned:
            return len(content)
        self._target.write(content)
        self._last += content
        self._hash.update(self._last[:-SUM_LENGTH])
        self._last = self._last[-SUM_LENGTH:]
        return len(content)

    def flush(self) -> None:
        self._target.flush()

    def close(self) -> None:
        self._target.seek(-SUM_LENGTH, os.SEEK_END)
        self._target.write(self._hash.hexdigest().encode())


class Archive:
    """A backup to read; raises `DamagedBackup` if it was changed after it was written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise BackupRefused(f"The file {path} does not exist.") from None
        except (PermissionError, IsADirectoryError) as problem:
            raise BackupRefused(f"{path} cannot be read: {problem.strerror}.") from problem
        except Exception as problem:
            # Crafted bytes may cause any error in zipfile and its decompressors, here and below.
            why = "the file is incomplete or is not a backup"
            raise DamagedBackup("the directory at its end", why) from problem
        self.manifest = self._read_manifest()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_raised: object) -> None:
        self._zip.close()

    def check(self, say: Say = quiet) -> None:
        """Read the whole backup; an error names the damaged part."""
        self._check_entries()
        parts = self.manifest.parts
        for done, part in enumerate(parts):
            say(done, len(parts), part.name)
            for _block in self._blocks(part):
                pass
        if not _is_whole(self.path):
            raise DamagedBackup("the bytes between its parts")
        say(len(parts), len(parts), "")

    @property
    def migrations(self) -> set[tuple[str, str]]:
        """The migrations that created the tables."""
        return {(app, name) for app, name in self.manifest.migrations}

    @property
    def tables(self) -> list[BackupTable]:
        return [part.table for part in self.manifest.tables]

    def rows(self, table: BackupTable) -> Iterator[list[Value]]:
        """Yield the rows of a table; raise `DamagedBackup` if they were changed."""
        part = next(
            candidate for candidate in self.manifest.tables if candidate.table.name == table.name
        )
        contents = Contents(table)
        kinds = [JSON_TYPES.get(column.kind, (str,)) for column in table.columns]
        for line in _lines(self._blocks(part), part):
            row = _row(line, part, kinds)
            contents.add(row, line + b"\n")
            yield row
        if (contents.rows, contents.sha256) != (part.rows, part.content):
            raise DamagedBackup(part.name, "its rows differ from the original rows")

    def copy(self, part: ArchivePart, target: IO[bytes]) -> None:
        for block in self._blocks(part):
            target.write(block)

    def keys(self) -> bytes:
        """Return the sealed keys, or empty bytes if the backup has no keys."""
        return b"".join(self._blocks(self.manifest.keys)) if self.manifest.keys else b""

    def _check_entries(self) -> None:
        """Reject entries that are duplicated, unlisted or not in the writer's format."""
        named = [(part.name, part.bytes, METHOD, MODE) for part in self.manifest.parts]
        named.append((MANIFEST, self._zip.getinfo(MANIFEST).file_size, METHOD, MODE))
        entries = [
            (entry.filename, entry.file_size, entry.compress_type, entry.external_attr)
            for entry in self._zip.infolist()
        ]
        odd = (Counter(entries) - Counter(named)) + (Counter(named) - Counter(entries))
        if odd:
            raise DamagedBackup(min(odd)[0], "duplicate, unlisted, or of the wrong size or kind")

    def _read_manifest(self) -> Manifest:
        try:
            with self._zip.open(MANIFEST) as source:
                written = source.read(MOST_MANIFEST + 1)
            content = json.loads(written) if len(written) <= MOST_MANIFEST else None
        except Exception as problem:
            raise DamagedBackup(MANIFEST) from problem
        if not isinstance(content, dict):
            raise DamagedBackup(MANIFEST)
        _refuse_newer(content)
        return _manifest(content)

    def _blocks(self, part: ArchivePart) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), part.bytes
        try:
            with self._zip.open(part.name) as source:
                # Read one extra byte at most, because crafted data may decompress without end.
                while block := source.read(min(BLOCK, left + 1)):
                    left -= len(block)
                    if left < 0:
                        break
                    digest.update(block)
                    yield block
        except Exception as problem:
            raise DamagedBackup(part.name) from problem
        if left or digest.hexdigest() != part.sha256:
            raise DamagedBackup(part.name)


def _lines(blocks: Iterator[bytes], part: ArchivePart) -> Iterator[bytes]:
    rest: list[bytes] = []
    for block in blocks:
        *lines, last = block.split(b"\n")
        for line in lines:
            yield b"".join([*rest, line])
            rest = []
        rest.append(last)
        if BLOCK * len(rest) > MOST_LINE:
            raise DamagedBackup(part.name, "a row is too long")


def _row(line: bytes, part: TablePart, kinds: list[tuple[type, ...]]) -> list[Value]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise DamagedBackup(part.name, "a row is not JSON") from problem
    if not isinstance(row, list) or len(row) != len(kinds):
        raise DamagedBackup(part.name, "a row does not have one value for each column")
    for value, kind, column in zip(row, kinds, part.table.columns, strict=True):
        if value is not None and type(value) not in kind:
            raise DamagedBackup(part.name, f"a value does not fit its column {column.name}")
    return row


def _is_whole(path: Path) -> bool:
    """Return whether the hash at the end matches all preceding bytes."""
    digest, left = hashlib.sha256(), path.stat().st_size - SUM_LENGTH
    with path.open("rb") as source:
        while left > 0 and (block := source.read(min(BLOCK, left))):
            digest.update(block)
            left -= len(block)
        return source.read() == digest.hexdigest().encode()


def _refuse_newer(content: dict[str, Any]) -> None:
    from cqa_site import __version__

    if not isinstance(content.get("format"), int):
        raise DamagedBackup(MANIFEST, "its format is not a number")
    made_by = str(content.get("version"))[:40]
    if content.get("format") == FORMAT and _numbers(made_by) <= _numbers(__version__):
        return
    raise BackupRefused(
        f"The backup was made by version {made_by}; this is {__version__}, which cannot read it. "
        f"Install version {made_by} or a later one, then restore."
    )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def _manifest(content: dict[str, Any]) -> Manifest:
    """Return the manifest after checking its values."""
    try:
        tables = [_table_part(part) for part in content.pop("tables")]
        files = [ArchivePart(**part) for part in content.pop("files")]
        keys = content.pop("keys")
        read = Manifest(**content, tables=tables, files=files, keys=keys and ArchivePart(**keys))
        _refuse_unsound(read)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise DamagedBackup(
            MANIFEST, "values are missing, unknown or of the wrong type"
        ) from problem
    if odd := [part.name for part in files if not _is_place(part.name)]:
        raise DamagedBackup(odd[0], "a site has no file with this name")
    return read


def _refuse_unsound(read: Manifest) -> None:
    """Reject values of the wrong type, because pages and messages show them unchanged."""
    tables = [part.table for part in read.tables]
    columns = [column for table in tables for column in table.columns]
    records: list[Any] = [read, *read.parts, *tables, *columns]
    for record in records:
        for part in fields(record):
            if not isinstance(getattr(record, part.name), _kind(part)):
                raise DamagedBackup(MANIFEST, f"the value of {part.name} has the wrong type")
    texts = [read.version, *read.vanished, *read.left_out]
    for app, name in read.migrations:
        texts += [app, name]
    "".join(texts).encode()
    datetime.fromisoformat(read.made_at)
    is_ours = read.engine in WRITERS and _numbers(read.version) and read.version.isprintable()
    if not is_ours or any(part.bytes < 0 for part in read.parts):
        raise DamagedBackup(MANIFEST, "its engine, version or sizes are not valid")


def _is_place(name: str) -> bool:
    """Return whether the name is a path inside one of the folders in a backup."""
    top, *below = name.split("/")
    is_kept = top == "files" and len(below) > 1 and below[0] in FOLDERS
    return is_kept and len(name) <= MOST_NAME and not {"", ".", ".."} & {*below}


def _kind(field: Field[Any]) -> Any:
    """Return the type to use with `isinstance`, which does not check the items of lists."""
    kind = get_origin(field.type)
    return kind if kind in (list, tuple) else field.type


def _table_part(content: dict[str, Any]) -> TablePart:
    table = content.pop("table")
    columns = tuple(BackupColumn(**column) for column in table.pop("columns"))
    return TablePart(**content, table=BackupTable(**table, columns=columns))


# Progress of backup commands: a single changing line on a terminal, and nothing in a log.

WIDTH = 78


class ProgressLine:
    """A progress line that is only shown on a terminal."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out

    def __call__(self, done: int, total: int, note: str) -> None:
        if self._out.isatty():
            line = f"{done} of {total}  {note}"[:WIDTH] if note else ""
            self._out.write(f"\r{line:{WIDTH}}" + ("" if note else "\r"), ending="")
            self._out.flush()


def told(manifest: Manifest) -> str:
    """Describe a backup in a sentence, with a line for each missing file."""
    size = sum(part.bytes for part in manifest.files)
    missing = [f"Deleted during the backup, so not included: {n}" for n in manifest.vanished]
    missing += [f"A link that leads elsewhere, so not included: {n}" for n in manifest.left_out]
    about = (
        f"Made by version {manifest.version} on {manifest.made_at[:16].replace('T', ' ')} UTC: "
        f"{manifest.rows:,} rows in {len(manifest.tables)} tables, {len(manifest.files):,} files "
        f"({size / 2**20:,.1f} MiB), {'with' if manifest.keys else 'without'} keys."
    )
    return "\n".join([about, *missing])
