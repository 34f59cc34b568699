"""Nothing that has just appeared, or just moved, takes an answer that nobody read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.editing.models import Revision
from annotation.labelling.models.campaigns import Assignment
from benchmark.preferences.models import PreferenceSheet
from cqa_site.rounds.lifecycle import open_round
from tests.annotation import editing_cast
from tests.argsum.counting.made_counting import open_counting
from tests.argsum.made_cells import make_dataset, make_set
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import make_pairs
from tests.cast import make_campaign, make_member, make_study
from tests.lengths import mostly

pytestmark = pytest.mark.browser
# Two presses, so many milliseconds apart; the long cases ask all of them.
GAPS = [200]
SETTLE_MS = 450
ALL_GAPS = range(40, 401, 40)
TICKED = "[...document.querySelectorAll('form[data-sheet] [type=radio]:checked')].length"
# A function: the pages' policy lets nothing evaluate a text.
SETTLED = """() => typeof isSettled === 'undefined'
  || isSettled() && (typeof saver === 'undefined' || saver.state === 'saved')"""


def labelling(study, boss):
    campaign = make_campaign(study, ordinary=40, controls=1, votes_per_item=1)
    open_round(round_=campaign, actor=boss)
    return campaign


def scoring(study, boss):
    make_scored_answers(study, questions=2)
    return make_round(study, boss)


def counting(study, boss):
    for cell in make_dataset(study).cells.all():
        make_set(cell)
    return open_counting(study, boss)


@dataclass(frozen=True)
class Work:
    """A kind of work: its page, what answers by pointer and by key, and its number of answers."""

    make: Callable[..., Any]
    target: str
    key: str
    answers: Callable[[Any], int]


def labelled(_page):
    return Assignment.objects.filter(state="answered").count()


def preferred(_page):
    return PreferenceSheet.objects.filter(state="submitted").count()


def ticked(page):
    return page.evaluate(TICKED)


KINDS = {
    "label": Work(labelling, ".level >> nth=1", "1", labelled),
    "prefer": Work(partial(make_pairs, size=12), "button[name=verdict] >> nth=0", "a", preferred),
    "score": Work(scoring, ".criterion.active [type=radio] >> nth=0", "0", ticked),
    "count": Work(counting, ".count-row.active [type=radio] >> nth=0", "1", ticked),
}


@pytest.fixture(params=mostly(KINDS, "label", "prefer"))
def work(request, visit, settings, server):
    settings.SETTLE_MS = SETTLE_MS
    study = make_study()
    kind = KINDS[request.param]
    made = kind.make(study, make_member(study, "researcher"))
    visitor = visit(make_member(study, "annotator"), has_touch=True)
    visitor.go(request.param, study.public_id, made.public_id)
    return visitor, kind


def middle(page, target):
    """Where the label of a box stands, or the button."""
    place = page.locator(target)
    place = place.locator("xpath=ancestor::label").or_(place).first
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def twice(page, kind, how, gap):
    """Press the same place, or the same key, two times."""
    if how == "key":
        acts = [lambda: page.keyboard.press(kind.key)] * 2
    else:
        x, y = middle(page, kind.target)
        press = page.mouse.click if how == "click" else page.touchscreen.tap
        acts = [lambda: press(x, y)] * 2
    acts[0]()
    page.wait_for_timeout(gap)
    acts[1]()


@pytest.mark.parametrize("how", ["click", "key", pytest.param("tap", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "gaps",
    [pytest.param(GAPS, id="few"), pytest.param(ALL_GAPS, id="all", marks=pytest.mark.long)],
)
def test_two_presses_are_one_answer(work, how, gaps):
    visitor, kind = work
    page = visitor.page
    for number, gap in enumerate(gaps, start=1):
        page.wait_for_function(SETTLED)
        if page.locator(kind.target).count() == 0:
            return  # a sheet with fewer rows than there are gaps
        twice(page, kind, how, gap)
        page.wait_for_timeout(900)
        page.wait_for_function(SETTLED)
        assert kind.answers(page) == number, gap


@pytest.mark.long
def test_sixty_labels_a_minute_are_all_taken(visit, settings, server):
    settings.SETTLE_MS = SETTLE_MS
    study = make_study()
    campaign = labelling(study, make_member(study, "researcher"))
    page = visit(make_member(study, "annotator")).go("label", study.public_id, campaign.public_id)
    for number in range(1, 13):
        page.wait_for_timeout(1000)
        page.keyboard.press("2")
        expect(page.locator("#toasts")).to_be_empty()
        expect(page.locator("#progress")).to_contain_text(re.compile(rf"^\s*{number} /"))
    expect(page.locator("#saved")).to_have_text("All answers saved")
    assert labelled(page) == 12


def test_what_was_refused_is_said(work):
    visitor, kind = work
    page = visitor.page
    page.wait_for_function(SETTLED)
    page.keyboard.press(kind.key)
    page.wait_for_timeout(150)
    page.keyboard.press(kind.key)
    if kind.answers is not preferred:
        expect(page.locator("#toasts")).to_contain_text("had just appeared")


def test_a_text_is_not_submitted_unread_or_behind_a_dialog(visit, settings, server):
    settings.SETTLE_MS = SETTLE_MS
    study = make_study()
    editing_cast.make_answers(study, questions=2)
    person = make_member(study, "expert")
    made = editing_cast.make_round(study, people=[person], individual=0)
    page = visit(person).go("desk", study.public_id, made.public_id)
    page.wait_for_function("() => isSettled()")
    page.locator("#text").press("Control+End")
    page.keyboard.type(" or coffee.")
    page.locator("[name=reasons][value=choice]").check()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert not Revision.objects.exists()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("had just appeared")
    page.wait_for_function("() => isSettled()")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("Submitted as revision 1.")


@pytest.mark.parametrize("kind", mostly(["label", "prefer"], "label"))
def test_what_has_just_appeared_takes_no_answer_without_script_either(
    visit, settings, server, kind
):
    settings.SETTLE_MS = 2000
    study, work = make_study(), KINDS[kind]
    made = work.make(study, make_member(study, "researcher"))
    visitor = visit(make_member(study, "annotator"), java_script_enabled=False)
    page, main = visitor.go(kind, study.public_id, made.public_id), visitor.page.locator("main")
    page.wait_for_timeout(2000)
    first = main.inner_text()
    page.mouse.click(*middle(page, work.target))
    expect(main).not_to_have_text(first, use_inner_text=True)
    page.mouse.click(*middle(page, work.target))
    expect(page.get_by_role("alert")).to_contain_text("had just appeared")
    assert work.answers(page) == 1
    page.wait_for_timeout(2000)
    page.mouse.click(*middle(page, work.target))
    expect(page.get_by_role("alert")).to_have_count(0)
    assert work.answers(page) == 2
    visitor.context.close()
    visitor.console.clear()
