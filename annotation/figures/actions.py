"""Figures of a campaign: requested, computed in the background, stored as a snapshot."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext_lazy as lazy

from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import (
    RECIPE_VERSION,
    build_votes_csv,
    marker,
    read_votes,
    recipe_of,
)
from annotation.labelling.models.campaigns import Assignment, Campaign
from cqa_site.people.models import Study, User
from cqa_site.results.models import pack
from cqa_site.results.snapshots import MOST_UNMADE, ResultKind, SnapshotContent, make
from cqa_site.runs.jobs import JobContext, enqueue
from cqa_site.runs.models import Job
from cqa_site.stats.estimate import to_json

JOB = "snapshot"


class CampaignResults(ResultKind):
    """Figures of a campaign's votes."""

    name = "snapshot"
    Model = Snapshot
    subject = ("campaign",)
    owner = "campaign"
    in_study = "campaign__study"
    version = RECIPE_VERSION
    what = lazy("Labels")
    needed = ("campaign__study",)

    def place(self, subject: Campaign) -> dict[str, Any]:
        return {"campaign": subject}

    def marker(self, subject: Campaign) -> str:
        return marker(subject)

    def compute(self, subject: Campaign) -> SnapshotContent:
        # Taken before the votes are read: a vote in between makes the snapshot stale, never wrong.
        seen = marker(subject)
        recipe = recipe_of(subject)
        votes, sha256 = pack(build_votes_csv(subject))
        return SnapshotContent(votes, sha256, seen, recipe, _figures(votes, recipe))

    def figures_of(self, rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
        return _figures(pack([rows])[0], recipe)

    def comparable(self, figures: dict[str, Any]) -> dict[str, Any]:
        agreement = {
            scope: [estimate for estimate in estimates if not _is_later(estimate)]
            for scope, estimates in figures["agreement"].items()
        }
        return figures | {"agreement": agreement}

    def about(self, snapshot: Snapshot) -> str:
        return snapshot.campaign.name

    def study_of(self, snapshot: Snapshot) -> Study:
        return snapshot.campaign.study

    def url(self, snapshot: Snapshot) -> str:
        campaign = snapshot.campaign
        ids = [campaign.study.public_id, campaign.public_id]
        if snapshot.is_frozen:
            return reverse("snapshot", args=[*ids, snapshot.number])
        return reverse("figures", args=ids)

    def unmade(self, study: Study) -> Iterable[tuple[str, str]]:
        votes = Assignment.objects.filter(campaign=OuterRef("pk"), state=Assignment.State.ANSWERED)
        computed = Snapshot.objects.filter(campaign=OuterRef("pk"), computed_at__isnull=False)
        rows = Campaign.objects.filter(Exists(votes), ~Exists(computed), study=study)
        for campaign in rows.order_by("-pk")[:MOST_UNMADE]:
            yield campaign.name, reverse("figures", args=[study.public_id, campaign.public_id])


CAMPAIGNS = CampaignResults()


def _is_later(estimate: dict[str, Any]) -> bool:
    """Whether the statistic was added in version 3."""
    return str(estimate["statistic"]).startswith("Gwet")


def _figures(votes: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
    from annotation.figures.reports.figures import compute_figures

    figures: dict[str, Any] = to_json(compute_figures(read_votes(votes), recipe["scale"], recipe))
    return figures


def request_snapshot(*, campaign: Campaign, actor: User | None = None) -> Job:
    """Request new figures in the background; one job per campaign is active at a time."""
    return enqueue(
        study=campaign.study,
        kind=JOB,
        key=str(campaign.public_id),
        actor=actor,
        campaign=str(campaign.public_id),
    )


def latest_job(campaign: Campaign) -> Job | None:
    """Return the newest job for this campaign's figures, active or ended."""
    jobs = Job.objects.filter(study_id=campaign.study_id, key=f"{JOB}:{campaign.public_id}")
    return jobs.order_by("-created_at", "-pk").first()


def make_snapshot(work: JobContext) -> None:
    """Handle a job: compute the campaign's figures and store them as its live snapshot."""
    campaigns = Campaign.objects.filter(study=work.study).select_related("guideline")
    campaign = campaigns.get(public_id=work.payload["campaign"])
    make(work, CAMPAIGNS, campaign)
