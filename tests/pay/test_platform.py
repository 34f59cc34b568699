"""The platform's interface, asked of the stand-in: lists fetched, payments sent once."""

from decimal import Decimal

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from cqa_site.pay.jobs import FETCH_JOB, SEND_JOB, last_job
from cqa_site.pay.platform_api import PlatformRefused, PlatformUnclear, list_submissions, pay_order
from cqa_site.pay.stand_in import HOOK_SECRET, STUDY, TOKEN, PlatformStandIn
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.crowd.payments import begin_batch, confirm_payments, due_payments
from cqa_site.rounds.crowd.platform import apply_status, connect_link
from cqa_site.rounds.crowd.submissions import differences
from cqa_site.rounds.models import CrowdPayment, Participant, ParticipantLink
from cqa_site.runs import jobs
from tests.worlds import built_once
from .crowd import Crowd


def make_crowd():
    crowd = Crowd(people=3, item_bonus=Decimal("0.10"), entry="signed")
    for number, person in enumerate(crowd.people):
        person.participant_id, person.session_id = f"PID{number:05}", f"SUB{number:05}"
        person.is_verified = True
        crowd.work(person)
    return crowd


crowd = built_once(make_crowd)


@pytest.fixture
def platform(crowd, settings):
    with PlatformStandIn() as platform:
        platform.entry = f"http://testserver/join/{crowd.secret}/"
        platform.invent(5)
        settings.EGRESS_ALLOW = "127.0.0.0/8:*"
        for name, value in platform.settings.items():
            setattr(settings, name, value)
        about = {"platform_study": STUDY, "hook_secret": HOOK_SECRET, "api_token": TOKEN}
        connect_link(link=crowd.link, actor=crowd.researcher, **about)
        cache.clear()
        yield platform
    cache.clear()


@pytest.fixture
def press(crowd, researcher, django_capture_on_commit_callbacks):
    """Press a button that starts a job, and let the job run."""

    def act(name):
        with django_capture_on_commit_callbacks(execute=True):
            reply = researcher.post(crowd.page("crowd_money", name))
        jobs.drain()
        return reply

    return act


def confirm(crowd):
    keys = {row.key for row in due_payments(crowd.link).payments}
    return confirm_payments(link=crowd.link, keys=keys, actor=crowd.researcher)


def states():
    return sorted(CrowdPayment.objects.values_list("state", flat=True))


def test_a_signed_entry_of_the_stand_in_lets_in(platform):
    client = Client()
    entry = platform.signed_entry("SUB00004").replace("http://testserver", "")
    assert client.get(entry).url == "/join/start/"
    client.post("/join/start/")
    person = Participant.objects.get(session_id="SUB00004")
    assert (person.participant_id, person.is_verified) == ("PID00004", True)


def test_the_list_is_fetched_in_pages(platform, crowd, press, monkeypatch):
    platform.submissions["SUB00001"].status = "RETURNED"
    monkeypatch.setattr("cqa_site.pay.platform_api.PAGE_SIZE", 2)
    assert press("fetch").status_code == 302
    assert crowd.link.submissions.count() == 5
    assert crowd.link.submissions.get(submission="SUB00001").status == "RETURNED"
    assert last_job(FETCH_JOB, crowd.link).state == "done"


def test_a_webhook_that_comes_while_the_list_is_fetched_is_newer(
    platform, crowd, press, monkeypatch
):
    crowd.come(4, participant="PID00004", session="SUB00004")
    platform.submissions["SUB00004"].status = "TIMED-OUT"

    def fetch_slowly(link):
        rows = list_submissions(link)
        apply_status(Participant.objects.get(session_id="SUB00004"), "ACTIVE", timezone.now())
        return rows

    monkeypatch.setattr("cqa_site.pay.jobs.list_submissions", fetch_slowly)
    press("fetch")
    assert "ended_there" not in {row.problem for row in differences(crowd.link)}


def test_a_refused_token_is_said_and_never_shown(platform, crowd, press, researcher, caplog):
    about = {"platform_study": STUDY, "hook_secret": "", "api_token": "another-secret-token"}
    connect_link(link=crowd.link, actor=crowd.researcher, **about)
    caplog.set_level(0)
    press("fetch")
    page = researcher.get(crowd.page("crowd_submissions")).text
    assert "The platform refused the request (404)." in page
    links = researcher.get(crowd.page("crowd_submissions").split(str(crowd.link.public_id))[0])
    event = AuditEvent.objects.filter(verb="participant_link_connected").order_by("-pk")[0]
    assert (event.details["new_api_token"], event.details["new_webhook_secret"]) == (True, False)
    for text in (page, links.text, caplog.text, str(list(AuditEvent.objects.values()))):
        assert "another-secret-token" not in text
    assert not crowd.link.submissions.exists()


def test_payments_are_sent_once_under_their_submissions(platform, crowd, press):
    assert confirm(crowd) == 3
    for _time in range(3):
        press("send")
    assert sorted(platform.paid) == [(f"SUB0000{number}", "0.20") for number in range(3)]
    assert states() == ["paid"] * 3
    event = AuditEvent.objects.get(verb="crowd_payments_sent")
    assert (event.actor, event.details["total"]) == (crowd.researcher, "0.60")


def test_an_order_that_is_refused_moves_no_money(platform, crowd, press, researcher):
    confirm(crowd)
    del platform.submissions["SUB00001"]
    press("send")
    assert (states(), platform.paid) == (["confirmed"] * 3, [])
    assert "This order was not paid." in researcher.get(crowd.page("crowd_submissions")).text


def test_an_order_with_another_amount_is_not_paid_and_a_refused_one_says_nothing_of_others(
    platform, crowd, press, monkeypatch
):
    confirm(crowd)
    with monkeypatch.context() as patch:
        take = platform.take_order
        patch.setattr(platform, "take_order", lambda lines: take(lines) | {"amount": 6000})
        press("send")
    assert (states(), platform.paid) == (["confirmed"] * 3, [])
    monkeypatch.setattr("cqa_site.pay.jobs.LARGEST_ORDER", 2)
    del platform.submissions["SUB00002"]
    press("send")
    assert (states(), len(platform.paid)) == (["confirmed", "paid", "paid"], 2)
    assert last_job(SEND_JOB, crowd.link).error.endswith("This order was not paid.")


def break_off():
    raise ConnectionAbortedError


def test_an_unknown_outcome_is_never_sent_again_by_itself(platform, crowd, press, researcher):
    confirm(crowd)
    platform.before_paying = break_off
    press("send")
    platform.before_paying = None
    assert states() == ["unknown"] * 3
    page = researcher.get(crowd.page("crowd_submissions")).text
    assert "Check the platform, then mark the payments as paid or not paid." in page
    press("send")
    assert (states(), platform.paid) == (["unknown"] * 3, [])
    unpaid, order = (
        crowd.page("crowd_money", "unpaid"),
        {"batch": CrowdPayment.objects.first().batch},
    )
    # It may be under way: somebody has to look, or the list to be fetched.
    refused = researcher.post(unpaid, order, follow=True).text
    assert "Nothing was changed. The payment may still be under way." in refused
    assert "I have checked this order on the platform" in refused
    assert states() == ["unknown"] * 3
    researcher.post(unpaid, order | {"looked": "on"})
    event = AuditEvent.objects.get(verb="crowd_payments_unpaid")
    assert (event.actor, event.details["stated"]) == (crowd.researcher, True)
    assert event.details["orders"] == [order["batch"]]
    press("send")
    assert (states(), len(platform.paid)) == (["paid"] * 3, 3)


def test_a_list_that_was_fetched_after_the_sending_lets_the_outcome_be_entered(
    platform, crowd, press, researcher
):
    confirm(crowd)
    press("fetch")
    platform.before_paying = break_off
    press("send")
    paid, order = crowd.page("crowd_money", "paid"), {"batch": CrowdPayment.objects.first().batch}
    researcher.post(paid, order)
    assert states() == ["unknown"] * 3, "the list is older"
    press("fetch")
    assert 'name="looked"' not in researcher.get(crowd.page("crowd_submissions")).text
    researcher.post(paid, order)
    assert states() == ["paid"] * 3
    assert not AuditEvent.objects.get(verb="crowd_payments_paid").details["stated"]


def test_what_a_dead_worker_was_sending_is_unknown(platform, crowd, press):
    confirm(crowd)
    begin_batch(crowd.link, CrowdPayment.objects.all()[:2], "order-of-the-dead")
    press("send")
    assert states() == ["paid", "unknown", "unknown"]
    assert len(platform.paid) == 1
    assert last_job(SEND_JOB, crowd.link).state == "done"


def test_an_unknown_order_is_refused_and_nothing_is_asked_elsewhere_or_without_a_token(
    platform, crowd, settings
):
    with pytest.raises(PlatformRefused):
        pay_order(crowd.link, "no-such-order")
    settings.EGRESS_ALLOW = ""
    with pytest.raises(PlatformUnclear):
        list_submissions(crowd.link)
    link = ParticipantLink.objects.get(pk=crowd.link.pk)
    link.api_ciphertext = b""
    with pytest.raises(PlatformRefused, match="no API token"):
        list_submissions(link)
