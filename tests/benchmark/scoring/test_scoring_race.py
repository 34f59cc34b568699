"""Several people scoring, or opening a round, at the same moment."""

import pytest

from benchmark.scoring.models import ScoringSlot
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import open_round
from tests.benchmark.made_race import ON_POSTGRES, assert_everything_gets_its_sheets
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_member, make_study
from tests.people.at_once import at_once

pytestmark = ON_POSTGRES


@pytest.mark.parametrize("raters", [1, 3])
def test_every_answer_gets_its_sheets(raters):
    assert_everything_gets_its_sheets("score", raters)


def test_a_round_that_two_open_at_once_is_opened_once():
    study = make_study()
    boss = make_member(study, "researcher")
    make_scored_answers(study, questions=2)
    draft = make_round(study, boss, opens=False)

    def open_it(actor):
        try:
            open_round(round_=draft, actor=actor)
        except RoundNotReady:
            return "refused"
        return "opened"

    said = at_once(open_it, [boss, boss])
    assert sorted(said) == ["opened", "refused"]
    assert ScoringSlot.objects.filter(round=draft).count() == 4
