"""Creation of a campaign's export files, always from one snapshot."""

import secrets
from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.exports.models import ExportFile
from annotation.exports.reports.tables import TABLES, ExportSource
from annotation.figures.actions import CAMPAIGNS
from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import marker
from annotation.labelling.models.campaigns import Campaign
from cqa_site.files.actions.exports import ExportKind, ExportOptions, FileTable, request_files
from cqa_site.people.models import User
from cqa_site.results import snapshots as keeping
from cqa_site.runs.jobs import JobContext, JobRefused


class ExportNotPossible(Exception):
    """The snapshot does not support the requested export; the message says why."""


class CampaignExports(ExportKind):
    """Votes, labels, annotators and figures of a snapshot."""

    job = "export"
    Model = ExportFile

    def source(self, work: JobContext, files: Collection[ExportFile]) -> ExportSource:
        """Return the stored snapshot; a live one is updated first."""
        snapshots = Snapshot.objects.select_related("campaign__study", "campaign__guideline")
        snapshot = snapshots.get(pk=work.payload["snapshot"])
        if not snapshot.is_frozen:
            work.progress(0, note=_("Bringing the figures up to date"))
            keeping.refresh(CAMPAIGNS, snapshot.campaign)
            recompute_final_labels(snapshot.campaign)
            snapshot = snapshots.get(pk=snapshot.pk)
        try:
            check_labels(snapshot.campaign, snapshot, [file.content for file in files])
        except ExportNotPossible as reason:
            raise JobRefused(str(reason)) from reason
        return ExportSource(snapshot, secrets.token_bytes(32), work.payload["with_comments"])

    def table(self, file: ExportFile, source: ExportSource) -> FileTable:
        """Return the rows of a file as a stream."""
        return TABLES[file.content](source)

    def about(self, source: ExportSource) -> dict[str, Any]:
        """Describe the round and snapshot, and the treatment of raters and times."""
        snapshot, campaign = source.snapshot, source.snapshot.campaign
        return {
            "label_round": {"id": str(campaign.public_id), "name": campaign.name},
            "snapshot": {
                "id": str(snapshot.public_id),
                "number": snapshot.number,
                "is_frozen": snapshot.is_frozen,
                "sha256": snapshot.sha256,
                "computed_at": snapshot.computed_at and snapshot.computed_at.isoformat(),
                "recipe": snapshot.recipe,
            },
            "aggregator": campaign.aggregator,
            "raters": "HMAC-SHA256 under a random key of this set of files, which was not kept",
            "times": "rounded to the minute, UTC",
        }


EXPORTS = CampaignExports()


@transaction.atomic
def request_exports(
    *,
    campaign: Campaign,
    snapshot: Snapshot | None,
    contents: list[str],
    format: str,
    options: ExportOptions,
    actor: User,
) -> list[ExportFile]:
    """Request a set of files; without a snapshot, from the newest one after an update.

    Raises ExportNotPossible.
    """
    snapshot = snapshot or current_snapshot(campaign=campaign)
    check_labels(campaign, snapshot, contents)
    return request_files(
        EXPORTS,
        study=campaign.study,
        subject=f"{campaign.name} #{snapshot.number}",
        contents=contents,
        format=format,
        options=options,
        actor=actor,
        payload={"snapshot": snapshot.pk},
        key=str(snapshot.pk),
        campaign=campaign,
        snapshot=snapshot,
    )


@transaction.atomic
def current_snapshot(*, campaign: Campaign) -> Snapshot:
    """Return the newest snapshot, or a new empty one if it is frozen and outdated."""
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    newest = campaign.snapshots.defer("rows", "figures").first()
    if newest and (not newest.is_frozen or newest.marker == marker(campaign)):
        return newest
    return Snapshot.objects.create(campaign=campaign, number=newest.number + 1 if newest else 1)


def check_labels(campaign: Campaign, snapshot: Snapshot, contents: list[str]) -> None:
    """Raise ExportNotPossible for final labels of an older snapshot; only current ones exist."""
    if ExportFile.Content.FINAL_LABELS not in contents or not snapshot.is_frozen:
        return
    if marker(campaign) != snapshot.marker:
        raise ExportNotPossible(
            _(
                "The votes have changed since this snapshot was frozen, so its final labels "
                "can no longer be determined. Export them from the live snapshot."
            )
        )
