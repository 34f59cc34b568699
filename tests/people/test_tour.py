"""The tour of a study: every stop opens, says what its page is for, and leads to the next."""

import re

import pytest
from django.urls import reverse

from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db
NEXT = re.compile(r'<a class="button small primary" href="([^"]+\?tour=1)">Next</a>')
BACK = re.compile(r'<a class="button small" href="([^"]+\?tour=1)">Back</a>')


@pytest.fixture
def study():
    return make_study()


def said(client, address):
    reply = client.get(address)
    assert reply.status_code == 200, address
    found = re.search(r'<section class="tour".*?</section>', reply.content.decode(), re.DOTALL)
    return found[0] if found else ""


def test_the_tour_leads_through_the_menu_and_ends(study):
    client = sign_in(make_member(study, "researcher"))
    overview = client.get(reverse("study", args=[study.public_id])).content.decode()
    begin = re.search(r'href="([^"]+\?tour=1)">Take the tour', overview)
    assert begin is not None
    seen, address = [], begin[1]
    while address:
        stop = said(client, address)
        number, stops = re.search(r"Tour, (\d+) of (\d+):", stop).groups()
        assert int(number) == len(seen) + 1
        back = BACK.search(stop)
        assert (back[1] if back else None) == (seen[-1] if seen else None)
        seen.append(address)
        following = NEXT.search(stop)
        address = following[1] if following else ""
    assert len(seen) == int(stops) > 8
    assert len(set(seen)) == len(seen)
    assert "End the tour" in stop


def test_a_page_says_nothing_of_a_tour_that_nobody_takes(study):
    client = sign_in(make_member(study, "researcher"))
    assert not said(client, reverse("imports", args=[study.public_id]))
    assert not said(client, reverse("audit", args=[study.public_id]) + "?tour=1")


def test_annotators_have_no_tour(study):
    client = sign_in(make_member(study, "annotator"))
    page = client.get(reverse("study", args=[study.public_id]) + "?tour=1").content.decode()
    assert "Take the tour" not in page
    assert 'class="tour"' not in page
