"""What is stored was meant, and what is shown is so: dialogs, submissions, what is said."""

import re

import pytest
from playwright.sync_api import expect

from annotation.labelling.models import Assignment
from benchmark.preferences.models import PreferenceSheet
from benchmark.scoring.models import ScoreSheet
from cqa_site.rounds.lifecycle import close_round, open_round
from tests.cast import make_label_round, make_member, make_study
from tests.lengths import mostly
from .desk import MAKE, Desk, expect_labels_saved, press, quiet, sentence, until

pytestmark = pytest.mark.browser


def test_a_flag_outlives_a_reload_and_a_skip_never_falls_on_the_next_sentence(visit):
    desk = Desk(visit, "label")
    page, first = desk.page, sentence(desk.page)
    page.keyboard.press("f")
    page.keyboard.type("odd encoding")
    page.locator("[data-keep]").click()
    expect(page.locator("#flagged")).to_contain_text("odd encoding")
    page.reload()
    expect(page.locator("#flagged")).to_contain_text("odd encoding")
    page.keyboard.press("2")
    expect(page.locator("[data-sentence]")).not_to_have_text(first)
    expect(page.locator("#flagged")).to_be_hidden()
    expect_labels_saved(page)
    row = Assignment.objects.select_related("item__argument").get(state="answered")
    assert (row.item.argument.text, row.is_flagged, row.comment) == (first, True, "odd encoding")
    other, second = desk.another_tab(), sentence(page)
    page.keyboard.press("s")
    other.keyboard.press("1")
    expect(page.locator("[data-sentence]")).not_to_have_text(second)
    page.locator("[data-reason]").first.click()
    expect(page.locator("#toasts")).to_contain_text("answered in another tab")
    said = Assignment.objects.exclude(answered_at=None).order_by("answered_at")
    assert list(said.values_list("label", flat=True)) == [2, 1]


@pytest.mark.long
def test_a_block_can_be_labelled_offline_and_the_filler_is_no_sentence(visit):
    desk = Desk(visit, "label")
    page = desk.page
    desk.offline()
    for _given in range(desk.made.block_size):
        expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
        page.keyboard.press("1")
    while page.locator("#answer").get_attribute("aria-busy") != "true":
        page.keyboard.press("1")
    # An empty page says that nothing is loading.
    expect(page.locator("#item")).to_have_class(re.compile("is-coming"))
    for place in ("[data-sentence]", "#announce"):
        expect(page.locator(place)).to_contain_text("until your answers are sent")
    page.keyboard.press("i")
    expect(page.locator("#guideline-dialog")).to_contain_text("Read both sides first.")
    desk.online()
    page.keyboard.press("Escape")
    expect_labels_saved(page, timeout=30_000)
    desk.quiet()


@pytest.mark.long
def test_a_flag_stays_with_the_sentence_that_its_dialog_was_opened_on(visit):
    desk = Desk(visit, "label")
    other = desk.another_tab()
    first = sentence(desk.page)
    desk.page.keyboard.press("f")
    desk.page.keyboard.type("odd")
    other.keyboard.press("2")
    expect(desk.page.locator("[data-sentence]")).not_to_have_text(first)
    desk.page.locator("[data-keep]").click()
    expect(desk.page.locator("#flagged")).to_be_hidden()
    expect(desk.page.locator("#saved")).to_have_text("All answers saved")
    row = Assignment.objects.select_related("item__argument").get(state="answered")
    assert (row.item.argument.text, row.label, row.is_flagged, row.comment) == (
        first, 2, True, "odd"
    )  # fmt: skip


@pytest.mark.long
def test_an_open_earlier_answer_shows_what_another_tab_made_of_it(visit):
    desk = Desk(visit, "label")
    desk.page.keyboard.press("2")
    expect(desk.page.locator("#saved")).to_have_text("All answers saved")
    other = desk.another_tab()
    for page in (desk.page, other):
        page.keyboard.press("u")
        expect(page.locator("#review")).to_be_visible()
    other.keyboard.press("3")
    expect(desk.page.locator("[data-given]")).to_have_text("3")
    expect(desk.page.locator(".level[aria-pressed=true]")).to_have_attribute("value", "3")


@pytest.mark.long
@pytest.mark.parametrize("name", mostly(["flag", "skip"], "flag"))
def test_a_comment_outlives_escape_and_a_reload(visit, name):
    desk = Desk(visit, "label")
    page = desk.page
    field = page.locator(f"#{name}-comment")
    page.keyboard.press(name[0])
    field.fill("half a thought")
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press(name[0])
    expect(field).to_have_value("half a thought")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press(name[0])
    expect(field).to_have_value("")


@pytest.mark.long
def test_a_verdict_without_a_connection_waits_and_says_so(visit):
    desk = Desk(visit, "prefer", service_workers="allow")
    page, status = desk.page, desk.page.locator("#saved [data-text]")
    until(page, [page.url])
    desk.offline()
    page.keyboard.press("a")
    expect(status).to_contain_text("Not submitted yet")
    expect(page.locator("#submit-message")).to_contain_text("sent when you are back online")
    assert not PreferenceSheet.objects.exclude(verdict="").exists()
    # One state in all places, also after a reload.
    page.reload()
    expect(status).to_contain_text("Not submitted yet")
    expect(page.locator("#saved")).not_to_have_attribute("data-state", "saved")
    expect(page.locator("button[value=left]")).to_have_attribute("aria-pressed", "true")
    before = page.url
    desk.online()
    page.wait_for_url(lambda url: url != before)
    assert PreferenceSheet.objects.filter(state="submitted").count() == 1
    desk.quiet()


@pytest.mark.long
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_verdict_of_somebody_signed_out_counts_after_the_next_sign_in(visit, is_closed):
    """If the round has closed since, it does not wait for ever."""
    desk = Desk(visit, "prefer")
    page, cookies, before = desk.page, desk.context.cookies(), desk.page.url
    desk.context.clear_cookies(name="sessionid")
    page.keyboard.press("b")
    expect(page.locator("#submit-message")).to_contain_text("signed out")
    assert not PreferenceSheet.objects.filter(state="submitted").exists()
    if is_closed:
        close_round(round_=desk.made, actor=desk.boss)
    desk.context.add_cookies(cookies)
    page.goto(before)
    if is_closed:
        expect(page.locator("#toasts")).to_contain_text("The round is closed")
        expect(page.locator("#saved [data-text]")).not_to_contain_text("Not submitted yet")
    else:
        page.wait_for_url(lambda url: url != before)
        assert PreferenceSheet.objects.filter(state="submitted").count() == 1
    desk.quiet()


@pytest.mark.long
def test_a_draft_after_a_submission_does_not_look_submitted(visit):
    desk = Desk(visit, "score")
    page, status = desk.page, desk.page.locator("#saved [data-text]")
    page.keyboard.type("1" * 14)
    page.keyboard.press("1")
    before = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)
    page.goto(before)
    expect(status).to_have_text("Submitted")
    page.keyboard.press("0")
    expect(status).to_have_text(re.compile(r"^Draft saved \d+ s ago"))
    page.reload()
    expect(status).to_have_text(re.compile("^Draft saved"))
    assert ScoreSheet.objects.filter(state="submitted").count() == 1


SAID = [
    ("score", "1", re.compile(r"1 of \d\. .+")),
    ("count", "1", re.compile(r".+: .+\. .+")),
    ("count", "ArrowRight p", re.compile(r"Summary 1 .+: partly$")),
    ("label", "9", "The scale has no level 9."),
]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "keys", "said"), SAID)
def test_what_was_set_is_said_with_what_follows(visit, kind, keys, said):
    page = Desk(visit, kind).page
    press(page, *keys.split())
    expect(page.locator("#announce")).to_have_text(said)


@pytest.mark.long
@pytest.mark.parametrize("kind", mostly(["score", "count", "edit", "label"], "score", "label"))
def test_saving_that_works_again_is_said(visit, kind):
    desk = Desk(visit, kind)
    page, words = desk.page, desk.page.locator("#announce")
    desk.offline()
    if kind == "edit":
        page.locator("#text").focus()
    page.keyboard.press("1")
    if kind == "label":
        expect(page.locator("#trouble")).to_contain_text("Not saved yet: 1 answer.")
        page.keyboard.press("2")
        expect(page.locator("#trouble")).to_contain_text("Not saved yet: 2 answers.")
        # The number is shown, and not said once more after every sentence.
        expect(page.locator("#trouble")).to_have_attribute("aria-live", "off")
    else:
        expect(words).to_contain_text("No connection")
        expect(words).not_to_contain_text("Reload the page")
    desk.online()
    expect(words).to_contain_text("All answers saved" if kind == "label" else "Draft saved")
    desk.quiet()


@pytest.mark.parametrize("kind", mostly(MAKE, "label", "score"))
def test_the_guideline_stands_before_the_first_item_once_for_each_wording(visit, kind):
    desk = Desk(visit, kind, is_new=True)
    page, dialog = desk.page, desk.page.locator("#guideline-dialog")
    expect(dialog).to_contain_text("Read both sides first.")
    if kind != "label":  # nothing is submitted behind a dialog
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(300)
        expect(page.locator("#submit-message")).to_be_hidden()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator("[data-open=guideline]").first).to_be_visible()
    expect(dialog).to_be_hidden()
    if kind == "label":
        desk.made.guideline.body = "Read them twice."
        desk.made.guideline.save()
    else:
        type(desk.made).objects.filter(pk=desk.made.pk).update(instructions="Read them twice.")
    page.reload()
    expect(dialog).to_contain_text("Read them twice.")


@pytest.mark.parametrize("service_workers", mostly(["block", "allow"], "allow"))
def test_twenty_sentences_are_labelled_offline_and_sent_afterwards(visit, service_workers):
    """With the settings that a new round has, where it has plenty; also after a reload."""
    study = make_study()
    made = make_label_round(study, ordinary=80, controls=20)
    open_round(round_=made, actor=make_member(study, "researcher"))
    visitor = visit(make_member(study, "annotator"), service_workers=service_workers)
    page = visitor.go("label", study.public_id, made.public_id)
    is_kept = service_workers == "allow"
    if is_kept:
        until(page, [page.url])
    visitor.context.set_offline(True)
    seen = []
    for number in range(20):
        expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
        seen.append(sentence(page))
        page.keyboard.press(str(number % 3))
        expect(page.locator("#progress")).to_contain_text(f"{number + 1} /")
        if is_kept and number == 9:
            page.on("dialog", lambda dialog: dialog.accept())
            page.reload()
            expect(page.locator("#trouble")).to_contain_text("Not saved yet: 10 answers")
    assert len(set(seen)) == 20
    # A page that is loaded again is online for Chromium, for a moment.
    assert is_kept or not Assignment.objects.exclude(answered_at=None).exists()
    visitor.context.set_offline(False)
    expect_labels_saved(page, timeout=30_000)
    rows = Assignment.objects.exclude(answered_at=None).select_related("item__argument")
    labels = {row.item.argument.text: row.label for row in rows}
    assert labels == {text: number % 3 for number, text in enumerate(seen)}
    quiet(visitor)
