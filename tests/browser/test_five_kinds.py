"""Every kind of work by keyboard alone: two people, from their first page to what figures say."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.editing.models import Revision
from annotation.labelling.models import Assignment
from argsum.auditing.models import AuditSheet
from argsum.counting.models import CountSheet
from benchmark.preferences.kind import turned
from benchmark.preferences.models import PreferenceSheet
from benchmark.scoring.models import ScoreSheet
from cqa_site.rounds.lifecycle import close_round
from tests.benchmark.preferences.made_preferences import make_pairs
from tests.cast import make_member, make_study, sign_in
from tests.lengths import mostly
from .desk import auditing, counting, editing, labelling, press, press_and_leave, scoring, sentence

pytestmark = pytest.mark.browser

NAMES = ("Ann", "Ben")


def tab_to(page, selector):
    """Go on with the Tab key until something like that has the focus."""
    for _ in range(80):
        press(page, "Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not reach {selector}")


def label(page, person):
    for number in range(5):
        before = sentence(page)
        press(page, ("3", "2")[person] if number else "1")
        if number < 4:
            expect(page.locator("[data-sentence]")).not_to_have_text(before)
    expect(page.get_by_role("heading")).to_have_text("That was everything. Thank you!")


def labels():
    return Counter(Assignment.objects.values_list("rater__user__name", "label"))


def edit(page, person):
    tab_to(page, "#text")
    press(page, "Control+End")
    page.keyboard.type((" or coffee.", " at last.")[person])
    tab_to(page, "[name=reasons][value=choice]")
    press(page, "Space", "Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("Submitted as revision 1.")


def revisions():
    rows = Revision.objects.select_related("sheet__rater__user")
    return Counter(
        (each.sheet.rater.user.name, each.text.splitlines()[-1], *each.reasons) for each in rows
    )


def score(page, person):
    for _turn in range(4):
        expect(page.locator(".scripted .active")).to_have_count(1)
        press(page, *"1101111" + "1222" + ("2111", "0110")[person])
        expect(page.locator("#left")).to_have_text("All criteria done")
        press_and_leave(page, "Enter")


def totals():
    rows = ScoreSheet.objects.filter(state="submitted")
    return Counter(rows.values_list("rater__user__name", "total", "points__C12"))


def count(page, person):
    for _turn in range(2):
        expect(page.locator(".scripted .active")).to_have_count(1)
        # Covered by summary 1, and not (or partly); three statements, the third again in part.
        press(page, "Shift+Digit1", "1", ("3", "2")[person])
        press_and_leave(page, "1", "b", "p", "2", "Enter")


def counts():
    rows = CountSheet.objects.filter(state="submitted")
    return Counter(rows.values_list("rater__user__name", "covered", "unique"))


def prefer(page, person):
    for key in ("t", "n", *("aa", "ab")[person]):
        press(page, "r")
        page.keyboard.type("Clearer.")
        press_and_leave(page, "Escape", key)


def verdicts():
    """As they were typed: about the sides of the page."""
    rows = PreferenceSheet.objects.filter(state="submitted").select_related("rater__user")
    return Counter(
        (each.rater.user.name, turned(each.verdict, is_swapped=each.is_swapped), each.comment)
        for each in rows
    )


def check(page, person):
    for key in ("1", "2", "3", ("4", "1")[person]):
        press_and_leave(page, key)


def answers():
    rows = AuditSheet.objects.filter(state="submitted")
    return Counter(rows.values_list("rater__user__name", "answer"))


@dataclass(frozen=True)
class Walk:
    """``figures`` are names of pages with what stands there when both people are done."""

    make: Callable[..., Any]
    work: Callable[..., None]
    stored: Callable[[], Counter]
    typed: dict[tuple, int]
    figures: dict[str, str]
    role: str = "annotator"


WALKS = {
    "label": Walk(
        lambda *args: labelling(*args[:2], ordinary=4, votes_per_item=2),
        label,
        labels,
        {("Ann", 1): 1, ("Ann", 3): 4, ("Ben", 1): 1, ("Ben", 2): 4},
        {"figures": "5 items with two or more votes · 2 annotators · 10 votes"},
    ),
    "edit": Walk(
        lambda study, boss, people: editing(study, boss, people=people, questions=1),
        edit,
        revisions,
        {("Ann", "Tea or coffee.", "choice"): 1, ("Ben", "Tea at last.", "choice"): 1},
        {"expert_agreement": "37 → 39"},
        role="expert",
    ),
    "score": Walk(
        lambda *args: scoring(*args[:2], overlap_share=1.0),
        score,
        totals,
        {("Ann", 18, 2): 4, ("Ben", 15, 0): 4},
        {"scores": r"Alpha\s+1\s+16\.500", "score_agreement": "8 sheets"},
    ),
    "count": Walk(
        lambda *args: counting(*args[:2], raters=2),
        count,
        counts,
        {("Ann", 1, 1.5): 2, ("Ben", 1.5, 1.5): 2},
        {"key_points": r"0\.583\s+0\.625\s+0\.500", "summary_people": r"Ann\s+Ben\s+2\s"},
    ),
    "prefer": Walk(
        lambda *args: make_pairs(*args[:2], raters=2),
        prefer,
        verdicts,
        Counter(
            [(name, said, "Clearer.") for name in NAMES for said in ("tie", "both_bad", "left")]
            + [("Ann", "left", "Clearer."), ("Ben", "right", "Clearer.")]
        ),
        {"preferences": "8 verdicts by 2 people on 4 pairs from 4 questions"},
    ),
    "audit": Walk(
        lambda *args: auditing(*args[:2], size=4, raters=2),
        check,
        answers,
        {("Ann", answer): 1 for answer in ("makes", "partly", "not", "opposite")}
        | {("Ben", "makes"): 2, ("Ben", "partly"): 1, ("Ben", "not"): 1},
        {"analysis_audit": r"4 of 4 drawn pairs[^.]*8 answers\s+by 2 people"},
    ),
}


PAGES = {
    "label": "label", "edit": "desk", "score": "score", "count": "count", "prefer": "prefer",
    "audit": "point_check",
}  # fmt: skip
OF_A_ROUND = ("figures", "expert_agreement")


@pytest.mark.parametrize("kind", mostly(WALKS, "label", "score"))
def test_two_people_by_keyboard_alone(visit, server, kind):
    walk, study = WALKS[kind], make_study()
    boss = make_member(study, "researcher")
    people = [make_member(study, walk.role, name) for name in NAMES]
    made = walk.make(study, boss, people)
    for number, user in enumerate(people):
        page = visit(user).go("study", study.public_id)
        tab_to(page, "main a.button.primary")
        press_and_leave(page, "Enter")
        walk.work(page, number)
    assert walk.stored() == walk.typed
    close_round(round_=made, actor=boss)
    researcher, asking = visit(boss), sign_in(boss)
    for name, words in walk.figures.items():
        of = {"analysis_audit": study.analyses.first()} | dict.fromkeys(OF_A_ROUND, made)
        place = [study.public_id, *([of[name].public_id] if name in of else [])]
        # Whoever comes first asks for the figures.
        asking.get(reverse(name, args=place))
        page = researcher.go(name, *place)
        expect(page.locator("main")).to_contain_text(re.compile(words))
