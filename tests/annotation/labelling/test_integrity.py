"""check_integrity finds what it promises to find."""

import pytest
from django.core.management import CommandError, call_command

from annotation.labelling.actions import answering, serving
from annotation.labelling.models.rounds import Assignment, Slot, VoteEvent
from annotation.labelling.reports import label_violations
from cqa_site.people.models import Rater
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.queue import place_for
from tests.cast import make_label_round, make_member, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered():
    study = make_study()
    label_round = make_label_round(study)
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    label_round.refresh_from_db()
    rater = Rater.objects.create(study=study, external_id="one")
    place = place_for(round_=label_round, rater=rater)
    rows = serving.next_work(label_round=label_round, place=place).assignments
    row = next(row for row in rows if not row.item.is_control)
    given = answering.SubmittedLabel(client_key="k", label=2)
    return answering.answer(rater=rater, assignment=row, given=given)


def test_an_honest_database_passes(answered):
    assert list(label_violations()) == []
    call_command("check_integrity")


def test_a_slot_reopened_behind_the_vote_is_found(answered):
    Slot.objects.filter(pk=answered.slot_id).update(state="open")
    assert list(label_violations()) == [
        f"slot {answered.slot_id} is open, but its assignment says otherwise"
    ]
    with pytest.raises(CommandError):
        call_command("check_integrity")


def test_a_label_behind_its_history_and_a_counted_vote_without_a_slot_are_found(answered):
    Assignment.objects.filter(pk=answered.pk).update(label=0)
    assert "another label than its last event" in next(label_violations())
    Assignment.objects.filter(pk=answered.pk).update(label=answered.label)
    VoteEvent.objects.filter(assignment=answered).delete()
    assert "another label than its last event" in " ".join(label_violations())
    Slot.objects.filter(pk=answered.slot_id).update(state="open")
    Assignment.objects.filter(pk=answered.pk).update(slot=None)
    assert "counts but holds no slot" in " ".join(label_violations())
