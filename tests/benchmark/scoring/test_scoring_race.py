"""Several people scoring at the same moment: every answer gets its sheets, and nobody waits.

Reservations that run out at once make everybody take answers from everybody.
"""

import threading
import time
from collections import Counter

import pytest
from django.db import connection, connections

from benchmark.scoring.actions.kind import ScoreContent
from benchmark.scoring.models.rounds import ScoringRound, ScoringSlot
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.opening import open_round
from cqa_site.rounds.saving import Sent, save_draft, submit_sheet
from cqa_site.rounds.serving import next_sheet
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
PEOPLE, QUESTIONS = 5, 12
FULL = ScoreContent({f"C{number}": 1 for number in range(1, 16)})


def score_until_done(round_id, rater, errors):
    """Score as a person does: take, save twice, submit; until nothing is left."""
    try:
        for turn in range(20 * QUESTIONS):
            scoring_round = ScoringRound.objects.select_related("rubric", "study").get(pk=round_id)
            work = next_sheet(round_=scoring_round, rater=rater)
            if work.reason == "finished":
                break
            if work.sheet is None:
                continue
            sheet = save_draft(
                sheet=work.sheet, sent=Sent(ScoreContent({"C1": 1}), work.sheet.version)
            )
            if turn % 3 == 0:
                # As if the person had been away: anybody may take the answer now.
                mine = ScoringSlot.objects.filter(pk=sheet.slot_id, state="leased")
                mine.update(lease_until="2001-01-01T00:00Z")
                time.sleep(0.05)
            submit_sheet(sheet=sheet, sent=Sent(FULL, sheet.version), key=f"{sheet.pk}")
    except Exception as error:  # noqa: BLE001 the test looks at it
        errors.append(error)
    finally:
        connections.close_all()


@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_every_answer_gets_its_sheets(overlap):
    study = make_study()
    make_scored_answers(study, questions=QUESTIONS, systems=("Alpha",))
    boss = make_member(study, "researcher")
    scoring_round = make_round(study, boss, overlap_share=overlap, overlap_raters=3)
    raters = [Rater.objects.create(study=study, name=f"R{n}") for n in range(PEOPLE)]
    errors: list[Exception] = []
    threads = [
        threading.Thread(target=score_until_done, args=(scoring_round.pk, rater, errors))
        for rater in raters
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(ScoringSlot.objects.values_list("state", flat=True)) == {"done"}
    counted = ScoreSheet.objects.filter(state="submitted", is_extra=False)
    wanted = 3 if overlap else 1
    assert Counter(counted.values_list("answer", flat=True)).most_common() == [
        (answer, wanted)
        for answer, _n in Counter(counted.values_list("answer", flat=True)).items()
    ]
    assert counted.count() == QUESTIONS * wanted
    # What was submitted too late is kept, and holds no slot.
    extras = ScoreSheet.objects.filter(is_extra=True)
    assert not extras.filter(slot__isnull=False).exists()
    assert not counted.filter(slot__isnull=True).exists()


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
