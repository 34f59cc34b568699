"""A reload without a connection shows the last work page with what was entered, to nobody else."""

import re
from datetime import timedelta

import pytest
from django.core.signals import request_started
from django.utils import timezone
from playwright.sync_api import Error as PlaywrightError, expect

from benchmark.scoring.models import ConflictingScore, ScoreSheet
from cqa_site.rounds.crowd.participants import create_link
from tests.cast import make_member, make_study
from .desk import MAKE, editing, labelling, open_kept, press, quiet, until

pytestmark = pytest.mark.browser
VALUES = "fields => fields.map(each => `${each.name}=${each.value}`).join()"


def at_work(visit, kind="score"):
    """A visitor at a page that the worker keeps, and the round."""
    study = make_study()
    made = MAKE[kind](study, make_member(study, "researcher"))
    visitor = visit(make_member(study, "annotator"), service_workers="allow")
    open_kept(visitor, kind, study.public_id, made.public_id)
    return visitor, made


def test_a_sheet_goes_on_where_it_was(visit, server):
    visitor, _round = at_work(visit)
    page = visitor.page
    press(page, *"10")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    visitor.context.set_offline(True)
    press(page, "1")
    expect(page.locator("#saved")).to_have_attribute("data-state", "again")
    page.reload()
    expect(page.locator(".criterion.active")).to_have_attribute("data-key", "C4")
    expect(page.locator("#total")).to_have_text("2")
    press(page, "1")
    visitor.context.set_offline(False)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#total")).to_have_text("3")
    assert ScoreSheet.objects.get().draft["points"] == {"C1": 1, "C2": 0, "C3": 1, "C4": 1}
    assert not ConflictingScore.objects.exists()
    quiet(visitor)


@pytest.mark.long
def test_the_next_sheet_comes_with_the_reply_to_the_last_one(visit, server):
    visitor, _round = at_work(visit)
    page = visitor.page
    before, asked = page.url, []

    def note(environ, **_kwargs):
        asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))

    request_started.connect(note)
    try:
        press(page, *"1" * 15, "Control+Enter")
        page.wait_for_url(re.compile("^(?!" + re.escape(before) + "$)"))
        expect(page.locator("#total")).to_have_text("0")
    finally:
        request_started.disconnect(note)
    visits = [path for method, path in asked if method == "GET" and "/sheets/" in path]
    assert visits == [], "the worker had the page"
    # A page like any other: it is kept, takes keys, and a reload asks the server.
    until(page, [page.url])
    press(page, "1")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    page.reload()
    expect(page.locator("#total")).to_have_text("1")
    assert page.locator("html[data-kept]").count() == 0
    quiet(visitor)


# What is typed without a connection, and where it stands.
OTHERS = {
    "count": (("Shift+Digit1",), "form[data-sheet] :checked"),
    "prefer": (("r", "C", "l", "e", "a", "r"), "form[data-sheet] textarea"),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", OTHERS)
def test_other_sheets_go_on_where_they_were(visit, server, kind):
    keys, place = OTHERS[kind]
    visitor, _made = at_work(visit, kind)
    page = visitor.page
    visitor.context.set_offline(True)
    before = page.eval_on_selector_all(place, VALUES)
    press(page, *keys)
    expect(page.locator("#saved")).to_have_attribute("data-state", "again")
    typed = page.eval_on_selector_all(place, VALUES)
    assert typed != before
    page.reload()
    expect(page.locator(place).first).to_be_attached()
    page.wait_for_function(
        f"typed => ({VALUES})([...document.querySelectorAll('{place}')]) === typed", arg=typed
    )
    visitor.context.set_offline(False)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    quiet(visitor)


@pytest.mark.long
def test_a_text_goes_on_where_it_was(visit, server):
    study = make_study()
    person = make_member(study, "expert")
    made = editing(study, None, people=[person], questions=1)
    visitor = visit(person, service_workers="allow")
    page = open_kept(visitor, "desk", study.public_id, made.public_id)
    visitor.context.set_offline(True)
    page.locator("#text").press("Control+End")
    page.keyboard.type(" Written offline.")
    expect(page.locator("#saved")).to_contain_text("No connection")
    page.reload()
    expect(page.locator("#text")).to_have_value(re.compile(r"Written offline\.$"))
    visitor.context.set_offline(False)
    expect(page.locator("#saved [data-text]")).to_contain_text("Draft saved")
    expect(page.locator("#text")).to_have_value(re.compile(r"Written offline\.$"))
    quiet(visitor)


def is_closed_to(visitor, address):
    """Without a connection there is nothing at the address."""
    visitor.context.set_offline(True)
    with pytest.raises(PlaywrightError, match=r"ERR_INTERNET_DISCONNECTED|ERR_FAILED"):
        visitor.page.goto(address)
    quiet(visitor)


@pytest.mark.long
def test_signing_out_forgets_the_page(visit, server):
    visitor, _round = at_work(visit)
    page = visitor.page
    address = page.url
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    until(page, [])
    is_closed_to(visitor, address)


def test_somebody_else_who_signs_in_does_not_find_it(visit, server):
    """Without a word of the one before, whose session just ran out."""
    visitor, made = at_work(visit)
    page, other = visitor.page, make_member(made.study, "annotator")
    address = page.url
    visitor.context.clear_cookies(name="sessionid")
    visitor.go("account_login")
    page.get_by_label("Email").fill(other.email)
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    until(page, [])
    is_closed_to(visitor, address)


@pytest.mark.long
def test_a_page_kept_before_the_browser_was_closed_is_not_shown(visit, server):
    """Cookies of the session end with the browser, and nobody has to come by first."""
    visitor, _made = at_work(visit, "label")
    visitor.context.clear_cookies()
    is_closed_to(visitor, visitor.page.url)


@pytest.mark.long
def test_whoever_comes_by_a_link_does_not_find_it(visit, server):
    study = make_study()
    boss = make_member(study, "researcher")
    label_round, second = (labelling(study, boss, name=name) for name in ("Round 1", "Round 2"))
    expires = timezone.now() + timedelta(days=1)
    links = [
        create_link(round_=each, actor=boss, completed_code="DONE", expires_at=expires)[1]
        for each in (label_round, second)
    ]
    visitor = visit(None, service_workers="allow")
    come(visitor, links[0], "P1")
    page = visitor.page
    address = page.url
    until(page, [address])
    visitor.context.clear_cookies()
    come(visitor, links[1], "P2")
    until(page, [page.url])
    assert page.url != address
    is_closed_to(visitor, address)


def come(visitor, secret, name):
    """Come in as a participant by a link."""
    visitor.go("join", secret, query=f"?PROLIFIC_PID={name}&STUDY_ID=S&SESSION_ID=T")
    visitor.page.get_by_role("button", name="Start").click()
    expect(visitor.page.locator("[data-sentence]")).to_be_visible()
