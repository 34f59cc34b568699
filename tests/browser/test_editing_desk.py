"""The editing desk as experts use it: citing, checks, drafts that survive, two tabs, no script."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.answers.methods.answer_text import find_citations
from annotation.editing.models import ConflictingText, EarlierDraft, EditingSheet, Revision
from benchmarks.label_round_server import PASSWORD, LabelRoundServer
from cqa_site.rounds.lifecycle import close_round
from tests.annotation.editing_cast import make_answers, make_round, sheets_of
from tests.cast import make_member, make_study
from .conftest import LOOKS, Visitor
from .desk import expect_saved

pytestmark = pytest.mark.browser

SELECTED = """() => {
    const field = document.getElementById("text");
    return field.value.slice(field.selectionStart, field.selectionEnd);
}"""
READ = """(text) => findCitations(text).map(
    ({ start, end, numbers, isGenerated }) => [text.slice(start, end), numbers, isGenerated]
)"""
LEAVES = "dispatchEvent(new Event('beforeunload', { cancelable: true }))"
PLACED = """([before, after]) => {
    const { at, inserted } = placeCitation(before + after, before.length, 8);
    const text = before + after;
    return text.slice(0, at) + inserted + text.slice(at);
}"""
# Before the caret, behind it, and the text with argument 8 cited there.
CARETS = [
    ("Fast", " starts.", "Fast [8] starts."), ("Fast ", "starts.", "Fast [8] starts."),
    ("Fast and ch", "eap.", "Fast and cheap [8]."), ("Fast and cheap", ".", "Fast and cheap [8]."),
    ("Fast and cheap.", " Then", "Fast and cheap. [8] Then"), ("Fast", "", "Fast [8]"),
    ("Fast (and cheap", ")", "Fast (and cheap [8])"), ("", "Fast", "[8] Fast"), ("", "", "[8]"),
    ("Fast (", "and cheap)", "Fast ([8] and cheap)"), ("it", "’s 3.5", "it’s [8] 3.5"),
    ("well-kn", "own, it’s", "well-known [8], it’s"), ("at 3.", "5-inch", "at 3.5-inch [8]"),
    ("line\n", "Fast", "line\n[8] Fast"), ("Fast ", "[1]", "Fast [8] [1]"),
    ("schö", "n, Ökonom", "schön [8], Ökonom"),
]  # fmt: skip
FORMS = [
    "Fast [3] and cheap [1, 2], small [2-5], odd [1-3, 5-6], said [Argument 3].",
    "Old [generated] or [3, generated], not [Paris], not [], not [12345], not [4-2], not [1-200].",
    "[ 7 ] [3; 4] [2 and 7] [args. 1, 2] [#5] [no. 6] [1 – 3] [1—2] [Generated x2] [3 generated]",
    "[1\n2] [[3]] [3, see above] [3 [4] end [5",
    "Emoji \U0001f375 before [2] and \U0001f600 between [generated argument].",
]


def make_world():
    """A round of three answers for one expert."""
    study = make_study()
    make_answers(study)
    wanted = "Keep every citation."
    return make_round(study, experts=1, calibration=1, individual=2, instructions=wanted)


@pytest.fixture
def editing_round(world):
    return world


@pytest.fixture
def sheet(editing_round):
    return sheets_of(editing_round)[0]


@pytest.fixture
def desk(visit, sheet):
    visitor = visit(sheet.rater.user)
    open_desk(visitor, sheet)
    return visitor


def open_desk(visitor, sheet):
    return visitor.go("desk_form", sheet.round.study.public_id, sheet.public_id)


def editor(page):
    return page.locator("#text")


def put_caret(page, after):
    """Behind the first place of a text."""
    page.evaluate(
        """(text) => {
            const field = document.getElementById("text");
            field.focus();
            const at = field.value.indexOf(text) + text.length;
            field.setSelectionRange(at, at);
        }""",
        after,
    )


def stored(sheet):
    return EditingSheet.objects.select_related("answer").get(pk=sheet.pk).text


def write(page, text):
    """Replace the whole text as somebody does who types."""
    editor(page).fill(text)


def test_what_is_typed_or_cited_is_saved_by_itself_and_undo_takes_it_back(desk, sheet):
    page = desk.page
    expect(page.locator("#saved")).to_contain_text("No changes yet")
    put_caret(page, "Tea is calmer")
    page.keyboard.type(" and kinder")
    expect(page.locator("#saved")).to_contain_text("Not saved yet")
    expect_saved(page)
    assert stored(sheet) == sheet.machine_text.replace("Tea is calmer", "Tea is calmer and kinder")
    page.reload()
    assert editor(page).input_value() == stored(sheet)
    put_caret(page, "Best Option:\nTea")
    page.keyboard.type("pot")
    page.keyboard.press("Control+s")
    expect_saved(page, timeout=1_000)
    assert stored(sheet).endswith("Teapot")
    before = stored(sheet)
    expect(page.locator("#argument-3")).not_to_have_class(re.compile("cited"))
    put_caret(page, "Caffeine: Tea has little of it")
    page.get_by_role("button", name="Cite argument 3").click()
    expect_saved(page)
    assert "little of it [3] [1]." in stored(sheet)
    expect(page.locator("#argument-3")).to_have_class(re.compile("cited"))
    page.keyboard.press("Control+z")
    expect(editor(page)).to_have_value(before)
    expect_saved(page)
    assert stored(sheet) == before


@pytest.mark.long
def test_somebody_who_never_pauses_is_saved_every_five_seconds(desk, sheet):
    page = desk.page
    page.clock.install()
    page.reload()
    put_caret(page, "Tea is calmer")
    with page.expect_response(re.compile("/save/")) as saved:
        for _ in range(11):
            page.keyboard.type(".")
            page.clock.run_for(500)
    assert saved.value.ok
    page.keyboard.type("!")
    page.clock.run_for(1600)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    assert "calmer...........!" in stored(sheet)


@pytest.mark.long
def test_a_citation_has_its_spaces_and_a_number_goes_into_the_one_that_the_caret_touches(
    desk, sheet
):
    page = desk.page
    for before, after, wanted in CARETS:
        assert page.evaluate(PLACED, [before, after]) == wanted, (before, after)
    put_caret(page, "Caffeine: Tea has lit")
    page.get_by_role("button", name="Cite argument 3").click()
    expect_saved(page)
    assert "Tea has little [3] of it" in stored(sheet)
    put_caret(page, "the hour [1]")
    page.locator("#argument-2").click()
    expect(editor(page)).to_have_value(re.compile(r"the hour \[1, 2\]"))
    page.keyboard.type("!")
    expect(editor(page)).to_have_value(re.compile(r"the hour \[1, 2\]!"))
    put_caret(page, "the hour [1")
    page.locator("#argument-2").click()  # it is there already
    expect_saved(page)
    assert "the hour [1, 2]!." in stored(sheet)


@pytest.mark.long
def test_a_citation_shows_its_argument_to_pointer_and_caret(desk, sheet):
    page = desk.page
    card = page.locator("#citation-card")
    sentence = page.locator("#argument-2 [data-sentence]").inner_text()
    box = page.locator("#mirror mark.cite[data-numbers='2']").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(card).to_contain_text(sentence)
    expect(page.locator("#argument-2")).to_have_class(re.compile("current"))
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.mouse.move(2, 2)
    put_caret(page, "Coffee works at once")
    page.keyboard.press("ArrowRight")
    expect(card).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(card).to_contain_text(sentence)
    expect(page.locator("#announce")).to_contain_text(sentence)
    page.keyboard.type("9")
    expect(card).to_be_hidden()
    expect(page.locator("#mirror mark.unknown")).to_have_text("[92]")


@pytest.mark.long
def test_marks_stand_where_the_text_stands_and_a_check_selects_its_places(desk):
    """The copy behind the field breaks its lines exactly like the field."""
    page = desk.page
    write(page, "word " * 600 + "\n\n\tend [1]\n" + "x" * 400)
    sizes = page.evaluate(
        """() => ["text", "mirror"].map((id) => {
            const box = document.getElementById(id);
            return [box.scrollHeight, box.clientHeight, box.clientWidth];
        })"""
    )
    assert sizes[0] == sizes[1]
    assert sizes[0][0] == sizes[0][1] > 380
    write(page, "\U0001f375\U0001f375 Tea wins [8].\nCoffee loses [9].")
    show = page.locator("[data-check=citations_exist]")
    expect(show).to_be_visible()
    for place in ("[8]", "[9]", "[8]"):
        show.click()
        assert page.evaluate(SELECTED) == place
    expect(page.locator("#mirror mark.found")).to_have_text(["[8]", "[9]"])


@pytest.mark.long
def test_browser_and_server_read_the_same_citations(desk):
    for text in [*FORMS, *released_answers()]:
        expected = [
            [found.text, list(found.numbers), found.is_generated] for found in find_citations(text)
        ]
        assert desk.page.evaluate(READ, text) == expected, text


def released_answers():
    """The machine answers of the paper, where they are at hand."""
    folder = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", "../shared/data"))
    file = folder / "relevance" / "silver_112x3.json"
    if not file.exists():
        return []
    return [text for record in json.loads(file.read_text()) for text in record["gpt_answers"]]


@pytest.mark.long
def test_submitting_by_keyboard_with_a_reason(desk, sheet):
    page = desk.page
    put_caret(page, "Best Option:\nTea")
    page.keyboard.type("!")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#submit-message")).to_contain_text("Choose at least one reason")
    expect(page.locator("#submit-message")).to_be_focused()
    expect(page.locator("#submit-message")).to_be_in_viewport(ratio=1)
    expect_saved(page)
    assert stored(sheet).endswith("Tea!")
    assert not Revision.objects.exists()
    page.get_by_label("Final choice changed or clarified").check()
    page.locator("#comment").fill("Louder.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("Submitted as revision 1.")
    revision = Revision.objects.get()
    assert (revision.text, revision.reasons) == (stored(sheet), ["choice"])
    assert revision.comment == "Louder."
    page.get_by_role("link", name="Continue with the next answer").click()
    expect(page.locator(".topbar")).to_contain_text("2 of 3")
    desk.console.clear()  # the browser logs the 422


# Words come at once: on a busy machine a save would fall between two letters, and both be kept.


def test_two_tabs_meet_side_by_side_and_nothing_is_overwritten(desk, sheet):
    one = desk.page
    two = desk.context.new_page()
    two.goto(one.url)
    put_caret(one, "Tea is calmer")
    one.keyboard.insert_text(" in the first tab")
    expect_saved(one)
    expect(two.locator("#changed-elsewhere")).to_be_visible()
    put_caret(two, "Coffee works at once")
    two.keyboard.insert_text(" in the second tab")
    conflict = two.locator(".conflict")
    expect(conflict).to_contain_text("Two versions of this text")
    expect(conflict.locator(".two > div").first).to_contain_text("in the second tab")
    expect(conflict.locator(".two > div").last).to_contain_text("in the first tab")
    assert "in the first tab" in stored(sheet)
    assert "in the second tab" in ConflictingText.objects.get().content["text"]
    faults = desk.axe()
    assert faults == []
    conflict.get_by_text("Merge by hand").click()
    merged = stored(sheet).replace("at once", "at once in the second tab")
    conflict.locator("textarea").fill(merged)
    conflict.get_by_role("button", name="Use the merged text").click()
    expect(two.locator(".conflict")).to_have_count(0)
    assert stored(sheet) == merged
    put_caret(one, "Tea is calmer")
    one.keyboard.insert_text(" again")
    one.locator(".conflict").get_by_role("button", name="Keep the stored version").click()
    expect(one.locator(".conflict")).to_have_count(0)
    assert editor(one).input_value() == merged
    kept = [each.content["text"] for each in ConflictingText.objects.all()]
    kept += [*EarlierDraft.objects.values_list("text", flat=True)]
    for words in ("calmer in the first tab", "once in the second tab", "calmer again"):
        assert any(words in text for text in [*kept, stored(sheet)])
    desk.console.clear()  # the browser logs the 409


def leave_offline(visitor, words):
    """Write without a connection and be gone before it comes back."""
    visitor.context.set_offline(True)
    put_caret(visitor.page, "Tea is calmer")
    visitor.page.keyboard.insert_text(words)
    expect(visitor.page.locator("#saved")).to_contain_text("No connection")
    # What a page sends while it closes outlives it, and would find the connection.
    visitor.page.evaluate("saver.flush = async () => undefined")
    visitor.page.close(run_before_unload=False)
    visitor.context.set_offline(False)
    visitor.page = visitor.context.new_page()


@pytest.mark.long
def test_text_written_offline_arrives_also_from_a_page_that_was_closed(desk, sheet):
    page = desk.page
    desk.context.set_offline(True)
    put_caret(page, "Coffee works at once")
    page.keyboard.type(" offline")
    expect(page.locator("#saved")).to_contain_text("No connection. Your entries are kept")
    assert stored(sheet) == sheet.machine_text
    assert page.evaluate(LEAVES) is False, "leaving with unsent text asks first"
    page.keyboard.type(" and still")
    desk.context.set_offline(False)
    expect_saved(page)
    before = stored(sheet)
    assert "at once offline and still" in before
    assert not ConflictingText.objects.exists()
    leave_offline(desk, " unsent")
    assert stored(sheet) == before
    page = open_desk(desk, sheet)
    expect(page.locator("#toasts")).to_contain_text("your last visit were restored")
    expect(editor(page)).to_have_value(re.compile("calmer unsent"))
    assert "calmer unsent" in stored(sheet)
    assert page.evaluate("Object.keys(localStorage)") == []
    desk.console.clear()


@pytest.mark.long
def test_unsent_text_of_an_earlier_visit_meets_what_was_saved_since(desk, sheet, visit):
    leave_offline(desk, " on the train")
    other = visit(sheet.rater.user)
    open_desk(other, sheet)
    put_caret(other.page, "Coffee works at once")
    other.page.keyboard.insert_text(" at home")
    expect_saved(other.page)
    page = open_desk(desk, sheet)
    expect(page.locator(".conflict")).to_contain_text("on the train")
    assert "at home" in stored(sheet)
    page.get_by_role("button", name="Use the version set aside").click()
    expect(editor(page)).to_have_value(re.compile("on the train"))
    assert "at home" in EarlierDraft.objects.get().text
    desk.console.clear()


@pytest.mark.long
def test_a_round_that_ends_meanwhile_keeps_the_text(desk, sheet, editing_round):
    page = desk.page
    actor = make_member(editing_round.study, "researcher")
    close_round(round_=editing_round, actor=actor)
    put_caret(page, "Tea is calmer")
    page.keyboard.type(" too late")
    expect(page.locator("#saved")).to_contain_text("The round is closed")
    assert "calmer too late" in ConflictingText.objects.get().content["text"]
    page.reload()
    expect(page.locator("main")).to_contain_text("This round is closed")
    expect(editor(page)).not_to_be_editable()
    page.get_by_role("button", name="Instructions").click()
    expect(page.locator("#guideline-dialog")).to_contain_text(sheet.round.instructions)
    desk.console.clear()


@pytest.mark.long
def test_what_is_written_before_the_scripts_are_there_is_kept(visit, sheet):
    visitor = visit(sheet.rater.user)
    page, held = visitor.page, []
    page.route("**/js/work_pages/editing.js", lambda route: held.append(route))
    address = reverse("desk_form", args=[sheet.round.study.public_id, sheet.public_id])
    page.goto(visitor.server + address, wait_until="commit")
    editor(page).wait_for()
    put_caret(page, "Tea is calmer")
    page.keyboard.type(" and kinder")
    page.wait_for_timeout(100)
    [held_back] = held
    held_back.continue_()
    expect_saved(page)
    assert "Tea is calmer and kinder" in stored(sheet)
    assert "Tea is calmer and kinder" in editor(page).input_value()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_desk_in_use_is_accessible(visit, sheet, width, scheme):
    size = {"width": width, "height": 800}
    visitor = visit(sheet.rater.user, color_scheme=scheme, viewport=size)
    page = open_desk(visitor, sheet)
    write(page, sheet.machine_text.replace("[2]", "[2, 9] [generated]"))
    expect_saved(page)
    page.locator("[data-check=citations_exist]").click()
    put_caret(page, "Tea has little of it [")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert visitor.axe() == []
    assert visitor.has_no_sideways_scroll()


@pytest.mark.long
def test_escape_leaves_the_text_and_letters_are_keys(desk, sheet):
    page = desk.page
    put_caret(page, "Tea is calmer")
    page.keyboard.type(" i?u")
    assert "calmer i?u" in editor(page).input_value()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    keys = page.locator("#keys-dialog")
    expect(keys).to_be_visible()
    page.keyboard.press("i")
    expect(page.locator("#guideline-dialog")).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_be_hidden()
    page.keyboard.press("i")
    expect(page.locator("#guideline-dialog")).to_contain_text(sheet.round.instructions)
    expect_saved(page)


PREPARE = """
import json, sys
import django
django.setup()
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
call_command("createcachetable", verbosity=0)
from cqa_site.people.models import Membership, Study, User
from tests.annotation.editing_cast import make_answers, make_round
study = Study.objects.create(name="Killed")
expert = User.objects.create_user("expert@killed.example", sys.argv[1])
Membership.objects.create(study=study, user=expert, role="expert")
make_answers(study, questions=1)
sheet = make_round(study, people=[expert], individual=0).sheets.get()
print(json.dumps([str(study.public_id), str(sheet.public_id)]))
"""
SHOW = """
import django
django.setup()
from annotation.editing.models import EditingSheet
sheet = EditingSheet.objects.get()
print(sheet.version, repr(sheet.text), sheet.conflicts.count())
"""


class EditingServer(LabelRoundServer):
    """The production web server in front of one answer to edit."""

    def prepare_on(self, empty_file):
        shutil.copy(empty_file, self.folder / "site.sqlite3")
        made = self.python("-c", PREPARE, PASSWORD)
        self.study, self.sheet = json.loads(made.splitlines()[-1])
        self.python("manage.py", "collectstatic", "--noinput", "-v0")


@pytest.fixture
def killable(empty_file):
    server = EditingServer(workers=1)
    try:
        server.prepare_on(empty_file)
        server.start()
        yield server
    finally:
        server.remove()


@pytest.mark.long
def test_the_server_is_killed_in_the_middle_of_a_draft(browser, killable):
    address = f"http://127.0.0.1:{killable.port}"
    visitor = Visitor(browser, address, None)
    page = visitor.page
    page.goto(f"{address}/accounts/login/?next=/s/{killable.study}/editing/{killable.sheet}/")
    page.get_by_label("Email").fill("expert@killed.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button").first.click()
    editor(page).wait_for()
    put_caret(page, "Tea is calmer")
    page.keyboard.type(" before the crash")
    expect_saved(page)
    page.keyboard.type(", during")
    killable.kill()
    page.keyboard.type(" and after it")
    expect(page.locator("#saved")).to_contain_text("No connection", timeout=15_000)
    page.close(run_before_unload=False)  # the lid is closed
    killable.start()
    page = visitor.context.new_page()
    page.goto(f"{address}/s/{killable.study}/editing/{killable.sheet}/")
    words = "calmer before the crash, during and after it"
    expect(editor(page)).to_have_value(re.compile(words))
    expect(page.locator("#toasts")).to_contain_text("your last visit were restored")
    assert words in killable.python("-c", SHOW)
    assert killable.python("-c", SHOW).split()[-1] == "0"
    visitor.context.close()
