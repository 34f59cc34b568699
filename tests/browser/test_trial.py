"""A researcher tries work pages by keys; the figures of a plan follow what is written."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.labelling.models.rounds import Assignment
from benchmark.scoring.models import ScoreSheet
from cqa_site.rounds.models import Place
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_arguments, make_label_round, make_member, make_study

pytestmark = pytest.mark.browser


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


@pytest.mark.long
def test_figures_of_a_plan_without_script(visit, study, boss):
    make_arguments(study, 12)
    page = visit(boss, java_script_enabled=False).go("label_round_new", study.public_id)
    page.get_by_label("Votes per item").fill("5")
    page.get_by_role("button", name="Update workload").click()
    expect(page.locator("#extent")).to_contain_text("60")
    expect(page.get_by_label("Votes per item")).to_have_value("5")
