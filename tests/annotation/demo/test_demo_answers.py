"""The demo's invented answers belong to its sentences, and break rules only where they should."""

import pytest

from annotation.answers.methods.citations import find_citations
from annotation.demo.actions import demo
from annotation.demo.actions.answer_texts import SYSTEMS, TEXTS
from tests import cast

pytestmark = pytest.mark.django_db


def test_two_systems_answer_three_questions_under_three_scenarios():
    study = cast.make_study()
    demo._arguments(study)
    demo._answers(study)
    assert sorted(study.systems.values_list("name", flat=True)) == sorted(SYSTEMS)
    assert study.questions.count() == 3
    for question in study.questions.all():
        rows = question.answers.values_list("system__name", "scenario")
        expected = {(SYSTEMS[0], 1), (SYSTEMS[0], 4), (SYSTEMS[1], 3), (SYSTEMS[1], 4)}
        assert set(rows) == expected
        (listed,) = question.argument_lists.all()
        assert list(listed.entries.values_list("number", flat=True)) == list(range(1, 10))
    assert not study.answers.exclude(scenario=4).exclude(argument_list=None).exists()


def test_one_number_stands_for_nothing_so_that_a_check_has_something_to_find():
    cited = {
        number
        for _pair, _system, _scenario, text in TEXTS
        for found in find_citations(text)
        for number in found.numbers
    }
    assert cited - set(range(1, 10)) == {12}
