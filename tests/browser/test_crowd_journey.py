"""From a crowd link to the completion code: every kind, by touch on a phone and by keyboard."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.labelling.models import Assignment
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import COUNTED, Participant, StepResult, SurveyResponse
from cqa_site.rounds.onboarding.forms import LEFT_OPEN, STARTS
from tests.cast import make_label_round
from tests.people.crowd import CODES, IDS, create_link
from tests.rounds.made_work import SERVED, World
from tests.rounds.onboarding.made_steps import NONE, attach, make_version

pytestmark = [pytest.mark.browser, pytest.mark.long]

QUALIFIES = {"qualification": 1, "qualification_right": 1, "qualification_attempts": 2}
TRAINS = {"label": {"training": 1}, "score": {"training": 1} | QUALIFIES}
ITEMS = 2
# What answers an item at once: by touch, and by a key.
ONE_PRESS = {
    "label": (".level >> nth=1", "1"),
    "prefer": ("[name=verdict][value=left]", "a"),
    "audit": ("[name=answer] >> nth=0", "1"),
}
# Whether the focus can be seen: on the element, or on the label that stands for it.
FOCUS = """() => [document.activeElement, document.activeElement.closest('label')].some(
  each => each && each !== document.body && getComputedStyle(each).outlineStyle !== 'none')"""


class Hand:
    """Somebody before the screen; a press that leads on waits for the next page."""

    def __init__(self, visitor):
        self.visitor, self.page = visitor, visitor.page

    def press(self, selector):
        with self.page.expect_navigation():
            self.touch(selector)
        self.look()

    def look(self):
        assert self.visitor.has_no_sideways_scroll()


class Phone(Hand):
    settings = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}
    settings |= {"has_touch": True, "is_mobile": True}

    def touch(self, selector):
        self.page.locator(selector).first.tap()

    def choose(self, name, text):
        self.page.locator(f"label:has([name={name}])", has_text=text).tap()

    def answer(self, name):
        self.touch(ONE_PRESS[name][0])

    def score(self, points):
        for key, number in points.items():
            self.touch(f"#{key} .point >> nth={number}")
        self.touch("#submit")

    def count(self):
        for choice in self.page.locator("label:has([value=none])").all():
            choice.tap()
        for select in self.page.locator("select:visible").all():
            select.select_option(index=1)
        self.touch("#submit")


class Keyboard(Hand):
    settings = {"color_scheme": "light"}

    def reach(self, selector):
        for _ in range(80):
            if self.page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
                return
            self.keys("Tab")
            assert self.page.evaluate(FOCUS)
        raise AssertionError(f"no Tab key reaches {selector} on {self.page.url}")

    def touch(self, selector):
        self.reach(selector)
        self.keys("Enter")

    def choose(self, name, text):
        self.reach(f"[name={name}]")
        self.keys("Space")
        chosen = self.page.locator(f"label:has([name={name}]:checked)")
        for _ in range(4):
            self.keys(*["ArrowDown"] * (text not in chosen.inner_text()))
        assert text in chosen.inner_text()

    def keys(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def answer(self, name):
        self.keys(ONE_PRESS[name][1])

    def score(self, points):
        self.keys(*map(str, points.values()), "Enter")

    def count(self):
        self.keys("Shift+Digit1", "1", "3", "1", "b", "p", "2", "Enter")


def most_points(world):
    return {each.key: each.maximum for each in world.round.rubric.rubric.criteria}


def make_crowd_world(name):
    """An open round with the steps of the template for crowd studies, and a link into it."""
    world = World(name, opens=False)
    if name == "label":
        make_label_round(world.study, name="Earlier", ordinary=1, controls=3, state="closed")
    elif name == "score":
        examples = world.round.items.filter(position__lte=2)
        assert examples.update(key_points=most_points(world)) == 2
    fields = NONE | STARTS["crowd"]["fields"] | {"reads": "on"} | TRAINS.get(name, {})
    fields["consent"] = LEFT_OPEN.sub("15", fields["consent"])
    attach(world.round, make_version(world.study, world.researcher, **fields))
    open_round(round_=world.round, actor=world.researcher)
    return world, create_link(world.round, world.researcher, required_items=ITEMS)[1]


def pass_steps(hand, name):
    """Consent, screening, a quiz that fails at first, and a wrong answer in the training."""
    page = hand.page
    expect(page).to_have_title(re.compile("^Consent"))
    hand.press("[value=agree]")
    hand.choose("q0", "It is my first language")
    hand.press("[value=next]")
    for wrong in (True, False):
        hand.choose("q0", "Only what the item says")
        hand.choose("q1", "Choose an answer at random" if wrong else "Say so, or skip")
        hand.press("[value=next]")
        told = "You have 1 attempt left." if wrong else "All answers are right."
        expect(page.locator("main")).to_contain_text(told)
        expect(page.locator("main")).to_contain_text(re.compile(r"Step 3 of \d"))
        hand.press("main a.primary")
    if name == "label":
        if isinstance(hand, Keyboard):
            page.keyboard.press("0")
            page.keyboard.press("Enter")
        else:
            hand.choose("label", "0 ·")
            hand.press("[value=next]")
        expect(page.locator("main")).to_contain_text(re.compile(r"Step 4 of 4[\s\S]*Not right"))
        hand.press("main a.primary")


def train_on_sheets(hand, world):
    """Practice, an attempt at the qualification that fails, and one that passes."""
    notice, best = hand.page.locator("main .notice").first, most_points(world)
    expect(notice).to_contain_text("you cannot fail")
    hand.score(none := dict.fromkeys(best, 0))
    expect(hand.page.locator("#feedback-title")).to_have_text(
        re.compile(r"Practice 1\s+Not right")
    )
    hand.press("#go-on")
    expect(notice).to_contain_text("Attempt 1 of 2")
    hand.score(none)
    expect(notice).to_contain_text(re.compile("you matched 0 %[^!]*Attempt 2 of 2"))
    hand.score(best)
    expect(notice).to_contain_text("You passed the qualification: 100 %")


@pytest.mark.parametrize("person", [Phone, Keyboard])
@pytest.mark.parametrize("name", ["label", *SERVED])
def test_from_the_link_to_the_code(visit, server, name, person):
    world, secret = make_crowd_world(name)
    visitor = visit(None, is_new=True, **person.settings)
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hand, page = person(visitor), visitor.page
    query = "&".join(f"{key}={value}" for key, value in IDS.items())
    page.goto(f"{server}{reverse('join', args=[secret])}?{query}")
    expect(page.locator("main")).to_contain_text(re.compile(r"Consent\s+·\s+Screening\s+·"))
    hand.press("main form button")
    pass_steps(hand, name)
    if name == "score":
        train_on_sheets(hand, world)
    for done in range(ITEMS):
        expect(page.locator("header.topbar")).to_contain_text(f"{done} / {ITEMS} done")
        hand.look()
        do = {"count": hand.count, "score": lambda: hand.score(most_points(world))}
        do.get(name, lambda: hand.answer(name))()
    expect(page.locator("h1")).to_have_text("That was everything. Thank you!")
    hand.press("main form button")
    expect(page.locator("h1")).to_have_text("Survey")
    hand.choose("q1", "Mostly clear")
    hand.press("main form button")
    expect(page.locator("#code")).to_have_value(CODES["completed_code"])
    hand.touch("[data-copy]")
    expect(page.locator("#toasts")).to_have_text("Code copied.")
    assert page.evaluate("navigator.clipboard.readText()") == CODES["completed_code"]
    assert Participant.objects.get().outcome == "completed"
    assert SurveyResponse.objects.get().answers["q1"] == "1"
    assert StepResult.objects.filter(step="reading").count() == 2
    labels = Assignment.objects.filter(state="answered")
    done = labels if name == "label" else world.kind.Sheet.objects.filter(COUNTED)
    assert done.count() == ITEMS
