"""Several people scoring, or opening a round, at the same moment."""

import threading

import pytest
from django.db import connection, connections

from benchmark.scoring.models.rounds import ScoringSlot
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.opening import open_round
from tests.benchmark.made_race import assert_everything_gets_its_sheets
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_member, make_study

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nobody meets"
    ),
]


@pytest.mark.parametrize("raters", [1, 3])
def test_every_answer_gets_its_sheets(raters):
    assert_everything_gets_its_sheets("score", raters)


def test_a_round_that_two_open_at_once_is_opened_once():
    study = make_study()
    boss = make_member(study, "researcher")
    make_scored_answers(study, questions=2)
    draft = make_round(study, boss, opens=False)
    barrier, said = threading.Barrier(2), []

    def open_it():
        try:
            barrier.wait()
            open_round(round_=draft, actor=boss)
            said.append("opened")
        except RoundNotReady:
            said.append("refused")
        except Exception as error:  # noqa: BLE001 the test looks at it
            said.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=open_it) for _each in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["opened", "refused"]
    assert ScoringSlot.objects.filter(round=draft).count() == 4
