"""Jobs and runs wait for packages that are being fetched, and begin by themselves."""

import pytest
from django.db.models.functions import Now
from django.urls import reverse

from cqa_site.judging import packages
from cqa_site.judging.packages import PackagePart, PackageState, Stage
from cqa_site.people.models import Role
from cqa_site.runs import jobs
from cqa_site.runs.actions.endpoints import embedded_endpoint
from cqa_site.runs.carrying.worker import busy_endpoints
from cqa_site.runs.models import Job, Run
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.runs.made_runs import make_endpoint, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def packages_are(monkeypatch):
    """Say how far every part is."""

    def say(stage, **values):
        monkeypatch.setattr(packages, "state", lambda part: PackageState(part, stage, **values))

    return say


@pytest.fixture
def ran(monkeypatch):
    """Jobs of a kind that needs language packages, in the order in which they ran."""
    found = []
    monkeypatch.setattr(jobs, "HANDLERS", dict(jobs.HANDLERS))
    jobs.handles("needy", needs=PackagePart.LANGUAGE)(lambda work: found.append(work.job.pk))
    return found


def due(job):
    """As if its pause were over."""
    Job.objects.filter(pk=job.pk).update(run_after=Now())
    jobs.drain()
    job.refresh_from_db()


def test_a_job_waits_says_how_far_they_are_and_goes_on_by_itself(packages_are, ran):
    job = jobs.enqueue(study=make_study(), kind="needy", key="a")
    for done in range(2 + jobs.MAX_LOSSES):
        packages_are(Stage.FETCHING, done=done, total=13, now="torch")
        due(job)
        assert (job.state, ran) == ("ready", [])
        # Others do not wait for it.
        jobs.HANDLERS["easy"] = lambda work: None
        jobs.enqueue(study=job.study, kind="easy", key="b")
        assert jobs.drain() == 1
        assert f"{done} of 13 packages, now torch" in job.note
    packages_are(Stage.THERE)
    due(job)
    assert (job.state, ran) == ("done", [job.pk])
    # Where nobody fetches them, the handler says so.
    packages_are(Stage.ABSENT)
    again = jobs.enqueue(study=job.study, kind="needy", key="a")
    due(again)
    assert ran == [job.pk, again.pk]


def test_kinds_of_jobs_that_load_them_wait(packages_are):
    """Each by its name, so that a new one is thought about."""
    packages_are(Stage.FETCHING)
    study, waiting = make_study(), set()
    for kind, handler in jobs.HANDLERS.items():
        work = jobs.JobContext(Job(study=study, kind=kind))
        try:
            handler(work)
        except jobs.NotYet:
            waiting.add(kind)
        except Exception:  # noqa: BLE001  without anything to work on
            continue
    assert waiting >= {
        *("train_judge", "system_run", "assign_key_points", "train_scorer", "try_scorer"),
        *("summary_metrics", "analysis", "analysis_place", "analysis_split"),
        *("analysis_check_written", "analysis_reading"),
    }


def test_a_run_of_the_model_in_the_box_waits_and_others_do_not(packages_are):
    study = make_study()
    boss = make_member(study, Role.RESEARCHER)
    label_round = make_label_round(study, ordinary=2, controls=0)
    server = make_endpoint(study, boss)
    make_run(label_round, server, boss)
    for endpoint, waits in ((server, False), (embedded_endpoint(study=study, actor=boss), True)):
        Run.objects.update(state=Run.State.RUNNING, endpoint=endpoint)
        packages_are(Stage.FETCHING)
        assert busy_endpoints() == ([] if waits else [endpoint])
        packages_are(Stage.THERE)
        assert busy_endpoints() == [endpoint]


def test_pages_say_what_is_fetched_and_ask_again_until_it_is_there(packages_are):
    study = make_study()
    client = sign_in(make_member(study, Role.RESEARCHER))
    page, notice = reverse("scorers", args=[study.public_id]), address(study, "language")
    packages_are(Stage.FETCHING, done=3, total=13, now="torch")
    for found in (client.get(page), client.get(notice)):
        assert "3 of 13 packages, now torch" in found.content.decode()
        assert f'hx-get="{notice}"' in found.content.decode()
    packages_are(Stage.THERE)
    assert "packages-language" not in client.get(page).content.decode()
    words = client.get(notice).content.decode()
    assert "are installed" in words
    assert "hx-get" not in words
    packages_are(Stage.ABSENT)
    assert "make packages" in client.get(page).content.decode()
    assert client.get(address(study, "other")).status_code == 404


def address(study, part):
    return reverse("packages_state", args=[study.public_id, part])
