"""Which sheet a rater fills in next.

One item at a time: examples of the qualification first, then items in the rater's own random
order, and among them blind repeats. An ordinary item is reserved by one of its slots.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from cqa_site.people.models import Rater

from .blind_order import choose_repeat, own_order, repeat_due
from .kind import SheetKind, sheet_kind_of
from .models import Place, Round, Sheet
from .slots import DONE, FREE, renew, take_slot

# So many items of a rater's order are tried before somebody else's locks count as "held".
TRIES = 5


@dataclass(frozen=True)
class Work:
    """The sheet to fill in now, or why there is none."""

    sheet: Any | None
    reason: str = ""


def place_for(*, round_: Round, rater: Rater) -> Place:
    """The rater's place in the round, made at the first visit."""
    found, _created = Place.objects.get_or_create(round_id=round_.pk, rater=rater)
    # As given: of the kind's own class, where a plain round would be read.
    found.round, found.rater = round_, rater
    return found


def own_sheets(*, round_: Round, rater: Rater) -> QuerySet[Any]:
    """The rater's sheets of a round in the order in which they came."""
    kind = sheet_kind_of(round_)
    rows = kind.Sheet._default_manager.filter(round=round_.pk, rater=rater)
    return rows.select_related(*kind.needed).order_by("place")


@transaction.atomic
def next_sheet(*, round_: Any, rater: Rater) -> Work:
    """Return the sheet that waits for the rater, beginning a new one where none does.

    Reasons for none: ``not_open``, ``stopped``, ``not_qualified``, ``held`` (others hold the last
    items), ``finished``.
    """
    place = place_for(round_=round_, rater=rater)
    # Two tabs of one rater wait here for each other; the second finds the first one's sheet.
    place = Place.objects.select_for_update().get(pk=place.pk)
    place.rater = rater
    if place.is_excluded or place.is_stopped:
        return Work(None, "stopped")
    if round_.state != Round.State.OPEN:
        return Work(None, "not_open")
    waiting = own_sheets(round_=round_, rater=rater).filter(state=Sheet.State.OPEN).first()
    if waiting is not None:
        renew(waiting)
        return Work(waiting)
    serving = _Serving(sheet_kind_of(round_), round_, place)
    if serving.kind.is_assigned:
        return Work(None, "finished")
    if not place.is_passed:
        example = serving.next_example()
        if example is not None:
            return Work(serving.begin(example, is_example=True))
        if not serving.has_passed():
            return Work(None, "not_qualified")
    return serving.ordinary()


@dataclass(frozen=True)
class _Serving:
    """One answer to "what next" for one rater, whose place is locked."""

    kind: SheetKind
    round_: Any
    place: Place

    def own(self) -> QuerySet[Any]:
        return own_sheets(round_=self.round_, rater=self.place.rater)

    def items(self) -> QuerySet[Any]:
        return self.kind.Item._default_manager.filter(round=self.round_)

    def next_example(self) -> Any | None:
        seen = self.own().filter(is_example=True).values(self.kind.subject)
        examples = self.items().filter(key_points__isnull=False)
        left = examples.exclude(**{f"{self.kind.subject}__in": seen})
        return left.order_by("position").first()

    def has_passed(self) -> bool:
        """Whether the rater may go on; without examples everybody may, unless kept out."""
        if self.place.is_decided_by_person:
            return self.place.is_passed
        return not self.items().filter(key_points__isnull=False).exists()

    def ordinary(self) -> Work:
        """A repeat if one is due, else the next item of the rater's own order."""
        rows = self.own().filter(is_example=False)
        done = list(rows.values_list(self.kind.subject, "replicate"))
        firsts = [thing for thing, replicate in done if replicate == 0]
        repeated = {thing for thing, replicate in done if replicate}
        sheet = (
            self._repeat(firsts, repeated)
            or self._first(firsts)
            or self._repeat(firsts, repeated, is_last=True)
        )
        if sheet is not None:
            return Work(sheet)
        others = self.kind.Slot._default_manager.filter(round=self.round_).exclude(state=DONE)
        is_held = others.exclude(**{f"item__{self.kind.subject}__in": firsts}).exists()
        return Work(None, "held" if is_held else "finished")

    def _first(self, firsts: list[int]) -> Any | None:
        """A sheet for an item that the rater has not had, if one of the next few is free."""
        left = self._candidates(firsts)
        order = own_order(left, seed=self.round_.seed, rater=self.place.rater_id)[:TRIES]
        items = self.kind.Item._default_manager.in_bulk(order)
        for item in (items[pk] for pk in order):
            slot = take_slot(self.round_, item.pk, minutes=self.round_.lease_minutes)
            if slot is not None:
                return self.begin(item, slot=slot)
        return None

    def _candidates(self, firsts: list[int]) -> list[int]:
        """Keys of the items with a free slot that the rater has not had."""
        free = self.kind.Slot._default_manager.filter(FREE, item=OuterRef("pk"))
        items = self.items().filter(Exists(free), key_points__isnull=True)
        mine = set(firsts)
        rows = items.values_list("pk", self.kind.subject)
        return [pk for pk, thing in rows if thing not in mine]

    def _repeat(
        self, firsts: list[int], repeated: set[int], *, is_last: bool = False
    ) -> Any | None:
        """A sheet for an item that comes again, if one is due."""
        share = self.round_.repeat_share
        if not repeat_due(len(firsts), len(repeated), share, is_last=is_last):
            return None
        again = choose_repeat(firsts, repeated, seed=self.round_.seed, rater=self.place.rater_id)
        if again is None:
            return None
        return self.begin(self.items().get(**{self.kind.subject: again}), replicate=1)

    def begin(
        self, item: Any, *, slot: Any = None, replicate: int = 0, is_example: bool = False
    ) -> Any:
        Place.objects.filter(pk=self.place.pk).update(served=F("served") + 1)
        subject = f"{self.kind.subject}_id"
        made = self.kind.Sheet._default_manager.create(
            study_id=self.round_.study_id,
            rater=self.place.rater,
            round=self.round_,
            slot=slot,
            replicate=replicate,
            is_example=is_example,
            place=self.place.served + 1,
            served_at=Now(),
            **{subject: getattr(item, subject)},
            **self.kind.begin(self.round_, item, self.place.rater),
        )
        rows = self.kind.Sheet._default_manager.select_related(*self.kind.needed)
        return rows.get(pk=made.pk)
