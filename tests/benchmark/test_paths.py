"""The way to the best answers."""

import pytest
from django.urls import reverse

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
