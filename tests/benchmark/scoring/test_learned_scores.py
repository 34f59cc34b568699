"""Boards and judges leave out answers to what their own system was trained on, and say so."""

import pytest

from annotation.answers.actions.learned import mark_learned
from annotation.answers.models.answers import System
from benchmark.judges.actions.targets import chosen_answers, count_learned, target_of
from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.reports.markers import board_marker
from benchmark.rubrics.actions import default_rubric
from benchmark.scoring.reports.sheet_rows import count_learned_sheets, counted_sheets
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def test_sheets_of_learned_questions_count_on_no_board():
    study = make_study()
    answers = make_scored_answers(study)
    make_sheets(study, answers, [make_rater(study, "Judge", "model")])
    rubric = study.rubric_versions.get()
    before = board_marker(rubric)
    assert counted_sheets(rubric).count() == 8
    alpha = System.objects.get(study=study, name="Alpha")
    learned = list(study.questions.all()[:3])
    mark_learned(
        system=alpha,
        questions=[question.public_id for question in learned],
        source="",
        actor=None,
    )
    counted = counted_sheets(rubric)
    assert (counted.count(), count_learned_sheets(rubric)) == (5, 3)
    assert not counted.filter(answer__system=alpha, answer__question__in=learned).exists()
    assert board_marker(rubric) != before
    assert BOARDS.compute(rubric).recipe["learned_sheets"] == 3
    target = target_of(rubric)
    assert chosen_answers(study, target).count() == 5
    assert count_learned(study, target) == 3


def test_a_system_that_asks_for_the_same_model_has_learned_it_too():
    study = make_study()
    make_scored_answers(study, questions=2)
    System.objects.filter(study=study).update(model="adapter")
    other = System.objects.create(study=study, name="Tuned", model="adapter")
    mark_learned(
        system=other, questions=[study.questions.first().public_id], source="", actor=None
    )
    rubric = default_rubric(study)
    assert chosen_answers(study, target_of(rubric)).count() == 2
