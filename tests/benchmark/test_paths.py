"""The way to the best answers."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.methods.figures import ScoreBoard
from benchmark.leaderboard.methods.options import PEOPLE
from benchmark.leaderboard.reports.part_tables import pair_of
from benchmark.navigation import steps
from benchmark.rubrics.models import default_rubric
from cqa_site.files.formats import FORMATS
from cqa_site.results import snapshots
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets

pytestmark = pytest.mark.django_db


@pytest.mark.long
def test_too_few_questions_make_no_step_done_that_a_ranking_needs(study, client):
    answers = make_scored_answers(study, questions=1)
    rater = make_rater(study, "Somebody")
    make_sheets(study, [each for each in answers if each.system.name == "Alpha"], [rater])
    assert "1 sheet submitted, all for one system; a ranking needs a second one." in said(study)
    make_sheets(study, [each for each in answers if each.system.name == "Beta"], [rater])
    found = snapshots.refresh(BOARDS, default_rubric(study))
    assert found.number == 1
    assert [each.is_done for each in steps(study)] == [False, True, True, False, False]
    assert (
        "1 question in this study; telling two systems apart takes at least 10 that both answered."
    ) in said(study)
    assert (
        "2 sheets submitted; 1 question has sheets for two systems, and telling them apart takes "
        "at least 10."
    ) in said(study)
    page = client.get(reverse("scores", args=[study.public_id]))
    assert page.context["finding"].sure == (
        "A ranking needs 5 questions on which two systems both have scores. Questions with scores "
        "so far: Alpha 1 and Beta 1."
    )
    way = f"{reverse('study', args=[study.public_id])}?path=answers"
    assert f'<a href="{way}">See the missing steps</a>' in page.text
    shown = [card.slug for card in page.context["cards"]]
    assert "groups" not in shown
    assert "criteria" not in shown
    assert "distributions" in shown


@pytest.mark.long
@pytest.mark.parametrize(("questions", "is_enough"), [(9, False), (10, True)])
def test_steps_are_done_once_a_difference_can_be_shown(study, questions, is_enough):
    answers = make_scored_answers(study, questions=questions)
    make_sheets(study, answers, [make_rater(study, "Somebody")])
    board = ScoreBoard.from_dict(snapshots.refresh(BOARDS, default_rubric(study)).figures["board"])
    first, second = (int(each.system) for each in board.rankings[0].standings)
    assert pair_of(board, PEOPLE, first, second).is_short is not is_enough
    asked, answered, chosen, scored, read = [each.is_done for each in steps(study)]
    assert answered
    assert chosen
    assert asked is scored is read is is_enough


def said(study):
    return " ".join(each.text for each in steps(study))


@pytest.mark.long
def test_the_sample_of_score_sheets_leads_to_a_ranking(study, client, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    path = tmp_path / "sheets.csv"
    path.write_bytes(FORMATS["score_sheets"].sample.make())
    call_command("import_score_sheets", str(path), "--study", study.name)
    assert [each.is_done for each in steps(study)] == [True, True, True, True, False]
    page = f"{reverse('scores', args=[study.public_id])}?rubric={default_rubric(study).public_id}"
    assert list(BOARDS.unmade(study)) == [(str(default_rubric(study)), page)]
    board = snapshots.refresh(BOARDS, default_rubric(study))
    assert all(each.is_done for each in steps(study))
    assert list(BOARDS.unmade(study)) == []
    text = client.get(reverse("scores", args=[study.public_id])).text
    assert board.number == 1
    assert "thorough_model leads with 11.50 of 19 points, 2.00 more than brief_model." in text
