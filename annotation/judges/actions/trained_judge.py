"""The trained judge: request, training in the background, and storage of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.access import record
from cqa_site.people.models import Rater, User
from cqa_site.runs.jobs import JobContext, cancel, enqueue
from cqa_site.runs.models import Job
from cqa_site.stats.estimate import to_json

if TYPE_CHECKING:
    from cqa_site.judging.training import Say

    from .judge_training import TrainingResult

JOB = "train_judge"
CHUNK = 1_000
NAMES = {TrainedJudge.Kind.TRAINED: "Trained judge", TrainedJudge.Kind.COLD: "Cold start judge"}


class TrainingNotPossible(Exception):
    """The campaign that provides final labels belongs to another study or has another scale."""


def request_training(
    *, campaign: Campaign, actor: User | None = None, source: Campaign | None = None
) -> Job:
    """Request the next version; at most one training per campaign is active.

    It learns from the final labels of ``source``, by default the campaign's own, and labels the
    arguments of ``campaign``. Raises TrainingNotPossible.
    """
    source = source or campaign
    _check(campaign, source)
    return enqueue(
        study=campaign.study,
        kind=JOB,
        key=str(campaign.public_id),
        actor=actor,
        campaign=str(campaign.public_id),
        source=str(source.public_id),
    )


def latest_job(campaign: Campaign) -> Job | None:
    """Return the newest training of the campaign, in any state."""
    return _jobs(campaign).order_by("-created_at", "-pk").first()


def cancel_training(*, campaign: Campaign, actor: User) -> bool:
    """Cancel a pending or running training; the worker stops at the next step, storing nothing."""
    ended = cancel(_jobs(campaign))
    if ended:
        study = campaign.study
        record(study=study, actor=actor, verb="training_cancelled", subject=campaign.name)
    return bool(ended)


def make_trained_judge(work: JobContext) -> None:
    """Handle a job: train on the current final labels, and label the campaign."""
    from .judge_training import train

    campaigns = Campaign.objects.filter(study=work.study).select_related("guideline", "study")
    campaign = campaigns.get(public_id=work.payload["campaign"])
    source = campaigns.get(public_id=work.payload["source"])
    trained = train(campaign, source, work.progress)
    with transaction.atomic():
        work.finish()
        store(campaign=campaign, trained=trained, actor=work.job.created_by)


def train_now(*, campaign: Campaign, source: Campaign, say: Say) -> TrainedJudge:
    """Train in this process, for commands; raises TrainingNotPossible or JobRefused."""
    from .judge_training import train

    _check(campaign, source)
    return store(campaign=campaign, trained=train(campaign, source, say), actor=None)


@transaction.atomic
def store(*, campaign: Campaign, trained: TrainingResult, actor: User | None) -> TrainedJudge:
    """Store a version with its labels; numbers are assigned under the campaign's lock."""
    Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    last = campaign.trained_judges.aggregate(last=Max("number"))["last"] or 0
    version = TrainedJudge.objects.create(
        campaign=campaign,
        rater=_rater(campaign, trained.kind),
        number=last + 1,
        kind=trained.kind,
        model=trained.model,
        sha256=trained.sha256,
        recipe=trained.recipe,
        figures=to_json(trained.figures),
        created_by=actor,
    )
    for label in trained.labels:
        label.campaign, label.trained = campaign, version
    JudgeLabel.objects.bulk_create(trained.labels, batch_size=CHUNK)
    record(
        study=campaign.study,
        actor=actor,
        verb="judge_trained",
        subject=f"{campaign.name}: {version}",
        sha256=trained.sha256,
        labels=trained.figures.n,
    )
    return version


def _check(campaign: Campaign, source: Campaign) -> None:
    is_same_scale = source.guideline.values == campaign.guideline.values
    if source.study_id != campaign.study_id or not is_same_scale:
        raise TrainingNotPossible(
            _("Labels can only come from a round of the same study with the same label scale.")
        )


def _jobs(campaign: Campaign):
    return Job.objects.filter(study_id=campaign.study_id, key=f"{JOB}:{campaign.public_id}")


def _rater(campaign: Campaign, kind: str) -> Rater:
    rater, _is_new = Rater.objects.get_or_create(
        study=campaign.study,
        kind=Rater.Kind.CLASSIFIER,
        external_id=f"{kind}:{campaign.public_id}",
        defaults={"name": NAMES[TrainedJudge.Kind(kind)]},
    )
    return rater
