"""Jobs as rows: asking for work and taking it."""

from datetime import timedelta
from unittest import mock

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.utils import timezone

from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def test_asking_again_gives_the_active_job_also_if_it_ends_meanwhile(monkeypatch):
    study = make_study()
    first = jobs.enqueue(study=study, kind="test", key="a")
    assert jobs.enqueue(study=study, kind="test", key="a") == first
    Job.objects.update(state="done")
    create, refusals = Job.objects.create, iter([IntegrityError()])

    def ended_meanwhile(**fields):
        """The insert meets the active job, which is done before it can be read."""
        if refusal := next(refusals, None):
            raise refusal
        return create(**fields)

    monkeypatch.setattr(Job.objects, "create", ended_meanwhile)
    again = jobs.enqueue(study=study, kind="test", key="a")
    assert (again != first, again.state) == (True, "ready")


def test_a_job_that_kills_its_workers_fails_and_the_next_one_is_taken():
    study = make_study()
    poison, other = (jobs.enqueue(study=study, kind="test", key=key) for key in "ab")
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=poison.pk).update(
        state="leased", losses=jobs.MAX_LOSSES, lease_until=past
    )
    assert jobs.claim() == other
    poison.refresh_from_db()
    assert (poison.state, poison.finished_at is None) == ("failed", False)


@pytest.mark.parametrize(
    ("error", "state"), [(OperationalError("no answer"), "leased"), (ValueError(), "failed")]
)
def test_a_job_whose_database_went_away_is_left_to_the_next_worker(monkeypatch, error, state):
    monkeypatch.setitem(jobs.HANDLERS, "test", mock.Mock(side_effect=error))
    job = jobs.enqueue(study=make_study(), kind="test", key="a")
    jobs.run(jobs.claim())
    job.refresh_from_db()
    assert job.state == state


@pytest.mark.skipif(connection.vendor != "postgresql", reason="what is asked of PostgreSQL")
def test_reading_in_blocks_is_planned_for_all_rows_and_a_lost_server_is_noticed():
    with connection.cursor() as cursor:
        for name, value in (("cursor_tuple_fraction", "1"), ("tcp_keepalives_idle", "30")):
            cursor.execute(f"SHOW {name}")
            assert cursor.fetchone()[0] == value, name
    assert connection.connection.info.get_parameters()["keepalives_idle"] == "30"
