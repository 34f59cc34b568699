"""Which conditions people and judges score: the plain ones, unless somebody asks for others."""

import pytest

from annotation.answers.models import Answer
from annotation.generation.actions.answer_runs import condition
from benchmark.judges.actions.targets import chosen_answers, count_other_conditions, target_of
from benchmark.rubrics.actions import default_rubric

from ..made_rounds import make_round
from ..made_scores import make_scored_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def probe(study):
    """Four answers of two systems, those of one of them from useless arguments."""
    made = make_scored_answers(study, questions=2, systems=("Alpha", "Beta"), scenarios=(4,))
    found = condition(study, scenario=4, filters={"relevance": "0-1"})
    Answer.objects.filter(pk__in=[each.pk for each in made if each.system.name == "Beta"]).update(
        condition=found
    )
    return found


def taken(made) -> set:
    return set(made.items.values_list("answer__condition__is_plain", flat=True))


def test_a_round_takes_plain_answers_or_the_conditions_that_it_is_asked_for(
    study, researcher, probe
):
    made = make_round(study, researcher)
    assert taken(made) == {True}
    assert (made.recipe["found"], made.recipe["other_conditions"]) == (2, 2)
    made = make_round(study, researcher, name="Asked", conditions=(str(probe.public_id),))
    assert taken(made) == {False}
    assert made.recipe["condition_names"] == ["Scenario 4 · labels 0–1"]
    assert taken(make_round(study, researcher, name="Both", conditions=("all",))) == {True, False}


def test_a_balanced_round_draws_from_every_condition_alike(study, researcher, probe):
    Answer.objects.update(system=study.systems.get(name="Alpha"))
    made = make_round(study, researcher, conditions=("all",), size=2)
    assert taken(made) == {True, False}


def test_judges_score_what_was_named_and_else_plain_answers(study, researcher, probe):
    made = make_round(study, researcher, conditions=("all",))
    named = study.answers.values_list("public_id", flat=True)
    for choice, conditions, plain, others in (
        ("all", (), {True}, 2),
        ("all", ("all",), {True, False}, 0),
        ("round", (), {True, False}, 0),
        ("answers", (), {True, False}, 0),
    ):
        about = {"choice": choice, "conditions": conditions, "scoring_round": made.public_id}
        chosen = named if choice == "answers" else ()
        target = target_of(default_rubric(study), **about, answers=chosen)
        found = chosen_answers(study, target).values_list("condition__is_plain", flat=True)
        assert set(found) == plain, choice
        assert count_other_conditions(study, target) == others, choice
    # A target from before there were conditions asks what it asked.
    target = target_of(default_rubric(study))
    del target["conditions"]
    assert chosen_answers(study, target).count() == 4
