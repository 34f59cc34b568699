"""Pages of results: a sentence first, then what can be chosen, then figures with their menus."""

import re

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from cqa_site.web.charts.drawing import WIDTHS
from tests.security.test_matrix import World

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
def world(django_db_setup, django_db_blocker):
    """One full study; its pages are asked for once and only read here."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = World("Results")
        made.shown = {}
        yield made
        transaction.set_rollback(True)


def page_of(world, name, query=""):
    if (name, query) not in world.shown:
        reply = reader_of(world).get(reverse(name, kwargs=world.kwargs(name)) + query)
        assert reply.status_code == 200
        world.shown[name, query] = reply.content.decode()
    return world.shown[name, query]


def reader_of(world):
    client = Client()
    client.force_login(world.people["r"])
    return client


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


def test_most_pages_of_a_full_study_have_one(world):
    assert sum(bool(FINDING.search(page_of(world, name))) for name in PAGES) > len(PAGES) // 2


@pytest.mark.parametrize("name", PAGES)
def test_method_and_files_are_one_step_away(world, name):
    for head in CARD.findall(page_of(world, name)):
        assert head.count("<details") in (1, 2)
        assert "Download" in head
        assert ".csv" in head


def test_a_choice_of_columns_stays_in_the_address_that_asks_again(world):
    page = page_of(world, "scores", "?show=mean&show=length&show=nothing")
    assert "show=mean&amp;show=length" in page
    assert 'value="length" checked' in page
    assert 'value="answers"' in page
    assert 'value="answers" checked' not in page


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
