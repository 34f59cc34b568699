"""How texts are typed, as a real browser counts it."""

import pytest

from cqa_site.rounds.models import TypedText
from cqa_site.rounds.onboarding.actions import take_step
from tests.rounds.made_work import World
from tests.rounds.onboarding.made_steps import NONE, RIGHT, attach, make_version, place_of

pytestmark = [pytest.mark.browser, pytest.mark.long]
PASTE = """() => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", "pasted words");
  const field = document.activeElement;
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  field.value += "pasted words";
  field.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }));
}"""


def make_world():
    world = World("score")
    fields = NONE | {"consent": "We store answers.", "typing": "on"}
    attach(world.round, make_version(world.study, world.researcher, **fields))
    place, agreed = place_of(world), RIGHT["consent"]
    take_step(round_=place.round, place=place, kind="consent", answers=agreed, started_at=None)
    return world


def test_keys_and_pastes_of_a_comment_are_counted(world, visit):
    visitor = visit(world.people[0])
    page = visitor.page
    page.goto(visitor.server + world.address(""))
    page.get_by_label("Comment on the answer").click()
    page.keyboard.type("Good", delay=20)
    page.evaluate(PASTE)
    page.goto(visitor.server)
    page.wait_for_timeout(500)
    row = TypedText.objects.get()
    assert (row.typed, row.pasted, row.pastes, row.filled_trap) == (4, 12, 1, False)
    assert 40 <= row.typing_ms <= 6_000


# Another tab comes to the front, and the page again.
LEAVE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# Somebody pastes where no text is.
PASTE_OUTSIDE = """() => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", "many words ".repeat(50));
  document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
}"""


def counts():
    rows = TypedText.objects.order_by("pk")
    return list(rows.values_list("typed", "pasted", "inserted"))


def test_composed_words_are_counted_once_and_a_text_stays_one(world, visit):
    visitor = visit(world.people[0])
    page = visitor.page
    page.goto(visitor.server + world.address(""))
    comment = page.get_by_label("Comment on the answer")
    comment.click()
    browser = page.context.new_cdp_session(page)
    for word in ("n", "ni", "nih", "niha", "nihao"):
        at = {"text": word, "selectionStart": len(word), "selectionEnd": len(word)}
        browser.send("Input.imeSetComposition", at)
    browser.send("Input.insertText", {"text": "你好"})
    page.evaluate(PASTE_OUTSIDE)
    page.keyboard.type("ab")
    page.evaluate(LEAVE)
    page.wait_for_timeout(300)
    page.keyboard.press("Backspace")
    page.keyboard.type("cd")
    page.evaluate(LEAVE)
    page.wait_for_timeout(300)
    assert counts() == [(4, 0, 2)]
    # The page brings the next item.
    comment.evaluate("field => { field.value = '' }")
    page.keyboard.type("e")
    page.evaluate(LEAVE)
    page.wait_for_timeout(300)
    assert counts() == [(4, 0, 2), (1, 0, 0)]


def test_keys_replace_a_selection_and_no_key_reaches_the_trap(world, visit):
    visitor = visit(world.people[0])
    page = visitor.page
    page.goto(visitor.server + world.address(""))
    page.get_by_label("Comment on the answer").click()
    page.keyboard.type("one two")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+X")
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+Z")
    page.keyboard.type("!")
    for _ in range(60):
        page.keyboard.press("Tab")
        assert not page.evaluate("document.activeElement.closest('[aria-hidden]')")
    page.evaluate(LEAVE)
    page.wait_for_timeout(300)
    assert counts() == [(8, 14, 0)]


BUTTON = """() => {
  const number = document.querySelector("#jump-number");
  number.value = "12";
  const typed = { inputType: "insertText", data: "2", bubbles: true };
  number.dispatchEvent(new InputEvent("input", typed));
  const comment = document.querySelector("textarea[name=comment]");
  comment.value = "A draft of many words.";
  comment.focus();
  document.execCommand("insertText", false, "[1] ");
}"""


def test_numbers_are_no_texts_and_what_a_page_inserts_is_not_all_there_is(world, visit):
    visitor = visit(world.people[0])
    page = visitor.page
    page.goto(visitor.server + world.address(""))
    page.evaluate(BUTTON)
    page.evaluate(LEAVE)
    page.wait_for_timeout(300)
    assert counts() == [(0, 0, 4)]
