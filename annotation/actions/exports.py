"""Making export files in the background, always from one snapshot.

A set of files asked for together shares one random salt, which is made by the
worker and forgotten: pseudonyms agree inside the set and nowhere else. A file
is written under a name nobody can guess and moved into place when complete;
the rows of a set change together, in the transaction that ends the job.
"""

import hashlib
import json
import os
import secrets
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.models import Campaign, ExportFile, Snapshot
from annotation.reports.export_tables import TABLES, ExportTable, Row, Source
from annotation.reports.snapshots import marker
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobRefused, Work, enqueue
from cqa_site.tabular import write_csv, write_jsonl, write_parquet, write_xlsx

from .consensus import recompute_final_labels
from .snapshots import refresh_live_snapshot

JOB = "export"
FOLDER = "exports"
LAYOUT = 1
Format = ExportFile.Format
CONTENT_TYPES = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSONL: "application/jsonl",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.PARQUET: "application/vnd.apache.parquet",
}


@dataclass(frozen=True)
class Options:
    """What was asked for beside content and format."""

    with_comments: bool = False
    is_raw: bool = False

    @property
    def key(self) -> str:
        """Part of the name of the job, so that the same wish is recognised."""
        return f"{'comments' if self.with_comments else ''}:{'raw' if self.is_raw else ''}"


class ExportNotPossible(Exception):
    """The snapshot cannot give what was asked for; the message says why."""


@transaction.atomic
def request_exports(
    *,
    campaign: Campaign,
    snapshot: Snapshot | None,
    contents: list[str],
    format: str,
    options: Options,
    actor: User,
) -> list[ExportFile]:
    """Ask for a set of files; without a snapshot, of the newest, brought up to date.

    The same wish while one is being worked on returns that one. Raises
    ExportNotPossible.
    """
    snapshot = snapshot or current_snapshot(campaign=campaign)
    wanted = sorted(set(contents))
    _check_labels(campaign, snapshot, wanted)
    job = enqueue(
        study=campaign.study,
        kind=JOB,
        key=f"{snapshot.pk}:{','.join(wanted)}:{format}:{options.key}",
        actor=actor,
        snapshot=snapshot.pk,
        with_comments=options.with_comments,
        is_raw=options.is_raw,
    )
    present = list(ExportFile.objects.filter(job=job).select_related("snapshot", "job"))
    if present:
        return present
    files = [
        ExportFile.objects.create(
            campaign=campaign,
            snapshot=snapshot,
            content=content,
            format=format,
            job=job,
            created_by=actor,
        )
        for content in wanted
    ]
    record(
        study=campaign.study,
        actor=actor,
        verb="export_requested",
        subject=f"{campaign.name} #{snapshot.number}",
        contents=wanted,
        format=format,
        with_comments=options.with_comments,
        is_raw=options.is_raw,
    )
    return files


@transaction.atomic
def current_snapshot(*, campaign: Campaign) -> Snapshot:
    """The newest snapshot unless it is frozen and outdated; then an empty one."""
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    newest = campaign.snapshots.defer("votes", "figures").first()
    if newest and (not newest.is_frozen or newest.marker == marker(campaign)):
        return newest
    return Snapshot.objects.create(campaign=campaign, number=newest.number + 1 if newest else 1)


def make_exports(work: Work) -> None:
    """Write every file of the job's set; a repeated run writes them all anew."""
    files = list(ExportFile.objects.filter(job=work.job).order_by("pk"))
    snapshot = _snapshot_of(work)
    try:
        _check_labels(snapshot.campaign, snapshot, [file.content for file in files])
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


def stored_path(file: ExportFile) -> Path:
    """Where the finished file lies."""
    return settings.MEDIA_ROOT / file.stored_as


def manifest_path(file: ExportFile) -> Path:
    """Where the description of the finished file lies."""
    return stored_path(file).with_suffix(".manifest.json")


def shown_name(file: ExportFile) -> str:
    """The name a browser saves the file under; made by us, so it holds no path."""
    campaign = slugify(file.campaign.name, allow_unicode=True)[:60] or "campaign"
    return f"{campaign}-snapshot-{file.snapshot.number}-{file.content}.{file.format}"


def shown_manifest_name(file: ExportFile) -> str:
    """The name of the description beside the file."""
    return f"{shown_name(file)}.manifest.json"


def _snapshot_of(work: Work) -> Snapshot:
    """The snapshot as stored; a live one is first brought up to date."""
    snapshots = Snapshot.objects.select_related("campaign__study", "campaign__guideline")
    snapshot = snapshots.get(pk=work.payload["snapshot"])
    if snapshot.is_frozen:
        return snapshot
    work.progress(0, note=_("Bringing the figures up to date"))
    refresh_live_snapshot(campaign=snapshot.campaign)
    recompute_final_labels(snapshot.campaign)
    return snapshots.get(pk=snapshot.pk)


def _check_labels(campaign: Campaign, snapshot: Snapshot, contents: list[str]) -> None:
    """Final labels are kept as they are now, so an older snapshot cannot give its own."""
    if ExportFile.Content.FINAL_LABELS not in contents or not snapshot.is_frozen:
        return
    if marker(campaign) != snapshot.marker:
        raise ExportNotPossible(
            _(
                "The votes have changed since this snapshot was frozen, so its final labels "
                "can no longer be told. Export them from the live snapshot."
            )
        )


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
