"""Lost replies, verdicts given meanwhile, other tabs: each answer is stored once, as meant."""

import re

import pytest
from playwright.sync_api import expect

from annotation.editing.models import ConflictingText, EditingSheet
from argsum.counting.models import ConflictingCount, CountSheet
from benchmark.preferences.kind import turned
from benchmark.preferences.models import ConflictingPreference, PreferenceSheet
from benchmark.scoring.models import ConflictingScore, ScoreSheet
from tests.lengths import mostly
from .conftest import lose_first
from .desk import Desk, press

pytestmark = pytest.mark.browser

SHEETS = {
    "score": (ScoreSheet, ConflictingScore),
    "count": (CountSheet, ConflictingCount),
    "prefer": (PreferenceSheet, ConflictingPreference),
    "edit": (EditingSheet, ConflictingText),
}
SHORT = [("prefer", False), ("edit", True)]
# How often something is put into the message about a submission, and what.
ALERTS = """() => {
  const message = document.getElementById("submit-message")
  window.alerts = []
  new MutationObserver(() => window.alerts.push(message.textContent))
    .observe(message, {childList: true})
}"""


def fill(page, kind):
    """Give every answer of the sheet; what is left is to submit it."""
    if kind == "score":
        press(page, *"1" * 15)
    if kind == "count":
        press(page, "1", "2", "a", "b", "2")
    if kind == "edit":
        page.locator("#text").press("Control+End")
        page.keyboard.type(" or coffee.")
        page.locator("[name=reasons][value=choice]").check()


def submit(page, kind):
    press(page, "a" if kind == "prefer" else "Control+Enter")


def submitted(kind):
    return SHEETS[kind][0].objects.filter(state="submitted")


def wait_for_next(page, kind, before, revision=1):
    if kind == "edit":
        expect(page.locator("#toasts")).to_contain_text(f"Submitted as revision {revision}.")
    else:
        page.wait_for_url(lambda url: url != before)


def verdicts():
    """What was submitted of the only pair with a verdict, one after the other."""
    sheet = submitted("prefer").get()
    events = sheet.events.order_by("pk")
    return [turned(each.content["verdict"], is_swapped=sheet.is_swapped) for each in events]


@pytest.mark.parametrize(
    ("kind", "is_changed"),
    [
        pytest.param(kind, changed, marks=() if (kind, changed) in SHORT else pytest.mark.long)
        for kind in SHEETS
        for changed in (False, True)
    ],
)
def test_a_submission_whose_reply_was_lost_is_made_once(visit, kind, is_changed):
    """What is changed after it is no conflict."""
    desk = Desk(visit, kind)
    page, before = desk.page, desk.page.url
    lost = lose_first(page, "/submit/")
    fill(page, kind)
    submit(page, kind)
    expect(page.locator("#submit-message")).to_contain_text("sent when you are back online")
    # Nothing more is pressed, or another answer is.
    if is_changed:
        change(page, kind)
    wait_for_next(page, kind, before, revision=1 + is_changed)
    assert lost == [200]
    sheet = submitted(kind).get()
    assert (sheet.events.count(), sheet.draft) == (1 + is_changed, None)
    assert not SHEETS[kind][1].objects.exists()
    desk.quiet()


def change(page, kind):
    if kind == "score":
        press(page, "0")
    if kind == "count":
        page.locator("#comment").fill("Both.")
    if kind == "edit":
        page.locator("#text").press("Control+End")
        page.keyboard.type(" Or cocoa.")
    press(page, "b" if kind == "prefer" else "Control+Enter")


def hold_first(page, pattern):
    """Keep the first request on its way: it is in the list that is returned."""
    held = []

    def hold(route):
        if held:
            route.continue_()
        held.append(route)

    page.route(re.compile(pattern), hold)
    return held


@pytest.mark.long
@pytest.mark.parametrize("end", ["stored", "lost"])
def test_a_verdict_pressed_while_another_is_on_its_way_takes_its_place(visit, end):
    desk = Desk(visit, "prefer")
    page, before = desk.page, desk.page.url
    held = hold_first(page, "/submit/")
    press(page, "a")
    page.wait_for_timeout(300)
    # Nothing is wrong yet.
    expect(page.locator("#saved [data-text]")).to_have_text("Submitting…")
    expect(page.locator("#submit-message")).to_be_hidden()
    press(page, "b")
    expect(page.locator("button[value=right]")).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(300)
    assert page.url == before
    held[0].continue_() if end == "stored" else held[0].abort()
    page.wait_for_url(lambda url: url != before)
    assert verdicts() == (["left", "right"] if end == "stored" else ["right"])
    assert not ConflictingPreference.objects.exists()
    # The pair that follows has been asked nothing.
    expect(page.locator(".verdicts [aria-pressed=true]")).to_have_count(0)
    desk.quiet()


@pytest.mark.long
def test_a_verdict_pressed_while_the_next_pair_comes_is_one_on_the_pair_that_is_seen(visit):
    page = Desk(visit, "prefer").page
    before = page.url
    held = hold_first(page, "/sheets/[^/]+/$")
    press(page, "a")
    while not held:
        page.wait_for_timeout(20)
    press(page, "b")
    held[0].continue_()
    page.wait_for_url(lambda url: url != before)
    expect(page.locator("#toasts")).to_contain_text("Your earlier submission is now saved.")
    assert verdicts() == ["left", "right"]
    expect(page.locator(".verdicts [aria-pressed=true]")).to_have_count(0)


@pytest.mark.parametrize("kind", mostly(SHEETS, "score"))
def test_a_submission_that_waited_replaces_nothing_that_was_stored_since(visit, kind):
    desk = Desk(visit, kind)
    address = desk.page.url
    desk.offline()
    fill(desk.page, kind)
    submit(desk.page, kind)
    expect(desk.page.locator("#submit-message")).to_contain_text("sent when you are back online")
    # A tab that closes is online again for Chromium: a retry of that moment would get through.
    desk.page.evaluate("() => { window.fetch = () => new Promise(() => {}) }")
    desk.page.close()
    other = visit(desk.person).context.new_page()
    other.goto(address)
    if kind == "edit":
        other.locator("#text").fill("Written at home.")
        expect(other.locator("#saved")).to_have_attribute("data-state", "saved")
    elif kind == "prefer":
        press(other, "b")
        other.wait_for_url(lambda url: url != address)
    else:
        press(other, *("0" if kind == "score" else "3"))
        expect(other.locator("#saved")).to_have_attribute("data-state", "saved")
    before = SHEETS[kind][0].objects.get(version=1)
    desk.online()
    page = desk.visitor.context.new_page()
    page.goto(address)
    expect(page.locator(".conflict")).to_be_visible()
    after = SHEETS[kind][0].objects.get(pk=before.pk)
    assert (after.draft, after.state, after.events.count()) == (
        before.draft, before.state, before.events.count()
    )  # fmt: skip
    assert SHEETS[kind][1].objects.count() == 1
    desk.quiet()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["score", "prefer"])
def test_trouble_is_said_once_however_often_it_is_tried(visit, kind):
    desk = Desk(visit, kind)
    page, words = desk.page, "sent when you are back online"
    fill(page, kind)
    page.evaluate(ALERTS)
    desk.offline()
    submit(page, kind)
    expect(page.locator("#submit-message")).to_contain_text(words)
    page.wait_for_timeout(4500)
    assert len([text for text in page.evaluate("() => window.alerts") if words in text]) == 1
    desk.quiet()


@pytest.mark.long
def test_the_verdict_is_said_with_the_pair_that_follows(visit):
    page = Desk(visit, "prefer").page
    before = page.url
    press(page, "b")
    page.wait_for_url(lambda url: url != before)
    expect(page.locator("#announce")).to_contain_text("B is better. Submitted. Next:")


@pytest.mark.long
@pytest.mark.parametrize("kind", mostly(SHEETS, "score"))
def test_a_tab_says_that_another_one_submitted(visit, kind):
    desk = Desk(visit, kind)
    page, before = desk.page, desk.page.url
    other = desk.another_tab()
    fill(page, kind)
    submit(page, kind)
    wait_for_next(page, kind, before)
    expect(other.locator("#changed-elsewhere")).to_be_visible()


@pytest.mark.parametrize("choice", mostly(["mine", "stored"], "mine"))
def test_a_conflict_says_what_is_stored_and_what_is_not(visit, choice):
    desk = Desk(visit, "prefer")
    page, before = desk.page, desk.page.url
    other = desk.another_tab()
    press(page, "a")
    page.wait_for_url(lambda url: url != before)
    press(other, "b")
    card = other.locator(".conflict")
    expect(card.locator("th")).to_contain_text(["Field", "Set aside", "Stored"])
    expect(card.locator("tbody tr").first).to_contain_text(
        re.compile(r"B is better\s*A is better")
    )
    expect(other.locator("#changed-elsewhere")).to_be_hidden()
    # Nothing asks to press what can no longer be pressed.
    expect(other.locator("#submit-message")).to_be_hidden()
    expect(other.locator(".verdicts button").first).to_be_disabled()
    if choice == "mine":  # a verdict is never a draft
        card.get_by_role("button", name="Use the version set aside").click()
        expect(other.locator("button[value=right]")).to_have_attribute("aria-pressed", "true")
        expect(other.locator("#saved")).to_contain_text("Submitted")
        expect(card.locator("tbody tr").first).to_contain_text(
            re.compile(r"A is better\s*B is better")
        )
        assert verdicts() == ["left", "right"]
    card.get_by_role("button", name="Keep the stored version").click()
    expect(other.locator(".conflict")).to_have_count(0)
    pressed = {"mine": "right", "stored": "left"}[choice]
    expect(other.locator(f"button[value={pressed}]")).to_have_attribute("aria-pressed", "true")
    assert submitted("prefer").get().events.count() == 1 + (choice == "mine")
    desk.quiet()
