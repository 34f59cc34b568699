"""Several people at work in one round at the same moment.

Reservations that run out at once make everybody take things from everybody.
"""

import time
from collections import Counter
from functools import partial

import pytest
from django.db import connection

from cqa_site.people.models import Rater
from cqa_site.rounds.drafts import DraftSubmission, save_draft, submit_sheet
from cqa_site.rounds.queue import next_sheet
from tests.people.at_once import at_once
from tests.rounds.made_work import ITEMS, World

PEOPLE = 5
ON_POSTGRES = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nobody meets"
    ),
]


def work_until_done(world: World, rater: Rater) -> None:
    """Work as a person does: take, save, submit; now and then come back too late."""
    for turn in range(20 * ITEMS):
        round_ = world.kind.Round.objects.get(pk=world.round.pk)
        work = next_sheet(round_=round_, rater=rater)
        if work.reason == "finished":
            break
        if work.sheet is None:
            continue
        first = DraftSubmission(world.work.changed, work.sheet.version)
        sheet = save_draft(sheet=work.sheet, sent=first)
        if turn % 3 == 0:
            # As if the person had been away: anybody may take the thing now.
            mine = world.kind.Slot.objects.filter(pk=sheet.slot_id, state="leased")
            mine.update(lease_until="2001-01-01T00:00Z")
            time.sleep(0.05)
        last = DraftSubmission(world.work.full, sheet.version)
        submit_sheet(sheet=sheet, sent=last, key=f"{sheet.pk}")


def assert_everything_gets_its_sheets(kind: str, wanted: int) -> None:
    """Everything of a new round gets as many sheets as it shall have, and nobody waits."""
    world = World(kind, raters=wanted)
    people = [Rater.objects.create(study=world.study, name=f"R{n}") for n in range(PEOPLE)]
    assert at_once(partial(work_until_done, world), people) == [None] * PEOPLE
    assert set(world.slots().values_list("state", flat=True)) == {"done"}
    sheets = world.kind.Sheet.objects.filter(round=world.round)
    counted = sheets.filter(state="submitted", is_extra=False)
    done = Counter(counted.values_list(world.kind.subject, flat=True))
    assert (len(done), set(done.values())) == (world.round.items.count(), {wanted})
    # What was submitted too late is kept, and holds no slot.
    assert not sheets.filter(is_extra=True, slot__isnull=False).exists()
    assert not counted.filter(slot__isnull=True).exists()
