"""Jobs as rows: asking for work and taking it."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError
from django.utils import timezone

from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def test_asking_again_while_the_job_is_active_gives_the_same_job():
    study = make_study()
    first = jobs.enqueue(study=study, kind="test", key="a")
    assert jobs.enqueue(study=study, kind="test", key="a") == first
    Job.objects.update(state="done")
    assert jobs.enqueue(study=study, kind="test", key="a") != first


def test_a_job_that_ends_while_it_is_asked_for_again_is_no_error(monkeypatch):
    """The insert meets the active job, which is done before it can be read."""
    study = make_study()
    create, refusals = Job.objects.create, iter([IntegrityError()])

    def ended_meanwhile(**fields):
        if refusal := next(refusals, None):
            raise refusal
        return create(**fields)

    monkeypatch.setattr(Job.objects, "create", ended_meanwhile)
    assert jobs.enqueue(study=study, kind="test", key="a").state == "ready"


def test_a_job_that_kills_its_workers_fails_and_the_next_one_is_taken():
    study = make_study()
    poison = jobs.enqueue(study=study, kind="test", key="poison")
    other = jobs.enqueue(study=study, kind="test", key="other")
    Job.objects.filter(pk=poison.pk).update(
        state="leased", losses=jobs.MAX_LOSSES, lease_until=timezone.now() - timedelta(seconds=1)
    )
    assert jobs.claim() == other
    poison.refresh_from_db()
    assert poison.state == "failed"
    assert poison.finished_at is not None


@pytest.mark.parametrize(
    ("error", "state"), [(OperationalError("no answer"), "leased"), (ValueError(), "failed")]
)
def test_a_job_whose_database_went_away_is_left_to_the_next_worker(monkeypatch, error, state):
    def handle(_work):
        raise error

    monkeypatch.setitem(jobs.HANDLERS, "test", handle)
    job = jobs.enqueue(study=make_study(), kind="test", key="a")
    jobs.run(jobs.claim())
    job.refresh_from_db()
    assert job.state == state
