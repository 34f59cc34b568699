"""Several people judging sets at the same moment: every set gets its sheets, and nobody waits."""

import threading
import time
from collections import Counter

import pytest
from django.db import connection, connections

from argsum.counting.actions.kind import CountContent
from argsum.counting.models import CountingRound, CountingSlot, CountSheet
from cqa_site.people.models import Rater
from cqa_site.rounds.saving import Sent, save_draft, submit_sheet
from cqa_site.rounds.serving import next_sheet
from tests.argsum.counting.made_counting import open_counting
from tests.argsum.made_cells import make_dataset, make_set
from tests.cast import make_member, make_study

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nobody meets"
    ),
]
PEOPLE, SYSTEMS = 5, 6
FULL = CountContent(covered=1, unique=2)


def judge_until_done(round_id, rater, errors):
    """Judge as a person does: take, save, submit; now and then come back too late."""
    try:
        for turn in range(20 * SYSTEMS):
            counting_round = CountingRound.objects.select_related("study").get(pk=round_id)
            work = next_sheet(round_=counting_round, rater=rater)
            if work.reason == "finished":
                break
            if work.sheet is None:
                continue
            first = Sent(CountContent(comment="Hm."), work.sheet.version)
            sheet = save_draft(sheet=work.sheet, sent=first)
            if turn % 3 == 0:
                # As if the person had been away: anybody may take the set now.
                mine = CountingSlot.objects.filter(pk=sheet.slot_id, state="leased")
                mine.update(lease_until="2001-01-01T00:00Z")
                time.sleep(0.05)
            submit_sheet(sheet=sheet, sent=Sent(FULL, sheet.version), key=f"{sheet.pk}")
    except Exception as error:  # noqa: BLE001 the test looks at it
        errors.append(error)
    finally:
        connections.close_all()


@pytest.mark.parametrize("raters", [1, 3])
def test_every_set_gets_its_sheets(raters):
    study = make_study()
    for cell in make_dataset(study).cells.all():
        for number in range(SYSTEMS):
            make_set(cell, system=f"System {number}")
    boss = make_member(study, "researcher")
    counting_round = open_counting(study, boss, raters=raters)
    people = [Rater.objects.create(study=study, name=f"R{n}") for n in range(PEOPLE)]
    errors: list[Exception] = []
    threads = [
        threading.Thread(target=judge_until_done, args=(counting_round.pk, each, errors))
        for each in people
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(CountingSlot.objects.values_list("state", flat=True)) == {"done"}
    counted = CountSheet.objects.filter(state="submitted", is_extra=False)
    by_set = Counter(counted.values_list("summary_set", flat=True))
    assert set(by_set.values()) == {raters}
    assert len(by_set) == 2 * SYSTEMS
    # What was submitted too late is kept, and holds no slot.
    assert not CountSheet.objects.filter(is_extra=True, slot__isnull=False).exists()
    assert not counted.filter(slot__isnull=True).exists()
