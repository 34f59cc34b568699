"""A researcher sorts the themes of an analysis: move, rename, merge, and take it back."""

import pytest
from playwright.sync_api import expect

from argsum.analysis.models import FoundPoint
from tests.argsum.analysis.made_comments import fill, make_cell, write_analysis
from tests.cast import make_member, make_study

pytestmark = pytest.mark.browser


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
        page.get_by_role("status").filter(has_text="1 key point is in “Hall” now.")
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
