"""Somebody from a crowd platform: in, to the end or out early, and back to the platform."""

import os
import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.labelling.models import Assignment
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Participant, ParticipantLink
from tests.cast import make_label_round, make_member, make_study
from tests.people.crowd import IDS, create_link
from .conftest import LOOKS

pytestmark = pytest.mark.browser
CODE = "input#code"


def make_world():
    study = make_study("Tea or coffee")
    researcher = make_member(study, "researcher")
    label_round = make_label_round(study, ordinary=8, controls=2)
    label_round.skip_share = 0.2
    label_round.save()
    open_round(round_=label_round, actor=researcher)
    return label_round, researcher


@pytest.fixture
def link(world):
    label_round, researcher = world
    more = {"stopped_code": "CODE-STOPPED", "skips_code": "CODE-SKIPS", "required_items": 3}
    return create_link(label_round, researcher, **more)[1]


@pytest.fixture
def enter(visit, link):
    """Open a browser at the first page of the study."""
    return lambda width=1280, scheme="light": arrive(visit, link, width, scheme)


def arrive(visit, link, width, scheme):
    visitor = visit(None, viewport={"width": width, "height": 800}, color_scheme=scheme)
    query = "&".join(f"{name}={value}" for name, value in IDS.items())
    visitor.first = visitor.server + reverse("join", args=[link]) + f"?{query}"
    visitor.page.goto(visitor.first)
    return visitor


def label(visitor, keys):
    visitor.page.wait_for_url("**/label/")
    for number, key in enumerate(keys, 1):
        visitor.page.keyboard.press(key)
        words = re.compile(f"{number} / |everything")
        expect(visitor.page.locator("#progress, .state")).to_contain_text(words)


@pytest.mark.long
def test_from_the_last_label_one_press_leads_to_the_code(enter):
    visitor = enter()
    page = visitor.page
    page.get_by_role("button", name="Start").click()
    label(visitor, "123")
    page.get_by_role("button", name="Finish and get your code").click()
    expect(page.locator(CODE)).to_have_value("CODE-COMPLETED")
    back = page.get_by_role("link", name="Back to Prolific")
    expect(back).to_have_attribute("href", re.compile(r"prolific\.com/.*cc=CODE-COMPLETED$"))


@pytest.mark.long
def test_the_time_left_goes_down_slowly_and_is_the_same_after_a_reload(enter, world):
    label_round, _researcher = world
    ParticipantLink.objects.update(required_items=8)
    visitor = enter()
    page = visitor.page
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/label/")
    left = page.locator("[data-minutes]")
    expect(left).to_have_text("about 3 min left")
    label(visitor, "123")
    expect(left).to_have_text("about 2 min left")
    here = page.evaluate("progress.seconds")
    assert label_round.expected_seconds / 2 < here < label_round.expected_seconds
    expect(page.locator("#saved")).to_contain_text("All answers saved")
    page.reload()
    assert page.evaluate("progress.seconds") == pytest.approx(here, abs=0.01)


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_stopping_and_withdrawing(enter, width, scheme):
    visitor = enter(width, scheme)
    page = visitor.page

    def is_shown_in_full(selector):
        return page.locator(selector).evaluate("each => each.scrollWidth <= each.clientWidth")

    look(visitor, "join")
    page.get_by_role("button", name="Start").click()
    label(visitor, "12")
    look(visitor, "label")
    assert is_shown_in_full(".where a"), "Round 1"
    expect(page.locator("#saved")).to_contain_text("All answers saved")
    page.get_by_role("link", name="Stop here").click()
    expect(page.locator("main")).to_contain_text("Items done: 2 of 3")
    look(visitor, "stop")
    page.get_by_role("button", name="Stop and withdraw them").click()
    expect(page.locator(CODE)).to_have_value("CODE-STOPPED")
    assert is_shown_in_full(".who .name"), "Participant 1234abcd"
    look(visitor, "withdrawn")
    assert Participant.objects.get().outcome == "withdrawn"
    assert not Assignment.objects.filter(state="answered").exists()


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_full_rounds_skips_and_the_page_of_the_researcher(enter, visit, world, width, scheme):
    page = enter(width, scheme)
    page.page.get_by_role("button", name="Start").click()
    page.page.wait_for_url("**/label/")
    label(page, "1")
    Assignment.objects.filter(state="answered").update(active_ms=400)
    label_round, researcher = world
    label_round.slots.filter(state="open").update(state="leased", lease_until="2100-01-01T00:00Z")
    settings = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    other = visit(None, **settings)
    other.page.goto(page.first.replace("PID-5f1", "PID-2").replace("SESSION-1", "SESSION-2"))
    expect(other.page.locator("h1")).to_have_text("The study is full")
    look(other, "full")
    other.console.clear()  # 410 is right
    desk = visit(researcher, **settings)
    desk.go("crowd_links", label_round.study.public_id, label_round.public_id)
    expect(desk.page.locator("main")).to_contain_text("Very fast")
    desk.page.locator("details.card > summary").first.click()
    look(desk, "links")
    page.go("participation_end")
    look(page, "running")


def look(visitor, name):
    """Nothing runs over the edge; a picture is kept where somebody asks for one."""
    assert visitor.has_no_sideways_scroll()
    if folder := os.environ.get("PICTURES"):
        size = visitor.page.viewport_size["width"]
        dark = visitor.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        path = f"{folder}/{name}-{size}-{'dark' if dark else 'light'}.png"
        visitor.page.screenshot(path=path, full_page=True)
