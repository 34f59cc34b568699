"""check_integrity finds planted contradictions between sheets, slots and submissions."""

import pytest
from django.utils import timezone

from cqa_site.rounds.lifecycle import find_violations
from tests.worlds import built_of
from .made_work import SHEETS, Sitting


class Submitted(Sitting):
    """One sheet is submitted, the next one begun where it comes by itself."""

    def __init__(self, name):
        super().__init__(name)
        self.sheet = self.submit(self.sheet)
        self.take()


built, world = built_of(Submitted, SHEETS, "score")


def test_all_is_well_after_a_submission(world):
    assert list(find_violations()) == []


def of_sheet(world, **changes):
    world.kind.Sheet.objects.filter(pk=world.sheet.pk).update(**changes)


def of_slot(world, **changes):
    world.kind.Slot.objects.filter(pk=world.sheet.slot_id).update(**changes)


def of_event(world, **changes):
    world.sheet.events.update(**changes)


BREAKS = {
    "holds no slot": lambda world: of_sheet(world, slot=None),
    "slot {slot} is open, but its sheet does not match": lambda world: of_slot(
        world, state="open"
    ),
    "slot {slot} is leased, but its sheet does not match": lambda world: of_slot(
        world, state="leased", lease_until=timezone.now()
    ),
    "comment than its last submission": lambda world: of_sheet(world, comment="Forged."),
    "other event than its last submission": lambda world: world.sheet.events.all().delete(),
    " than its last submission": lambda world: of_event(
        world, content=world.sheet.events.get().content | vars(world.work.changed)
    ),
}


@pytest.mark.parametrize("sentence", BREAKS)
def test_a_contradiction_is_named(world, sentence):
    BREAKS[sentence](world)
    wanted = sentence.format(slot=world.sheet.slot_id)
    assert [line for line in find_violations() if wanted in line]
