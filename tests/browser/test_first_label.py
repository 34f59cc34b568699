"""From an empty study to the first label, counted in clicks; trials, and the figures of a plan."""

import pytest
from django.test import override_settings
from django.urls import reverse
from playwright.sync_api import expect

from annotation.labelling.models import Assignment
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Membership, Role, User
from cqa_site.rounds.models import Place, Round
from tests import cast
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_arguments, make_label_round, make_member, make_study

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
    name = "Try it: Sentences or labels in any table, with columns that you map"
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


@pytest.fixture
def study(server):
    return make_study()


@pytest.fixture
def boss(study):
    return make_member(study, "researcher")


def test_labels_on_trial_by_keys_to_the_end(visit, study, boss):
    label_round = make_label_round(study, ordinary=6, controls=2)
    page = visit(boss).go("label_trial", study.public_id, label_round.public_id, 1)
    line = page.get_by_role("complementary", name="Trial")
    expect(line).to_contain_text("Nothing is stored")
    said = line.inner_text()
    seen = set()
    for number in range(1, 9):
        # A sentence that is on its way is announced in its place.
        expect(page.locator("[data-sentence]")).to_contain_text("in point")
        sentence = page.locator("[data-sentence]").inner_text()
        seen.add(sentence)
        if number == 8:
            break
        page.keyboard.press("2")
        expect(page.locator("[data-sentence]")).not_to_have_text(sentence)
        if number == 1:
            page.keyboard.press("u")
            expect(page.locator("[data-sentence]")).to_have_text(sentence)
            page.keyboard.press("0")
            expect(page.locator("[data-sentence]")).not_to_have_text(sentence)
        # The line stays as it is: it offers no item of its own, keys alone go on.
        expect(line).to_have_text(said, use_inner_text=True)
        expect(line.get_by_role("link")).to_have_text(["Back to the round"])
    assert len(seen) == 8
    # After the last one the trial ends at the round; nothing of it all was kept.
    page.keyboard.press("2")
    page.wait_for_url("**" + reverse("label_round", args=[study.public_id, label_round.public_id]))
    assert not Assignment.objects.exists()
    assert not Place.objects.exists()


@pytest.mark.long
def test_a_sheet_on_trial_by_keys(visit, study, boss):
    make_scored_answers(study, systems=("Alpha", "Beta"), questions=2)
    round_ = make_round(study, boss)
    page = visit(boss).go("score_trial", study.public_id, round_.public_id, 1)
    expect(page.locator("form.scripted")).to_be_visible()
    for _criterion in range(40):
        if page.locator("#left").inner_text().startswith("0"):
            break
        page.keyboard.press("1")
    before = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)
    assert page.url.endswith(reverse("score_trial", args=[study.public_id, round_.public_id, 2]))
    assert not ScoreSheet.objects.filter(round=round_).exists()


@pytest.mark.long
def test_figures_of_a_plan_follow_what_is_written(visit, study, boss):
    make_arguments(study, 12)
    page = visit(boss).go("label_round_new", study.public_id)
    figures = page.locator("#extent")
    expect(figures).to_contain_text("36")
    page.get_by_label("Votes per item").fill("5")
    expect(figures).to_contain_text("60")
    page.get_by_label("Hourly pay").fill("9")
    expect(figures).to_contain_text("3.00")
    page.get_by_label("Random sample").fill("2")
    expect(figures).to_contain_text("10")
    # Without script a button does it.
    page = visit(boss, java_script_enabled=False).go("label_round_new", study.public_id)
    page.get_by_label("Votes per item").fill("5")
    page.get_by_role("button", name="Update workload").click()
    expect(page.locator("#extent")).to_contain_text("60")
    expect(page.get_by_label("Votes per item")).to_have_value("5")
