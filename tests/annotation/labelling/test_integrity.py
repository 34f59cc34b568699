"""check_integrity finds what it promises to find."""

import pytest
from django.core.management import CommandError, call_command

from annotation.labelling.models.rounds import Assignment, Slot, VoteEvent
from annotation.labelling.reports import label_violations
from tests.annotation.voting import label, newcomer, opened, work

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered(study):
    place = newcomer(opened(study))
    return label(place, next(row for row in work(place).assignments if not row.item.is_control))


def test_a_slot_reopened_behind_the_vote_is_found(answered):
    assert list(label_violations()) == []
    call_command("check_integrity")
    Slot.objects.filter(pk=answered.slot_id).update(state="open")
    assert list(label_violations()) == [
        f"slot {answered.slot_id} is open, but its assignment says otherwise"
    ]
    with pytest.raises(CommandError):
        call_command("check_integrity")
    Assignment.objects.filter(pk=answered.pk).update(slot=None)
    assert "counts but holds no slot" in " ".join(label_violations())
    Assignment.objects.filter(pk=answered.pk).update(label=0)
    assert "another label than its last event" in " ".join(label_violations())
    Assignment.objects.filter(pk=answered.pk).update(label=answered.label)
    assert "another label than its last event" not in " ".join(label_violations())
    VoteEvent.objects.filter(assignment=answered).delete()
    assert "another label than its last event" in " ".join(label_violations())
