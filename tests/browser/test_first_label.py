"""From an empty study to the first label of somebody who was invited, counted in clicks."""

import pytest
from django.test import override_settings
from playwright.sync_api import expect

from annotation.labelling.models.rounds import Assignment
from cqa_site.people.models import Membership, Role, User
from cqa_site.rounds.models import Round
from tests import cast

pytestmark = pytest.mark.browser

# What a newcomer is asked for at most, on both sides together.
MOST = 12


class Clicks:
    """Presses what is asked for, and counts every press that a mouse or Enter would be."""

    def __init__(self):
        self.made = []

    def on(self, place, what):
        place.click()
        self.made.append(what)

    def key(self, page, key, what):
        page.keyboard.press(key)
        self.made.append(what)

    def note(self, what):
        self.made.append(what)


@pytest.fixture
def media(tmp_path):
    with override_settings(MEDIA_ROOT=tmp_path / "media"):
        yield


def test_first_label_of_an_invited_annotator(server, visit, browser, media):
    study = cast.make_study("Empty")
    desk = visit(cast.make_member(study, Role.ADMIN))
    page, clicks = desk.go("study", study.public_id), Clicks()

    clicks.on(page.get_by_role("link", name="Import arguments"), "the step of the overview")
    name = "Try it: Sentences or labels in any table, columns mapped by you"
    row = page.get_by_role("button", name=name)
    clicks.on(row, "the sample of a table")
    expect(page.get_by_role("heading", name="Ready to import")).to_be_visible()
    clicks.on(page.get_by_role("button", name="Import", exact=True), "import it")
    clicks.on(page.get_by_role("link", name="Label them in a new round"), "a round for it")
    expect(page.locator("#extent")).to_contain_text("10")
    clicks.on(page.get_by_role("button", name="Start round"), "open it as it is")
    assert Round.objects.get().state == "open"
    clicks.on(page.get_by_role("button", name="Create invitation link"), "invite somebody")
    link = page.get_by_label("Invitation link").input_value()
    expect(page.get_by_role("button", name="Create another link")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(Round.objects.get().name)
    # The link is read here where a browser would put it on the clipboard.
    clicks.note("copy the link")

    guest = visit(None)
    guest.page.goto(link)
    clicks.note("follow the link")
    guest.page.get_by_label("Your name").fill("Ann")
    guest.page.get_by_label("Email").fill("ann@lab.example")
    guest.page.get_by_label("Password").fill("seven unrelated kettles")
    clicks.on(guest.page.get_by_role("button", name="Create account and join"), "join")
    # Whoever was invited at a round begins with its work.
    guest.page.wait_for_load_state()
    clicks.on(guest.page.get_by_role("button", name="I have read the guideline"), "read it")
    guest.page.wait_for_url("**/label/")
    guest.page.wait_for_function("() => isSettled()")
    before = guest.page.locator("[data-sentence]").inner_text()
    clicks.key(guest.page, "2", "the first label")
    expect(guest.page.locator("[data-sentence]")).not_to_have_text(before)
    expect(guest.page.locator("#saved")).to_have_text("All answers saved")

    said = Assignment.objects.get(state="answered")
    assert (said.rater.user.name, said.label) == ("Ann", 2)
    assert len(clicks.made) <= MOST, clicks.made
    assert Membership.objects.get(user=User.objects.get(name="Ann")).role == Role.ANNOTATOR
