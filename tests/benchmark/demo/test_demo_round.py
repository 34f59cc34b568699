"""The demo's scoring round: open to its people, with practice whose key fits the text."""

import pytest

from annotation.demo.actions.demo import build_demo
from benchmark.scoring.methods.sentence_count import length_points, sentence_places
from benchmark.scoring.models.rounds import ScoringRound
from cqa_site.people.models import Rater, User
from cqa_site.rounds.serving import next_sheet

pytestmark = pytest.mark.django_db


def test_people_of_the_demo_can_practise_and_score():
    build_demo()
    scoring_round = ScoringRound.objects.get()
    practice = scoring_round.items.get(key_points__isnull=False)
    said = length_points(len(sentence_places(practice.answer.text)))
    assert practice.key_points["C15"] == said
    assert scoring_round.items.count() > 5
    user = User.objects.get(email="annotator@counterpoint.example")
    rater = Rater.objects.get(user=user)
    assert next_sheet(round_=scoring_round, rater=rater).sheet.is_example
