"""Answers side by side: they scroll in their own box, and a citation leads to its argument."""

import pytest

from tests.annotation.made_answers import make_answer, make_list, make_question, make_system
from tests.cast import make_member, make_study

from .conftest import WIDTHS

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


def look(visit, question, role, **settings):
    visitor = visit(make_member(question.study, role), **settings)
    visitor.go("question", question.study.public_id, question.public_id)
    return visitor


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_the_columns_scroll_inside_their_box(visit, question, width):
    visitor = look(visit, question, "researcher", viewport={"width": width, "height": 900})
    box = visitor.page.locator(".answer-columns")
    inner, outer = box.evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert inner > outer
    assert visitor.has_no_sideways_scroll()
    # The heads stay in sight while the texts are read to their end.
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    assert visitor.page.get_by_role("heading", name="Model 0").is_visible()
    assert visitor.axe() == []


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_a_citation_leads_to_its_argument(visit, question, width):
    visitor = look(visit, question, "researcher", viewport={"width": width, "height": 900})
    page = visitor.page
    last = page.locator(".answer-column").first.get_by_role("link", name="argument 30")
    last.click()
    target = page.locator("#argument-1-30")
    assert target.evaluate("row => row.matches(':target')")
    top, bottom = target.evaluate(
        "row => { const box = row.getBoundingClientRect(); return [box.top, box.bottom]; }"
    )
    head = page.locator(".topbar").evaluate("bar => bar.getBoundingClientRect().bottom")
    assert head <= top < bottom <= 900
