"""Making export files in the background.

A set of files asked for together shares one random salt, which is made by the worker and
forgotten: pseudonyms agree inside the set and nowhere else. A file is written under a name nobody
can guess and moved into place when complete; the rows of a set change together, in the transaction
that ends the job. What the files hold is an `ExportKind`'s.
"""

import hashlib
import json
import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from cqa_site.files.models import ExportFile
from cqa_site.files.sending import FileTable, Format, Row, write_table
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobRefused, Work, enqueue, handles

FOLDER = "exports"
LAYOUT = 1


@dataclass(frozen=True)
class Options:
    """What was asked for beside content and format."""

    with_comments: bool = False
    is_raw: bool = False

    @property
    def key(self) -> str:
        """Part of the name of the job, so that the same wish is recognised."""
        return f"{'comments' if self.with_comments else ''}:{'raw' if self.is_raw else ''}"


class ExportKind(ABC):
    """What files are made from; one object of each kind is registered.

    Attributes
    ----------
    job
        Kind of the job that makes them.
    Model
        The table of its files.
    """

    job: str
    Model: type[ExportFile]

    @abstractmethod
    def source(self, work: Work, files: Collection[Any]) -> Any:
        """What all files of a set are made from, brought up to date; raises JobRefused."""

    @abstractmethod
    def table(self, file: Any, source: Any) -> FileTable:
        """What is in one file."""

    @abstractmethod
    def about(self, source: Any) -> dict[str, Any]:
        """What a reader needs to know of the source, to cite and to check a file."""


KINDS: list[ExportKind] = []


def register(kind: ExportKind) -> None:
    """Have workers make files of a kind, and housekeeping throw old ones away."""
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
    options: Options,
    actor: User,
    payload: dict[str, Any],
    key: str,
    **fields: Any,
) -> list[Any]:
    """Ask for a set of files; the same wish while one is being worked on returns that one.

    ``fields`` are those of the kind's table, ``payload`` what its source needs to know.
    """
    wanted = sorted(set(contents))
    asked: dict[str, Any] = {"with_comments": options.with_comments, "is_raw": options.is_raw}
    job = enqueue(
        study=study,
        kind=kind.job,
        key=f"{key}:{','.join(wanted)}:{format}:{options.key}",
        actor=actor,
        **payload,
        **asked,
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
        **asked,
    )
    return files


def make_exports(kind: ExportKind, work: Work) -> None:
    """Write every file of the job's set; a repeated run writes them all anew."""
    files = list(kind.Model._default_manager.filter(job=work.job).order_by("pk"))
    source = kind.source(work, files)
    try:
        for file in files:
            _write(kind, file, source, work)
        with transaction.atomic():
            _store(kind, files, work)
    except BaseException:
        _discard(files)
        raise


def _write(kind: ExportKind, file: ExportFile, source: Any, work: Work) -> None:
    """Write one file beside its final place, then move it there with its manifest."""
    folder = settings.MEDIA_ROOT / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.stored_as = f"{FOLDER}/{uuid.uuid4().hex}.{file.format}"
    table = kind.table(file, source)
    rows = _Counted(table.rows, work, file.get_content_display())  # type: ignore[attr-defined]
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


class _Counted:
    """Rows on their way into a file: counted, and reported as progress."""

    def __init__(self, rows: Iterator[Row], work: Work, name: str) -> None:
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


def _manifest(file: ExportFile, table: FileTable, asked: dict[str, Any]) -> dict[str, Any]:
    """What a reader needs to know to cite and to check the file."""
    return {
        "layout": LAYOUT,
        "content": file.content,
        "format": file.format,
        "rows": file.rows,
        "columns": [{"name": name, "type": kind.__name__} for name, kind in table.types.items()],
        "size": file.size,
        "sha256": file.sha256,
        "comments": asked["with_comments"],
        "spreadsheet_safe": file.format == Format.CSV and not asked["is_raw"],
        "made_at": file.finished_at and file.finished_at.isoformat(),
    }


def _store(kind: ExportKind, files: list[ExportFile], work: Work) -> None:
    changed = ["stored_as", "rows", "size", "sha256", "finished_at"]
    kind.Model._default_manager.bulk_update(files, changed)
    work.finish()


def _discard(files: list[ExportFile]) -> None:
    """Remove what an interrupted run left on disk; its rows still say that nothing is there."""
    for file in files:
        if file.stored_as:
            for path in (file.path, file.manifest_path):
                path.unlink(missing_ok=True)
            file.path.with_suffix(".part").unlink(missing_ok=True)
