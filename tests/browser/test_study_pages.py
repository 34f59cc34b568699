"""Pages of a study by hand: menu and search, the interface, answers, themes and charts."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.labelling.models import LabelRound
from argsum.analysis.models import FoundPoint
from cqa_site.files.actions.files import store_upload
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Study
from cqa_site.web.charts import vega
from tests.annotation.made_answers import make_answer, make_list, make_question, make_system
from tests.argsum.analysis.made_comments import fill, make_cell, write_analysis
from tests.cast import make_label_round, make_member, make_study
from tests.web.chart_boxes import boxes_of
from tests.web.chart_cases import CASES

pytestmark = pytest.mark.browser


@pytest.fixture
def boss(server):
    study = make_study("Drinks")
    make_label_round(study, ordinary=2, controls=0, name="Tea or coffee")
    boss = make_member(study, "researcher")
    file = store_upload(study=study, kind="table", name="x.csv", chunks=[b"a"], actor=boss)
    ImportFile.objects.filter(pk=file.pk).update(state=ImportFile.State.CHECKED)
    return boss


def test_the_search_box_leads_by_keyboard(boss, visit):
    visitor = visit(boss)
    study = boss.memberships.get().study
    page = visitor.go("study", study.public_id)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    expect(box).to_be_focused()
    # Pages are found at once and things of the study after them.
    page.keyboard.type("tea")
    expect(page.get_by_role("option").first).to_contain_text("Tea or coffee")
    assert visitor.axe() == []
    page.keyboard.type("x")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    expect(page.get_by_role("option")).to_have_text("Search the help for “teax”")
    assert page.get_by_role("option").get_attribute("href").endswith("/help/?q=teax")
    # Pages are found by what people call them, too.
    pages = {"invite": "People", "upload": "Imports", "alpha": "Score agreement"}
    for words, entry in pages.items():
        box.fill(words)
        expect(page.get_by_role("option").first).to_contain_text(entry)
    box.fill("score")
    options = page.get_by_role("option")
    expect(options.nth(1)).to_have_attribute("aria-selected", "false")
    second = options.nth(1).get_attribute("href")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(second)
    page.keyboard.press("Control+k")
    # Once, also with words in it, which a search field would rather clear first.
    page.keyboard.type("tea")
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox")).to_be_hidden()


def test_a_double_click_sends_a_form_once(boss, visit):
    page = visit(boss).go("study_new")
    page.get_by_label("Name").fill("Grills")
    button = page.get_by_role("button", name="Create study")
    box = button.bounding_box()
    for _press in range(2):
        page.mouse.click(box["x"] + 20, box["y"] + 10)
        page.wait_for_timeout(120)
    expect(page.get_by_role("heading", name="Grills")).to_be_visible()
    assert Study.objects.filter(name="Grills").count() == 1


def test_a_known_label_is_stored_as_it_is_chosen(boss, visit):
    label_round = LabelRound.objects.get()
    page = visit(boss).go("label_round_items", label_round.study.public_id, label_round.public_id)
    known = page.get_by_label("Known label").first
    known.focus()
    for stored in (0, 1):
        with page.expect_response("**/control/*"):
            page.keyboard.press("ArrowDown")
        assert label_round.items.filter(control_label=stored).count() == 1
    page.reload()
    expect(known).to_have_value("1")


def test_leaving_a_changed_form_asks_first_but_cancelling_does_not(boss, visit):
    visitor, asked = visit(boss), []
    study = boss.memberships.get().study
    page = visitor.go("onboarding_new", study.public_id)
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    for leave in (page.reload, page.get_by_role("link", name="Cancel").click):
        page.get_by_label("Guideline").first.fill("Read every sentence twice.")
        leave()
    assert asked == ["beforeunload"]


@pytest.mark.long
def test_on_a_phone_the_menu_opens_over_the_page(boss, visit):
    visitor = visit(boss, viewport={"width": 360, "height": 740})
    study = boss.memberships.get().study
    page = visitor.go("study", study.public_id)
    menu = page.locator("#menu")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(menu).to_be_visible()
    assert visitor.axe() == []
    menu.get_by_text("Study", exact=True).click()
    menu.get_by_role("link", name="People").click()
    page.wait_for_url("**" + reverse("members", args=[study.public_id]))
    expect(menu).to_be_hidden()
    assert visitor.has_no_sideways_scroll()
    # Nor do the names of study and person together push the page sideways without a menu.
    Study.objects.filter(pk=study.pk).update(name="Everyday choices of hot drinks")
    annotator = visit(make_member(study, "annotator"), viewport={"width": 360, "height": 740})
    annotator.go("study", study.public_id)
    assert annotator.has_no_sideways_scroll()


# Bytes that a page about the interface sends beside what every page has (the typeface, htmx).
LIGHT = 30_000


def loaded(page) -> int:
    """Bytes of the page and of the files of its own, as they were sent."""
    entries = page.evaluate("performance.getEntries().map(one => [one.name, one.transferSize])")
    return sum(size for name, size in entries if size and "api" in name)


def test_a_read_is_tried_and_answers(boss, visit):
    visitor = visit(boss)
    study = boss.memberships.get().study
    page = visitor.go("study_api", study.public_id)
    page.wait_for_load_state("networkidle")
    assert 5_000 < loaded(page) < LIGHT
    page.get_by_label("Find an address").fill("label rounds get items")
    page.keyboard.press("Enter")
    page.locator('.addresses a[href$="/studies_label_rounds_items_list/"]').click()
    page.wait_for_load_state("networkidle")
    assert loaded(page) < LIGHT
    assert visitor.axe() == []
    page.get_by_label("label_round_id").fill(str(LabelRound.objects.get().public_id))
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#try output")).to_have_text("200 OK")
    expect(page.get_by_label("Response")).to_contain_text('"count": 2')
    # What the interface refuses is shown as it says it.
    page.get_by_label("label_round_id").fill("nothing")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#try output")).to_contain_text("404")
    # Lent once, and again when it has ended.
    assert boss.api_tokens.count() == 1
    boss.api_tokens.all().delete()
    page.get_by_label("label_round_id").fill(str(LabelRound.objects.get().public_id))
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#try output")).to_have_text("200 OK")
    # Chromium notes the two refusals, and nothing else: no breach of the policy.
    refused = [each for each in visitor.console if "Failed to load resource" in each]
    assert len(refused) == 2
    assert visitor.console == refused
    visitor.console.clear()
    assert visitor.foreign == []


@pytest.mark.long
def test_a_word_is_looked_up_by_keyboard(boss, visit):
    visitor = visit(boss)
    page = visitor.go("label_round_new", boss.memberships.get().study.public_id)
    word = page.get_by_role("button", name="control item")
    note = page.get_by_text("item with a known answer, hidden among ordinary items")
    expect(note).to_be_hidden()
    word.focus()
    page.keyboard.press("Enter")
    expect(note).to_be_visible()
    assert visitor.axe() == []
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    expect(word).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{reverse('help_page', args=['glossary'])}#control-item")
    expect(page.locator("tr:target")).to_contain_text("control item")


LONG = "\n".join(f"- Point {number} about tea and coffee [1]." for number in range(60))


@pytest.fixture
def question(server):
    study = make_study()
    question = make_question(study)
    listed = make_list(question, 30)
    for number in range(8):
        system = make_system(study, f"Model {number}")
        make_answer(question, system, f"{LONG}\nLast word of {number} [30].", listed=listed)
    return question


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 1280])
def test_the_columns_scroll_inside_their_box_and_a_citation_leads_to_its_argument(
    visit, question, width
):
    boss = make_member(question.study, "researcher")
    visitor = visit(boss, viewport={"width": width, "height": 900})
    page = visitor.go("question", question.study.public_id, question.public_id)
    box = page.locator(".answer-columns")
    inner, outer = box.evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert inner > outer
    assert visitor.has_no_sideways_scroll()
    # The heads stay in sight while the texts are read to their end.
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    assert page.get_by_role("heading", name="Model 0").is_visible()
    assert visitor.axe() == []
    page.locator(".answer-column").first.get_by_role("link", name="argument 30").click()
    target = page.locator("#argument-1-30")
    assert target.evaluate("row => row.matches(':target')")
    top, bottom = target.evaluate(
        "row => { const box = row.getBoundingClientRect(); return [box.top, box.bottom]; }"
    )
    head = page.locator(".topbar").evaluate("bar => bar.getBoundingClientRect().bottom")
    assert head <= top < bottom <= 900


@pytest.fixture
def analysis(server):
    study = make_study()
    cell = make_cell(study)
    fill(cell)
    analysis = write_analysis(study, cell)
    for point, theme in zip(analysis.points.all(), ("House", "House", "Garden"), strict=True):
        point.theme = theme
        point.save()
    return analysis


def themes():
    return dict(FoundPoint.objects.values_list("text", "theme"))


def test_themes_are_moved_renamed_merged_and_taken_back(visit, analysis):
    boss = make_member(analysis.study, "researcher")
    page = visit(boss).go("analysis", analysis.study.public_id, analysis.public_id)
    heads = page.get_by_role("heading", level=3)
    expect(page.get_by_role("heading", name="2 themes")).to_be_visible()
    # Key points are folded away; what can be done with them comes up with the first one chosen.
    first = page.get_by_role("checkbox", name="First point.")
    expect(first).not_to_be_visible()
    page.get_by_text("2 key points: House").click()
    first.check()
    bar = page.get_by_role("group", name="Selected key points")
    field = bar.get_by_label("Theme")
    field.fill("Hall")
    # The enter key would merge, if it pressed the first button.
    field.press("Enter")
    bar.get_by_role("button", name="Move to theme").click()
    expect(
        page.get_by_role("status").filter(has_text="1 key point is now in “Hall”.")
    ).to_be_visible()
    assert themes() == {
        "First point.": "Hall", "Second point.": "House", "Third point.": "Garden"
    }  # fmt: skip
    # The theme that it is in now is open.
    expect(page.get_by_role("checkbox", name="First point.")).to_be_visible()
    expect(page.get_by_role("group", name="Selected themes")).not_to_be_visible()

    page.get_by_role("checkbox", name="Hall").check()
    bar = page.get_by_role("group", name="Selected themes")
    bar.get_by_label("Name").fill("The hall")
    bar.get_by_role("button", name="Rename").click()
    expect(heads.filter(has_text="The hall")).to_be_visible()

    for name in ("The hall", "Garden"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Merge themes").click()
    expect(page.get_by_role("heading", name="2 themes")).to_be_visible()
    assert len(set(themes().values())) == 2
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="3 themes")).to_be_visible()
    assert themes()["First point."] == "The hall"

    page.get_by_role("link", name="All key points").click()
    expect(page.get_by_role("heading", level=3)).to_have_count(3)
    page.get_by_label("Theme").first.select_option("Garden")
    expect(page.get_by_role("heading", level=3)).to_have_text(["Third point."])


# Pixels by which a drawn word may leave the box that was reckoned with.
SLACK = 1.5
SIZES = list(vega.WIDTHS)

BOXES = """svg => {
  document.body.innerHTML = svg;
  const root = document.querySelector('svg'), own = root.getBoundingClientRect();
  const box = each => {
    const found = each.getBoundingClientRect();
    return [found.left - own.left, found.top - own.top, found.right - own.left,
      found.bottom - own.top];
  };
  const texts = [...root.querySelectorAll('text')].filter(each => each.textContent.trim());
  const marks = [...root.querySelectorAll('.mark-rule line, .mark-symbol path, .mark-line path')];
  return {width: own.width, height: own.height,
    words: texts.map(each => [each.textContent, box(each)]), marks: marks.map(box)};
}"""


@pytest.mark.long
def test_words_are_where_they_are_reckoned_with(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_content("<style>body { margin: 0 } svg { display: block }</style>")
    for at, (kind, draw) in enumerate(CASES.items()):
        spec = draw(8, SIZES[at % len(SIZES)])
        found = page.evaluate(BOXES, vega._draw(spec, "svg", "light").decode())
        assert faults_of(found, boxes_of(spec)) == [], kind
    page.close()


def faults_of(found, reckoned):
    """Words and marks that are elsewhere."""
    faults = [] if found["width"] == reckoned.width else [f"{found['width']} px wide"]
    words = sorted(text for text, _box in reckoned.words if text.strip())
    if sorted(text for text, _box in found["words"]) != words:
        faults.append("other words")
    whole = (0, 0, found["width"], found["height"])
    for text, box in found["words"]:
        places = [place for word, place in reckoned.words if word == text]
        if not any(holds(place, box) for place in places):
            faults.append(f"“{text}” is at {box}, reckoned with at {places}")
    return faults + [f"a mark at {box}" for box in found["marks"] if not holds(whole, box)]


def holds(place, box):
    return (
        place[0] - SLACK <= box[0]
        and place[1] - SLACK <= box[1]
        and place[2] + SLACK >= box[2]
        and place[3] + SLACK >= box[3]
    )
