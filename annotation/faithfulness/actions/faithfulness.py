"""Asking for the faithfulness figures of a study; a worker makes them."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from annotation.editing.models import EditingRound
from annotation.faithfulness.actions.texts import embedding_of
from annotation.faithfulness.models import FaithfulnessSettings
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import Work, enqueue
from cqa_site.runs.models import Job

JOB = "faithfulness"
ACTIVE = (Job.State.READY, Job.State.LEASED)


@transaction.atomic
def request_figures(*, study: Study, embedding: str, actor: User | None = None) -> Job:
    """Bring the figures of a study up to date; of one study one such job waits or runs.

    ``embedding`` names the sentence-embedding model and stays the study's choice; empty makes
    no similarities.
    """
    FaithfulnessSettings.objects.update_or_create(study=study, defaults={"embedding": embedding})
    job = enqueue(study=study, kind=JOB, key=str(study.public_id), actor=actor)
    if actor is not None:
        record(
            study=study,
            actor=actor,
            verb="faithfulness_requested",
            subject=study.name,
            embedding=embedding,
        )
    return job


def after_closing(*, round_: EditingRound, actor: User) -> None:
    """How much experts agree follows in the background from closing their round."""
    request_figures(study=round_.study, embedding=embedding_of(round_.study))


def make_figures(work: Work) -> None:
    """Handle a job; what it needs is loaded here only, because pages do without."""
    from .making import make_figures

    make_figures(work)


def latest_job(study: Study) -> Job | None:
    """The newest such job of the study, whatever became of it."""
    return _jobs(study).order_by("-created_at", "-pk").first()


def cancel_figures(*, study: Study, actor: User) -> bool:
    """End a job that waits or runs; what it has stored so far is right and stays."""
    ended = (
        _jobs(study)
        .filter(state__in=ACTIVE)
        .update(state=Job.State.FAILED, lease_until=None, finished_at=Now(), error=_("Cancelled."))
    )
    if ended:
        record(study=study, actor=actor, verb="faithfulness_cancelled", subject=study.name)
    return bool(ended)


def _jobs(study: Study):
    return Job.objects.filter(study=study, key=f"{JOB}:{study.public_id}")
