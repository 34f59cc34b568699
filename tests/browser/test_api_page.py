"""The pages about the REST interface in a browser, and where pages say what they are about."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.labelling.models.rounds import LabelRound
from tests.cast import make_label_round, make_member, make_study

pytestmark = pytest.mark.browser
# Bytes that a page about the interface sends beside what every page has (the typeface, htmx).
LIGHT = 30_000


@pytest.fixture
def boss(server):
    study = make_study("Drinks")
    make_label_round(study, ordinary=2, controls=0, name="Tea or coffee " * 5)
    return make_member(study, "researcher")


def loaded(page) -> int:
    """Bytes of the page and of the files of its own, as they were sent."""
    entries = page.evaluate("performance.getEntries().map(one => [one.name, one.transferSize])")
    return sum(size for name, size in entries if size and "api" in name)


def test_a_read_is_tried_and_answers(boss, visit):
    visitor = visit(boss)
    study = boss.memberships.get().study
    page = visitor.go("study_api", study.public_id)
    page.wait_for_load_state("networkidle")
    assert 5_000 < loaded(page) < LIGHT
    page.get_by_label("Find an address").fill("label rounds get items")
    page.keyboard.press("Enter")
    page.locator('.addresses a[href$="/studies_label_rounds_items_list/"]').click()
    page.wait_for_load_state("networkidle")
    assert loaded(page) < LIGHT
    assert visitor.axe() == []
    page.get_by_label("label_round_id").fill(str(LabelRound.objects.get().public_id))
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#try output")).to_have_text("200 OK")
    expect(page.get_by_label("Response")).to_contain_text('"count": 2')
    # What the interface refuses is shown as it says it.
    page.get_by_label("label_round_id").fill("nothing")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#try output")).to_contain_text("404")
    # Lent once, and again when it has ended.
    assert boss.api_tokens.count() == 1
    boss.api_tokens.all().delete()
    page.get_by_label("label_round_id").fill(str(LabelRound.objects.get().public_id))
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#try output")).to_have_text("200 OK")
    # Chromium notes the two refusals, and nothing else: no breach of the policy.
    refused = [each for each in visitor.console if "Failed to load resource" in each]
    assert len(refused) == 2
    assert visitor.console == refused
    visitor.console.clear()
    assert visitor.foreign == []


@pytest.mark.long
def test_a_word_is_looked_up_by_keyboard(boss, visit):
    visitor = visit(boss)
    page = visitor.go("label_round_new", boss.memberships.get().study.public_id)
    word = page.get_by_role("button", name="control item")
    note = page.get_by_text("item with a known label, hidden among ordinary items")
    expect(note).to_be_hidden()
    word.focus()
    page.keyboard.press("Enter")
    expect(note).to_be_visible()
    assert visitor.axe() == []
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    expect(word).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{reverse('help_page', args=['glossary'])}#control-item")
    expect(page.locator("tr:target")).to_contain_text("control item")
