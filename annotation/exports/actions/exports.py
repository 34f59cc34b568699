"""Making export files in the background, always from one snapshot.

A set of files asked for together shares one random salt, which is made by the
worker and forgotten: pseudonyms agree inside the set and nowhere else. A file
is written under a name nobody can guess and moved into place when complete;
the rows of a set change together, in the transaction that ends the job.
"""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.exports.models import ExportFile
from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import marker
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs.jobs import enqueue
from cqa_site.web.not_there import NotThere

JOB = "export"
FOLDER = "exports"
Format = ExportFile.Format
CONTENT_TYPES: dict[str, str] = {
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
    check_labels(campaign, snapshot, wanted)
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
    newest = campaign.snapshots.defer("rows", "figures").first()
    if newest and (not newest.is_frozen or newest.marker == marker(campaign)):
        return newest
    return Snapshot.objects.create(campaign=campaign, number=newest.number + 1 if newest else 1)


def stored_path(file: ExportFile) -> Path:
    """Where the finished file lies; raises NotThere if it has expired."""
    if not file.stored_as:
        raise NotThere(_("This file was deleted because it is old. Make it anew."))
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


def check_labels(campaign: Campaign, snapshot: Snapshot, contents: list[str]) -> None:
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
