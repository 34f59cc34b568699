"""The scoring form as people use it: keys alone, drafts that survive, two tabs, no script."""

import re

import pytest
from playwright.sync_api import expect

from benchmark.scoring.models import ScoreSheet
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import give_list, make_scored_answers
from tests.cast import make_member, make_study
from .conftest import WIDTHS
from .desk import expect_saved, press

pytestmark = pytest.mark.browser


def make_world():
    """A round of three answers."""
    study = make_study()
    make_scored_answers(study, questions=3, systems=("Alpha",))
    return make_round(study, make_member(study, "researcher"))


@pytest.fixture
def form(visit, world):
    visitor = visit(make_member(world.study, "annotator", "Ann"))
    open_form(visitor, world)
    return visitor


def open_form(visitor, scoring_round):
    visitor.go("score", scoring_round.study.public_id, scoring_round.public_id)
    expect(visitor.page.locator(".scripted .active")).to_have_count(1)


def sheet():
    return ScoreSheet.objects.select_related("rubric").order_by("pk").last()


def active(page):
    return page.locator(".criterion.active").get_attribute("data-key")


def test_a_sheet_by_keys_alone_and_on_to_the_next(form):
    page = form.page
    first = page.url
    assert active(page) == "C1"
    press(page, *"1010101")
    assert active(page) == "C8"
    # 2 is no level of C8: nothing is set, and it stays in hand.
    press(page, "2")
    assert active(page) == "C8"
    expect(page.locator("#announce")).to_have_text("C8 does not allow that many points.")
    expect(page.locator("#total")).to_have_text("4")
    press(page, *"1222211")
    expect(page.locator("#left")).to_have_text("1 criterion left")
    press(page, "1")
    expect(page.locator("#left")).to_have_text("All criteria done")
    # The button has the focus, so that Enter submits; a second thought goes by number.
    assert page.evaluate("document.activeElement.id") == "submit"
    press(page, "g")
    page.keyboard.type("14")
    page.keyboard.press("Enter")
    assert active(page) == "C14"
    press(page, "0")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != first)
    done = ScoreSheet.objects.get(state="submitted")
    assert (done.total, len(done.points), done.points["C14"]) == (15, 15, 0)
    expect(page.locator(".scripted .active")).to_have_count(1)
    assert sheet().state == "open"


@pytest.mark.long
def test_cannot_judge_with_a_reason_a_note_and_clearing(form):
    page = form.page
    press(page, *"x2")
    assert active(page) == "C2"
    press(page, *"x4")
    # "Another reason" asks for a note, in which keys are letters.
    page.keyboard.type("1 x g ?")
    page.keyboard.press("Escape")
    expect_saved(page)
    assert sheet().draft["unable"] == {"C1": "knowledge", "C2": "other"}
    assert sheet().draft["notes"] == {"C2": "1 x g ?"}
    assert sheet().draft["points"] == {}
    press(page, "ArrowUp", "Backspace")
    expect_saved(page)
    assert sheet().draft["unable"] == {"C2": "other"}
    assert active(page) == "C1"
    press(page, "n")
    page.keyboard.type("2")
    expect_saved(page)
    assert sheet().draft["notes"] == {"C1": "2", "C2": "1 x g ?"}


@pytest.mark.long
def test_a_form_takes_keys_as_the_person_wants_them(visit, world):
    person = make_member(world.study, "annotator", "Ann")
    person.shortcuts = "off"
    person.save()
    visitor = visit(person)
    open_form(visitor, world)
    page = visitor.page
    press(page, *"1x?", "ArrowDown")
    assert active(page) == "C2"
    expect(page.locator("#left")).to_have_text("15 criteria left")
    expect(page.locator("#keys-dialog")).to_be_hidden()


@pytest.mark.long
def test_submitting_too_early_says_what_is_missing(form):
    page = form.page
    # What a criterion asks is read before its points are given.
    asks = page.locator("#C2 .asks")
    expect(asks).to_be_visible()
    page.locator("#C2 legend").click()
    expect(page.locator("#C2 .level-text").first).to_be_visible()
    page.locator("#C2 .point").first.click()
    expect(asks).to_be_hidden()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#submit-message")).to_contain_text("C1, C3, C4, C5")
    expect(page.locator("#submit-message")).to_be_in_viewport(ratio=1)
    assert active(page) == "C1"
    # The focus and the view are at the first of them, and its keys work at once.
    expect(page.locator("#C1")).to_be_focused()
    expect(page.locator("#C1")).to_be_in_viewport(ratio=1)
    assert len(sheet().draft["points"]) == 1
    # The browser itself logs answers that say no; nothing else may be there.
    assert form.console
    assert all("422" in line for line in form.console), form.console
    form.console.clear()


@pytest.mark.long
def test_the_mouse_works_as_well_and_leads_on_as_keys_do(form):
    page = form.page
    page.locator("#C3 .point").nth(1).click()
    # By the mouse it leads on only after the time of a double click.
    expect(page.locator("#C4")).to_have_class(re.compile(r"\bactive\b"))
    expect(page.locator("#C3 input[value='1']")).to_be_checked()
    page.locator("#C4 .unable").click()
    # A reason is still to be said.
    assert active(page) == "C4"
    page.locator("#C4 .point").first.click()
    expect(page.locator("#C5")).to_have_class(re.compile(r"\bactive\b"))
    # With arrow keys somebody goes through the values of a field.
    page.locator("#C5 input[value='0']").focus()
    press(page, "ArrowRight")
    assert active(page) == "C5"
    page.locator("#C9 .point").nth(2).click()
    expect(page.locator("#total")).to_have_text("4")
    expect_saved(page)
    assert sheet().draft["points"] == {"C3": 1, "C4": 0, "C5": 1, "C9": 2}


@pytest.mark.long
def test_the_sheet_before_can_be_changed_by_a_key(form):
    page = form.page
    first = page.url
    press(page, "u")
    assert page.url == first
    press(page, *"1" * 15)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != first)
    expect(page.locator(".scripted .active")).to_have_count(1)
    press(page, "u")
    page.wait_for_url(first)
    expect(page.locator("#total")).to_have_text("15")


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_a_cited_number_shows_its_argument(visit, server, width):
    study = make_study()
    (answer,) = make_scored_answers(study, questions=1, systems=("Alpha",))
    give_list(answer, [f"A kayak is quick on river {number}. " * 6 for number in range(20)])
    answer.text = answer.text.replace("[1]", "[1, 20]")
    answer.save()
    made = make_round(study, make_member(study, "researcher"))
    visitor = visit(make_member(study, "annotator"), viewport={"width": width, "height": 800})
    open_form(visitor, made)
    page = visitor.page
    last = page.locator("#arguments li").last
    expect(last).not_to_be_in_viewport()
    page.locator("#answer").get_by_role("link", name="argument 20").click()
    expect(last).to_be_in_viewport()
    expect(page.locator("#arguments .current")).to_have_text([re.compile("river 19")])
    expect(page.locator("#announce")).to_have_text(re.compile("^20. A kayak is quick on river 19"))
    # A hint marks what it counts and leaves the links where they are.
    if width < 900:
        page.get_by_role("button", name="Whole answer").click()
    page.get_by_role("button", name=re.compile("citation")).click()
    expect(page.locator("#answer mark")).to_have_text(["[", "1", ", ", "20", "]"])
    expect(page.locator("#answer a.cited")).to_have_count(2)
    press(page, "1")
    assert active(page) == "C2"
    assert visitor.axe() == []
    assert visitor.has_no_sideways_scroll()
    expect_saved(page)


def test_what_never_arrived_comes_back_on_the_next_visit(form):
    page = form.page
    form.context.set_offline(True)
    address = page.url
    press(page, *"11")
    expect(page.locator("#saved")).to_have_attribute("data-state", "again")
    page.close()
    assert sheet().draft is None
    form.context.set_offline(False)
    page = form.context.new_page()
    page.goto(address)
    expect(page.locator(".scripted .active")).to_have_count(1)
    expect(page.locator("#total")).to_have_text("2")
    expect_saved(page)
    assert sheet().draft["points"] == {"C1": 1, "C2": 1}
