"""Rounds of every kind of work, somebody who works in them, and what tests of them press."""

import re

from playwright.sync_api import expect

from annotation.labelling.actions import rounds as label_rounds
from cqa_site.people.models import User
from cqa_site.rounds.lifecycle import open_round
from tests.annotation import editing_cast
from tests.argsum.auditing.made_auditing import make_analysis, open_audit
from tests.argsum.counting.made_counting import open_counting
from tests.argsum.made_cells import make_dataset, make_set
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import make_pairs
from tests.cast import make_label_round, make_member, make_study


def with_guideline(label_round):
    """The same round with the levels and the guideline that a new round begins with."""
    label_round.guideline = label_rounds.default_guideline(label_round.study)
    label_round.guideline.levels = label_rounds.default_levels()
    label_round.guideline.body = label_rounds.default_body()
    label_round.guideline.save()
    label_round.save()
    return label_round


def labelling(study, boss, *, instructions="", **fields):
    usual = {"ordinary": 12, "controls": 1, "votes_per_item": 1}
    made = make_label_round(study, **usual | fields)
    if instructions:
        made.guideline.body = instructions
        made.guideline.save()
    open_round(round_=made, actor=boss)
    return made


def editing(study, _boss, *, people=(), questions=2, **fields):
    editing_cast.make_answers(study, questions=questions)
    people = people or [make_member(study, "expert", "Eve")]
    return editing_cast.make_round(study, people=people, individual=0, **fields)


def scoring(study, boss, **fields):
    make_scored_answers(study, questions=2)
    return make_round(study, boss, **fields)


def counting(study, boss, *, instructions="", **fields):
    for cell in make_dataset(study).cells.all():
        make_set(cell)
    made = open_counting(study, boss, **fields)
    type(made).objects.filter(pk=made.pk).update(instructions=instructions)
    return made


def auditing(study, boss, **fields):
    make_analysis(study)
    return open_audit(study, boss, **fields)


MAKE = {
    "label": labelling, "score": scoring, "count": counting, "prefer": make_pairs, "edit": editing,
}  # fmt: skip


class Desk:
    """One annotator of a round of one kind, on one or more pages."""

    def __init__(self, visit, kind, *, instructions="Read both sides first.", **settings):
        self.study = make_study()
        self.boss = make_member(self.study, "researcher")
        self.made = MAKE[kind](self.study, self.boss, instructions=instructions)
        is_expert = kind == "edit"
        people = User.objects.filter(name="Eve")
        self.person = people.get() if is_expert else make_member(self.study, "annotator")
        self.visitor = visit(self.person, **settings)
        name = "desk" if is_expert else kind
        self.page = self.visitor.go(name, self.study.public_id, self.made.public_id)
        self.context = self.visitor.context

    def another_tab(self):
        page = self.context.new_page()
        page.goto(self.page.url)
        return page

    def offline(self):
        self.context.set_offline(True)

    def online(self):
        self.context.set_offline(False)

    def quiet(self):
        quiet(self.visitor)


def quiet(visitor):
    """The browser itself logs what it could not load."""
    visitor.context.close()
    visitor.console.clear()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def press_and_leave(page, *keys):
    """Press keys, the last of which leads to another page."""
    before = page.url
    press(page, *keys)
    page.wait_for_url(lambda url: url != before)


def sentence(page):
    return page.locator("[data-sentence]").inner_text()


def expect_labels_saved(page, **options):
    expect(page.locator("#saved")).to_have_text("All answers saved", **options)


def expect_saved(page, **options):
    """Of a draft."""
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved", **options)
    words = re.compile(r"^Draft saved \d+ s ago")
    expect(page.locator("#saved [data-text]")).to_have_text(words)


def kept(page):
    """Addresses that the worker of the browser keeps, static files aside."""
    return page.evaluate(
        """async () => (await (await caches.open('counterpoint-work')).keys())
        .map(each => each.url).filter(url => !url.includes('/static/'))"""
    )


def until(page, wanted):
    """Wait until the worker keeps just these."""
    for _turn in range(100):
        if kept(page) == wanted:
            return
        page.wait_for_timeout(50)
    assert kept(page) == wanted


def open_kept(visitor, name, *args):
    """Open a work page and wait until the worker has it."""
    page = visitor.go(name, *args)
    page.on("dialog", lambda dialog: dialog.accept())
    until(page, [page.url])
    return page
