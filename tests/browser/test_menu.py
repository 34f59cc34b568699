"""The menu of a study and its search box, with keyboard and on a phone."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from cqa_site.files.actions.files import store_upload
from cqa_site.files.models import ImportFile
from tests.cast import make_label_round, make_member, make_study

pytestmark = pytest.mark.browser


@pytest.fixture
def boss(server):
    study = make_study("Drinks")
    make_label_round(study, ordinary=2, controls=0, name="Tea or coffee")
    boss = make_member(study, "researcher")
    file = store_upload(study=study, kind="table", name="x.csv", chunks=[b"a"], actor=boss)
    ImportFile.objects.filter(pk=file.pk).update(state=ImportFile.State.CHECKED)
    return boss


def test_the_search_box_leads_by_keyboard(boss, visit):
    visitor = visit(boss)
    study = boss.memberships.get().study
    page = visitor.go("study", study.public_id)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    # Pages are found at once and things of the study after them.
    page.keyboard.type("tea")
    expect(page.get_by_role("option").first).to_contain_text("Tea or coffee")
    assert visitor.axe() == []
    page.keyboard.type("x")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    expect(page.get_by_role("option")).to_have_text("Search the help for “teax”")
    assert page.get_by_role("option").get_attribute("href").endswith("/help/?q=teax")
    # Pages are found by what people call them, too.
    pages = {"invite": "People", "upload": "Imports", "alpha": "Score agreement"}
    for words, entry in pages.items():
        box.fill(words)
        expect(page.get_by_role("option").first).to_contain_text(entry)
    box.fill("score")
    options = page.get_by_role("option")
    expect(options.nth(1)).to_have_attribute("aria-selected", "false")
    second = options.nth(1).get_attribute("href")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(second)
    page.keyboard.press("Control+k")
    # Once, also with words in it, which a search field would rather clear first.
    page.keyboard.type("tea")
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox")).to_be_hidden()


@pytest.mark.long
def test_on_a_phone_the_menu_opens_over_the_page(boss, visit):
    visitor = visit(boss, viewport={"width": 360, "height": 740})
    study = boss.memberships.get().study
    page = visitor.go("study", study.public_id)
    menu = page.locator("#menu")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(menu).to_be_visible()
    assert visitor.axe() == []
    menu.get_by_text("Study", exact=True).click()
    menu.get_by_role("link", name="People").click()
    page.wait_for_url("**" + reverse("members", args=[study.public_id]))
    expect(menu).to_be_hidden()
    assert visitor.has_no_sideways_scroll()
