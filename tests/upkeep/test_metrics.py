"""What Prometheus reads: who may, what is counted, and that a look costs little."""

import os
import subprocess
import sys
import uuid
from datetime import timedelta
from unittest import mock

import pytest
from django.db import Error, connection
from django.db.models import Value
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotation.labelling.models import Assignment, VoteEvent
from cqa_site.judging.chat import ChatReply
from cqa_site.people.models import Rater
from cqa_site.runs import jobs
from cqa_site.runs.models import Attempt, Budget, Call, Job, Run, WorkerBeat
from cqa_site.upkeep.watching import figures, requests, views
from cqa_site.upkeep.watching.figures import Scrape, time_limit
from tests.cast import make_study, sign_in
from tests.runs.judging import Lab, answer_by_text, good
from tests.runs.made_runs import scripted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh")]

TOKEN = "a-token-for-metrics"
# However much there is: one for each thing that is told, and one for each kind of work.
MOST_QUERIES = 16


def samples(content=None):
    """What is told now, by name and labels."""
    text = (content or Client().get("/metrics").content).decode()
    return {
        (
            each.name,
            *(f"{name}={value}" for name, value in sorted(each.labels.items())),
        ): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


@pytest.mark.long
def test_who_may_read_it(alone, settings):
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    cases = [
        ("this machine", {}, "", {}, 200),
        ("this machine, IPv6", {}, "::1", {}, 200),
        ("another machine", {}, "203.0.113.5", {}, 404),
        ("no address", {}, "unknown", {}, 404),
        ("behind a proxy", {}, "", {"X-Forwarded-For": "203.0.113.5"}, 404),
        ("behind a new proxy", {}, "", {"Forwarded": "for=203.0.113.5"}, 404),
        ("behind a plain nginx", {}, "", {"X-Real-IP": "203.0.113.5"}, 404),
        ("behind a delivery network", {}, "", {"CF-Connecting-IP": "203.0.113.5"}, 404),
        ("behind another one", {}, "", {"True-Client-IP": "203.0.113.5"}, 404),
        ("in production", {"PRODUCTION": True}, "", {}, 404),
        ("with the token", {"METRICS_TOKEN": TOKEN}, "203.0.113.5", bearer, 200),
        ("in production, with it", {"METRICS_TOKEN": TOKEN, "PRODUCTION": True}, "", bearer, 200),
        ("a wrong token", {"METRICS_TOKEN": "other"}, "", bearer, 404),
        ("no token", {"METRICS_TOKEN": TOKEN}, "", {}, 404),
        ("half a token", {"METRICS_TOKEN": TOKEN}, "", {"Authorization": "Bearer a-"}, 404),
        ("odd letters", {"METRICS_TOKEN": TOKEN}, "", {"Authorization": "Bearer ü\x80"}, 404),
    ]
    for name, values, address, headers, status in cases:
        with alone(name):
            for key, value in ({"METRICS_TOKEN": "", "PRODUCTION": False} | values).items():
                setattr(settings, key, value)
            client = Client(REMOTE_ADDR=address or "127.0.0.1")
            assert client.get("/metrics", headers=headers).status_code == status


def test_for_everybody_else_there_is_no_such_page(settings):
    settings.METRICS_TOKEN = TOKEN
    refused, unknown = Client().get("/metrics"), Client().get("/metricsx")
    assert refused.content == unknown.content.replace(b"/metricsx", b"/metrics")
    assert Client(enforce_csrf_checks=True).post("/metrics").status_code == 404


def test_requests_are_counted_by_the_name_of_their_address():
    lab = Lab(items=1)
    client, before = sign_in(lab.researcher), samples()
    for _twice in range(2):
        client.get(reverse("study", args=[lab.study.public_id]))
    client.get(reverse("study", args=[uuid.uuid4()]))
    after = samples()

    def more(name, *labels):
        return after[(name, *labels)] - before.get((name, *labels), 0)

    got = ("method=GET", "route=study")
    assert more("counterpoint_requests_total", *got, "status=2xx") == 2
    assert more("counterpoint_requests_total", *got, "status=4xx") == 1
    assert more("counterpoint_request_seconds_count", "route=study") == 3
    assert more("counterpoint_request_seconds_bucket", "le=+Inf", "route=study") == 3
    assert str(lab.study.public_id) not in "".join(
        label for key in after if "request" in key[0] for label in key
    )


@pytest.mark.long
def test_whatever_is_asked_for_there_are_few_labels():
    # A look at the counts is a request, too, and adds its own labels the first time.
    Client().get("/nothing"), Client().generic("BREW", "/healthz"), samples()
    before = len(samples())
    for number in range(20):
        Client().get(f"/nothing-{number}")
        Client().generic(f"BREW{number}", "/healthz")
    assert len(samples()) <= before + 1
    assert any("method=other" in key for key in samples())


TWO_PROCESSES = """
import django, os, subprocess, sys
from pathlib import Path
django.setup()
from cqa_site.upkeep.watching import requests
child = '''
import django, sys
from pathlib import Path
django.setup()
from cqa_site.upkeep.watching import requests
requests.share(Path(sys.argv[1]))
requests.count_request("home", "GET", 200, 0.03)
'''
for _ in range(2):
    subprocess.run([sys.executable, "-c", child, sys.argv[1]], check=True)
(own,) = Path(sys.argv[1]).iterdir()
os.environ[requests.SHARED] = str(own)
from prometheus_client import generate_latest
sys.stdout.buffer.write(generate_latest(requests.counted()))
"""


@pytest.mark.long
def test_processes_of_one_server_are_added_up_and_earlier_servers_forgotten(tmp_path):
    """One that ended keeps its part; a server before this one has none."""
    (tmp_path / requests.process_name(2**22 + 1, "web")).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", TWO_PROCESSES, str(tmp_path)],
        capture_output=True,
        check=True,
        env={k: v for k, v in os.environ.items() if k != requests.SHARED},
        timeout=60,
    )
    found = samples(done.stdout)
    assert found["counterpoint_requests_total", "method=GET", "route=home", "status=2xx"] == 2
    assert found["counterpoint_request_seconds_bucket", "le=0.05", "route=home"] == 2
    assert found["counterpoint_request_seconds_bucket", "le=0.025", "route=home"] == 0


def test_processes_that_start_together_forget_the_same_servers(tmp_path, monkeypatch):
    monkeypatch.setenv(requests.SHARED, "")
    monkeypatch.delenv(requests.SHARED)
    earlier = tmp_path / "elsewhere-1-1-web"
    earlier.mkdir()

    def a_neighbour_is_first(names):
        earlier.rmdir()
        return set()

    monkeypatch.setattr(requests, "gone", a_neighbour_is_first)
    requests.share(tmp_path)
    (own,) = tmp_path.iterdir()
    assert os.environ[requests.SHARED] == str(own)


@pytest.fixture
def ran(django_capture_on_commit_callbacks):
    """A lab with a run that ended and half of its limit spent."""
    lab = Lab(items=4)
    with scripted(answer_by_text), django_capture_on_commit_callbacks(execute=True):
        run = lab.start(cap_micro=1_000_000)
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    Budget.objects.filter(pk=run.budget_id).update(
        spent_micro=500_000, tokens_in=700, tokens_out=30
    )
    return lab, run


@pytest.mark.long
def test_runs_are_told_by_endpoint_and_study_and_counted_once_until_they_go_on(ran):
    lab, run = ran
    found = samples()
    endpoint, study = f"endpoint={lab.endpoint.public_id}", f"study={lab.study.public_id}"
    of_run = ("kind=relevance", study)
    told = {
        ("counterpoint_runs", "kind=relevance", "state=done"): 1,
        ("counterpoint_calls", endpoint, "state=done"): 4,
        ("counterpoint_spend_total", *of_run): 0.5,
        ("counterpoint_tokens_total", "direction=in", *of_run): 700,
        ("counterpoint_tokens_total", "direction=out", *of_run): 30,
    }
    assert told.items() <= found.items()
    assert ("counterpoint_spend_of_limit_ratio", study) not in found
    text = Client().get("/metrics").text
    for private in (lab.study.name, lab.endpoint.name, lab.researcher.email):
        assert private not in text
    with CaptureQueriesContext(connection) as asked:
        figures.compute(5)
    assert not any('FROM "runs_call"' in each["sql"] for each in asked.captured_queries)
    run.calls.filter(position=0).update(state=Call.State.UNSCORED)
    Run.objects.update(state=Run.State.RUNNING, ended_at=None)
    Attempt.objects.filter(pk=Attempt.objects.first().pk).update(outcome=Attempt.Outcome.LOST)
    views._scrape.cache_clear()
    told = {
        # Under way it tells how near its limit it is.
        ("counterpoint_spend_of_limit_ratio", study): 0.5,
        ("counterpoint_leases_taken_back_total", "what=call"): 1,
        ("counterpoint_calls", endpoint, "state=done"): 3,
        ("counterpoint_calls", endpoint, "state=unscored"): 1,
    }
    assert told.items() <= samples().items()


def test_replies_add_their_tokens_to_the_run(django_capture_on_commit_callbacks):
    lab = Lab(items=2)
    reply = ChatReply(good(), "stop", "m", tokens_in=100, tokens_out=10)
    with scripted(lambda request: reply), django_capture_on_commit_callbacks(execute=True):
        run = lab.start()
    budget = Budget.objects.get(pk=run.budget_id)
    assert (budget.tokens_in, budget.tokens_out) == (200, 20)


@pytest.mark.long
def test_jobs_leases_and_workers():
    study = make_study()
    changes = [
        {"run_after": timezone.now() - timedelta(minutes=3)},
        {"state": "leased", "lease_until": timezone.now(), "losses": 2},
        {"state": "failed", "losses": 1},
        {"run_after": timezone.now() + timedelta(hours=1)},
    ]
    for number, values in enumerate(changes):
        job = jobs.enqueue(study=study, kind="import", key=str(number))
        Job.objects.filter(pk=job.pk).update(**values)
    for number, age in enumerate((5, 200)):
        seen = Now() - Value(timedelta(seconds=age))
        WorkerBeat.objects.create(worker=str(number), host="", process_id=1, seen_at=seen)
    found = samples()
    states = {"ready": 2, "leased": 1, "failed": 1}
    told = {("counterpoint_jobs", "kind=import", f"state={s}"): n for s, n in states.items()}
    told |= {("counterpoint_leases_taken_back_total", "what=job"): 3}
    told |= {("counterpoint_workers_alive",): 1}
    assert told.items() <= found.items()
    assert 180 <= found[("counterpoint_oldest_waiting_job_seconds",)] < 240
    assert 4 <= found[("counterpoint_worker_beat_age_seconds",)] < 60


@pytest.mark.long
def test_what_is_asked_does_not_grow_with_what_is_there(ran):
    """The statements are counted, and each that could read a long table goes by an index."""
    lab, _run = ran
    raters = Rater.objects.bulk_create(
        Rater(study=lab.study, name=str(number), kind=Rater.Kind.PERSON) for number in range(50)
    )
    items = list(lab.label_round.items.all())
    votes = Assignment.objects.bulk_create(
        Assignment(round=lab.label_round, item=item, rater=rater, state="answered", label=1)
        for item in items
        for rater in raters
    )
    VoteEvent.objects.bulk_create(
        VoteEvent(assignment=vote, kind="answer", client_key="a", label=1) for vote in votes
    )
    for number in range(30):
        jobs.enqueue(study=lab.study, kind="import", key=str(number))
    with CaptureQueriesContext(connection) as asked:
        figures.compute(5)
    assert len(asked) <= MOST_QUERIES
    assert samples()["counterpoint_submissions_total", "kind=label"] == 200
    if connection.vendor == "sqlite":
        for table in ("runs_attempt", "runs_job"):
            for each in asked.captured_queries:
                if f'FROM "{table}"' in each["sql"]:
                    assert "INDEX" in plan_of(each["sql"]), each["sql"]


def plan_of(sql):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return " ".join(row[-1] for row in cursor.fetchall())


def test_several_looks_within_seconds_are_one(monkeypatch):
    looks = []
    monkeypatch.setattr(figures, "compute", lambda seconds: looks.append(seconds) or [])
    for _thrice in range(3):
        Client().get("/metrics")
    assert looks == [figures.LIMIT_SECONDS]


@pytest.mark.long
def test_while_the_database_is_away_the_last_figures_stand(monkeypatch):
    assert samples()[("counterpoint_database_up",)] == 1
    monkeypatch.setattr(figures.pulse, "reaches_database", lambda: False)
    monkeypatch.setattr(figures, "KEPT_SECONDS", -1)
    monkeypatch.setattr(figures, "compute", lambda seconds: 1 / 0)
    found = samples()
    assert found[("counterpoint_database_up",)] == 0
    assert found[("counterpoint_workers_alive",)] == 0
    assert found[("counterpoint_figures_age_seconds",)] >= 0


@pytest.mark.long
def test_figures_that_cannot_be_looked_up_or_take_too_long_leave_the_rest(monkeypatch):
    with pytest.raises(TimeoutError):
        figures.compute(-1)
    for error in (Error("gone"), TimeoutError()):
        views._scrape.cache_clear()
        monkeypatch.setattr(figures, "compute", mock.Mock(side_effect=error))
        found = samples()
        assert found["counterpoint_build", "version=0.1.0"] == 1
        assert ("counterpoint_figures_age_seconds",) not in found
    assert Scrape().metrics == []


def test_one_kind_of_figures_that_breaks_leaves_the_rest(monkeypatch):
    def odd():
        raise ValueError("time data does not match")

    monkeypatch.setattr(figures, "newest", odd)
    found = samples()
    assert found[("counterpoint_workers_alive",)] == 0
    assert ("counterpoint_backup_age_seconds",) not in found
    assert found[("counterpoint_figures_age_seconds",)] >= 0


FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_takes_too_long_is_given_up():
    with pytest.raises(Error), time_limit(0.1), connection.cursor() as cursor:
        cursor.execute(FOREVER)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
