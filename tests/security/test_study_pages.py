"""Pages of a full study: where each stands, its words, and how those of results begin.

Pages of results: a sentence first, then what can be chosen, then figures with their menus. Every
page says where it stands, with a way back, in words that tell it from others; what researchers
may see, admins are shown alike.
"""

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from cqa_site.web.charts.vega import WIDTHS
from tests.cast import sign_in
from tests.people.test_menu import ELSEWHERE, WORK

from .matrix import STUDY_ROUTES

pytestmark = pytest.mark.django_db

PAGES = (
    "figures",
    "snapshot",
    "judges",
    "trained_judge",
    "faithfulness",
    "edited_texts",
    "scores",
    "board",
    "score_agreement",
    "score_replace",
    "score_judges",
    "preferences",
    "key_points",
    "summary_metrics",
    "summary_people",
)
# Instead of a finding: why there is none yet.
EMPTY = re.compile(r'class="card empty"')
FINDING = re.compile(r'<section class="finding[^>]*>\s*<p class="says">\s*(\S[^<]+?)\s*</p>')
CARD = re.compile(r'<section class="card figure-card[^>]*>.*?</header>', re.DOTALL)


@pytest.fixture(scope="module")
def world(own, opened):
    """The full study; its pages are asked for once and only read here."""
    own.shown = {
        (name, ""): reply.body.decode()
        for name, reply in opened.items()
        if STUDY_ROUTES[name].roles[0] == "r" and reply.body.startswith(b"<!doctype")
    }
    return own


def page_of(world, name, query=""):
    if (name, query) not in world.shown:
        reply = reader_of(world).get(reverse(name, kwargs=world.kwargs(name)) + query)
        assert reply.status_code == 200
        world.shown[name, query] = reply.content.decode()
    return world.shown[name, query]


def reader_of(world):
    return sign_in(world.people["r"])


@pytest.mark.parametrize("name", PAGES)
def test_a_sentence_comes_first(world, name):
    page = page_of(world, name).split("<main", 1)[1]
    found = FINDING.search(page)
    if found is None:
        assert EMPTY.search(page)
        return
    assert found[1].endswith(".")
    places = [page.find(each) for each in ('class="filters"', "figure-card", "<table")]
    assert all(found.start() < place for place in places if place >= 0)


@pytest.mark.parametrize("name", PAGES)
def test_method_and_files_are_one_step_away(world, name):
    for head in CARD.findall(page_of(world, name)):
        assert head.count("<details") in (1, 2)
        assert "Download" in head
        assert ".csv" in head


# Further pages with charts.
DRAWN = (*PAGES, "scorer", "system_run", "summary_set", "expert_agreement")
IMAGE = re.compile(r'<img src="([^"?]+)\.svg\?([^"]*)"[^>]*>')
TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv", "tex": "application/x-tex"}


def charts_of(world):
    """Address of every chart without its ending → what its pages ask it with."""
    charts = {}
    for name in DRAWN:
        for address, query in IMAGE.findall(page_of(world, name)):
            charts.setdefault(address, []).append(query.replace("&amp;", "&"))
    return charts


def test_every_chart_is_there_in_every_width(world):
    charts = charts_of(world)
    assert {"labels", "time", "coherence", "prevalence"} <= {
        address.rpartition("/")[2] for address in charts
    }
    for address, queries in charts.items():
        sizes = {re.search(r"size=(\w+)", query)[1] for query in queries}
        assert sizes == set(WIDTHS), address


@pytest.mark.parametrize(
    "endings",
    [
        pytest.param(("svg", "csv", "tex"), id="once a name"),
        pytest.param(TYPES, id="all", marks=pytest.mark.long),
    ],
)
def test_every_chart_leaves_as_svg_png_csv_and_latex(world, endings):
    charts, client = charts_of(world), reader_of(world)
    if endings is not TYPES:
        # Drawn once where pages of several subjects have it; as a picture one chart of all.
        charts = {
            address.rpartition("/")[2]: (address, asked) for address, asked in charts.items()
        }
        charts = dict(charts.values())
    for place, (address, queries) in enumerate(charts.items()):
        for ending in [*endings, *(["png"] if place == 0 else [])]:
            reply = client.get(f"{address}.{ending}?{queries[0]}")
            assert reply.status_code == 200, (address, ending)
            assert reply["Content-Type"].startswith(TYPES[ending]), (address, ending)


def test_a_chart_says_what_it_shows_and_leads_to_the_numbers_on_its_page(world):
    led = 0
    for name in DRAWN:
        page = page_of(world, name)
        for image in re.findall(r'<img src="[^"]+\.svg\?[^>]*>', page):
            assert re.search(r'alt="[^"]+"', image), (name, image)
            for target in re.findall(r'aria-details="([^"]+)"', image):
                led += 1
                assert page.count(f'id="{target}"') == 1, (name, target)
    assert led


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


@pytest.fixture(
    scope="module",
    params=[pytest.param(role, marks=pytest.mark.long) for role in ("d", "e")],
)
def pages(request, world, django_db_blocker):
    """Every page as an admin sees it, and as an expert does."""
    role = request.param
    with django_db_blocker.unblock():
        client, by_name = sign_in(world.people[role]), {}
        for name, route in STUDY_ROUTES.items():
            if route.post or role not in route.roles:
                continue
            reply = client.get(reverse(name, kwargs=world.kwargs(name)))
            text = "" if reply.streaming else reply.content.decode(errors="replace")
            if reply.status_code == 200 and text.startswith("<!doctype"):
                by_name[name] = (reply.wsgi_request.path, text)
    return ShownPages(role, client, by_name)


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
    assert seen > (100 if pages.role == "d" else 5)


def test_pages_of_the_menu_have_titles_and_headings_of_their_own(pages):
    titles, heads = Counter(), Counter()
    for _name, address, text in pages.in_study():
        if CURRENT.findall(text) == [address]:
            titles[re.search(r"<title>(.*?)</title>", text, re.S)[1].strip()] += 1
            heads[UNSEEN.sub("", re.search(r"<h1.*?</h1>", text, re.S)[0]).strip()] += 1
    assert len(titles) > (35 if pages.role == "d" else 1)
    assert [each for each in (*titles.items(), *heads.items()) if each[1] > 1] == []
