"""Results by hand: filters act at once, menus open and close, a phone keeps the score."""

import re

import pytest
from playwright.sync_api import expect

from benchmark.leaderboard.actions import BOARDS
from benchmark.rubrics.actions import default_rubric
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from tests.argsum.made_cells import make_dataset, make_system_run
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_member, make_study

pytestmark = pytest.mark.browser
PHONE = {"width": 360, "height": 740}


def make_world():
    """A researcher of a study with a leaderboard."""
    study = make_study("Drinks")
    systems = ("A system whose name is rather long", "Beta", "Gamma")
    answers = make_scored_answers(study, systems=systems, questions=8, scenarios=(1, 2))
    judge = make_rater(study, "Judge", Rater.Kind.MODEL)
    make_sheets(study, answers, [make_rater(study, "Someone"), judge])
    snapshots.refresh(BOARDS, default_rubric(study))
    return make_member(study, "researcher")


@pytest.fixture
def boss(world):
    return world


def leaderboard(visit, boss, **settings):
    return visit(boss, **settings).go("scores", boss.memberships.get().study.public_id)


def test_a_filter_acts_at_once_and_stays_in_the_address(boss, visit):
    page = leaderboard(visit, boss)
    expect(page.get_by_role("button", name="Show", exact=True)).to_be_hidden()
    by = page.get_by_label("Scored by")
    by.focus()
    with page.expect_response(re.compile("judge=")):
        by.select_option(label="Judge")
    expect(page.locator("#board-main h2")).to_contain_text("Judge")
    # What is not chosen is not in the address, nor are columns that nobody chose.
    assert re.fullmatch(r"[^?]+\?judge=[^&]+&column=total", page.url)
    expect(page.get_by_label("Scored by")).to_be_focused()
    page.go_back()
    expect(page.locator("#board-main h2")).to_contain_text("people")
    # The whole page is there again, not only what the filter had changed.
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search for pages")).to_be_focused()


@pytest.mark.long
def test_columns_are_chosen_in_a_menu_that_stays_open(boss, visit):
    page = leaderboard(visit, boss)
    board = page.locator("#board-main")
    expect(board.get_by_role("columnheader", name="Without length")).to_have_count(0)
    page.get_by_text("Columns", exact=True).first.click()
    page.get_by_role("checkbox", name="Without length").check()
    expect(board.get_by_role("columnheader", name="Without length")).to_be_visible()
    page.get_by_role("checkbox", name="Answers").uncheck()
    expect(board.get_by_role("columnheader", name="Answers")).to_have_count(0)
    page.reload()
    expect(board.get_by_role("columnheader", name="Without length")).to_be_visible()
    expect(board.get_by_role("columnheader", name="Answers")).to_have_count(0)


@pytest.mark.long
def test_method_and_files_open_by_keyboard_and_close_with_escape(boss, visit):
    visitor = visit(boss)
    page = visitor.go("scores", boss.memberships.get().study.public_id)
    card = page.locator("#board-main")
    method = card.locator("summary", has_text="Method")
    method.focus()
    page.keyboard.press("Enter")
    words = card.get_by_text("in the same group cannot be told apart")
    expect(words).to_be_visible()
    assert visitor.axe() == []
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    expect(method).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(card.get_by_role("link", name="LaTeX")).to_be_visible()
    page.locator("h1").click()
    expect(card.get_by_role("link", name="LaTeX")).to_be_hidden()


@pytest.mark.long
def test_rank_and_score_stay_in_sight_on_a_phone(boss, visit):
    page = leaderboard(visit, boss, viewport=PHONE)
    table = page.locator("#board-main .table")
    row = page.locator("#board-main tbody tr").first

    for way in (0, 10_000):
        table.evaluate("(table, way) => { table.scrollLeft = way; }", way)
        assert is_in_sight(table, row.locator(".stays.rank"))
        assert is_in_sight(table, row.get_by_role("rowheader"))
        assert is_in_sight(table, row.locator(".stays.score"))
    assert table.evaluate("table => table.scrollLeft") > 0


def is_in_sight(table, cell):
    left, right = table.evaluate(
        "(table, cell) => { const a = cell.getBoundingClientRect(), "
        "b = table.getBoundingClientRect(); return [a.left - b.left, b.right - a.right]; }",
        cell.element_handle(),
    )
    return left >= -1 and right >= -1


def test_a_least_match_score_changes_everything_that_depends_on_it(boss, visit):
    study = boss.memberships.get().study
    made = make_system_run(make_dataset(study)).sets.first()
    page = visit(boss).go("summary_set", study.public_id, made.public_id)
    expect(page.locator(".finding")).to_contain_text("represent 100 % of 12 arguments")
    with page.expect_response(re.compile("least=0.9")):
        page.get_by_label("Minimum match score").fill("0.9")
    # All of them match with .8.
    expect(page.locator(".finding")).to_contain_text("represent 0 % of 12 arguments")
    expect(page.locator(".sides")).to_contain_text("0 of 6 arguments belong to one")
    expect(page.get_by_role("link", name="JSONL")).to_have_attribute(
        "href", re.compile("least=0.9")
    )
    assert "least=0.9" in page.locator(".figure-card img").first.get_attribute("src")
    expect(page.locator("#least-shown")).to_have_text("0.9")
    # What is shown beside the slider still follows it.
    page.get_by_label("Minimum match score").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#least-shown")).to_have_text("0.85")
