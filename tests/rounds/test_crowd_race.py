"""Many people come in by one link at the same moment: no more than there are places."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from cqa_site.people.models import User
from cqa_site.rounds.crowd.participants import (
    NoEntry,
    PlatformIds,
    create_link,
    take_part,
)
from cqa_site.rounds.models import Participant, ParticipantLink
from tests.cast import make_label_round, make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def make_link(places):
    """A link into a round for so many participants."""
    study = make_study()
    codes = ("completed_code", "screened_out_code", "no_work_code", "fault_code")
    link, _secret = create_link(
        round_=make_label_round(study),
        actor=make_member(study, "researcher"),
        platform="Prolific",
        required_items=4,
        max_participants=places,
        expires_at=timezone.now() + timedelta(days=1),
        **{code: code for code in codes},
    )
    return link


def try_until_served(link_pk, number, browser):
    while True:
        try:
            link = ParticipantLink.objects.select_related("study").get(pk=link_pk)
            take_part(link=link, ids=PlatformIds(f"PID-{number}", "S", "T"), browser=browser)
        except NoEntry as refusal:
            return str(refusal)
        except OperationalError:  # the in-memory database of the suite does not wait
            continue
        return "in"


def outcomes(link, people):
    """What becomes of people, each a number and a browser, who come in at once."""
    start = threading.Barrier(len(people))
    found = []

    def enter(number, browser):
        start.wait()
        found.append(try_until_served(link.pk, number, browser))
        connection.close()

    threads = [threading.Thread(target=enter, args=person) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def test_of_twenty_people_at_once_no_more_come_in_than_there_are_places():
    link = make_link(places=3)
    people = [(number, "browser") for number in range(20)]
    assert outcomes(link, people) == ["full"] * 17 + ["in"] * 3
    assert Participant.objects.count() == 3
    assert User.objects.filter(email=None).count() == 3


def test_of_ten_browsers_at_once_one_gets_the_place():
    link = make_link(places=20)
    people = [(0, f"browser-{number}") for number in range(10)]
    assert outcomes(link, people) == ["in"] + ["taken"] * 9
    assert Participant.objects.count() == 1
