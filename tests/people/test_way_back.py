"""Every page of a study says where it stands, with a way back, in words that tell it from others.

One study with one of everything is made once; each page is asked for once by each role, for whom
it may look otherwise: what researchers may see, admins are shown alike.
"""

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.cast import sign_in
from tests.security.matrix import STUDY_ROUTES
from tests.security.test_matrix import World
from tests.web.test_words import doubles

from .test_menu import ELSEWHERE, WORK

pytestmark = pytest.mark.django_db

NAV = re.compile(r'<nav class="crumbs".*?</nav>', re.S)
LINK = re.compile(r'<a\s+href="([^"]*)"\s*>(.*?)</a>', re.S)
CURRENT = re.compile(r'<a class="menu-entry" href="([^"]*)"[^>]*aria-current="page"', re.S)
GROUP = re.compile(r"<details[^>]* open>\s*<summary>.*?<span>(.*?)</span>", re.S)
UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.S)


@dataclass
class ShownPages:
    """What somebody of a role is shown: address and text of every whole page."""

    role: str
    client: Client
    by_name: dict[str, tuple[str, str]]

    def in_study(self):
        """Pages with a menu around them: neither work nor the first page."""
        for name, (address, text) in self.by_name.items():
            if 'id="menu"' in text and not WORK.match(name) and name not in ELSEWHERE:
                yield name, address, text


@pytest.fixture(scope="module", params=["d", pytest.param("e", marks=pytest.mark.long)])
def pages(request, django_db_setup, django_db_blocker):
    """What an admin is shown at every address; `make test-all` asks as an expert, too."""
    role = request.param
    with django_db_blocker.unblock(), transaction.atomic():
        world = World("Everything")
        client, by_name = sign_in(world.people[role]), {}
        for name, route in STUDY_ROUTES.items():
            if route.post or role not in route.roles:
                continue
            reply = client.get(reverse(name, kwargs=world.kwargs(name)))
            text = "" if reply.streaming else reply.content.decode(errors="replace")
            if reply.status_code == 200 and text.startswith("<!doctype"):
                by_name[name] = (reply.wsgi_request.path, text)
        yield ShownPages(role, client, by_name)
        transaction.set_rollback(True)


def test_every_page_has_crumbs_that_lead_to_its_place_in_the_menu(pages):
    seen = 0
    for name, address, text in pages.in_study():
        (nav,) = NAV.findall(text)
        links = [unescape(url) for url, _text in LINK.findall(nav)]
        current = CURRENT.findall(text)
        if not current:  # an expert on a page that experts have no list of
            assert pages.role == "e", name
            assert links[0] == reverse("study", args=[address.split("/")[2]]), name
        elif current == [address]:
            assert not links, name
            assert f"<li>{GROUP.search(text)[1]}</li>" in nav, name
        else:
            assert links[0].partition("?")[0] == current[0], name
            assert f"<li>{GROUP.search(text)[1]}</li>" in nav, name
        seen += 1
    assert seen > (100 if pages.role == "d" else 6)


def test_every_crumb_can_be_opened_and_none_is_the_page_itself(pages):
    ways = {}
    for name, address, text in pages.in_study():
        for url, _text in LINK.findall(NAV.search(text)[0]):
            assert unescape(url).partition("?")[0] != address, name
            ways.setdefault(unescape(url), name)
    assert len(ways) > (60 if pages.role == "d" else 2)
    for url, name in ways.items():
        assert pages.client.get(url).status_code == 200, (name, url)


def test_pages_deeper_than_a_round_or_run_lead_back_to_it(pages):
    if pages.role != "d":
        pytest.skip("they are pages of admins")
    for name, steps in {
        "annotator": ["Label rounds", "Open Everything", "Quality"],
        "units": ["Label rounds", "Open Everything", "Agreement"],
        "run_call": ["Labels by judges", None, "Requests"],
        "scoring_example": ["Scoring rounds", "Draft", "Choose an example"],
        "editing_history": ["Editing rounds", None],
    }.items():
        nav = NAV.search(pages.by_name[name][1])[0]
        found = [unescape(UNSEEN.sub("", text)).strip() for _url, text in LINK.findall(nav)]
        assert len(found) == len(steps), (name, found)
        for said, expected in zip(found, steps, strict=True):
            assert expected in (None, said), (name, found)


def test_no_page_says_a_second_word(pages):
    for name, (_address, text) in pages.by_name.items():
        # Addresses and fields of the REST interface keep the names that programs know.
        words = unescape(UNSEEN.sub(" ", re.sub(r"<code.*?</code>", " ", text, flags=re.S)))
        assert not doubles(name, words)


def test_pages_of_the_menu_have_titles_and_headings_of_their_own(pages):
    titles, heads = Counter(), Counter()
    for _name, address, text in pages.in_study():
        if CURRENT.findall(text) == [address]:
            titles[re.search(r"<title>(.*?)</title>", text, re.S)[1].strip()] += 1
            heads[UNSEEN.sub("", re.search(r"<h1.*?</h1>", text, re.S)[0]).strip()] += 1
    assert len(titles) > (35 if pages.role == "d" else 1)
    assert [each for each in (*titles.items(), *heads.items()) if each[1] > 1] == []
