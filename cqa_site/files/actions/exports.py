"""Export files: formats, the jobs that write them, downloads and retention."""

import hashlib
import json
import os
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.http import FileResponse, StreamingHttpResponse
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue, handles
from cqa_site.tabular import csv_pieces, write_csv, write_jsonl, write_parquet, write_xlsx
from cqa_site.web.pages import attachment, guarded
from ..models import ExportFile, ImportBatch, ImportFile
from .files import FOLDER as IMPORTS, NotInThisState, discard_import

# Tables as files in every format, and downloads of finished files

Row = tuple[Any, ...]
Format = ExportFile.Format
CONTENT_TYPES: dict[str, str] = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSONL: "application/jsonl",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.PARQUET: "application/vnd.apache.parquet",
}


@dataclass(frozen=True)
class FileTable:
    """Columns with their types, and rows with cells in column order."""

    types: dict[str, type]
    rows: Iterator[Row]


def write_table(
    target: BinaryIO, table: FileTable, rows: Iterable[Row], format: str, *, is_raw: bool
) -> None:
    """Write column names and rows of a table; CSV is spreadsheet-safe unless ``is_raw``."""
    columns = list(table.types)
    if format == Format.CSV:
        write_csv(target, columns, rows, for_spreadsheets=not is_raw)
    elif format == Format.PARQUET:
        write_parquet(target, columns, rows, types=table.types)
    else:
        (write_xlsx if format == Format.XLSX else write_jsonl)(target, columns, rows)


def sent_table(table: FileTable, *, name: str, format: str, is_raw: bool = False) -> FileResponse:
    """Return a download of a table created for this request."""
    # The response closes the file, which deletes it.
    target = TemporaryFile()  # noqa: SIM115
    write_table(target, table, table.rows, format, is_raw=is_raw)
    target.seek(0)
    return guarded(
        FileResponse(target, as_attachment=True, filename=name, content_type=CONTENT_TYPES[format])
    )


def streamed_table(table: FileTable, *, name: str) -> StreamingHttpResponse:
    """Stream a long table as CSV while its rows are read, without storing it.

    Reading the rows must not keep a query open, because a slow client would block writes.
    """
    response = StreamingHttpResponse(
        csv_pieces(list(table.types), table.rows), content_type=CONTENT_TYPES[Format.CSV]
    )
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return guarded(response)


def sent_file(file: ExportFile) -> FileResponse:
    """Return a finished file; raises NotThere once it has expired."""
    return attachment(file.path, name=file.shown_name, content_type=CONTENT_TYPES[file.format])


def sent_manifest(file: ExportFile) -> FileResponse:
    """Return the manifest of a finished file."""
    name = f"{file.shown_name}.manifest.json"
    return attachment(file.manifest_path, name=name, content_type="application/json")


# Creation of export files in the background
#
# Files that are requested together share one random salt, which the worker creates and does not
# store, so pseudonyms agree only within the set. A file is written under a random name and moved
# into place when complete; the rows of a set change together, in the transaction that ends the
# job. An `ExportKind` defines the content of the files.

FOLDER = "exports"
LAYOUT = 1


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export besides content and format."""

    with_comments: bool = False
    is_raw: bool = False

    @property
    def key(self) -> str:
        """Part of the job's name by which a repeated request is recognized."""
        return f"{'comments' if self.with_comments else ''}:{'raw' if self.is_raw else ''}"


class ExportKind(ABC):
    """A kind of export; one object per kind is registered.

    Attributes
    ----------
    job
        Kind of the job that creates the files.
    Model
        The model of its files.
    """

    job: str
    Model: type[ExportFile]

    @abstractmethod
    def source(self, work: JobContext, files: Collection[Any]) -> Any:
        """Update and return the source of all files in a set; raises JobRefused."""

    @abstractmethod
    def table(self, file: Any, source: Any) -> FileTable:
        """Return the content of one file."""

    @abstractmethod
    def about(self, source: Any) -> dict[str, Any]:
        """Return the facts about the source that a reader needs to cite and check a file."""


KINDS: list[ExportKind] = []


def register(kind: ExportKind) -> None:
    """Register a kind, so that workers create its files and housekeeping deletes old files."""
    KINDS.append(kind)
    handles(kind.job)(partial(make_exports, kind))


@transaction.atomic
def request_files(
    kind: ExportKind,
    *,
    study: Study,
    subject: str,
    contents: Collection[str],
    format: str,
    options: ExportOptions,
    actor: User,
    payload: dict[str, Any],
    key: str,
    **fields: Any,
) -> list[Any]:
    """Request a set of files; a repeated request returns the set in progress.

    ``fields`` are fields of the kind's model; ``payload`` is the input of its source.
    """
    wanted = sorted(set(contents))
    flags: dict[str, Any] = {"with_comments": options.with_comments, "is_raw": options.is_raw}
    job = enqueue(
        study=study,
        kind=kind.job,
        key=f"{key}:{','.join(wanted)}:{format}:{options.key}",
        actor=actor,
        **payload,
        **flags,
    )
    rows = kind.Model._default_manager
    present = list(rows.filter(job=job).select_related(*fields, "job"))
    if present:
        return present
    about = fields | {"format": format, "job": job, "created_by": actor}
    files = [rows.create(content=content, **about) for content in wanted]
    record(
        study=study,
        actor=actor,
        verb="export_requested",
        subject=subject,
        contents=wanted,
        format=format,
        **flags,
    )
    return files


def make_exports(kind: ExportKind, work: JobContext) -> None:
    """Write every file of the job's set; a repeated job rewrites all of them."""
    files = list(kind.Model._default_manager.filter(job=work.job).order_by("pk"))
    source = kind.source(work, files)
    try:
        for file in files:
            _write(kind, file, source, work)
        with transaction.atomic():
            _store(kind, files, work)
    except BaseException:
        _remove_partial_files(files)
        raise


def _write(kind: ExportKind, file: ExportFile, source: Any, work: JobContext) -> None:
    """Write one file under a temporary name, then move it into place with its manifest."""
    folder = settings.MEDIA_ROOT / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.stored_as = f"{FOLDER}/{uuid.uuid4().hex}.{file.format}"
    table = kind.table(file, source)
    rows = _CountedRows(table.rows, work, file.get_content_display())  # type: ignore[attr-defined]
    part = file.path.with_suffix(".part")
    with part.open("xb") as target:
        try:
            write_table(target, table, rows, file.format, is_raw=work.payload["is_raw"])
        except ValueError as reason:
            raise JobRefused(str(reason)) from reason
        target.flush()
        os.fsync(target.fileno())
    part.chmod(0o600)
    file.rows, file.size, file.sha256 = rows.count, part.stat().st_size, _sha256(part)
    file.finished_at = timezone.now()
    manifest = _manifest(file, table, work.payload) | kind.about(source)
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    file.manifest_path.write_text(text, encoding="utf-8")
    part.replace(file.path)


class _CountedRows:
    """Iterable that counts the rows written to a file and reports the progress."""

    def __init__(self, rows: Iterator[Row], work: JobContext, name: str) -> None:
        self.rows, self.work, self.name, self.count = rows, work, name, 0

    def __iter__(self) -> Iterator[Row]:
        for row in self.rows:
            self.count += 1
            if self.count % 500 == 0:
                self.work.progress(self.count, note=self.name)
            yield row


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _manifest(file: ExportFile, table: FileTable, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that a reader needs to cite and check the file."""
    return {
        "layout": LAYOUT,
        "content": file.content,
        "format": file.format,
        "rows": file.rows,
        "columns": [{"name": name, "type": kind.__name__} for name, kind in table.types.items()],
        "size": file.size,
        "sha256": file.sha256,
        "comments": flags["with_comments"],
        "spreadsheet_safe": file.format == Format.CSV and not flags["is_raw"],
        "made_at": file.finished_at and file.finished_at.isoformat(),
    }


def _store(kind: ExportKind, files: list[ExportFile], work: JobContext) -> None:
    changed = ["stored_as", "rows", "size", "sha256", "finished_at"]
    kind.Model._default_manager.bulk_update(files, changed)
    work.finish()


def _remove_partial_files(files: list[ExportFile]) -> None:
    """Delete the files of an interrupted run; the database still marks them as missing."""
    for file in files:
        if file.stored_as:
            for path in (file.path, file.manifest_path):
                path.unlink(missing_ok=True)
            file.path.with_suffix(".part").unlink(missing_ok=True)


# Retention of files: some weeks for exports and uploads, one day for leftovers
#
# An expired export keeps its row, with its hash and counts, so that a citation can still be looked
# up; the same data can be exported again. Files of applied imports are kept.

Names = Callable[[], Iterable[str]]
# Longer than writing any file takes.
LEFTOVER_SECONDS = 24 * 60 * 60


def _exported() -> Iterator[str]:
    for kind in KINDS:
        yield from kind.Model._default_manager.values_list("stored_as", flat=True)


def _uploaded() -> Iterable[str]:
    return ImportFile.objects.values_list("stored_as", flat=True)


# Folders in which every file belongs to a row, with functions that return the names in the rows.
FOLDERS: dict[str, Names] = {FOLDER: _exported, IMPORTS: _uploaded}


def expire_exports() -> int:
    """Mark old export files as expired; `remove_leftovers` deletes them."""
    oldest, expired = _oldest_kept(), 0
    for kind in KINDS:
        old = kind.Model._default_manager.filter(finished_at__lt=oldest).exclude(stored_as="")
        expired += old.update(stored_as="")
    return expired


def discard_old_imports() -> int:
    """Discard uploads that were neither imported nor viewed during the retention period."""
    oldest = _oldest_kept()
    untouched = Q(job__isnull=True) | Q(job__finished_at__lt=oldest)
    states = (ImportFile.State.UPLOADED, ImportFile.State.CHECKED, ImportFile.State.REFUSED)
    waiting = ImportFile.objects.filter(untouched, created_at__lt=oldest, state__in=states)
    discarded = sum(_discard_upload(file) for file in waiting.select_related("study"))
    ImportBatch.objects.filter(files__isnull=True, created_at__lt=oldest).delete()
    return discarded


def remove_leftovers() -> int:
    """Delete files without a row: expired exports, and files left behind by killed processes."""
    return sum(_sweep(folder, names) for folder, names in FOLDERS.items())


def _oldest_kept() -> datetime:
    return timezone.now() - timedelta(days=settings.EXPORT_RETENTION_DAYS)


def _discard_upload(file: ImportFile) -> int:
    try:
        discard_import(import_file=file, actor=None)
    except NotInThisState:  # the file is being imported
        return 0
    return 1


def _sweep(folder: str, names: Names) -> int:
    # List the folder first, so that a file finished in the meantime has a row when rows are read.
    old = list(_old_files(settings.MEDIA_ROOT / folder))
    known = set(map(_stem, names())) if old else set()
    strays = [path for path in old if _stem(path.name) not in known]
    for path in strays:
        path.unlink(missing_ok=True)
    return len(strays)


def _old_files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_file() and time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
            yield path


def _stem(name: str) -> str:
    """Return the random part of a name, shared by a file, its manifest and its partial file."""
    return Path(name).name.partition(".")[0]
