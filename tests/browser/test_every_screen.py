"""Work pages on screens that hide something: forced colours, a phone, 400 % zoom."""

import re

import pytest
from playwright.sync_api import expect

from annotation.answers.models import Answer
from annotation.corpus.models import Argument, Comparison, Question
from argsum.auditing.models import AuditPair
from argsum.datasets.models import Cell, Comment, ReferenceKeyPoint
from argsum.keypoints.models import SystemSummary
from cqa_site.rounds.models import Round
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import give_list, make_scored_answers
from tests.cast import make_member, make_study
from tests.lengths import mostly
from .desk import press, press_and_leave
from .test_five_kinds import PAGES, WALKS

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LOOK = """each => {
  const style = getComputedStyle(each)
  return [style.borderTopWidth, style.borderTopStyle, style.borderTopColor,
    style.outlineWidth, style.outlineStyle, style.outlineColor].join()
}"""
BARS = """() => [...document.querySelectorAll('body *')]
  .filter(each => ['fixed', 'sticky'].includes(getComputedStyle(each).position)
    && !each.matches('.skip-link, .toasts') && each.checkVisibility())
  .reduce((sum, each) => sum + each.getBoundingClientRect().height, 0)"""
# Elements that are wider than what they stand in, where nothing scrolls.
WIDER = """main => [...main.querySelectorAll('*')].filter(each => {
    const box = each.getBoundingClientRect()
    return box.width && each.checkVisibility() && !each.closest('.visually-hidden, dialog')
      && (box.right > innerWidth + 1 || box.left < -1)
  }).map(each => `${each.tagName}.${each.className} ${each.textContent.trim().slice(0, 30)}`)"""
# What stands on a label or on points is their value.
HINTS = """() => [...document.querySelectorAll('kbd')]
  .filter(each => each.checkVisibility({visibilityProperty: true}))
  .filter(each => !each.closest('.level, .point'))
  .map(each => each.parentElement.textContent.trim())"""
# Pixels between the texts of every two parts of the bar that stand in one row.
BAR_GAPS = """() => {
  const boxes = [...document.querySelectorAll('.topbar .where, .topbar .who > *')]
    .map(part => {
      const text = document.createRange()
      text.selectNodeContents(part)
      return text.getBoundingClientRect()
    }).filter(box => box.width)
  return boxes.flatMap((a, at) => boxes.slice(at + 1)
    .filter(b => Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top) + 4)
    .map(b => Math.max(a.left, b.left) - Math.min(a.right, b.right)))
}"""
CUT = "e => [e.scrollWidth > e.clientWidth, e.scrollHeight > e.clientHeight + 1]"
LANGUAGE = "each => each.closest('[lang]').lang"
# What people read and judge, and, with enough text to tell it, its language.
TEXTS = {
    "label": ("[data-sentence], .chip", {""}),
    "edit": ("#text, [data-sentence]", {""}),
    "score": (".answer-text, .chip", {""}),
    "count": (".count-row legend span:last-child", {"en"}),
    "prefer": (".answer-text", {""}),
    "audit": (".said-comment, h1", {""}),
}
ANSWER = """**Summary:**\r
A kayak 🛶 is faster than a canoe [1], and a canoe carries more.\r
\r
- **Speed:** The narrow hull is quick [2].
- **Load:** Two people and a dog.

**Best Option:** kayak
"""


# An answer of 3,000 words, a sentence of 600 letters, and a word that cannot be broken.
WORD = "kayak" * 60
SENTENCE = ("A canoe carries more than a kayak does. " * 15)[:600]
ANSWER_TEXT = f"{WORD}\n\n{'A kayak is quick [1]. ' * 600}\n\n- {WORD} [1]\n"
CONTROLS = {
    "label": [".level", "#undo", "[data-open=skip]", "[data-open=flag]"],
    "edit": ["#text", "#comment", "#submit", ".reason-chip", "[data-open=guideline]"],
    "score": [".criterion.active .point", "#submit", "#step-on", "#whole"],
    "count": [".count-row.active .count-mark", ".count-statement select", "#submit"],
    "prefer": ["button[name=verdict]", "#comment", "[data-open=guideline]"],
    "audit": ["button[name=answer]", "#comment", "[data-open=guideline]"],
}
# What stands in the middle of what can be seen of an element.
ON_TOP = """each => {
  each.scrollIntoView({block: 'center', behavior: 'instant'})
  const box = each.getBoundingClientRect()
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)]
  const found = document.elementFromPoint((box.left + box.right) / 2, (top + bottom) / 2)
  return Boolean(found) && (each.contains(found) || found.contains(each))
}"""


def lengthen():
    Answer.objects.update(text=ANSWER_TEXT)
    half = list(Argument.objects.values_list("pk", flat=True)[::2])
    Argument.objects.filter(pk__in=half).update(text=SENTENCE)
    Argument.objects.exclude(text=SENTENCE).update(text=WORD)
    for number, pair in enumerate(Comparison.objects.all()):
        Comparison.objects.filter(pk=pair.pk).update(object1=f"{number}{WORD}"[:200])
    for model in (Comment, AuditPair):
        model.objects.update(text=f"{WORD} {SENTENCE}")
    for model in (ReferenceKeyPoint, SystemSummary):
        for number, each in enumerate(model.objects.all()):
            model.objects.filter(pk=each.pk).update(text=f"{number} {WORD} {SENTENCE}")
    Cell.objects.update(topic=WORD)


@pytest.fixture
def open_page(visit, server):
    """Open the work page of a kind, as a member of a new round of it."""

    def open_for(kind, is_long=False, **settings):
        walk, study = WALKS[kind], make_study()
        people = [make_member(study, walk.role, name) for name in ("Ann", "Ben")]
        made = walk.make(study, make_member(study, "researcher"), people)
        Round.objects.update(instructions="Look *closely*.")
        Question.objects.filter(pk__gt=1).update(wording="Boot oder Brett?")
        if is_long:
            lengthen()
        visitor = visit(people[0], **{"reduced_motion": "reduce"} | settings)
        visitor.go(PAGES[kind], study.public_id, made.public_id)
        if kind in ("score", "count"):
            expect(visitor.page.locator(".scripted .active")).to_have_count(1)
        return visitor

    return open_for


def look(page, selector):
    return page.locator(selector).first.evaluate(LOOK)


def choose(page, kind):
    """Choose something; returns what shows it, and the same not chosen."""
    if kind == "label":
        sentence = page.locator("[data-sentence]").inner_text()
        press(page, "1")
        expect(page.locator("[data-sentence]")).not_to_have_text(sentence)
        press(page, "u")
        expect(page.locator("[data-sentence]")).to_have_text(sentence)
        return ".level[aria-pressed=true]", ".level:not([aria-pressed=true])"
    if kind in ("prefer", "audit"):
        press_and_leave(page, "a" if kind == "prefer" else "1")
        press_and_leave(page, "u")
        return ".verdicts [aria-pressed=true]", ".verdicts [aria-pressed=false]"
    if kind == "edit":
        page.locator(".reason-chip").first.click()
        page.locator(".reason-chip input").first.blur()
        return ".reason-chip:has(:checked)", ".reason-chip:not(:has(:checked))"
    press(page, *(("1", "ArrowUp") if kind == "score" else ("1", "Shift+Digit1", "ArrowUp")))
    return {
        "score": ("#C1 .point:has(:checked)", "#C1 .point:not(:has(:checked))"),
        "count": ("#reference-0 .count-mark:has(:checked)", "#reference-1 .count-mark"),
    }[kind]


@pytest.mark.parametrize("kind", mostly(WALKS, "label", "count"))
def test_forced_colours_show_what_is_chosen_in_hand_and_not_saved(open_page, kind):
    visitor = open_page(kind, forced_colors="active")
    page = visitor.page
    chosen, other = choose(page, kind)
    assert look(page, chosen) != look(page, other)
    # Letters stay readable on the colour of what is chosen.
    colours = page.locator(chosen).first.evaluate(
        "each => [each, ...each.querySelectorAll('span, kbd')].map(e => getComputedStyle(e).color)"
    )
    assert len(set(colours)) == 1
    if kind in ("score", "count"):
        row = {"score": ".criterion", "count": ".count-row"}[kind]
        assert look(page, f"{row}.active") != look(page, f"{row}:not(.active)")
    before = look(page, "main button:not(:disabled):not([aria-pressed=true]):visible")
    page.locator("main button:not(:disabled):not([aria-pressed=true]):visible").first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert look(page, ":focus-visible") != before
    if kind != "label":
        states = "state => { document.querySelector('#saved').dataset.state = state }"
        page.evaluate(states, "saved")
        saved = look(page, "#saved")
        page.evaluate(states, "again")
        assert look(page, "#saved") != saved


@pytest.mark.long
@pytest.mark.parametrize("kind", WALKS)
def test_nothing_stays_over_the_work_in_a_low_window_and_the_bar_is_read_on_a_phone(
    open_page, kind
):
    visitor = open_page(kind, viewport={"width": 320, "height": 256})
    page = visitor.page
    assert page.evaluate(BARS) == 0
    assert visitor.has_no_sideways_scroll()
    texts, languages = TEXTS[kind]
    assert {each.evaluate(LANGUAGE) for each in page.locator(texts).all()} == languages
    assert page.locator(".topbar .where").bounding_box()["width"] > 50
    if kind != "label":
        assert page.locator("#saved").get_attribute("data-state") != "saved"
        assert "yet" in page.locator("#saved").inner_text()
    # On a phone the name of the round and the state are read in full.
    Round.objects.update(name="Score answers (demo)")
    page.set_viewport_size(PHONE["viewport"])
    page.reload()
    name = page.locator(".topbar .where span")
    expect(name).to_have_text("Score answers (demo)")
    assert name.evaluate(CUT) == [False, False]
    assert min(page.evaluate(BAR_GAPS)) > 4
    assert page.locator(".topbar .where a").bounding_box()["y"] >= 0
    if kind != "label":  # there is room for it in one line
        lines = page.locator("#saved [data-text]").evaluate("each => each.getClientRects().length")
        assert lines == 1


@pytest.mark.parametrize("kind", mostly(WALKS, "label"))
def test_a_finger_finds_everything_and_no_hint_of_a_key(open_page, kind):
    visitor = open_page(kind, **PHONE)
    assert "\n".join(visitor.small_targets(44)) == ""
    assert visitor.has_no_sideways_scroll()
    assert visitor.page.evaluate(HINTS) == [], "there is no keyboard"


@pytest.mark.parametrize("kind", mostly(WALKS, "score"))
def test_long_texts_stay_within_a_phone_and_leave_every_control_in_reach(open_page, kind):
    visitor = open_page(kind, is_long=True, **PHONE)
    page = visitor.page
    assert visitor.has_no_sideways_scroll()
    for name in CONTROLS[kind]:
        assert page.locator(name).first.evaluate(ON_TOP), name
    assert page.locator("main").evaluate(WIDER) == []
    if kind == "score":  # the question leaves room for the answer
        parts = [page.locator(f".reading{part}") for part in ("-head", "")]
        question, answer = (part.bounding_box() for part in parts)
        assert question["height"] < answer["height"] / 2


@pytest.fixture
def scoring(server):
    study = make_study()
    (answer,) = make_scored_answers(study, questions=1, systems=("Alpha",))
    answer.text = ANSWER
    give_list(answer, [f"A kayak is quick on river {number}. " * 6 for number in range(20)])
    return make_round(study, make_member(study, "researcher"))


@pytest.fixture
def phone(visit, scoring):
    visitor = visit(make_member(scoring.study, "annotator"), **PHONE)
    visitor.go("score", scoring.study.public_id, scoring.public_id)
    expect(visitor.page.locator(".scripted .active")).to_have_count(1)
    return visitor


def expect_uncovered(page, selector):
    """It is in the window, and neither the answer nor a bar stands over it."""
    page.wait_for_function(
        """selector => {
          const [each] = document.querySelectorAll(selector)
          const box = each.getBoundingClientRect()
          return [box.top + 2, box.bottom - 2].every(
            y => each.contains(document.elementFromPoint(box.left + 5, y)))
        }""",
        arg=selector,
    )


def swipe(page, by):
    """A finger that moves across the form."""
    page.locator(".criterion.active legend").evaluate(
        """(each, by) => {
          const at = x => new Touch({identifier: 1, target: each, clientX: x, clientY: 500})
          const tell = (name, x) => each.dispatchEvent(new TouchEvent(name, {bubbles: true,
            touches: name === 'touchstart' ? [at(x)] : [], changedTouches: [at(x)]}))
          tell('touchstart', 180)
          tell('touchend', 180 + by)
        }""",
        by,
    )


@pytest.mark.long
def test_answer_and_criterion_stand_together_on_a_phone(phone):
    page = phone.page
    expect(page.locator("#C1 .point").first).to_be_in_viewport()
    expect(page.locator("#answer h3").first).to_be_in_viewport(ratio=1)
    expect(page.locator("#C2")).to_be_hidden()
    page.get_by_role("button", name="Next criterion").tap()
    expect(page.locator("#C1")).to_be_hidden()
    expect(page.locator("#step-at")).to_have_text("2/15")
    swipe(page, -120)
    expect_uncovered(page, "#C3 legend")
    swipe(page, 120)
    page.get_by_role("button", name="Previous criterion").tap()
    expect(page.get_by_role("button", name="Previous criterion")).to_be_disabled()
    # A point leads on by itself, and the answer stays above the next criterion.
    page.locator("#C1 .point").nth(1).tap()
    expect_uncovered(page, "#C2 legend")
    expect(page.locator("#answer h3").first).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name=re.compile("Jump to a criterion")).tap()
    page.locator("#jump-number").fill("15")
    page.keyboard.press("Enter")
    expect_uncovered(page, "#C15 legend")
    page.locator("#C15 .unable").tap()
    expect_uncovered(page, "#unable-C15")
    # The key of a reason stands before it.
    options = page.locator("#unable-C15 option")
    texts = options.evaluate_all("all => all.map(each => each.text)")
    assert [text[:4] for text in texts] == ["1 · ", "2 · ", "3 · ", "4 · "]
    assert phone.axe() == []
    assert phone.has_no_sideways_scroll()
    # The whole answer and a cited argument are one press away.
    whole = page.get_by_role("button", name="Whole answer")
    expect(page.get_by_text("kayak", exact=True)).not_to_be_in_viewport()
    whole.tap()
    expect(whole).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#answer strong").last).to_be_in_viewport(ratio=1)
    page.locator("#answer a.cited").first.tap()
    expect(whole).to_have_attribute("aria-expanded", "false")
    expect_uncovered(page, "#arguments .current [data-sentence]")
    expect(page.locator("#arguments li:visible")).to_have_count(1)
    page.get_by_role("button", name="Show all").tap()
    expect(page.locator("#arguments li:visible")).to_have_count(20)


@pytest.mark.long
def test_places_are_those_of_the_stored_text_though_headings_and_lists_are_shown(visit, scoring):
    visitor = visit(make_member(scoring.study, "annotator"))
    page = visitor.go("score", scoring.study.public_id, scoring.public_id)
    expect(page.locator(".scripted .active")).to_have_count(1)
    assert page.locator(".answer-text").evaluate("each => each.textContent") == ANSWER
    page.get_by_role("button", name=re.compile("2 citations")).click()
    expect(page.locator("#answer mark")).to_have_text(["[", "1", "]", "[", "2", "]"])
    expect(page.locator("#answer li")).to_have_count(2)
    assert "*" not in page.locator("#answer").inner_text()


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "box"),
    [("label", ".chip"), ("score", ".chip"), ("prefer", ".side h2"), ("score", ".hints .badge")],
)
def test_what_has_a_ground_has_a_line_in_forced_colours(open_page, kind, box):
    page = open_page(kind, forced_colors="active").page
    style = "each => { const it = getComputedStyle(each); return [it.borderTopWidth, it.opacity] }"
    assert page.locator(box).first.evaluate(style) == ["1px", "1"]
    if kind == "label":
        left = [page.locator(each).bounding_box()["x"] for each in (".levels", ".tools")]
        assert left[0] == left[1]
