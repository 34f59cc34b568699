"""A restored site: what was under way waits for a word, because the first may go on with it."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from cqa_site.runs.jobs import SENDING
from cqa_site.runs.models import Call, Job, ProviderBatch, Run

ENDED = "The site was restored from a backup before this was done. Ask for it again."


@dataclass(frozen=True)
class Held:
    """How many runs wait to be resumed, and how many jobs have to be asked for again."""

    runs: int
    jobs: int


def hold_back(using: str) -> Held:
    """Have nothing leave by itself from the database of this name, which nobody works on yet.

    Runs wait, and their batches with them; jobs that would send something are over.
    """
    batches = ProviderBatch.objects.using(using).filter(state__in=ProviderBatch.OPEN)
    _give_up(batches.filter(run__state=Run.State.CANCELLED), using)
    is_under_way = Q(state__in=Run.WORKING) | Q(batches__in=batches)
    runs = Run.objects.using(using).filter(is_under_way, state__in=Run.ACTIVE)
    jobs = Job.objects.using(using).filter(kind__in=SENDING, state__in=Job.ACTIVE)
    return Held(
        runs.update(state=Run.State.PAUSED, pause_reason=Run.RESTORED),
        jobs.update(state=Job.State.FAILED, lease_until=None, finished_at=Now(), error=ENDED),
    )


def _give_up(batches: QuerySet[ProviderBatch], using: str) -> None:
    """Of runs that nobody can resume: their calls are lost, and a worker settles the money."""
    lost = Call.objects.using(using).filter(batch__in=batches, state=Call.State.LEASED)
    lost.update(leased_by="", lease_until=Now())
    batches.update(state=ProviderBatch.State.FAILED)
