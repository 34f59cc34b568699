"""A label round with a crowd link, and people who worked through it for known times."""

from datetime import timedelta
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from annotation.labelling.actions.serving import member_place
from annotation.labelling.models import Assignment, Slot
from cqa_site.people.models import Membership
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Participant
from tests import cast
from tests.people.crowd import answer_item, create_link, label_items


class Crowd:
    """A study with a member of each role, and a link that pays 1.50 for two labels."""

    def __init__(self, people: int = 0, plan: dict | None = None, **fields):
        self.study = cast.make_study("Study A")
        self.researcher = cast.make_member(self.study, "researcher")
        usual = {"ordinary": 4, "controls": 0, "votes_per_item": 20, "controls_per_block": 0}
        self.round = cast.make_label_round(self.study, **(usual | (plan or {})))
        open_round(round_=self.round, actor=self.researcher)
        self.round.refresh_from_db()
        terms = {"reward": Decimal("1.50"), "hourly_floor": Decimal("9.00")}
        self.link, self.secret = create_link(self.round, self.researcher, **(terms | fields))
        self.people = [self.come(number) for number in range(people)]

    def come(self, number: int, **ids) -> Participant:
        """Somebody who comes in and has done nothing."""
        names = {"participant": f"PID-{number}", "study": "STUDY-1", "session": f"SUB-{number}"}
        platform_ids = PlatformIds(**(names | ids))
        return take_part(link=self.link, ids=platform_ids, browser=f"browser-{number}")

    def work(self, person: Participant, minutes: float = 10, items: int = 2) -> Participant:
        """Somebody completes the work in so many minutes."""
        label_items(person, items)
        own = Assignment.objects.filter(rater__user=person.user, answered_at__isnull=False)
        own.update(active_ms=round(minutes * 60_000 / items))
        return self.end(person, "completed")

    def hold(self, person: Participant) -> Assignment:
        """Somebody holds one item, without the rest of a block."""
        membership = Membership.objects.get(user=person.user)
        place = member_place(label_round=self.round, membership=membership)
        slot = Slot.objects.filter(round=self.round, state=Slot.State.OPEN).first()
        slot.state, slot.lease_until = Slot.State.LEASED, timezone.now() + timedelta(hours=1)
        slot.save()
        return Assignment.objects.create(
            round=self.round, item=slot.item, rater=place.rater, slot=slot, block=1
        )

    def do_one(self, person: Participant) -> Participant:
        """Somebody completes a participation of one item."""
        answer_item(self.hold(person), f"key-{person.pk}")
        return self.end(person, "completed")

    def end(self, person: Participant, outcome: str) -> Participant:
        person.outcome, person.ended_at = outcome, timezone.now() + timedelta(minutes=1)
        person.save()
        return person

    def page(self, name: str, *more) -> str:
        ids = [self.study.public_id, self.round.public_id, self.link.public_id]
        return reverse(name, args=[*ids, *more])
