"""What answers are written under is an object: made by runs and imports, and for stored rows."""

from types import SimpleNamespace

import pytest

from annotation.answers.models import Answer, Condition
from annotation.answers.reports import find_violations
from annotation.faithfulness.reports.faithfulness import compute_groups
from annotation.generation.actions.answer_runs import condition, condition_of_run
from annotation.generation.models import GenerationRun
from tests.runs.judging import script
from tests.worlds import built_once
from ..editing_cast import make_answers, make_round, sheets_of
from ..faithfulness.made_faithfulness import compute
from ..generation_lab import GenerationLab
from ..made_answers import make_answer, make_question
from ..made_generations import write_by_text

pytestmark = pytest.mark.django_db
PROBE = {"relevance": "0-1"}


lab = built_once(GenerationLab)


def started(lab, **chosen) -> Condition:
    return lab.start(**chosen).generation.condition


def test_runs_that_differ_in_what_they_ask_have_conditions_of_their_own(lab, monkeypatch):
    plain = started(lab)
    others = [
        started(lab, target=PROBE),
        started(lab, target={"uses_wording": False}),
        started(lab, params={"max_tokens": 900, "temperature": 0.7}),
        started(lab, number=2),
    ]
    assert len({plain.pk, *(each.pk for each in others)}) == 5
    assert [each.is_plain for each in (plain, *others)] == [True, False, False, True, True]
    assert len(set(GenerationRun.objects.values_list("system", flat=True))) == 1
    # The seed, the sample and the number of choices are no part of it.
    more = {"params": {"max_tokens": 900, "seed": 7}, "replicates": 2}
    assert started(lab, target={"questions": "sample", "sample": 2}, **more) == plain
    # Nor are filters, where the prompt shows no arguments.
    assert started(lab, number=1) == started(lab, number=1, target=PROBE, replicates=2)
    # A correction of parameters is another condition, but not another name of the limit.
    script(monkeypatch, write_by_text)
    run = lab.start(params={"max_tokens": 900, "temperature": 0.7}, reuse=False)
    run.amendments = [{"params": {"max_completion_tokens": 900, "temperature": 0.7}}]
    assert condition_of_run(run) == run.generation.condition == others[2]
    run.amendments = [{"params": {"max_completion_tokens": 900}}]
    assert str(condition_of_run(run)) == "Scenario 4 · v1 · at most 900 tokens"


def test_a_name_says_what_differs_and_no_two_of_a_study_are_alike(lab):
    target = {"relevance": "0-1", "favoured": "object1", "most_arguments": 5, "uses_aspect": False}
    params = {"max_tokens": 1500, "temperature": 0.7, "top_p": 0.9, "seed": 3}
    started(lab, target=target, params=params)
    condition(lab.study, scenario=4)
    condition(lab.study, scenario=0)
    started(lab, params={"max_tokens": 1500})
    assert {str(each) for each in Condition.objects.all()} == {
        "Scenario 4 · v1 · labels 0–1 · only arguments for the first object · "
        "at most 5 arguments · without the aspect · T 0.7 · top_p 0.9",
        *("Scenario 4", "No scenario", "Scenario 4 · v1"),
    }
    # An answer whose scenario is not that of its condition is found.
    answer = make_answer(make_question(lab.study), scenario=2)
    assert list(find_violations()) == []
    Answer.objects.update(scenario=3)
    said = f"answer {answer.pk} has another scenario or study than its condition"
    assert list(find_violations()) == [said]


@pytest.fixture
def probed(lab):
    """Six questions, each answered plainly and from useless arguments."""
    plain = make_answers(lab.study)
    probe = condition(lab.study, scenario=4, filters=PROBE)
    for each in plain:
        make_answer(each.question, listed=each.argument_list, condition=probe)
    return SimpleNamespace(study=lab.study, probe=probe)


def test_experts_edit_plain_answers_unless_somebody_asks_for_others(probed):
    made = make_round(probed.study, calibration=2, individual=1, leave="nothing")
    assert all(sheet.answer.condition.is_plain for sheet in sheets_of(made))
    assert (made.recipe["found"], made.recipe["other_conditions"]) == (6, 6)
    asked = str(probed.probe.public_id)
    other = make_round(probed.study, calibration=2, leave="nothing", condition=asked)
    assert {sheet.answer.condition for sheet in sheets_of(other)} == {probed.probe}
    mixed = make_round(probed.study, calibration=2, leave="nothing", condition="all")
    assert (mixed.recipe["found"], mixed.recipe["other_conditions"]) == (12, 0)
    # Figures of faithfulness never pool two conditions.
    compute(probed.study)
    groups = compute_groups(probed.study, "sound", None)
    found = sorted((each.condition_name, each.n_answers) for each in groups)
    assert found == [("Scenario 4", 6), ("Scenario 4 · labels 0–1", 6)]
