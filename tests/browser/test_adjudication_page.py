"""The queue of decisions as experts use it: no connection, signed out, two tabs, no script."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from annotation.consensus import views
from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.consensus.actions.decisions import adjudicate
from annotation.consensus.models import Adjudication
from cqa_site.people.actions import rater_for
from cqa_site.runs.models import Job
from tests.annotation.voting import imported, make_raters
from tests.cast import make_member, make_study
from .conftest import LOOKS, lose_first
from .desk import open_kept, quiet, with_guideline

pytestmark = pytest.mark.browser
DECIDE = re.compile(r"/adjudicate/(\?.*)?$")


def make_world():
    """A round with four sentences that nobody agrees about."""
    study = make_study()
    votes = [[0, 3], [3, 0], [0, 3], [3, 0]]
    label_round = with_guideline(imported(study, make_raters(study, 2), votes=votes))
    recompute_final_labels(label_round)
    make_member(study, "expert")
    return label_round


@pytest.fixture
def expert(world):
    return world.study.memberships.get(role="expert").user


@pytest.fixture
def desk(visit, expert, world):
    visitor = visit(expert)
    visitor.go("adjudication", world.study.public_id, world.public_id)
    visitor.page.on("dialog", lambda dialog: dialog.accept())
    return visitor


def sentence(page):
    return page.locator("#adjudicate .sentence").inner_text()


def wait_until_read(page):
    page.wait_for_function("() => isSettled()")


def decide(page, key):
    """Press a key at a sentence that was read, and wait for the next one."""
    before = sentence(page)
    wait_until_read(page)
    page.keyboard.press(key)
    expect(page.locator("#work .sentence, #work .empty")).not_to_have_text(before)
    return before


def write(page, text):
    page.locator("#id_comment").fill(text)
    page.locator("#id_comment").blur()


def decide_elsewhere(world, expert, text, label, comment=""):
    """What the same expert says about a sentence from another device."""
    argument = world.items.get(argument__text=text).argument
    rater = rater_for(membership=expert.memberships.get())
    return adjudicate(
        label_round=world, argument=argument, rater=rater, label=label, comment=comment
    )


def stored():
    rows = Adjudication.objects.filter(superseded_at=None).select_related("argument")
    return {row.argument.text: (row.label, row.comment) for row in rows}


def test_the_next_sentence_comes_in_place_and_is_heard(desk):
    page = desk.page
    page.evaluate("window.stays = true")
    write(page, "hard")
    first = decide(page, "2")
    assert page.evaluate("window.stays")
    assert stored() == {first: (2, "hard")}
    assert sentence(page) in page.locator("#announce[aria-live=polite]").inner_text()
    expect(page.locator("#saved")).to_have_text("All decisions saved")
    expect(page.locator("#progress")).to_contain_text("1 / 4 done")
    expect(page.locator("#decisions")).to_contain_text("“hard”")
    expect(page.locator("#id_comment")).to_have_value("")
    for key in "310":
        decide(page, key)
    expect(page.locator("#work")).to_contain_text("All settled")
    page.reload()
    expect(page.locator("#work")).to_contain_text("All settled")


PRESS_AT_ONCE = """() => new MutationObserver((_changes, observer) => {
  observer.disconnect()
  const key = new KeyboardEvent('keydown', {key: '2', code: 'Digit2', bubbles: true})
  setTimeout(() => {
    document.body.dispatchEvent(key)
    for (const each of ['.level', '#skip', '#undo']) document.querySelector(each).click()
    window.pressed = true
  }, 50)
}).observe(document.querySelector('main'), {childList: true})"""


@pytest.mark.long
def test_a_second_press_does_not_decide_what_nobody_has_read(desk, settings):
    page, settings.SETTLE_MS = desk.page, 450
    page.reload()
    page.evaluate(PRESS_AT_ONCE)
    first = decide(page, "2")
    second = sentence(page)
    page.wait_for_function("() => window.pressed")
    page.wait_for_timeout(300)
    assert stored() == {first: (2, "")}
    assert sentence(page) == second
    # Nor does the second click of a double click, which is for the sentence before.
    wait_until_read(page)
    page.locator(".level").nth(1).dblclick()
    expect(page.locator("#work .sentence")).not_to_have_text(second)
    page.wait_for_timeout(300)
    assert stored() == {first: (2, ""), second: (1, "")}


@pytest.mark.long
def test_a_comment_stays_in_the_browser_until_it_is_saved(desk, world):
    """It has the keys of the label page; letters and digits in it are text."""
    page, guideline = desk.page, desk.page.locator("#guideline-dialog")
    page.keyboard.press("i")
    expect(guideline.locator(".scale")).to_be_visible()
    page.keyboard.press("i")
    expect(guideline).to_be_hidden()
    page.keyboard.press("n")
    page.keyboard.type("2 u s")
    first = sentence(page)
    wait_until_read(page)
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.locator("#work .sentence")).not_to_have_text(first)
    expect(page.locator("#id_comment")).to_have_value("")
    desk.go("study", world.study.public_id)
    query = f"?unit={world.items.get(argument__text=first).argument.public_id}"
    desk.go("adjudication", world.study.public_id, world.public_id, query=query)
    expect(page.locator("#id_comment")).to_have_value("2 u s")
    expect(page.locator("#saved")).to_contain_text("kept in this browser")
    decide(page, "1")
    assert stored() == {first: (1, "2 u s")}
    desk.go("adjudication", world.study.public_id, world.public_id, query=query)
    write(page, "")
    page.reload()
    expect(page.locator("#id_comment")).to_have_value("")


def test_a_decision_made_offline_waits_and_is_sent_by_itself(desk):
    page = desk.page
    first = sentence(page)
    write(page, "no network")
    wait_until_read(page)
    desk.context.set_offline(True)
    page.locator(".level").nth(3).click()
    expect(page.locator("#trouble")).to_contain_text("Not saved yet: 1")
    expect(page.locator("#saved")).to_have_text("1 to be sent")
    expect(page.locator(".level[aria-pressed=true]")).to_have_attribute("value", "3")
    # A second thought knows of the first one; a skip would contradict both.
    page.locator(".level").nth(2).click()
    heard = page.locator("#announce")
    expect(heard).to_have_text(
        "2. Your decision stays in this browser until the connection is back."
    )
    expect(page.locator(".level[aria-pressed=true]")).to_have_attribute("value", "2")
    page.locator("#skip").click()
    expect(page.locator("#toasts")).to_contain_text("not saved yet")
    assert stored() == {}
    desk.context.set_offline(False)
    expect(page.locator("#work .sentence")).not_to_have_text(first)
    expect(page.locator("#trouble")).to_be_hidden()
    heard_then = f"All decisions saved. 2. Next sentence. tea or coffee. {sentence(page)}"
    expect(heard).to_contain_text(heard_then)
    assert stored() == {first: (2, "no network")}
    assert Adjudication.objects.count() == 2
    quiet(desk)


@pytest.mark.long
def test_a_skip_and_an_undo_made_offline_wait_and_are_sent_by_themselves(desk):
    page, heard = desk.page, desk.page.locator("#announce")
    expect(page.locator("#undo")).to_be_hidden()
    # A lost reply stores one decision.
    lost = lose_first(desk.context, DECIDE.pattern)
    first = decide(page, "1")
    assert (lost, Adjudication.objects.count()) == ([200], 1)
    desk.context.unroute_all()
    second = sentence(page)
    wait_until_read(page)
    desk.context.set_offline(True)
    page.keyboard.press("s")
    expect(page.locator("#saved")).to_have_text("1 to be sent")
    expect(page.locator("#trouble")).to_contain_text("Not saved yet: 1")
    page.keyboard.press("u")
    expect(page.locator("#toasts")).to_contain_text("not saved yet")
    desk.context.set_offline(False)
    expect(page.locator("#work .sentence")).not_to_have_text(second)
    expect(heard).to_contain_text(f"Skipped. Next sentence. tea or coffee. {sentence(page)}")
    third = sentence(page)
    # A decision that waits, and the undo of it: the one before stays.
    wait_until_read(page)
    desk.context.set_offline(True)
    page.keyboard.press("2")
    expect(page.locator("#saved")).to_have_text("1 to be sent")
    page.keyboard.press("u")
    expect(page.locator("#saved")).to_have_text("2 to be sent")
    expect(heard).to_contain_text("Undone. Your decision stays in this browser")
    assert stored() == {first: (1, "")}
    desk.context.set_offline(False)
    expect(page.locator("#toasts")).to_contain_text("Undone: 2.")
    expect(page.locator("#saved")).to_have_text("All decisions saved")
    assert (sentence(page), stored()) == (third, {first: (1, "")})
    assert Adjudication.objects.filter(is_undone=True).count() == 1
    quiet(desk)


@pytest.mark.long
def test_an_undo_says_which_decision_counts_again(desk):
    page, heard = desk.page, desk.page.locator("#announce")
    first = sentence(page)
    # The sentence is said a moment after the page is there, over whatever was said before.
    expect(heard).to_contain_text(first)
    wait_until_read(page)
    desk.context.set_offline(True)
    for label in "12":
        page.keyboard.press(label)
    # The page speaks of what waits once a request has failed.
    expect(page.locator("#trouble")).to_contain_text("Not saved yet: 1")
    page.keyboard.press("u")
    expect(heard).to_contain_text("Undone. Your previous decision, 1, counts again.")
    expect(page.locator(".level[aria-pressed=true]")).to_have_attribute("value", "1")
    desk.context.set_offline(False)
    expect(page.locator("#toasts")).to_contain_text(
        "Undone: 2. Your previous decision, 1, counts again."
    )
    expect(heard).not_to_contain_text("Next sentence")
    assert sentence(page) == first
    assert stored() == {first: (1, "")}
    quiet(desk)


@pytest.mark.long
def test_a_comment_that_goes_on_while_it_is_sent_is_not_lost(desk):
    page = desk.page
    first = sentence(page)
    wait_until_read(page)
    desk.context.set_offline(True)
    page.locator(".level").nth(3).click()
    expect(page.locator("#trouble")).to_be_visible()
    write(page, "later")
    desk.context.set_offline(False)
    expect(page.locator("#saved")).to_contain_text("save the new comment")
    expect(page.locator("#announce")).to_contain_text("save the new comment")
    assert sentence(page) == first
    page.locator(".level").nth(3).click()
    expect(page.locator("#work .sentence")).not_to_have_text(first)
    assert stored() == {first: (3, "later")}
    desk.console.clear()


def test_a_stale_tab_shows_both_decisions_and_lets_the_expert_choose(desk, world, expert):
    page = desk.page
    first = sentence(page)
    write(page, "from the old tab")
    wait_until_read(page)
    decide_elsewhere(world, expert, first, 2, "from the other")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    card = page.locator("#conflicts section")
    expect(card.get_by_role("heading")).to_be_focused()
    for text in (first, "You chose 2 on", "from the other", "from the old tab"):
        expect(card).to_contain_text(text)
    expect(page.locator("#adjudicate")).to_be_hidden()
    page.keyboard.press("3")
    assert desk.axe() == []
    page.reload()
    expect(card).to_contain_text("from the old tab")
    assert stored() == {first: (2, "from the other")}
    wait_until_read(page)
    card.get_by_role("button", name="Use the new decision").click()
    expect(card).to_have_count(0)
    expect(page.locator("#saved")).to_have_text("All decisions saved")
    assert stored() == {first: (3, "from the old tab")}
    desk.console.clear()


@pytest.mark.long
@pytest.mark.parametrize("typed", ["", "half a thought"])
def test_a_second_tab_leaves_what_the_first_one_decided(desk, typed):
    other = desk.context.new_page()
    other.goto(desk.page.url)
    first = sentence(other)
    if typed:
        write(other, typed)
    assert decide(desk.page, "2") == first
    expect(other.locator("#toasts")).to_contain_text("You decided this sentence in another tab.")
    if typed:  # it stays, with the decision
        expect(other.locator(".level[aria-pressed=true]")).to_have_attribute("value", "2")
        expect(other.locator("#id_comment")).to_have_value(typed)
        assert sentence(other) == first
    else:
        expect(other.locator("#adjudicate .sentence")).to_have_text(sentence(desk.page))
    assert stored() == {first: (2, "")}


@pytest.mark.long
def test_the_decision_of_the_other_tab_can_be_kept(desk, world, expert):
    page = desk.page
    first = sentence(page)
    wait_until_read(page)
    decide_elsewhere(world, expert, first, 2)
    page.keyboard.press("3")
    keep = page.locator("#conflicts").get_by_role("link", name="Keep the stored decision")
    expect(keep).to_be_visible()
    wait_until_read(page)
    keep.click()
    expect(page.locator("#conflicts")).to_be_hidden()
    expect(page.locator("#adjudicate .sentence")).not_to_have_text(first)
    assert stored() == {first: (2, "")}
    assert Adjudication.objects.count() == 1
    desk.console.clear()


@pytest.mark.long
def test_a_reload_without_a_connection_shows_the_sentence_and_the_comment(visit, world, expert):
    visitor = visit(expert, service_workers="allow")
    page = open_kept(visitor, "adjudication", world.study.public_id, world.public_id)
    first = decide(page, "2")
    second = sentence(page)
    write(page, "offline")
    wait_until_read(page)
    visitor.context.set_offline(True)
    page.reload()
    expect(page.locator("#adjudicate .sentence")).to_have_text(second)
    expect(page.locator("#id_comment")).to_have_value("offline")
    wait_until_read(page)
    page.locator(".level").nth(1).click()
    expect(page.locator("#trouble")).to_contain_text("Not saved yet: 1")
    visitor.context.set_offline(False)
    expect(page.locator("#work .sentence")).not_to_have_text(second)
    assert stored() == {first: (2, ""), second: (1, "offline")}
    quiet(visitor)


@pytest.mark.long
def test_a_job_after_the_last_decision_can_be_followed(visit, world, monkeypatch):
    """Its progress needs a script that the page of a sentence does not have."""
    visitor = visit(make_member(world.study, "researcher"))
    page = visitor.go("adjudication", world.study.public_id, world.public_id)
    for key in "012":
        decide(page, key)
    job = Job(public_id=uuid4(), study=world.study, state="ready")
    monkeypatch.setattr(views, "keep_current", lambda *_of: job)
    wait_until_read(page)
    page.keyboard.press("3")
    expect(page.locator("#work [hx-get]")).to_be_visible()
    page.wait_for_function("() => 'htmx' in window", timeout=5000)
    page.goto("about:blank")
    visitor.console.clear()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_accessible_and_narrow(visit, world, expert, scheme, width):
    visitor = visit(expert, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visitor.go("adjudication", world.study.public_id, world.public_id)
    assert visitor.axe() == []
    decide(page, "1")
    assert visitor.axe() == []
    assert visitor.has_no_sideways_scroll()
    assert visitor.small_targets(36 if width == 360 else 24) == []
