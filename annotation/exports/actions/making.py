"""Writing the files of an export; the worker's side of ``exports``."""

import hashlib
import json
import os
import secrets
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.exports.models import ExportFile
from annotation.exports.reports.tables import TABLES, ExportTable, Row, Source
from annotation.figures.actions import CAMPAIGNS
from annotation.figures.models import Snapshot
from cqa_site.results import keeping
from cqa_site.runs.jobs import JobRefused, Work
from cqa_site.tabular import write_csv, write_jsonl, write_parquet, write_xlsx

from .exports import (
    FOLDER,
    ExportNotPossible,
    Format,
    Options,
    check_labels,
    manifest_path,
    stored_path,
)

LAYOUT = 1


def make_exports(work: Work) -> None:
    """Write every file of the job's set; a repeated run writes them all anew."""
    files = list(ExportFile.objects.filter(job=work.job).order_by("pk"))
    snapshot = _snapshot_of(work)
    try:
        check_labels(snapshot.campaign, snapshot, [file.content for file in files])
    except ExportNotPossible as reason:
        raise JobRefused(str(reason)) from reason
    options = Options(work.payload["with_comments"], work.payload["is_raw"])
    source = Source(snapshot, secrets.token_bytes(32), options.with_comments)
    try:
        for file in files:
            _write(file, source, options, work)
        _store(files, work)
    except BaseException:
        _discard(files)
        raise


def _snapshot_of(work: Work) -> Snapshot:
    """The snapshot as stored; a live one is first brought up to date."""
    snapshots = Snapshot.objects.select_related("campaign__study", "campaign__guideline")
    snapshot = snapshots.get(pk=work.payload["snapshot"])
    if snapshot.is_frozen:
        return snapshot
    work.progress(0, note=_("Bringing the figures up to date"))
    keeping.refresh(CAMPAIGNS, snapshot.campaign)
    recompute_final_labels(snapshot.campaign)
    return snapshots.get(pk=snapshot.pk)


def _write(file: ExportFile, source: Source, options: Options, work: Work) -> None:
    """Write one file beside its final place, then move it there with its manifest."""
    folder = settings.MEDIA_ROOT / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.stored_as = f"{FOLDER}/{uuid.uuid4().hex}.{file.format}"
    table = TABLES[file.content](source)
    rows = _Counted(table.rows, work, file.get_content_display())
    part = stored_path(file).with_suffix(".part")
    with part.open("xb") as target:
        try:
            _writer(file.format, table, options)(target, list(table.types), rows)
        except ValueError as reason:
            raise JobRefused(str(reason)) from reason
        target.flush()
        os.fsync(target.fileno())
    part.chmod(0o600)
    file.rows, file.size, file.sha256 = rows.count, part.stat().st_size, _sha256(part)
    file.finished_at = timezone.now()
    manifest = json.dumps(_manifest(file, source, table, options), indent=2, ensure_ascii=False)
    manifest_path(file).write_text(manifest, encoding="utf-8")
    part.replace(stored_path(file))


def _writer(format: str, table: ExportTable, options: Options) -> Callable[..., None]:
    if format == Format.CSV:
        return partial(write_csv, for_spreadsheets=not options.is_raw)
    if format == Format.PARQUET:
        return partial(write_parquet, types=table.types)
    return write_xlsx if format == Format.XLSX else write_jsonl


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


def _manifest(
    file: ExportFile, source: Source, table: ExportTable, options: Options
) -> dict[str, Any]:
    """What a reader needs to know to cite and to check the file."""
    snapshot = source.snapshot
    return {
        "layout": LAYOUT,
        "campaign": {"id": str(snapshot.campaign.public_id), "name": snapshot.campaign.name},
        "snapshot": {
            "id": str(snapshot.public_id),
            "number": snapshot.number,
            "is_frozen": snapshot.is_frozen,
            "sha256": snapshot.sha256,
            "computed_at": snapshot.computed_at and snapshot.computed_at.isoformat(),
            "recipe": snapshot.recipe,
        },
        "content": file.content,
        "format": file.format,
        "rows": file.rows,
        "columns": [{"name": name, "type": kind.__name__} for name, kind in table.types.items()],
        "size": file.size,
        "sha256": file.sha256,
        "aggregator": snapshot.campaign.aggregator,
        "comments": options.with_comments,
        "spreadsheet_safe": file.format == Format.CSV and not options.is_raw,
        "raters": "HMAC-SHA256 under a random key of this set of files, which was not kept",
        "times": "rounded to the minute, UTC",
        "made_at": file.finished_at and file.finished_at.isoformat(),
    }


@transaction.atomic
def _store(files: list[ExportFile], work: Work) -> None:
    ExportFile.objects.bulk_update(files, ["stored_as", "rows", "size", "sha256", "finished_at"])
    work.finish()


def _discard(files: list[ExportFile]) -> None:
    """Remove what an interrupted run left on disk; its rows still say that nothing is there."""
    for file in files:
        if file.stored_as:
            for path in (stored_path(file), manifest_path(file)):
                path.unlink(missing_ok=True)
            stored_path(file).with_suffix(".part").unlink(missing_ok=True)
