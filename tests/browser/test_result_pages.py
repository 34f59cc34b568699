"""Results and runs by hand: filters act at once, menus open and close, pages follow a run."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from benchmark.leaderboard.actions import BOARDS
from benchmark.rubrics.models import default_rubric
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from cqa_site.runs.models import Call, Run, WorkerBeat
from tests.argsum.made_cells import make_dataset, make_system_run
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_label_round, make_member, make_study
from tests.runs.judging import good
from tests.runs.made_runs import make_endpoint, make_run

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
    visitor = visit(boss, **settings)
    visitor.go("scores", boss.memberships.get().study.public_id)
    return visitor


def test_a_filter_and_a_least_match_score_act_at_once(boss, visit, server):
    page = leaderboard(visit, boss).page
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

    # A least match score changes everything that depends on it.
    study = boss.memberships.get().study
    made = make_system_run(make_dataset(study)).sets.first()
    page.goto(server + reverse("summary_set", args=[study.public_id, made.public_id]))
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


@pytest.mark.long
def test_columns_are_chosen_in_a_menu_that_stays_open_and_others_close_with_escape(boss, visit):
    visitor = leaderboard(visit, boss)
    page = visitor.page
    board = page.locator("#board-main")
    expect(board.get_by_role("columnheader", name="Length-controlled")).to_have_count(0)
    page.get_by_text("Columns", exact=True).first.click()
    page.get_by_role("checkbox", name="Length-controlled").check()
    expect(board.get_by_role("columnheader", name="Length-controlled")).to_be_visible()
    page.get_by_role("checkbox", name="Answers").uncheck()
    expect(board.get_by_role("columnheader", name="Answers")).to_have_count(0)
    page.reload()
    expect(board.get_by_role("columnheader", name="Length-controlled")).to_be_visible()
    expect(board.get_by_role("columnheader", name="Answers")).to_have_count(0)
    # Method and files open by keyboard and close with Escape.
    method = board.locator("summary", has_text="Method")
    method.focus()
    page.keyboard.press("Enter")
    words = board.get_by_text("in the same group cannot be told apart")
    expect(words).to_be_visible()
    assert visitor.axe() == []
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    expect(method).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(board.get_by_role("link", name="LaTeX")).to_be_visible()
    page.locator("h1").click()
    expect(board.get_by_role("link", name="LaTeX")).to_be_hidden()


@pytest.mark.long
def test_rank_and_score_stay_in_sight_on_a_phone(boss, visit):
    page = leaderboard(visit, boss, viewport=PHONE).page
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


def test_the_estimate_follows_the_form_and_the_page_follows_the_run(server, visit):
    study = make_study()
    researcher = make_member(study, "researcher")
    label_round = make_label_round(study, ordinary=25, controls=0)
    WorkerBeat.objects.create(worker="w", host="h", process_id=1, seen_at=timezone.now())
    endpoint = make_endpoint(study, researcher)
    visitor = visit(researcher)
    page = visitor.go("run_new", study.public_id, label_round.public_id)
    requests = page.locator("#estimate dd").first
    requests.get_by_text("25", exact=True).wait_for()
    page.locator("details.advanced > summary").click()
    page.fill("#id_replicates", "2")
    page.locator("#id_replicates").press("Tab")
    requests.get_by_text("50", exact=True).wait_for()
    page.fill("#id_replicates", "1")
    # A price asks for a yes.
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("heading", name="It may cost up to").wait_for()
    assert not Run.objects.exists()
    assert visitor.axe() == []

    run = make_run(label_round, endpoint, researcher, lambda request: good(2))
    Run.objects.update(state=Run.State.RUNNING)
    asked = []
    visitor.context.on("request", lambda request: asked.append(request.url))
    visitor.go("run", study.public_id, run.public_id)
    page.get_by_text("20 of 25 requests finished").wait_for()
    first = run.calls.filter(state=Call.State.READY).first()
    Call.objects.filter(pk=first.pk).update(state=Call.State.CANCELLED)
    page.get_by_text("21 of 25 requests finished").wait_for()
    page.locator("#pause").focus()
    page.wait_for_timeout(2500)
    assert page.evaluate("document.activeElement.id") == "pause"
    # It stops asking when the run waits.
    Run.objects.update(state=Run.State.CHECKED)
    page.get_by_role("button", name="Continue").wait_for()
    page.wait_for_timeout(500)
    asked.clear()
    page.wait_for_timeout(2600)
    assert asked == []
