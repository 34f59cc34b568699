"""The label page as people use it: keys, undo, no connection, two tabs, no script."""

import re
from collections import Counter

import pytest
from playwright.sync_api import expect

from annotation.labelling.models import Assignment, Slot, VoteEvent
from cqa_site.rounds.lifecycle import close_round, open_round
from tests.cast import make_label_round, make_member, make_study
from tests.lengths import mostly
from .conftest import LOOKS, lose_first
from .desk import expect_labels_saved, sentence, with_guideline

pytestmark = pytest.mark.browser


def make_world():
    """An open round with the default guideline."""
    study = make_study()
    label_round = with_guideline(make_label_round(study, ordinary=30, controls=8))
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    label_round.refresh_from_db()
    return label_round


@pytest.fixture
def label_round(world):
    return world


@pytest.fixture
def person(label_round):
    return make_member(label_round.study, "annotator")


@pytest.fixture
def desk(visit, person, label_round):
    visitor = visit(person)
    visitor.go("label", label_round.study.public_id, label_round.public_id)
    return visitor


def press(page, key):
    """Press a key at a sentence and wait until another one is there."""
    before = sentence(page)
    page.keyboard.press(key)
    expect(page.locator("[data-sentence]")).not_to_have_text(before)
    expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
    return before


def stored():
    rows = Assignment.objects.filter(state="answered").select_related("item__argument")
    return {row.item.argument.text: row.label for row in rows}


def test_ten_labels_by_keyboard(desk):
    page = desk.page
    page.keyboard.press("u")
    expect(page.locator("#toasts")).to_contain_text("no earlier answers")
    first = sentence(page)
    for modifier in ("Control", "Alt", "Meta"):
        page.keyboard.press(f"{modifier}+2")
    assert sentence(page) == first
    # One answer a press, however long the key is held.
    for _held in range(3):
        page.keyboard.down("2")
    page.keyboard.up("2")
    expect_labels_saved(page)
    assert stored() == {first: 2}
    heard = page.locator("#announce[aria-live=polite]").inner_text()
    assert heard.startswith("2. Next sentence. tea and coffee.")
    assert heard.endswith(sentence(page))
    given = {first: 2} | {press(page, key): int(key) for key in "103321012"}
    expect_labels_saved(page)
    assert stored() == given
    assert len(given) == 10
    # 30 sentences and the 8 control items that their blocks of four bring along. How long the rest
    # takes goes half by the plan and half by the person's own pace, which is quick here.
    expect(page.locator("#progress")).to_contain_text("10 / 38 done")
    expect(page.locator("#progress")).to_contain_text("about 5 min left")
    assert all(row.active_ms is not None for row in Assignment.objects.filter(state="answered"))


@pytest.mark.long
def test_digits_of_the_number_pad_and_of_other_layouts(desk):
    given = {}
    for key, code, label in (("3", "Numpad3", 3), ("é", "Digit2", 2), ("1", "", 1)):
        before = sentence(desk.page)
        event = f"new KeyboardEvent('keydown', {{key: '{key}', code: '{code}', bubbles: true}})"
        desk.page.evaluate(f"void document.body.dispatchEvent({event})")
        expect(desk.page.locator("[data-sentence]")).not_to_have_text(before)
        given[before] = label
    desk.page.keyboard.press("Numpad3")  # without its lock the number pad moves the page
    expect_labels_saved(desk.page)
    assert stored() == given


@pytest.mark.long
def test_going_back_changing_and_returning(desk):
    first = press(desk.page, "2")
    second = press(desk.page, "1")
    here = sentence(desk.page)
    press(desk.page, "Backspace")
    assert sentence(desk.page) == second
    press(desk.page, "u")
    assert sentence(desk.page) == first
    expect(desk.page.locator(".level[aria-pressed=true]")).to_have_attribute("value", "2")
    press(desk.page, "3")
    assert sentence(desk.page) == here
    expect_labels_saved(desk.page)
    assert stored() == {first: 3, second: 1}
    press(desk.page, "u")
    press(desk.page, "Escape")
    assert sentence(desk.page) == here
    assert VoteEvent.objects.count() == 3


@pytest.mark.long
def test_skipping_with_reason_and_flagging_with_comment(desk):
    page = desk.page
    first = sentence(page)
    page.keyboard.press("s")
    page.locator("#skip-comment").fill("which 2 are meant?")
    page.locator("#skip-title").click()
    press(page, "1")
    second = sentence(page)
    page.keyboard.press("f")
    page.keyboard.type("odd 1 s u i ?")
    page.locator("[data-keep]").click()
    expect(page.locator("#flagged")).to_contain_text("odd 1 s u i ?")
    press(page, "1")
    expect_labels_saved(page)
    skipped = Assignment.objects.get(item__argument__text=first)
    flagged = Assignment.objects.get(item__argument__text=second)
    assert (skipped.skip_reason, skipped.comment) == ("unclear", "which 2 are meant?")
    assert (flagged.label, flagged.is_flagged, flagged.comment) == (1, True, "odd 1 s u i ?")


@pytest.mark.long
def test_the_answers_page_leads_back_to_each_answer(desk, label_round):
    first = press(desk.page, "2")
    press(desk.page, "1")
    expect_labels_saved(desk.page)
    page = desk.go("label_answers", label_round.study.public_id, label_round.public_id)
    page.locator(".answers .card", has_text=first).get_by_role("link", name="Change").click()
    assert sentence(page) == first
    press(page, "0")
    expect_labels_saved(page)
    assert "?item=" not in page.url
    assert stored()[first] == 0


def test_answers_given_offline_and_one_whose_reply_was_lost_arrive_once(desk):
    page = desk.page
    lost = lose_first(desk.context, "/label/answer/")
    given = {press(page, "2"): 2}
    expect_labels_saved(page)
    assert (lost, stored(), VoteEvent.objects.count()) == ([200], given, 1)
    desk.context.unroute_all()
    desk.context.set_offline(True)
    later = {press(page, key): int(key) for key in "321"}
    expect(page.locator("#trouble")).to_contain_text("Not saved yet: 3 answers")
    assert stored() == given
    desk.context.set_offline(False)
    expect_labels_saved(page)
    expect(page.locator("#trouble")).to_be_hidden()
    assert stored() == given | later
    assert VoteEvent.objects.count() == 4
    desk.console.clear()  # the browser itself logs each failed request


@pytest.mark.long
def test_what_was_not_sent_asks_before_it_is_left_and_survives_the_page(desk, label_round):
    page = desk.page
    desk.context.route(re.compile("/label/answer/"), lambda route: route.abort())
    first = press(page, "3")
    here = sentence(page)
    expect(page.locator("#trouble")).to_contain_text("1 answer")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    desk.go("label_answers", label_round.study.public_id, label_round.public_id)
    assert asked == ["beforeunload"]
    desk.context.unroute_all()
    desk.go("label", label_round.study.public_id, label_round.public_id)
    expect_labels_saved(page)
    assert sentence(page) == here
    assert stored() == {first: 3}
    desk.console.clear()


@pytest.mark.long
def test_refused_answers_are_shown_and_kept(desk, label_round):
    first = press(desk.page, "2")
    expect_labels_saved(desk.page)
    press(desk.page, "u")
    close_round(round_=label_round, actor=make_member(label_round.study, "researcher"))
    desk.page.keyboard.press("0")
    refused = desk.page.locator("#refused")
    expect(refused).to_contain_text(first)
    expect(refused).to_contain_text("closed")
    desk.page.reload()
    expect(refused).to_contain_text(first)
    refused.get_by_role("button", name="Remove answers").click()
    expect(refused).to_be_hidden()
    assert stored() == {first: 2}
    desk.console.clear()


def test_a_late_answer_of_another_device_is_refused_and_both_are_named(
    desk, visit, person, label_round
):
    other = visit(person)
    page = other.go("label", label_round.study.public_id, label_round.public_id)
    first = sentence(page)
    other.context.set_offline(True)
    press(page, "0")
    press(desk.page, "3")
    expect_labels_saved(desk.page)
    other.context.set_offline(False)
    refused = page.locator("#refused")
    expect(refused).to_contain_text(first)
    expect(refused).to_contain_text("another device: 3. That answer was kept; 0 was not")
    assert stored() == {first: 3}
    # From then on this page, too, knows the answer, and a change of it is one.
    press(page, "u")
    expect(page.locator(".level[aria-pressed=true]")).to_have_attribute("value", "3")
    press(page, "1")
    expect_labels_saved(page)
    assert stored() == {first: 1}
    page.reload()
    press(page, "u")
    press(page, "2")
    expect_labels_saved(page)
    assert stored() == {first: 2}
    other.console.clear()


LOST = {
    "sessionid": ("You are signed out", "Sign in", "login.*next="),
    "csrftoken": ("This page is out of date", "Reload", "/label/"),
}


@pytest.mark.parametrize("cookie", mostly(LOST, "sessionid"))
def test_signed_out_or_a_stale_token_is_said_and_keeps_the_answer(desk, cookie):
    cookies, (words, link, address) = desk.context.cookies(), LOST[cookie]
    desk.context.clear_cookies(name=cookie)
    first = press(desk.page, "2")
    trouble = desk.page.locator("#trouble")
    expect(trouble).to_contain_text(words)
    way = trouble.get_by_role("link", name=link)
    expect(way).to_have_attribute("href", re.compile(address))
    desk.context.add_cookies(cookies)
    desk.page.goto(desk.page.url)
    expect_labels_saved(desk.page)
    assert stored() == {first: 2}
    desk.console.clear()


@pytest.mark.long
def test_a_busy_server_gets_the_answer_later(desk):
    replies = []

    def busy_twice(route):
        replies.append(1)
        return route.fulfill(status=503) if len(replies) < 3 else route.continue_()

    desk.context.route(re.compile("/label/answer/"), busy_twice)
    first = press(desk.page, "2")
    expect(desk.page.locator("#trouble")).to_contain_text("Not saved yet: 1 answer")
    expect_labels_saved(desk.page, timeout=15_000)
    assert stored() == {first: 2}
    desk.console.clear()


@pytest.mark.long
def test_a_page_that_found_nothing_free_looks_again(visit, label_round, person):
    slots = Slot.objects.filter(round=label_round)
    slots.update(state="leased", lease_until="2999-01-01T00:00Z")
    visitor = visit(person)
    visitor.context.new_page().close()
    visitor.page.clock.install()
    visitor.go("label", label_round.study.public_id, label_round.public_id)
    expect(visitor.page.get_by_role("heading")).to_have_text("No sentences available right now")
    slots.update(state="open", lease_until=None)
    visitor.page.clock.run_for(21_000)
    expect(visitor.page.locator("[data-sentence]")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("is_wide", [True, False])
def test_the_guideline_stays_open_beside_the_sentence_where_there_is_room(
    visit, person, label_round, is_wide
):
    visitor = visit(person, viewport={"width": 1280 if is_wide else 1000, "height": 800})
    page = visitor.go("label", label_round.study.public_id, label_round.public_id)
    page.keyboard.press("i")
    pin = page.get_by_role("button", name="Keep open at the side")
    expect(pin).to_be_visible(visible=is_wide)
    if not is_wide:
        return
    pin.click()
    panel = page.locator("#guideline-panel")
    expect(panel.locator(".scale")).to_be_visible()
    # The item makes room: nothing of it lies under the panel.
    right = page.locator("#answer").bounding_box()
    assert right["x"] + right["width"] <= panel.bounding_box()["x"]
    first = press(page, "2")
    # Remembered for this round, and folded away while the window is narrow.
    page.reload()
    expect(panel.locator(".scale")).to_be_visible()
    assert visitor.axe() == []
    assert visitor.has_no_sideways_scroll()
    page.set_viewport_size({"width": 900, "height": 800})
    expect(panel).to_be_hidden()
    page.keyboard.press("i")
    expect(page.locator("#guideline-dialog .scale")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(panel).to_be_visible()
    # The first time into it, the second time out of the way.
    page.keyboard.press("i")
    expect(panel.locator(".drawer-body")).to_be_focused()
    page.keyboard.press("i")
    page.reload()
    expect(panel).to_be_hidden()
    assert stored() == {first: 2}


@pytest.mark.long
def test_single_keys_can_be_had_with_alt_or_not_at_all(desk, person, label_round):
    page = desk.page
    first = sentence(page)
    for choice, wrong, right in (("Off", "2", None), ("With Alt", "3", "Alt+3")):
        desk.go("account")
        page.get_by_label(choice).check()
        page.locator("#keys button").click()
        desk.go("label", label_round.study.public_id, label_round.public_id)
        page.keyboard.press(wrong)
        page.keyboard.press("i")
        page.wait_for_timeout(150)
        assert sentence(page) == first
        expect(page.locator("#guideline-dialog")).to_be_hidden()
        if right is None:
            # Buttons do the same, and keys that are no signs still work.
            page.get_by_role("button", name="Guideline").click()
            expect(page.locator("#guideline-dialog")).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.locator("#guideline-dialog")).to_be_hidden()
        else:
            page.keyboard.press(right)
            expect(page.locator("[data-sentence]")).not_to_have_text(first)
    expect_labels_saved(page)
    assert stored() == {first: 3}


@pytest.fixture
def short(label_round):
    """A round of six items, five in a block."""
    round_2 = make_label_round(
        label_round.study, name="Round 2", ordinary=5, controls=1, votes_per_item=1
    )
    open_round(round_=round_2, actor=make_member(label_round.study, "researcher"))
    return round_2


@pytest.mark.long
def test_the_whole_job_by_keyboard_alone(visit, person, short):
    """From the first sentence to the end, without a pointer."""
    page = visit(person).go("label", short.study.public_id, short.public_id)
    for key, closes, name in (("i", "Escape", "guideline"), ("?", "?", "keys")):
        page.keyboard.press(key)
        expect(page.locator(f"#{name}-dialog")).to_be_visible()
        page.keyboard.press(closes)
        expect(page.locator(f"#{name}-dialog")).to_be_hidden()
    page.keyboard.press("s")
    press(page, "2")
    reached = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim().split(/\\s+/)[0]"))
    assert {"Skip", "0", "1", "2", "3", "Undo", "Flag", "Guideline", "Keys", "Your"} <= reached
    page.locator(".level").nth(1).focus()
    for key in ("Enter", "3", "3", "3"):
        press(page, key)
    page.keyboard.press("3")
    expect(page.get_by_role("heading")).to_have_text("That was everything. Thank you!")
    states = Counter(Assignment.objects.filter(round=short).values_list("state", flat=True))
    assert (states["answered"], states["skipped"]) == (5, 1)


@pytest.mark.long
def test_enter_in_a_field_never_labels_without_script(visit, person, short):
    visitor = visit(person, java_script_enabled=False)
    page = visitor.go("label", short.study.public_id, short.public_id)
    page.get_by_text("Skip, flag or comment").click()
    for name in ("Flag (sent with your label)", "Reason for skipping"):
        page.get_by_label(name).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    page.wait_for_timeout(300)
    assert not VoteEvent.objects.exists()


@pytest.mark.long
def test_a_key_right_after_a_dialog_closed_counts(desk):
    page = desk.page
    page.keyboard.press("f")
    expect(page.locator("#flag-comment")).to_be_focused()
    page.evaluate(
        """() => {
            document.getElementById("flag-dialog").close();
            const key = new KeyboardEvent("keydown", { key: "i", bubbles: true });
            document.getElementById("flag-comment").dispatchEvent(key);
        }"""
    )
    expect(page.locator("#guideline-dialog")).to_have_attribute("open", "")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_accessible_and_narrow(visit, person, label_round, scheme, width):
    visitor = visit(person, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visitor.go("label", label_round.study.public_id, label_round.public_id)

    def look(what):
        assert visitor.axe() == [], what
        assert visitor.has_no_sideways_scroll(), what

    look("a sentence")
    for key in ("s", "f", "?", "i"):
        page.keyboard.press(key)
        expect(page.locator("dialog[open]")).to_have_count(1)
        page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
        look(key)
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
    press(page, "2")
    press(page, "u")
    look("an earlier answer")
    page.keyboard.press("Escape")
    expect_labels_saved(page)
    visitor.go("label_answers", label_round.study.public_id, label_round.public_id)
    look("all answers")


@pytest.mark.long
def test_all_levels_are_in_sight_on_a_phone_and_a_long_word_does_not_widen_it(
    visit, person, label_round
):
    comparison = label_round.items.first().argument.comparison
    comparison.object1 = "Donaudampfschifffahrtsgesellschaft" * 3
    comparison.save()
    visitor = visit(person, viewport={"width": 360, "height": 740})
    page = visitor.go("label", label_round.study.public_id, label_round.public_id)
    assert visitor.has_no_sideways_scroll()
    comparison.object1 = "tea"
    comparison.save()
    page.reload()
    press(page, "2")
    expect_labels_saved(page)
    last, bar = page.locator(".level").last.bounding_box(), page.locator(".tools").bounding_box()
    assert last["y"] + last["height"] <= bar["y"]
    # Words that pass lie over no level and no object.
    page.evaluate("tell('Too fast: this item had just appeared. Press again.')")
    words = page.locator(".toast").last.bounding_box()
    assert words["y"] + words["height"] <= page.locator("#item").bounding_box()["y"]
