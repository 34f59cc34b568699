"""The counting form as people use it: keys alone, drafts that survive, two people, no script."""

import re

import pytest
from playwright.sync_api import expect

from argsum.counting.models import ConflictingCount, CountSheet
from tests.argsum.counting.made_counting import open_counting
from tests.argsum.made_cells import make_dataset, make_set
from tests.cast import make_member, make_study
from .conftest import LOOKS
from .desk import expect_saved, press, press_and_leave

pytestmark = pytest.mark.browser


def make_world():
    """Six sets of two references and three summaries, for two people each."""
    study = make_study()
    for cell in make_dataset(study).cells.all():
        for number in range(3):
            make_set(cell, system=f"System {number}")
    return open_counting(study, make_member(study, "researcher"), raters=2)


@pytest.fixture
def form(visit, world):
    visitor = visit(make_member(world.study, "annotator", "Ann"))
    open_form(visitor, world)
    return visitor


def open_form(visitor, counting):
    visitor.go("count", counting.study.public_id, counting.public_id)
    expect(visitor.page.locator(".scripted .active")).to_have_count(1)


def active(page):
    return page.locator(".count-row.active").get_attribute("id")


def shown(page):
    return [page.locator(f"#{name}-shown").text_content() for name in ("covered", "unique")]


def test_a_key_that_answers_a_row_leads_to_the_next_without_an_answer(form):
    page = form.page
    press(page, "1", "3")
    assert active(page) == "summary-0"
    expect(page.locator('#reference-0 input[value="full"]')).to_be_checked()
    expect(page.locator('#reference-1 input[value="none"]')).to_be_checked()
    # Beside the references the summaries stand once.
    expect(page.get_by_text("The second point again")).to_have_count(2)
    expect(page.get_by_text("The second point again").first).to_be_hidden()
    # Arrows lead back, and from there a second thought leads on to what is still open.
    press(page, "a", "ArrowUp", "ArrowUp", "2")
    expect(page.locator('#reference-1 input[value="part"]')).to_be_checked()
    assert active(page) == "summary-1"
    press(page, "b")
    expect(page.locator("#left")).to_have_text("1 mark left")
    expect_saved(page)


@pytest.mark.long
def test_marks_by_mouse_and_a_draft_survive_a_reload(form):
    page = form.page
    page.locator('#reference-0 [data-level="part"]').click()
    page.locator("#reference-0 .count-tick").nth(1).click()
    page.locator("#group-0").select_option("B")
    page.locator("#comment").fill("Half of it.")
    assert shown(page) == ["0.5", "1"]
    page.locator("#reference-0 legend").click()
    expect(page.locator("#summary-1")).to_have_class(re.compile("covering"))
    # Reloaded before the next save is due: the browser kept it.
    page.reload()
    expect(page.locator("#comment")).to_have_value("Half of it.")
    expect(page.locator('input[name="by-0"][value="1"]')).to_be_checked()
    expect(page.locator("#covered-shown")).to_have_text("0.5")
    press(page, "Control+Enter")
    expect(page.locator("#submit-message")).to_contain_text("Not marked yet: reference 2")
    expect(page.locator(".count-row.missing")).to_have_count(3)
    expect(page.locator("#reference-1")).to_be_focused()
    expect(page.locator("#reference-1")).to_be_in_viewport(ratio=1)
    form.console.clear()
    assert not ConflictingCount.objects.exists()


@pytest.mark.long
def test_typed_and_unsure_counts_take_the_place_of_marks_and_one_that_is_none_stops_no_save(form):
    page = form.page
    page.get_by_text("Type the counts").click()
    page.locator("#covered").fill("2 of 5")
    page.locator("#comment").fill("First.")
    expect(page.locator("#saved")).to_contain_text("“2 of 5” is not a count")
    page.locator("#comment").fill("Second.")
    expect(page.locator("#saved")).to_have_attribute("data-state", "waiting")
    expect(page.locator("#saved")).to_have_attribute("data-state", "flawed")
    assert CountSheet.objects.get().draft["comment"] == "Second."
    page.reload()
    expect(page.locator("#covered")).to_have_value("2 of 5")
    page.locator("#covered").fill("1.5")
    page.locator('input[name="unique_unsure"]').check()
    expect_saved(page)
    assert shown(page) == ["1.5", "unsure"]
    expect(page.locator("#left")).to_have_text("Everything is marked")
    press_and_leave(page, "Control+Enter")
    sheet = CountSheet.objects.get(state="submitted")
    assert (sheet.covered, sheet.unique, sheet.redundancy) == (1.5, None, None)
    form.console.clear()


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_form_is_accessible_and_fits(visit, world, width, scheme):
    person = make_member(world.study, "annotator", "Ann")
    visitor = visit(person, viewport={"width": width, "height": 800}, color_scheme=scheme)
    open_form(visitor, world)
    press(visitor.page, "1", "Shift+Digit2", "ArrowRight", "a", "0")
    assert visitor.axe() == []
    assert visitor.has_no_sideways_scroll()
    expect_saved(visitor.page)
