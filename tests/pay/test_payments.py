"""Payments: what is due, confirmed once, exported or sent once, and never to anybody else."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from cqa_site.people.models import AuditEvent
from cqa_site.rounds.crowd import payments
from cqa_site.rounds.crowd.participants import PlatformIds, release_place, take_part
from cqa_site.rounds.crowd.payments import (
    NotChecked,
    PaymentsChanged,
    begin_batch,
    confirm_payments,
    due_payments,
    hand_out,
    misdirected,
    settle_payments,
    take_back,
)
from cqa_site.rounds.crowd.platform import apply_status
from cqa_site.rounds.crowd.submissions import SubmissionRow, store_submissions
from cqa_site.rounds.lifecycle import find_violations
from cqa_site.rounds.models import CrowdPayment, Participant, ParticipantLink, Round
from tests.worlds import built_once
from .crowd import Crowd

PAY = {"item_bonus": Decimal("0.10"), "outcome_pay": {"screened_out": "0.40", "stopped": "0"}}


def make_crowd():
    crowd = Crowd(**PAY)
    crowd.people = [crowd.come(number, is_verified=True) for number in range(5)]
    for person in crowd.people[:2]:
        crowd.work(person)
    crowd.end(crowd.people[2], "screened_out")
    crowd.end(crowd.people[3], "stopped")
    return crowd


crowd = built_once(make_crowd)


def due(crowd):
    return due_payments(ParticipantLink.objects.get(pk=crowd.link.pk))


def confirm(crowd, keys=None):
    keys = {row.key for row in due(crowd).payments} if keys is None else keys
    return confirm_payments(link=crowd.link, keys=keys, actor=crowd.researcher)


def states():
    return sorted(CrowdPayment.objects.values_list("state", flat=True))


def test_bonus_and_pay_of_the_outcome_are_due(crowd):
    rows = [(row.participant.session_id, row.kind, row.amount) for row in due(crowd).payments]
    bonuses = [(f"SUB-{number}", "bonus", Decimal("0.20")) for number in range(2)]
    assert rows == [*bonuses, ("SUB-2", "outcome", Decimal("0.40"))]
    assert due(crowd).total == Decimal("0.80")


def test_only_proven_submissions_are_paid(crowd):
    Participant.objects.update(is_verified=False)
    assert (due(crowd).payments, due(crowd).unproven) == ([], 3)
    rows = [
        SubmissionRow("SUB-0", "PID-0", "APPROVED"),
        SubmissionRow("SUB-1", "PID-other", "APPROVED"),
    ]
    store_submissions(link=crowd.link, rows=rows, actor=None)
    assert [row.participant.session_id for row in due(crowd).payments] == ["SUB-0"]
    Participant.objects.update(session_id="", is_verified=True)
    assert due(crowd).payments == []


def test_each_is_confirmed_once(crowd):
    keys = {row.key for row in due(crowd).payments}
    assert [confirm(crowd, keys) for _time in range(3)] == [3, 0, 0]
    assert due(crowd).payments == []
    assert CrowdPayment.objects.count() == 3
    event = AuditEvent.objects.get(verb="crowd_payments_confirmed")
    assert (event.details["payments"], event.details["total"]) == (3, "0.80")
    assert "PID-" not in str(event.details)


def test_what_changed_since_it_was_shown_is_not_confirmed(crowd, researcher):
    keys = [row.key for row in due(crowd).payments]
    ParticipantLink.objects.update(currency="USD")
    assert confirm(crowd, set(keys)) == 0
    ParticipantLink.objects.update(currency="GBP", item_bonus=Decimal("9.00"))
    page = crowd.page("crowd_money", "confirm")
    done = researcher.post(page, {"payment": keys}, follow=True)
    assert "1 payment confirmed." in done.text
    assert "Some selected payments have changed" in done.text
    assert CrowdPayment.objects.get().amount == Decimal("0.40")


def test_amounts_are_shown_in_plain_digits_fit_their_column_and_keep_their_currency(
    crowd, researcher
):
    page, terms = crowd.page("crowd_pay"), {"currency": "GBP", "item_bonus": "100"}
    researcher.post(page, terms | {"pay_screened_out": "1E+3"})
    assert {str(row.amount) for row in due(crowd).payments} == {"200.00", "1000.00"}
    assert researcher.post(page, terms | {"item_bonus": "100.01"}).status_code == 422
    confirm(crowd)
    refused = researcher.post(page, {"reward": "1", "currency": "USD"})
    assert refused.status_code == 422
    assert "Payments are confirmed in GBP" in refused.text


def test_what_ended_on_the_platform_is_not_selected(crowd, researcher):
    apply_status(crowd.people[0], "RETURNED", timezone.now())
    rows = [SubmissionRow("SUB-1", "PID-1", "REJECTED"), SubmissionRow("SUB-2", "P", "RETURNED")]
    store_submissions(link=crowd.link, rows=rows, actor=None)
    assert [row.ended_there for row in due(crowd).payments] == ["RETURNED", "REJECTED", ""]
    page = researcher.get(crowd.page("crowd_submissions")).text
    assert (page.count('name="payment"'), page.count(" checked")) == (3, 1)
    assert '<span class="badge warn">REJECTED</span>' in page


def test_pages_say_which_of_several_links_they_are_about_and_that_tables_are_cut_off(
    crowd, researcher, monkeypatch
):
    page = crowd.page("crowd_submissions")
    for each in (page.split(str(crowd.link.public_id))[0], crowd.page("crowd_pay"), page):
        text = researcher.get(each).text.split("<main", 1)[1].split("<details", 1)[0]
        assert f"{crowd.link.created_at:%Y-%m-%d %H:%M}" in text
    monkeypatch.setattr("cqa_site.pay.pages.MOST_SHOWN", 2)
    for _state in ("due", "confirmed"):
        assert "First 2 of 3 rows." in " ".join(researcher.get(page).text.split())
        confirm(crowd)


def test_a_place_given_to_another_browser_moves_no_money(crowd):
    confirm(crowd)
    before = list(CrowdPayment.objects.values_list("submission", "payee", "amount"))
    for number, person in enumerate(crowd.people):
        release_place(participant=person, actor=crowd.researcher)
        ids = PlatformIds(f"PID-{number}", "STUDY-1", f"SUB-other-{number}")
        take_part(link=crowd.link, ids=ids, browser="another")
    assert due(crowd).payments == []
    assert list(CrowdPayment.objects.values_list("submission", "payee", "amount")) == before
    assert not misdirected().exists()
    CrowdPayment.objects.update(payee="PID-other")
    assert misdirected().count() == 3
    assert any("payment" in text for text in find_violations())


def test_a_file_takes_each_payment_once(crowd, researcher):
    confirm(crowd)
    page = crowd.page("crowd_money", "export")
    sent = researcher.post(page)
    assert sent.text == "PID-0,0.20\nPID-1,0.20\nPID-2,0.40\n"
    batch = CrowdPayment.objects.first().batch
    name = f"bonuses-outcome-pay-round-1-{batch}.csv"
    assert sent["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "Nothing was changed" in researcher.post(page, follow=True).text
    assert states() == ["exported"] * 3
    with pytest.raises(PaymentsChanged):
        begin_batch(crowd.link, CrowdPayment.objects.all(), "order")
    researcher.post(crowd.page("crowd_money", "paid"), {"batch": "file-other"})
    assert states() == ["exported"] * 3
    researcher.post(crowd.page("crowd_money", "paid"), {"batch": batch})
    assert states() == ["paid"] * 3
    for act in ("unpaid", "withdraw"):
        reply = researcher.post(crowd.page("crowd_money", act), {"batch": batch}, follow=True)
        assert "Nothing was changed" in reply.text
    assert states() == ["paid"] * 3, "what was paid stays paid"


def test_an_outcome_is_entered_for_the_state_of_the_locked_rows(crowd):
    """A subquery would tell of the state before the lock, and a paid order could be sent again."""
    with CaptureQueriesContext(connection) as queries:
        settle_payments(link=crowd.link, was_paid=False, actor=crowd.researcher)
    asked = [query["sql"] for query in queries if "crowdpayment" in query["sql"]]
    assert asked
    assert not any(sql.count("SELECT") > 1 for sql in asked)


def test_unpaid_ones_can_be_exported_again_and_confirmations_withdrawn(crowd):
    about = {"link": crowd.link, "actor": crowd.researcher}
    confirm(crowd)
    hand_out(**about)
    settle_payments(was_paid=False, **about)
    assert states() == ["confirmed"] * 3
    assert (take_back(**about), len(due(crowd).payments)) == (3, 3)


def test_what_is_being_sent_is_neither_exported_nor_settled(crowd, monkeypatch):
    about = {"link": crowd.link, "actor": crowd.researcher}
    confirm(crowd)
    begin_batch(crowd.link, CrowdPayment.objects.all(), "order")
    assert (hand_out(**about)[1], take_back(**about)) == ([], 0)
    assert settle_payments(was_paid=True, has_looked=True, **about) == 0
    monkeypatch.setattr(payments, "SENT_SECONDS", -1)
    with pytest.raises(NotChecked):
        settle_payments(was_paid=True, **about)
    assert settle_payments(was_paid=True, has_looked=True, **about) == 3


@pytest.mark.parametrize(
    ("name", "kind", "file"),
    [
        ('Runde/2: „Ä"', "bonus", "bonuses-runde2-a-"),
        ("\r\nX-Header: 1", "outcome", "outcome-pay-x-header-1-"),
        ("Раунд", "bonus", "bonuses-round-"),
    ],
)
def test_a_file_is_named_after_what_it_holds_and_its_round(crowd, researcher, name, kind, file):
    Round.objects.update(name=name)
    confirm(crowd, {row.key for row in due(crowd).payments if row.kind == kind})
    sent = researcher.post(crowd.page("crowd_money", "export"))["Content-Disposition"]
    assert sent.startswith(f'attachment; filename="{file}file-')


def test_the_currency_cannot_change_while_payments_are_confirmed(crowd, researcher, monkeypatch):
    """Another request confirms just before this one holds the study's people."""
    monkeypatch.setattr("cqa_site.pay.forms.hold_people", lambda study: confirm(crowd))
    refused = researcher.post(crowd.page("crowd_pay"), {"reward": "1", "currency": "USD"})
    assert refused.status_code == 422
    assert "Payments are confirmed in GBP" in refused.text
    assert ParticipantLink.objects.get().currency == "GBP"


def test_a_submission_that_ended_on_the_platform_meanwhile_is_not_confirmed(crowd):
    keys = {row.key for row in due(crowd).payments}
    apply_status(crowd.people[0], "RETURNED", timezone.now())
    assert confirm(crowd, keys) == 2


def test_an_unknown_act_is_not_found(crowd, researcher):
    assert researcher.post(crowd.page("crowd_money", "refund")).status_code == 404
    assert researcher.get(crowd.page("crowd_money", "send")).status_code == 405
