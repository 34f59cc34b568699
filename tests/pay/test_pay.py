"""What people earned and how long they worked, the median against a floor, and its files."""

import re
from datetime import timedelta
from decimal import Decimal
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.actions.blocks import retire_item
from annotation.labelling.models import Assignment
from cqa_site.people.actions import rater_for
from cqa_site.people.models import AuditEvent, Membership
from cqa_site.rounds.crowd.pay import PaySummary, earnings_of, summaries_of
from cqa_site.rounds.models import ParticipantLink, StepResult
from cqa_site.stats.intervals import UndefinedIntervalError, median_interval
from tests.api.conftest import client_of
from tests.worlds import built_once
from .crowd import Crowd

PAID_SECONDS = {"work": 480, "consent": 120, "reading": 600}
# Of a reward of 1.50: 9.00 an hour take 10 minutes.
MINUTES = [8, 9, 10, 11, 12, 12, 12, 13, 14, 15]


def make_crowd():
    crowd = Crowd(people=len(MINUTES))
    for person, minutes in zip(crowd.people, MINUTES, strict=True):
        crowd.work(person, minutes)
    return crowd


crowd = built_once(make_crowd)


def summary_of(crowd):
    link = ParticipantLink.objects.get(pk=crowd.link.pk)
    return PaySummary(link, earnings_of(crowd.round, link=link))


def test_the_interval_of_a_median_needs_six_values():
    with pytest.raises(UndefinedIntervalError, match="6 or more people"):
        median_interval(np.arange(5.0), unit="people")
    assert median_interval(np.arange(6.0), unit="people") == (0, 5)
    assert median_interval(np.arange(20.0)[::-1], unit="people") == (5, 14)


def test_the_median_rate_and_its_interval(crowd, django_assert_num_queries):
    median = summary_of(crowd).median
    # Ten rates of 1.50 in 8 to 15 minutes: the middle two are 12 minutes, 7.50 an hour.
    assert (median.value, median.n_items) == (pytest.approx(7.5), 10)
    assert (median.low, median.high) == (pytest.approx(90 / 14), pytest.approx(10))
    for links, queries in (([crowd.link], 4), ([ParticipantLink()], 0)):
        with django_assert_num_queries(queries):
            summaries_of(crowd.round, links)


def test_below_the_floor_from_the_tenth_submission_on(crowd, researcher):
    summary = summary_of(crowd)
    assert summary.is_below
    assert not summary.is_shown_below, "three of ten reach it"
    # 12 minutes at 9.00 an hour.
    assert summary.mending == (Decimal("1.80"), pytest.approx(9.0))
    text = " ".join(researcher.get(crowd.page("crowd_pay")).text.split())
    for words in (
        "median pay of 10 participants who completed the work is 7.50 GBP per hour, below the "
        "floor of 9.00",
        "With a reward of 1.80 GBP, the median would have been 9.00.",
    ):
        assert words in text
    assert "however often you look" not in text
    links = reverse("crowd_links", args=[crowd.study.public_id, crowd.round.public_id])
    assert "With a reward of 1.80 GBP" in " ".join(researcher.get(links).text.split())
    ParticipantLink.objects.update(hourly_floor=Decimal("12.00"))
    assert summary_of(crowd).is_shown_below
    text = " ".join(researcher.get(crowd.page("crowd_pay")).text.split())
    assert "Only 0 of 10 reached the floor. This shows that the median pay of" in text
    crowd.end(crowd.people[0], "fault")
    assert not summary_of(crowd).is_below, "nine are too few"


def is_shown_below(rates):
    summary = PaySummary(ParticipantLink(hourly_floor=Decimal(9)), [])
    rated = [SimpleNamespace(hourly=rate) for rate in rates]
    vars(summary).update(rated=rated, median=SimpleNamespace(value=np.median(rates)))
    return summary.is_shown_below


def test_looks_after_every_submission_are_seldom_wrong():
    """Of links with a median at the floor; the interval would be wrong of a tenth of them."""
    draws = np.random.default_rng(5)
    links = [9 * draws.lognormal(0, 0.6, size=100) for _link in range(300)]
    shown = [any(is_shown_below(rates[:n]) for n in range(10, 101)) for rates in links]
    assert np.mean(shown) <= 0.05
    assert is_shown_below([4.0] * 10)


def test_the_mending_reward_is_the_least_one(crowd):
    ParticipantLink.objects.update(item_bonus=Decimal("0.10"), hourly_floor=Decimal("11.00"))
    summary = summary_of(crowd)
    reward, median = summary.mending
    hours = np.array(MINUTES) / 60

    def with_reward(amount):
        return np.median((float(amount) + 0.2) / hours)

    assert with_reward(reward) == pytest.approx(median)
    assert median >= 11
    assert with_reward(reward - Decimal("0.01")) < 11


def test_pay_by_outcome_and_bonus_by_item(crowd):
    ParticipantLink.objects.update(
        item_bonus=Decimal("0.10"), outcome_pay={"screened_out": "0.40", "stopped": "0"}
    )
    for number, outcome in enumerate(("screened_out", "stopped", "returned", "running")):
        crowd.end(crowd.people[number], outcome)
    own = Assignment.objects.filter(rater__user=crowd.people[5].user, state="answered")
    own.filter(pk=own.first().pk).update(state="skipped", label=None)
    rows = summary_of(crowd).earnings
    assert [row.total for row in rows[:4]] == [Decimal("0.40"), 0, None, None]
    assert [row.total for row in rows[4:6]] == [Decimal("1.70"), Decimal("1.60")], "a skip"
    assert [row.hourly for row in rows[1:4]] == [0, None, None]
    assert len(summary_of(crowd).rated) == 6, "the median is about completed ones"


def step_done(crowd, person, step, minutes):
    now = timezone.now()
    StepResult.objects.create(
        rater=rater_for(membership=Membership.objects.get(user=person.user)),
        round_id=crowd.round.pk,
        step=step,
        outcome="passed",
        started_at=None if minutes is None else now - timedelta(minutes=minutes),
    )
    StepResult.objects.update(at=now)


def test_time_in_steps_counts_up_to_ten_minutes(crowd):
    for step, minutes in (("consent", 2), ("reading", 45), ("training", None)):
        step_done(crowd, crowd.people[0], step, minutes)
    seconds = summary_of(crowd).earnings[0].seconds
    assert {step: round(seconds[step]) for step in seconds} == PAID_SECONDS


def test_who_ended_in_which_step_with_what_pay(crowd):
    ParticipantLink.objects.update(outcome_pay={"failed_check": "0.25"})
    crowd.end(crowd.people[0], "failed_check")
    crowd.end(crowd.people[1], "running")
    steps = {row.step: (row.ended, row.earned) for row in summary_of(crowd).by_step()}
    assert steps == {"reading": (1, Decimal("0.25")), "work": (8, Decimal("12.00"))}


def test_people_who_left_before_the_items_are_not_counted_there(crowd):
    coming = [crowd.end(crowd.come(number), "returned") for number in (21, 22)]
    crowd.end(crowd.come(23), "no_work")
    step_done(crowd, coming[0], "consent", 1)
    rows = {row.step: (row.ended, row.minutes) for row in summary_of(crowd).by_step()}
    consent = (1, pytest.approx(1, abs=0.1))
    assert rows == {"start": (1, None), "consent": consent, "work": (11, pytest.approx(12))}


def test_tables_leave_out_the_ids_of_the_platform_and_pages_cut_long_ones(
    crowd, researcher, monkeypatch
):
    def file(figure, format):
        return researcher.get(crowd.page("crowd_pay_figure", figure, format))

    for figure, format in product(("median", "people", "steps"), ("csv", "tex", "md")):
        reply = file(figure, format)
        assert reply.status_code == 200
        assert not {"PID-", "SUB-"} & set(re.findall(r"\b[A-Z]{3}-", reply.text))
    assert file("people", "svg").status_code == 404
    monkeypatch.setattr("cqa_site.pay.tables.LIMIT", 4)
    page = researcher.get(crowd.page("crowd_pay")).text
    assert page.count("Participant ") == 4
    assert "First 4 of 10 rows. The files contain all rows." in page
    assert "1.50</td>" in page, "money has two decimals"
    people = file("people", "csv").text
    assert people.count("\n") == 1 + len(MINUTES)
    assert "Completed,2,12.0,12.0,1.5,0.0,7.5" in people


# A decimal comma is refused, because it could separate thousands: 1.50 is never 150.
COMMAS = [{"reward": amount} for amount in ("1,50", "1.000,50", "1 000", "1,000")]
TERMS = {"reward": "2", "currency": "EUR", "hourly_floor": "", "item_bonus": "0.05"}


def test_terms_are_stored_with_the_old_ones_in_the_log(crowd, researcher):
    page = crowd.page("crowd_pay")
    assert researcher.post(page, TERMS | {"pay_screened_out": "0.5"}).status_code == 302
    link = ParticipantLink.objects.get()
    assert (link.reward, link.currency, link.hourly_floor) == (2, "EUR", None)
    assert link.outcome_pay == {"screened_out": "0.5"}
    event = AuditEvent.objects.get(verb="participant_link_pay_set")
    assert event.details["before"]["reward"] == "1.50"
    for bad in (
        {"reward": "-1"},
        {"reward": "1.005"},
        {"currency": "eur"},
        {"reward": "nan"},
        *COMMAS,
    ):
        refused = researcher.post(page, TERMS | bad)
        assert refused.status_code == 422
        assert "with a decimal point" in refused.text or bad not in COMMAS
    link.refresh_from_db()
    assert link.reward == 2


def test_the_interface_gives_the_same(crowd):
    program = client_of(crowd.researcher)
    rounds = f"/api/v1/studies/{crowd.study.public_id}/rounds/{crowd.round.public_id}/"
    url = f"{rounds}crowd-links/{crowd.link.public_id}/pay/"
    pay = program.get(url).json()
    assert pay["is_below"]
    assert (pay["mending_reward"], pay["median"]["value"]) == (1.8, pytest.approx(7.5))
    assert pay["people"][0]["seconds"] == {"work": 480.0}
    assert "PID-" not in str(pay)
    changed = program.patch(url, {"reward": 1.8}, format="json").json()
    assert changed["terms"]["reward"] == 1.8
    assert (changed["terms"]["hourly_floor"], changed["is_below"]) == (9.0, False)
    assert program.patch(url, {"reward": -1}, format="json").status_code == 400


def test_a_later_change_that_makes_the_promise_impossible_is_said(crowd, researcher):
    """A link for four items, of which one is retired."""
    links = reverse("crowd_links", args=[crowd.study.public_id, crowd.round.public_id])
    ParticipantLink.objects.update(required_items=4)
    assert "requires more items than the round has" not in researcher.get(links).text
    for item in crowd.round.items.all()[:1]:
        retire_item(label_round=crowd.round, item=item, is_retired=True, actor=crowd.researcher)
    text = " ".join(researcher.get(links).text.split())
    assert "requires more items than the round has for one person (3)" in text
    assert "Only 3 in the round" in text
