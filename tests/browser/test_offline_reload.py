"""A reload without a connection shows the last work page as it was, and nobody else's."""

import re

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from annotation.labelling.models.votes import Assignment
from benchmark.scoring.models.sheets import KeptScore, ScoreSheet
from cqa_site.rounds.opening import open_round
from tests.annotation import editing_cast
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_campaign, make_member, make_study

pytestmark = pytest.mark.browser


def kept(page):
    """Addresses that the worker keeps, static files aside."""
    return page.evaluate(
        """async () => (await (await caches.open('counterpoint-work')).keys())
        .map(each => each.url).filter(url => !url.includes('/static/'))"""
    )


def open_kept(visitor, name, *args):
    """Open a work page and wait until the worker has it."""
    page = visitor.go(name, *args)
    page.on("dialog", lambda dialog: dialog.accept())
    page.wait_for_function(
        """async () => navigator.serviceWorker.controller
        && Boolean(await caches.match(location.href))"""
    )
    return page


def quiet(visitor):
    """The browser itself logs what it could not load."""
    visitor.context.close()
    visitor.console.clear()


def scoring(study):
    make_scored_answers(study, questions=3, systems=("Alpha",))
    return make_round(study, make_member(study, "researcher"))


def press(page, keys):
    for key in keys:
        page.keyboard.press(key)


def test_a_sheet_goes_on_where_it_was(visit, server):
    study = make_study()
    made = scoring(study)
    visitor = visit(make_member(study, "annotator"), service_workers="allow")
    page = open_kept(visitor, "score", study.public_id, made.public_id)
    press(page, "10")
    expect(page.locator("#saved [data-text]")).to_contain_text("Saved")
    visitor.context.set_offline(True)
    press(page, "1")
    expect(page.locator("#saved")).to_have_attribute("data-state", "again")
    page.reload()
    expect(page.locator(".criterion.active")).to_have_attribute("data-key", "C4")
    expect(page.locator("#total")).to_have_text("2")
    press(page, "1")
    visitor.context.set_offline(False)
    expect(page.locator("#saved [data-text]")).to_contain_text("Saved")
    expect(page.locator("#total")).to_have_text("3")
    assert ScoreSheet.objects.get().draft["points"] == {"C1": 1, "C2": 0, "C3": 1, "C4": 1}
    assert not KeptScore.objects.exists()
    quiet(visitor)


def test_labels_go_on_where_they_were(visit, server):
    study = make_study()
    campaign = make_campaign(study, ordinary=12, controls=2)
    open_round(round_=campaign, actor=make_member(study, "researcher"))
    visitor = visit(make_member(study, "annotator"), service_workers="allow")
    page = open_kept(visitor, "label", study.public_id, campaign.public_id)
    sentence = page.locator("[data-sentence]")
    seen = []
    for key in "12":
        seen.append(sentence.inner_text())
        press(page, key)
        expect(sentence).not_to_have_text(seen[-1])
    expect(page.locator("#saved")).to_have_text("All answers saved")
    visitor.context.set_offline(True)
    seen.append(sentence.inner_text())
    press(page, "3")
    expect(sentence).not_to_have_text(seen[-1])
    here = sentence.inner_text()
    page.reload()
    expect(sentence).to_have_text(here)
    expect(page.locator("#trouble")).to_contain_text("Not saved yet: 1 answer")
    visitor.context.set_offline(False)
    expect(page.locator("#saved")).to_have_text("All answers saved")
    expect(page.locator("#progress")).to_contain_text("3 / 14 done")
    expect(sentence).to_have_text(here)
    rows = Assignment.objects.filter(state="answered").order_by("answered_at")
    assert list(rows.values_list("item__argument__text", "label")) == list(
        zip(seen, (1, 2, 3), strict=True)
    )
    quiet(visitor)


def test_a_text_goes_on_where_it_was(visit, server):
    study = make_study()
    editing_cast.make_answers(study, questions=1)
    person = make_member(study, "expert")
    made = editing_cast.make_round(study, people=[person], individual=0)
    visitor = visit(person, service_workers="allow")
    page = open_kept(visitor, "desk", study.public_id, made.public_id)
    visitor.context.set_offline(True)
    page.locator("#text").press("Control+End")
    page.keyboard.type(" Written offline.")
    expect(page.locator("#saved")).to_contain_text("No connection")
    page.reload()
    expect(page.locator("#text")).to_have_value(re.compile(r"Written offline\.$"))
    visitor.context.set_offline(False)
    expect(page.locator("#saved [data-text]")).to_contain_text("Saved")
    expect(page.locator("#text")).to_have_value(re.compile(r"Written offline\.$"))
    quiet(visitor)


def test_signing_out_forgets_the_page_and_other_pages_are_never_kept(visit, server):
    study = make_study()
    made = scoring(study)
    visitor = visit(make_member(study, "annotator"), service_workers="allow")
    page = open_kept(visitor, "score", study.public_id, made.public_id)
    address = page.url
    visitor.go("score_own", study.public_id, made.public_id)
    visitor.go("study", study.public_id)
    assert kept(page) == [address]
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.wait_for_function("async () => !(await caches.has('counterpoint-work'))")
    visitor.context.set_offline(True)
    with pytest.raises(PlaywrightError, match=r"ERR_INTERNET_DISCONNECTED|ERR_FAILED"):
        page.goto(address)
    quiet(visitor)
