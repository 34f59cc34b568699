"""Nothing that has just appeared, or just moved, takes an answer that nobody read."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.consensus.models import Adjudication
from annotation.editing.models import Revision
from annotation.labelling.models import Assignment
from benchmark.preferences.models import PreferenceSheet
from tests.annotation.voting import imported, make_raters
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import make_pairs_round
from tests.cast import make_member, make_study
from tests.lengths import mostly
from .desk import Desk, counting, labelling, press, quiet, scoring, with_guideline

pytestmark = pytest.mark.browser
# Milliseconds between two presses; the long cases try all of them, and GAP_STEP=5 makes 219 double
# presses on each page (about six minutes each).
GAPS = [200]
SETTLE_MS = 450
LONGEST_GAP = 400
ALL_GAPS = range(40, LONGEST_GAP + 1, int(os.environ.get("GAP_STEP", "40")))
TRIES = 5
SIZE = len(ALL_GAPS) + TRIES
TICKED = "[...document.querySelectorAll('form[data-sheet] [type=radio]:checked')].length"
# A function: the pages' policy lets nothing evaluate a text.
SETTLED = """() => typeof isSettled === 'undefined'
  || isSettled() && (typeof saver === 'undefined' || saver.state === 'saved')
  && (typeof outbox === 'undefined' || !outbox.waiting().length)
  && (typeof isLeaving === 'undefined' || !isLeaving)"""
# When keys and buttons were pressed, on this page and the ones before: a slow machine is late.
NOTE_PRESSES = """['keydown', 'click'].forEach(name => addEventListener(name, event => {
  const at = performance.timeOrigin + event.timeStamp
  sessionStorage.pressed = `${sessionStorage.pressed ?? ''} ${at}`
}, {capture: true}))"""
LAST_GAP = """() => { const [a, b] = sessionStorage.pressed.split(' ').slice(-2); return b - a }"""


def disputing(study, _boss):
    """A round in which nobody agrees about any sentence."""
    label_round = with_guideline(imported(study, make_raters(study, 2), votes=[[0, 3]] * SIZE))
    recompute_final_labels(label_round)
    return label_round


def comparing(study, boss):
    systems = ("Alpha", "Beta", "Gamma")
    make_scored_answers(study, systems=systems, questions=SIZE // len(systems) + 1)
    return make_pairs_round(study, boss, size=SIZE)


many_labels = partial(labelling, ordinary=max(40, SIZE))


@dataclass(frozen=True)
class Work:
    """A kind of work: its page, what answers by pointer and by key, and its number of answers."""

    make: Callable[..., Any]
    target: str
    key: str
    answers: Callable[[Any], int]
    role: str = "annotator"


def labelled(_page):
    return Assignment.objects.filter(state="answered").count()


def preferred(_page):
    return PreferenceSheet.objects.filter(state="submitted").count()


def decided(_page):
    return Adjudication.objects.count()


def ticked(page):
    return page.evaluate(TICKED)


KINDS = {
    "label": Work(many_labels, ".level >> nth=1", "1", labelled),
    "adjudication": Work(disputing, ".level >> nth=1", "1", decided, role="expert"),
    "prefer": Work(comparing, "button[name=verdict] >> nth=0", "a", preferred),
    "score": Work(scoring, ".criterion.active [type=radio] >> nth=0", "0", ticked),
    "count": Work(counting, ".count-row.active [type=radio] >> nth=0", "1", ticked),
}


def at_work(kind, visit, settings, **more):
    settings.SETTLE_MS = SETTLE_MS
    study, work = make_study(), KINDS[kind]
    made = work.make(study, make_member(study, "researcher"))
    visitor = visit(make_member(study, work.role), **more)
    visitor.context.add_init_script(NOTE_PRESSES)
    visitor.go(kind, study.public_id, made.public_id)
    return visitor, work


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


SHORT = [("label", "click"), ("label", "key"), ("prefer", "key")]
PRESSES = [
    *(pytest.param(*case, GAPS, id=f"{'-'.join(case)}-few") for case in SHORT),
    *(
        pytest.param(kind, how, ALL_GAPS, id=f"{kind}-{how}-all", marks=pytest.mark.long)
        for kind in KINDS
        for how in ("click", "key", "tap")
    ),
]


@pytest.mark.parametrize(("name", "how", "gaps"), PRESSES)
def test_two_presses_are_one_answer_and_what_was_refused_is_said(
    visit, settings, server, name, how, gaps
):
    visitor, kind = at_work(name, visit, settings, has_touch=True)
    page = visitor.page
    rows = page.locator(".criterion, .count-row[data-kind=reference]").count()
    in_time = 0
    # On a busy machine every second press may be late: then it is tried again, as fast as can be.
    for number, gap in enumerate([*gaps, *[ALL_GAPS[0]] * TRIES]):
        if number >= len(gaps) and in_time:
            break
        page.wait_for_function(SETTLED)
        if rows and number and number % rows == 0:
            clear_all(page)
        before = kind.answers(page)
        twice(page, kind, how, gap)
        page.wait_for_timeout(900)
        page.wait_for_function(SETTLED)
        # On a slow machine the second press may come when it may count. The others may still have
        # the first one before them, which says nothing of itself.
        is_late = page.evaluate(LAST_GAP) > LONGEST_GAP
        if how == "key" and not is_late and kind.answers not in (preferred, decided):
            expect(page.locator("#toasts")).to_contain_text("had just appeared")
        taken = kind.answers(page) - before
        assert taken == 1 or (is_late and taken == 2), gap
        in_time += not is_late
    assert in_time, "every second press came late"


def clear_all(page):
    """Begin a full sheet again, from its last row to the first."""
    for key in ("ArrowDown", "ArrowUp"):
        for _row in range(page.locator(".criterion, .count-row").count()):
            page.keyboard.press("Backspace")
            page.keyboard.press(key)
    page.wait_for_function(SETTLED)
    assert ticked(page) == 0


@pytest.mark.long
def test_sixty_labels_a_minute_are_all_taken(visit, settings, server):
    page = at_work("label", visit, settings)[0].page
    for number in range(1, 13):
        page.wait_for_timeout(1000)
        page.keyboard.press("2")
        expect(page.locator("#toasts")).to_be_empty()
        expect(page.locator("#progress")).to_contain_text(re.compile(rf"^\s*{number} /"))
    expect(page.locator("#saved")).to_have_text("All answers saved")
    assert labelled(page) == 12


def test_a_text_is_not_submitted_unread_or_behind_a_dialog(visit, settings, server):
    settings.SETTLE_MS = SETTLE_MS
    page = Desk(visit, "edit").page
    page.wait_for_function("() => isSettled()")
    page.locator("#text").press("Control+End")
    page.keyboard.type(" or coffee.")
    page.locator("[name=reasons][value=choice]").check()
    press(page, "Escape", "?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert not Revision.objects.exists()
    press(page, "Escape", "Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("had just appeared")
    page.wait_for_function("() => isSettled()")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("Submitted as revision 1.")


@pytest.mark.parametrize("name", mostly(["label", "prefer"], "label"))
def test_what_has_just_appeared_takes_no_answer_without_script_either(
    visit, settings, server, name
):
    visitor, work = at_work(name, visit, settings, java_script_enabled=False)
    settings.SETTLE_MS = 2000
    page, main = visitor.page, visitor.page.locator("main")
    page.reload()
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
    quiet(visitor)
