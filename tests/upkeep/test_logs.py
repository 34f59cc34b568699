"""What is in the log: one click from the page to each call, who came in, and nothing private."""

import logging
from datetime import UTC, datetime

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from cqa_site.people.access import create_token, record, revoke_token
from cqa_site.people.models import ApiToken
from cqa_site.runs import jobs
from cqa_site.runs.actions.runs import set_cap
from cqa_site.runs.carrying import worker
from cqa_site.runs.carrying.worker import drain_runs
from cqa_site.runs.models import Run
from cqa_site.web.logging import SECURITY, around, hide
from tests.cast import make_member, make_study, sign_in
from tests.runs.judging import Lab, answer_by_text
from tests.runs.made_runs import scripted

pytestmark = pytest.mark.django_db

assert worker  # registers the jobs these tests run

ACCESS = "counterpoint.access"
PRIVATE = "PRIVATE-SECRET-0123456789"


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def researcher(study):
    return make_member(study, "researcher")


def test_a_request_is_one_line_with_its_route_and_person(lines, study, researcher):
    response = sign_in(researcher).get(reverse("study", args=[study.public_id]))
    (line,) = lines.of(ACCESS)
    assert line["request"] == response["X-Request-ID"]
    assert line["person"] == str(researcher.public_id)
    assert (line["route"], line["method"], line["status"]) == ("study", "GET", 200)
    assert line["milliseconds"] > 0
    assert datetime.fromisoformat(line["time"]).tzinfo == UTC
    assert "." in line["time"]
    assert "network" not in line


def test_only_a_well_formed_id_is_taken_over():
    well = ("3f9c1e7a-88d2-4b6c", "01JD.request_7")
    odd = ("short", "x" * 65, 'a"b-12345678', "two words 12345", "-12345678", "ünlesbar-12345")
    for given in (*well, *odd):
        got = Client().get("/healthz", headers={"X-Request-ID": given})["X-Request-ID"]
        assert (got == given) is (given in well), given
        assert got.isascii()


def test_lines_in_a_request_say_which_and_after_it_none(lines):
    with around(request="abc", route=lambda: "later", person=""):
        logging.getLogger("some").warning("within")
    logging.getLogger("some").warning("after")
    within, after = lines.of("some")
    assert within["request"] == "abc"
    assert within["route"] == "later"
    assert "person" not in within
    assert "request" not in after


@pytest.mark.django_db(transaction=True)
def test_one_id_leads_from_the_click_to_the_job_and_to_each_call(lines, monkeypatch, settings):
    """The worker has nothing of the request but what the rows say."""
    settings.JOBS_INLINE = False
    monkeypatch.setattr(jobs, "send", lambda: None)
    lab = Lab(items=3)
    first = lab.start()
    click = sign_in(lab.researcher).post(
        reverse("run_again", args=[lab.study.public_id, first.public_id])
    )
    run = Run.objects.exclude(pk=first.pk).get()
    with scripted(answer_by_text):
        jobs.drain()
        drain_runs()
    name = click["X-Request-ID"]
    mine = [line for line in lines.all if line.get("request") == name]
    (asked,) = [line for line in mine if line["logger"] == ACCESS]
    (job,) = [line for line in mine if line["message"] == "job ended"]
    calls = [line for line in mine if line["message"] == "call ended"]
    assert asked["route"] == "run_again"
    assert job["kind"] == "plan_run"
    assert job["study"] == str(lab.study.public_id)
    assert job["worker"]
    assert {line["call"] for line in calls} == {str(each.public_id) for each in run.calls.all()}
    assert {line["run"] for line in calls} == {str(run.public_id)}
    assert {line["endpoint"] for line in calls} == {str(lab.endpoint.public_id)}
    assert len(calls) == 3
    assert all(line["milliseconds"] >= 0 and line["worker"] for line in calls)
    assert "It compares both" not in lines.text
    assert lab.researcher.email not in lines.text


def test_what_a_job_says_of_an_error_names_the_job(lines, study, monkeypatch):
    def fail(work):
        raise ValueError(PRIVATE)

    monkeypatch.setitem(jobs.HANDLERS, "fails", fail)
    with around(request="asked-for-it"):
        job = jobs.enqueue(study=study, kind="fails", key="x")
    jobs.run(jobs.claim())
    error = next(line for line in lines.all if line["level"] == "ERROR")
    assert (error["request"], error["job"]) == ("asked-for-it", str(job.public_id))
    assert "in fail" in error["traceback"]
    assert error["traceback"].endswith("ValueError")
    assert PRIVATE not in lines.text


def test_no_line_about_a_refusal_has_its_path(lines, alone, monkeypatch):
    """Links with a secret are paths."""
    monkeypatch.setattr("cqa_site.web.outages.pulse.reaches_database", lambda: 1 / 0, raising=True)
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    logging.getLogger("django.request").setLevel(logging.INFO)
    refused = {
        404: lambda: client.get(f"/invitations/{PRIVATE}/"),
        403: lambda: client.post("/accounts/login/", {"login": PRIVATE}),
        400: lambda: client.get("/", headers={"Host": f"{PRIVATE}.example"}),
        500: lambda: client.get(f"/healthz?a={PRIVATE}"),
    }
    for status, ask in refused.items():
        with alone(status):
            assert ask().status_code == status
    logging.getLogger("django.request").setLevel(logging.ERROR)
    assert {line["status"] for line in lines.of(ACCESS)} == set(refused)
    assert any("ZeroDivisionError" in line.get("traceback", "") for line in lines.all)
    assert PRIVATE not in lines.text


HIDDEN = {
    "to Ann.Lee+x@lab.example.org now": "to <e-mail> now",
    "Authorization: Bearer abc.def": "Authorization: Bearer <key>",
    "key sk-SENTINEL0123 is": "key <key> is",
    "token cqa_0123456789abc": "token <key>",
    "from 203.0.113.77 at": "from 203.0.113.0 at",
    "duplicate key\nDETAIL:  Key (name)=(Ann)": "duplicate key\nDETAIL: …",
    "syntax\nLINE 1: SELECT 'Ann'\n": "syntax\nLINE 1: …\n",
    "x.py\nValueError: could not convert 'Ann'\nto float": "x.py\nValueError",
    "KeyError: 'Ann'\n\nDuring handling of this\nOSError: no room": (
        "KeyError\n\nDuring handling of this\nOSError: no room"
    ),
    "json.decoder.JSONDecodeError: Ann": "json.decoder.JSONDecodeError",
    "version 5.2.19, 12:30": "version 5.2.19, 12:30",
}


def test_what_others_wrote_is_hidden_and_forges_no_line(lines):
    assert {text: hide(text) for text in HIDDEN} == HIDDEN
    logging.getLogger("some").warning("one\n%s\u2028\x85", '{"level": "ERROR"}')
    assert len(lines.text.splitlines()) == len(lines.all) == 1


def test_who_comes_in_and_who_does_not(lines, researcher):
    for password in ("not the password", "a long password"):
        Client(REMOTE_ADDR="203.0.113.77").post(
            "/accounts/login/", {"login": researcher.email, "password": password}
        )
    failed, signed_in = lines.of(SECURITY)
    assert (failed["message"], signed_in["message"]) == ("sign_in_failed", "signed_in")
    assert "person" not in failed
    assert signed_in["person"] == str(researcher.public_id)
    assert signed_in["network"] == "203.0.113.0/24"
    assert researcher.email not in lines.text
    assert "203.0.113.77" not in lines.text
    assert "not the password" not in lines.text


def test_refusals_of_things_are_events_and_wrong_addresses_are_not(lines, study):
    stranger = sign_in(make_member(make_study("Study B"), "researcher"))
    stranger.get(reverse("study", args=[study.public_id]))
    stranger.get("/nothing-here/")
    assert [(line["message"], line["route"]) for line in lines.of(SECURITY)] == [
        ("refused", "study")
    ]


def test_a_token_is_followed_from_made_to_revoked(
    lines, researcher, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        token, secret = create_token(user=researcher, name=PRIVATE, scope="read")
        for _twice in range(2):
            Client().get("/api/v1/studies/", headers={"Authorization": f"Bearer {secret}"})
        revoke_token(token=token, actor=researcher)
    assert sorted(lines.events) == ["token_created", "token_revoked", "token_used"]
    # A program is named by the person whose token it has.
    assert {line["person"] for line in lines.of(ACCESS)} == {str(researcher.public_id)}
    assert {line["person"] for line in lines.of(SECURITY)} == {str(researcher.public_id)}
    assert secret not in lines.text
    assert PRIVATE not in lines.text
    assert ApiToken.objects.get().last_four not in lines.events


def test_what_the_audit_log_holds_is_told_without_words_of_people(
    lines, study, researcher, django_capture_on_commit_callbacks
):
    words = {"subject": researcher.email, "reason": PRIVATE, "before": PRIVATE}
    with django_capture_on_commit_callbacks(execute=True):
        with transaction.atomic():
            record(study=study, actor=None, verb="study_changed", subject="rolled back")
            transaction.set_rollback(True)
        record(study=study, actor=researcher, verb="member_role_changed", role="admin", **words)
    (line,) = lines.of(SECURITY)
    assert (line["message"], line["role"]) == ("member_role_changed", "admin")
    assert line["study"] == str(study.public_id)
    assert PRIVATE not in lines.text
    assert researcher.email not in lines.text


@pytest.mark.django_db(transaction=True)
def test_a_run_that_meets_its_limit_is_an_event(lines):
    lab = Lab(items=2)
    with scripted(answer_by_text):
        lab.start(cap_micro=1)
    run = Run.objects.get()
    set_cap(run=run, actor=lab.researcher, cap_micro=9)
    started, hit, raised = lines.of(SECURITY)[-3:]
    assert (started["message"], started["subject"]) == ("run_started", f"#{run.number}")
    assert (hit["message"], hit["run"], hit["cap"]) == ("run_cap_hit", str(run.public_id), 1)
    assert (raised["message"], raised["cap"]) == ("run_cap", 9)
