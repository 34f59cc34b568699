"""The demo's scores, invented and enough to look at, and its scoring round, open to its people."""

from collections import Counter

import pytest

from annotation.demo import actions
from annotation.demo.actions import PARTS, add_part
from benchmark.demo.actions import SYSTEMS, TEXTS, add_round, add_scores
from benchmark.scoring.methods import length_points, sentence_places
from benchmark.scoring.models import ScoringRound
from cqa_site.people.actions import rater_for
from cqa_site.rounds.queue import next_sheet
from tests import cast
from tests.worlds import built_once
from ..made_scores import make_scored_answers

pytestmark = pytest.mark.django_db
N_ANSWERS = len(TEXTS) * len(SYSTEMS) * 2


def make_scored():
    study = cast.make_study()
    users = {role: cast.make_member(study, role) for role in cast.ROLES}
    older = make_scored_answers(study)
    add_scores(study=study, users=users)
    return study, users, older


scored = built_once(make_scored)


def test_two_members_and_a_judge_score_every_new_answer(scored):
    study, users, older = scored
    sheets = study.score_sheets.select_related("rater")
    by_rater = Counter((each.rater.kind, each.rater.user) for each in sheets)
    assert by_rater == {
        ("person", users["annotator"]): N_ANSWERS,
        ("expert", users["expert"]): N_ANSWERS,
        ("model", None): N_ANSWERS,
    }
    # People have something left to score.
    assert not sheets.filter(answer__in=older).exists()
    assert {each.comment for each in sheets} == {"Invented by a simulation for the demo."}


def test_people_of_the_demo_can_practise_with_a_key_that_fits_and_score(study):
    users = {role: cast.make_member(study, role) for role in cast.ROLES}
    actions._arguments(study)
    actions._answers(study)
    add_round(study=study, users=users)
    scoring_round = ScoringRound.objects.get()
    practice = scoring_round.items.get(key_points__isnull=False)
    said = length_points(len(sentence_places(practice.answer.text)))
    assert practice.key_points["C15"] == said
    assert scoring_round.items.count() > 5
    rater = rater_for(membership=users["annotator"].memberships.get())
    assert next_sheet(round_=scoring_round, rater=rater).sheet.is_example
    path = "benchmark.demo.actions.add_scores"
    add_part(path)
    assert PARTS.count(path) == 1
