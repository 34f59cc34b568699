"""Keeping the live snapshot of a campaign, and freezing it."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Campaign, Snapshot
from annotation.reports.snapshots import build_votes_csv, marker, pack, read_votes, recipe_of
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs.jobs import Work, enqueue
from cqa_site.runs.models import Job

JOB = "snapshot"


class SnapshotNotReady(Exception):
    """There is no live snapshot with figures to freeze; the message says why."""


@dataclass(frozen=True)
class Computed:
    """What one run over the votes gave: the packed table, its sha256, recipe and figures."""

    votes: bytes
    sha256: str
    marker: str
    recipe: dict[str, Any]
    figures: dict[str, Any]


def request_snapshot(*, campaign: Campaign, actor: User | None = None) -> Job:
    """Ask for new figures in the background; one job per campaign is active at a time."""
    return enqueue(
        study=campaign.study,
        kind=JOB,
        key=str(campaign.public_id),
        actor=actor,
        campaign=str(campaign.public_id),
    )


def latest_job(campaign: Campaign) -> Job | None:
    """The newest job that computes, or computed, this campaign's figures."""
    jobs = Job.objects.filter(study_id=campaign.study_id, key=f"{JOB}:{campaign.public_id}")
    return jobs.order_by("-created_at", "-pk").first()


def make_snapshot(work: Work) -> None:
    """Handle a job: compute the campaign's figures and store them as its live snapshot."""
    campaigns = Campaign.objects.filter(study=work.study).select_related("guideline")
    campaign = campaigns.get(public_id=work.payload["campaign"])
    computed = compute(campaign)
    with transaction.atomic():
        work.finish()
        store_live(campaign=campaign, computed=computed)


def refresh_live_snapshot(*, campaign: Campaign) -> Snapshot:
    """Return the newest snapshot, computed anew at once if the votes moved on; takes seconds."""
    newest = campaign.snapshots.defer("votes").first()
    if newest is not None and newest.marker == marker(campaign):
        return newest
    return store_live(campaign=campaign, computed=compute(campaign))


def compute(campaign: Campaign) -> Computed:
    """Read the votes once and compute every figure from what was read; stores nothing."""
    from annotation.reports.figures import compute_figures

    # Taken before the votes are read: a vote in between makes the snapshot stale, never wrong.
    seen = marker(campaign)
    recipe = recipe_of(campaign)
    votes, sha256 = pack(build_votes_csv(campaign))
    figures = compute_figures(read_votes(votes), recipe["scale"], recipe)
    return Computed(votes, sha256, seen, recipe, figures)


@transaction.atomic
def store_live(*, campaign: Campaign, computed: Computed) -> Snapshot:
    """Write the figures into the live snapshot; frozen ones are never touched."""
    # The campaign's row is the lock under which numbers are given out and snapshots freeze.
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    content = json.dumps(computed.figures, allow_nan=False, sort_keys=True)
    values = {
        "votes": computed.votes,
        "sha256": computed.sha256,
        "marker": computed.marker,
        "recipe": {
            **computed.recipe,
            "figures_sha256": hashlib.sha256(content.encode()).hexdigest(),
        },
        "figures": computed.figures,
        "computed_at": timezone.now(),
    }
    live = campaign.snapshots.filter(frozen_at__isnull=True)
    if live.update(**values) == 0:
        last = campaign.snapshots.aggregate(last=Max("number"))["last"] or 0
        return Snapshot.objects.create(campaign=campaign, number=last + 1, **values)
    return live.defer("votes").get()


@transaction.atomic
def freeze_snapshot(*, campaign: Campaign, number: int, note: str, actor: User) -> Snapshot:
    """Make the live snapshot immutable; raises SnapshotNotReady if it is not the live one."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    live = campaign.snapshots.filter(
        number=number, frozen_at__isnull=True, computed_at__isnull=False
    )
    if live.update(frozen_at=timezone.now(), frozen_by=actor, note=note) == 0:
        raise SnapshotNotReady(_("Snapshot #%d is already frozen or has no figures yet.") % number)
    snapshot = campaign.snapshots.defer("votes").get(number=number)
    record(
        study=campaign.study,
        actor=actor,
        verb="snapshot_frozen",
        subject=f"{campaign.name} #{number}",
        reason=note,
        sha256=snapshot.sha256,
    )
    return snapshot
