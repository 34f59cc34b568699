"""Answers side by side: they scroll in their own box, and a citation leads to its argument."""

import pytest

from tests.annotation.made_answers import make_answer, make_list, make_question, make_system
from tests.cast import make_member, make_study

pytestmark = pytest.mark.browser
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
