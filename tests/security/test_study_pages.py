"""Pages of a full study: where each stands, its words, and how those of results begin.

Pages of results: a sentence first, then what can be chosen, then figures with their menus. Every
page says where it stands, with a way back, in words that tell it from others; what researchers
may see, admins are shown alike.
"""

import re
from collections import Counter
from html import unescape

import pytest
from django.urls import reverse

from cqa_site.web.charts.vega import WIDTHS
from tests.cast import sign_in
from tests.people.test_menu import ELSEWHERE, WORK
from .matrix import STUDY_ROUTES

pytestmark = pytest.mark.django_db

PAGES = """
    figures snapshot judges trained_judge faithfulness edited_texts scores board score_agreement
    score_replace score_judges preferences key_points summary_metrics summary_people
"""
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


@pytest.mark.parametrize("name", PAGES.split())
def test_a_sentence_comes_first_and_method_and_files_are_one_step_away(world, name):
    page = page_of(world, name).split("<main", 1)[1]
    found = FINDING.search(page)
    if found is None:
        assert EMPTY.search(page)
    else:
        assert found[1].endswith(".")
        places = [page.find(each) for each in ('class="filters"', "figure-card", "<table")]
        assert all(found.start() < place for place in places if place >= 0)
    for head in CARD.findall(page):
        assert head.count("<details") in (1, 2)
        for word in ("Download", ".csv"):
            assert word in head


# Further pages with charts.
DRAWN = (*PAGES.split(), "scorer", "system_run", "summary_set", "expert_agreement")
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


@pytest.mark.long
@pytest.mark.parametrize(("role", "pages", "entries"), [("d", 100, 35), ("e", 5, 1)])
def test_every_page_has_crumbs_to_its_place_in_the_menu_and_a_title_of_its_own(
    world, role, pages, entries
):
    """As an admin sees it, and as an expert does."""
    client, seen, titles, heads = sign_in(world.people[role]), 0, Counter(), Counter()
    for name, route in STUDY_ROUTES.items():
        if route.post or role not in route.roles or WORK.match(name) or name in ELSEWHERE:
            continue
        reply = client.get(reverse(name, kwargs=world.kwargs(name)))
        text = "" if reply.streaming else reply.content.decode(errors="replace")
        # Pages with a menu around them: neither work nor the first page.
        if reply.status_code != 200 or 'id="menu"' not in text:
            continue
        seen += 1
        address, (nav,), current = (
            reply.wsgi_request.path,
            NAV.findall(text),
            CURRENT.findall(text),
        )
        links = [unescape(url).partition("?")[0] for url, _text in LINK.findall(nav)]
        if not current:  # an expert on a page that experts have no list of
            assert role == "e", name
            assert links[0] == reverse("study", args=[address.split("/")[2]]), name
            continue
        assert links[:1] == ([] if current == [address] else current), name
        assert f"<li>{GROUP.search(text)[1]}</li>" in nav, name
        if current == [address]:
            titles[re.search(r"<title>(.*?)</title>", text, re.S)[1].strip()] += 1
            heads[UNSEEN.sub("", re.search(r"<h1.*?</h1>", text, re.S)[0]).strip()] += 1
    assert seen > pages
    assert len(titles) > entries
    assert [each for each in (*titles.items(), *heads.items()) if each[1] > 1] == []
