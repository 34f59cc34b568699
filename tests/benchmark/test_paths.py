"""The way to the best answers."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from benchmark.leaderboard.actions import BOARDS
from benchmark.paths import steps
from benchmark.rubrics.actions import default_rubric
from cqa_site.files.formats import FORMATS
from cqa_site.results import keeping
from tests import cast
from tests.benchmark.made_scores import make_scored_answers

pytestmark = pytest.mark.django_db


def test_scorers_are_people_or_models():
    study = cast.make_study()
    client = cast.sign_in(cast.make_member(study, "researcher"))
    page = client.get(reverse("study", args=[study.public_id]), {"path": "answers"})
    for name in ("scoring_rounds", "scoring_runs"):
        assert f'href="{reverse(name, args=[study.public_id])}">' in page.content.decode()


def test_one_system_asks_for_a_second_in_two_ways():
    study = cast.make_study()
    make_scored_answers(study, systems=("Alpha",))
    client = cast.sign_in(cast.make_member(study, "researcher"))
    page = client.get(reverse("study", args=[study.public_id]), {"path": "answers"})
    text = page.content.decode()
    assert "1 system answered. A second one makes a comparison" in text
    step = text[text.index("1 system answered") :]
    assert step.index("Generate answers") < step.index("Import answers") < step.index("</li>")


def test_the_sample_of_score_sheets_leads_to_a_ranking(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    study = cast.make_study()
    path = tmp_path / "sheets.csv"
    path.write_bytes(FORMATS["score_sheets"].sample.make())
    call_command("import_score_sheets", str(path), "--study", study.name)
    client = cast.sign_in(cast.make_member(study, "researcher"))
    assert [each.is_done for each in steps(study)] == [True, True, True, True, False]
    page = f"{reverse('scores', args=[study.public_id])}?rubric={default_rubric(study).public_id}"
    assert list(BOARDS.unmade(study)) == [(str(default_rubric(study)), page)]
    board = keeping.refresh(BOARDS, default_rubric(study))
    assert all(each.is_done for each in steps(study))
    assert list(BOARDS.unmade(study)) == []
    text = client.get(reverse("scores", args=[study.public_id])).content.decode()
    assert board.number == 1
    assert "thorough_model leads with 11.50 of 19 points, 2.00 more than brief_model." in text
