"""The trained judge: requests, training in the background, and storage of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.models import LabelRound
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
    """The source of final labels belongs to another study or uses another scale."""


def request_training(
    *, label_round: LabelRound, actor: User | None = None, source: LabelRound | None = None
) -> Job:
    """Request the next version; a round has at most one active training.

    The judge is trained on the final labels of ``source``, by default those of the round itself,
    and labels the arguments of ``label_round``. Raises TrainingNotPossible.
    """
    source = source or label_round
    _check(label_round, source)
    return enqueue(
        study=label_round.study,
        kind=JOB,
        key=str(label_round.public_id),
        actor=actor,
        label_round=str(label_round.public_id),
        source=str(source.public_id),
    )


def latest_job(label_round: LabelRound) -> Job | None:
    """Return the newest training of the round, in any state."""
    return _jobs(label_round).order_by("-created_at", "-pk").first()


def cancel_training(*, label_round: LabelRound, actor: User) -> bool:
    """Cancel a pending or running training; the worker stops early and stores nothing."""
    ended = cancel(_jobs(label_round))
    if ended:
        study = label_round.study
        record(study=study, actor=actor, verb="training_cancelled", subject=label_round.name)
    return bool(ended)


def make_trained_judge(work: JobContext) -> None:
    """Handle a job: train on the current final labels and label the round."""
    from .judge_training import train

    label_rounds = LabelRound.objects.filter(study=work.study).select_related("guideline", "study")
    label_round = label_rounds.get(public_id=work.payload["label_round"])
    source = label_rounds.get(public_id=work.payload["source"])
    trained = train(label_round, source, work.progress)
    with transaction.atomic():
        work.finish()
        store(label_round=label_round, trained=trained, actor=work.job.created_by)


def train_now(*, label_round: LabelRound, source: LabelRound, say: Say) -> TrainedJudge:
    """Train in the current process, for commands; raises TrainingNotPossible or JobRefused."""
    from .judge_training import train

    _check(label_round, source)
    return store(label_round=label_round, trained=train(label_round, source, say), actor=None)


@transaction.atomic
def store(*, label_round: LabelRound, trained: TrainingResult, actor: User | None) -> TrainedJudge:
    """Store a version with its labels; its number is assigned under the round's lock."""
    LabelRound.objects.select_for_update(of=("self",)).get(pk=label_round.pk)
    last = label_round.trained_judges.aggregate(last=Max("number"))["last"] or 0
    version = TrainedJudge.objects.create(
        label_round=label_round,
        rater=_rater(label_round, trained.kind),
        number=last + 1,
        kind=trained.kind,
        model=trained.model,
        sha256=trained.sha256,
        recipe=trained.recipe,
        figures=to_json(trained.figures),
        created_by=actor,
    )
    for label in trained.labels:
        label.label_round, label.trained = label_round, version
    JudgeLabel.objects.bulk_create(trained.labels, batch_size=CHUNK)
    record(
        study=label_round.study,
        actor=actor,
        verb="judge_trained",
        subject=f"{label_round.name}: {version}",
        sha256=trained.sha256,
        labels=trained.figures.n,
    )
    return version


def _check(label_round: LabelRound, source: LabelRound) -> None:
    is_same_scale = source.guideline.values == label_round.guideline.values
    if source.study_id != label_round.study_id or not is_same_scale:
        raise TrainingNotPossible(
            _("Labels can only come from a round of the same study with the same label scale.")
        )


def _jobs(label_round: LabelRound):
    return Job.objects.filter(study_id=label_round.study_id, key=f"{JOB}:{label_round.public_id}")


def _rater(label_round: LabelRound, kind: str) -> Rater:
    rater, _is_new = Rater.objects.get_or_create(
        study=label_round.study,
        kind=Rater.Kind.CLASSIFIER,
        external_id=f"{kind}:{label_round.public_id}",
        defaults={"name": NAMES[TrainedJudge.Kind(kind)]},
    )
    return rater
