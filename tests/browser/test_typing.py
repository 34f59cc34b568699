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
