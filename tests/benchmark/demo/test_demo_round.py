"""The demo's scoring round: open to its people, with practice whose key fits the text."""

import pytest

from annotation.demo.actions import demo
from benchmark.demo.actions.round import add_round
from benchmark.scoring.methods.sentence_count import length_points, sentence_places
from benchmark.scoring.models.rounds import ScoringRound
from cqa_site.people.actions.raters import rater_for
from cqa_site.rounds.serving import next_sheet
from tests import cast

pytestmark = pytest.mark.django_db


def test_people_of_the_demo_can_practise_and_score():
    study = cast.make_study()
    users = {role: cast.make_member(study, role) for role in cast.ROLES}
    demo._arguments(study)
    demo._answers(study)
    add_round(study=study, users=users)
    scoring_round = ScoringRound.objects.get()
    practice = scoring_round.items.get(key_points__isnull=False)
    said = length_points(len(sentence_places(practice.answer.text)))
    assert practice.key_points["C15"] == said
    assert scoring_round.items.count() > 5
    rater = rater_for(membership=users["annotator"].memberships.get())
    assert next_sheet(round_=scoring_round, rater=rater).sheet.is_example
