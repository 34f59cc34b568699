"""Pages of rounds and the overview ask again by themselves, for little, while something runs."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from cqa_site.rounds.kind import kinds
from cqa_site.rounds.models import Round
from tests.cast import sign_in
from tests.everything import make_everything
from tests.worlds import built_once

ASKED = {"HX-Request": "true"}
POLL = re.compile(r'hx-get="([^"]+)" hx-trigger="every 10s" hx-swap="outerHTML"')
# Session, user, membership, and what is counted; a page has at least twice as many.
MOST_QUERIES = 7


def make_world():
    return make_everything("Live")


world = built_once(make_world)


def opened(study):
    """An open round of each kind, and its page."""
    for kind in kinds():
        rounds = kind.Round._default_manager.filter(study=study)
        round_ = rounds.order_by("opened_at").exclude(name="Experts").first()
        Round.objects.filter(pk=round_.pk).update(state="open", opened_at=timezone.now())
        yield kind, round_, reverse(kind.audit.round, args=[study.public_id, round_.public_id])


def progress_in(page):
    """What the bar says, and the words beside it."""
    bar = re.search(r'<progress value="(\d+)" max="(\d+)"', page)
    words = re.search(r"([\d,]+) of\s+([\d,]+) (votes?|sheets?)", page)
    done, wanted = words.group(1, 2)
    # A bar without work to do is empty, not unknown.
    assert bar.groups() == (done, wanted if int(wanted) else "1")
    return done, wanted


@pytest.mark.long
def test_the_part_that_asks_again_says_what_the_page_says(world):
    client = sign_in(world.people.researcher)
    seen = set()
    for kind, _round, address in opened(world.study):
        page = client.get(address).content.decode()
        assert POLL.findall(page) == [address], kind.name
        with CaptureQueriesContext(connection) as queries:
            part = client.get(address, headers=ASKED).content.decode()
        assert len(queries) <= MOST_QUERIES, kind.name
        assert "<html" not in part
        assert "<form" not in part
        assert POLL.findall(part) == [address]
        assert progress_in(part) == progress_in(page)
        seen.add(kind.name)
    assert len(seen) == len(kinds()) == 6


@pytest.mark.long
@pytest.mark.parametrize("state", ["paused", "closed"])
def test_nothing_asks_again_in_a_round_that_is_not_open(world, state):
    client = sign_in(world.people.researcher)
    for kind, round_, address in opened(world.study):
        if state == "paused" and not kind.pauses:
            continue
        Round.objects.filter(pk=round_.pk).update(state=state)
        for headers in ({}, ASKED):
            assert not POLL.search(client.get(address, headers=headers).content.decode())


@pytest.mark.long
def test_what_is_under_way_asks_again(world):
    client = sign_in(world.people.researcher)
    address = reverse("study", args=[world.study.public_id])
    page = client.get(address).content.decode()
    assert POLL.findall(page) == [address]
    part = client.get(address, headers=ASKED).content.decode()
    assert part.strip() in page
    assert "<html" not in part
    Round.objects.filter(study=world.study).update(state="closed")
    world.study.runs.update(state="done")
    for headers in ({}, ASKED):
        assert not POLL.search(client.get(address, headers=headers).content.decode())
