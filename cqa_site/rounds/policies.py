"""The two policies by which sheets are served: one by one, or all of them assigned.

A kind with sheets is a child of one of them and says what is special about its sheets.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db.models import Avg, Count, OuterRef, Q, Value
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.people.models import Rater, User

from .how_far import how_far
from .integrity import sheet_violations
from .kind import RoundNotReady, SheetKind
from .models import Place, Round, Sheet
from .progress import SUBMITTED, TO_DO, count_of
from .serving import next_sheet
from .slots import CHUNK, DONE, FREE, free_slots, hold_slot


class OneByOne(SheetKind):
    """Each person's own random order, with blind repeats, after the examples."""

    # Which of somebody's own sheets the first page counts.
    own_count: ClassVar[Q] = SUBMITTED

    def make_slots(self, round_: Any) -> None:
        """As many for each item as it asks for sheets."""
        items = self.Item._default_manager.filter(round=round_, key_points__isnull=True)
        wanted = self.slots(round_, items.order_by("position").values_list("pk", flat=True))
        if not wanted:
            raise RoundNotReady(_("The round holds nothing to work on."))
        self.check_opening(round_)
        slots = (
            self.Slot(round=round_, item_id=item, number=number)
            for item, sheets in wanted.items()
            for number in range(1, sheets + 1)
        )
        self.Slot._default_manager.bulk_create(slots, batch_size=CHUNK)

    def counts(self) -> dict[str, Any]:
        """Items without examples, the sheets they ask for, and those that are submitted."""
        slots = self.Slot._default_manager.filter(round=OuterRef("pk"))
        items = self.Item._default_manager.filter(round=OuterRef("pk"), key_points__isnull=True)
        return {
            "size": count_of(items),
            "wanted": count_of(slots),
            "done": count_of(slots.filter(state=DONE)),
        }

    def count_own(self, rounds: Iterable[Round], user: User) -> dict[int, int]:
        """Sheets without examples, whether figures use them or not."""
        own = self.Sheet._default_manager.filter(
            self.own_count, round__in=rounds, rater__user=user, is_example=False
        )
        return dict(own.order_by().values_list("round").annotate(Count("pk")))

    def most_items(self, round_: Round) -> int:
        """Every item comes to a person once, blind repeats on top; nobody gets any of a draft."""
        if round_.state == Round.State.DRAFT:
            return 0
        items = self.Item._default_manager.filter(round=round_.pk)
        return items.filter(key_points__isnull=True).count()

    def count_free(self, round_: Round) -> int:
        """Items of which a slot is free; none of a round that is not open."""
        slots = self.Slot._default_manager.filter(FREE, round=round_.pk)
        is_open = round_.state == Round.State.OPEN
        return slots.values("item").distinct().count() if is_open else 0

    def paces(self, round_: Round, **where: Any) -> Iterable[tuple[int, int, int, Any]]:
        """Of submitted sheets, examples aside."""
        skipped = Value(0) if self.skipped is None else Count("pk", filter=self.skipped)
        own = self.Sheet._default_manager.filter(SUBMITTED, round=round_.pk, is_example=False)
        rows: Any = own.filter(**where).order_by().values_list("rater")
        yield from rows.annotate(Count("pk"), skipped=skipped, seconds=Avg("active_seconds"))

    def stop(self, place: Place, *, withdraws: bool) -> None:
        """Begun sheets keep what stands on them; of submitted ones examples are void, too."""
        sheets = self._sheets(place)
        free_slots(self, sheets if withdraws else sheets.filter(state=Sheet.State.OPEN))
        if withdraws:
            sheets.filter(state=Sheet.State.SUBMITTED).update(state=Sheet.State.VOID)

    def why_none(self, round_: Round, rater: Rater) -> str:
        """What serving says."""
        return next_sheet(round_=self.own(round_), rater=rater).reason

    def is_done_by(self, round_: Round, place: Place) -> bool:
        """As the work page counts."""
        return not how_far(self.own(round_), place.rater).left

    def leave_out(self, place: Place) -> int:
        """No item stays short of sheets."""
        sheets = self._sheets(place)
        freed = free_slots(self, sheets)
        sheets.filter(state=Sheet.State.SUBMITTED, is_example=False).update(is_extra=True)
        return freed

    def count_again(self, place: Place) -> int:
        """Blind repeats always count, others where they find a slot."""
        sheets = self._sheets(place).filter(state=Sheet.State.SUBMITTED, is_extra=True)
        again: int = sheets.filter(replicate__gt=0, is_example=False).update(is_extra=False)
        firsts = sheets.filter(replicate=0, is_example=False)
        for sheet in firsts.select_related("round").order_by("pk"):
            hold_slot(sheet)
            sheet.save(update_fields=["slot", "is_extra"])
            again += not sheet.is_extra
        return again

    def _sheets(self, place: Place) -> Any:
        return self.Sheet._default_manager.filter(round=place.round_id, rater=place.rater_id)

    def asks(self, items: int) -> str:
        """How many sheets, and what there is to do."""
        text = ngettext(
            "You will fill in %(items)s sheet.", "You will fill in %(items)s sheets.", items
        )
        return f"{text % {'items': items}} {self.card(0).text}"

    def counted(self) -> str:
        """Sheets."""
        return _("Submitted sheets, blind repeats included, examples not.")

    def check_work(self) -> Iterable[str]:
        """Sheets, slots and submissions."""
        return sheet_violations(self)


class Desk(OneByOne):
    """Everybody's sheets are drawn with the round; each waits until its person submits it."""

    is_assigned = True
    own_count = TO_DO
