"""Control items and examples in rounds of sheets, and the sources of their known answers.

A control item looks like any other item. Each person gets every control item once, among their
ordinary items (`cqa_site.rounds.queue.controls_due`). It needs no slots, and its answers are left
out of all figures. Examples are described in `cqa_site.rounds.examples`; only a draft's
examples can be changed.
"""

from collections import defaultdict
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.people.access import record
from cqa_site.people.models import User
from .examples import OFFERED, add_example, add_item, examples_of, known_items
from .kind import OfferedAnswer, RoundNotReady, SheetKind, kind_of, sheet_kind_of
from .lifecycle import locked_round
from .models import COUNTED, ORDINARY, Place, Round, Sheet
from .queue import CHUNK, hold_slot, unseen_items

CHANGEABLE = (Round.State.DRAFT, Round.State.OPEN, Round.State.PAUSED)
NOT_OFFERED = lazy("This answer is no longer offered. Choose another one.")
REDRAWN = lazy(
    "The items of the plan were drawn again, and this item is no longer among them. Choose "
    "another item."
)


@transaction.atomic
def set_control(*, round_: Any, item: Any, known: dict[str, Any] | None, actor: User) -> None:
    """Make an item a hidden control item, or change its known answer; None makes it ordinary.

    The change also applies to earlier answers in a running round. An item that was not drawn
    would bias a sample if it became ordinary, so it is deleted instead if nobody has had it.
    Raises RoundNotReady for closed rounds, for examples, for items removed when the
    draft was redrawn, and for items that can neither become ordinary nor be deleted.
    """
    stored = _locked(round_)
    kind = sheet_kind_of(stored)
    try:
        item.refresh_from_db(fields=["known", "key_points"])
    except ObjectDoesNotExist:
        raise RoundNotReady(REDRAWN) from None
    if not kind.takes_controls:
        raise RoundNotReady(_("Items of this kind have no right answer."))
    if item.is_example:
        raise RoundNotReady(_("This item is one of the qualification examples."))
    before, item.known = item.known, known
    if before == known:
        return
    if known is None and is_undrawn(kind, item):
        _remove(kind, stored, item)
    else:
        item.save(update_fields=["known"])
        if stored.state != Round.State.DRAFT:
            _turn_sheets(kind, stored, item)
    _note(stored, item, actor, before)


def require_same(item: Any, sent: Mapping[str, Any]) -> None:
    """Raise RoundNotReady if a form is about another item that was previously at this position."""
    if sent.get("item", str(item.pk)) != str(item.pk):
        raise RoundNotReady(REDRAWN)


def is_undrawn(kind: SheetKind, item: Any) -> bool:
    """Whether an item would bias a sample because it was not drawn with the other items."""
    return kind.is_sample and item.probability is None


def _remove(kind: SheetKind, stored: Any, item: Any) -> None:
    """Delete a control item that nobody has had yet; raises RoundNotReady otherwise."""
    thing = {kind.subject: getattr(item, f"{kind.subject}_id")}
    if kind.Sheet._default_manager.filter(round=stored, **thing).exists():
        raise RoundNotReady(
            _(
                "Somebody has already received this item, so it remains a control item. It was "
                "not drawn at random, so it would bias the sample as an ordinary item."
            )
        )
    # This also deletes the item. A subject left behind would count as drawn.
    getattr(item, kind.subject).delete()


@transaction.atomic
def set_tolerance(*, round_: Any, tolerance: float | None, actor: User) -> None:
    """Set a round's tolerance for right answers; None means the kind's default."""
    before = round_.control_tolerance
    if before == tolerance:
        return
    Round.objects.filter(pk=round_.pk).update(control_tolerance=tolerance)
    round_.control_tolerance = tolerance
    record(
        study=round_.study,
        actor=actor,
        verb="control_tolerance_changed",
        subject=round_.name,
        before=before,
        after=tolerance,
    )


@transaction.atomic
def take_answer(*, round_: Any, sheet: Any, actor: User) -> Any:
    """Use a sheet's answer as a known answer; return the control item, created if necessary.

    ``sheet`` comes from `agreed_answers`. Raises RoundNotReady as `set_control` does.
    """
    # Locked before the check, so that nobody adds the same item in the meantime.
    stored, kind = _locked(round_), sheet_kind_of(round_)
    known = kind.answer_of(sheet)
    if item := item_like(stored, sheet):
        set_control(round_=round_, item=item, known=known, actor=actor)
        return item
    item = add_item(stored, kind.copied(stored, sheet), known=known)
    _note(stored, item, actor, None)
    return item


def control_offers(round_: Any) -> list[OfferedAnswer]:
    """Return known answers from other rounds; in rounds of sheets, these are `agreed_answers`."""
    kind = kind_of(round_)
    return agreed_answers(round_) if isinstance(kind, SheetKind) else kind.control_offers(round_)


def offer_named(offers: list[OfferedAnswer], named: object) -> OfferedAnswer:
    """Return the offer with this id; raises LookupError."""
    for offer in offers:
        if offer.id == str(named):
            return offer
    raise LookupError(NOT_OFFERED)


@transaction.atomic
def take_offers(
    *, round_: Any, actor: User, source: object = None, is_settled: bool = False
) -> int:
    """Use one source's answer, or all settled or all agreed answers; return the number used.

    Raises LookupError if the source is not offered, and RoundNotReady if no answer can be used.
    """
    stored = locked_round(round_, *CHANGEABLE)
    offers = control_offers(stored)
    if source is not None:
        offers = [offer_named(offers, source)]
        if offers[0].reason:
            raise RoundNotReady(_("Not possible: %s.") % offers[0].reason)
    else:
        offers = [offer for offer in offers if offer.is_settled == is_settled and not offer.reason]
    if not offers:
        raise RoundNotReady(
            _("No known answer can be used in this round. The page shows the reason.")
        )
    kind = kind_of(stored)
    if isinstance(kind, SheetKind):
        for offer in offers:
            take_answer(round_=stored, sheet=offer.source, actor=actor)
    else:
        kind.take_controls(stored, offers, actor)
    return len(offers)


def agreed_answers(round_: Any) -> list[OfferedAnswer]:
    """Return answers from closed rounds on which at least two people agree, newest rounds first.

    Answers agree if all are within the tolerance of the first answer. Items with a known answer in
    this round are left out.
    """
    kind = sheet_kind_of(round_)
    # People's counted first sheets in other rounds, with answers that fit this round.
    own = kind.Sheet._default_manager.filter(COUNTED, kind.alike(round_), replicate=0)
    sheets: Any = own.filter(study=round_.study_id, round__state=Round.State.CLOSED)
    sheets = sheets.exclude(round=round_.pk).order_by("pk")
    several = sheets.order_by().values("round", kind.subject).annotate(n=Count("rater"))
    things = several.filter(n__gt=1).order_by("-round", kind.subject)
    keys = things.values_list(kind.subject, flat=True)[:CHUNK]
    rows = sheets.filter(**{f"{kind.subject}__in": list(keys)})
    by_thing: dict[Any, list[Any]] = defaultdict(list)
    for sheet in rows.select_related("round", *kind.needed, *kind.item_needed):
        by_thing[sheet.round_id, getattr(sheet, f"{kind.subject}_id")].append(sheet)
    items = kind.Item._default_manager.filter(round=round_.pk).exclude(ORDINARY)
    seen = set(items.values_list(*kind.likeness))
    agreed: list[OfferedAnswer] = []
    for _place, (first, *others) in sorted(by_thing.items(), key=lambda row: -row[0][0]):
        like = like_of(kind, first)
        known = kind.answer_of(first)
        are_right = [kind.is_right(round_, other, known) for other in others]
        if are_right and all(are_right) and like not in seen and len(agreed) < OFFERED:
            seen.add(like)
            agreed.append(_offer(round_, first, known, people=1 + len(others)))
    return agreed


def _offer(round_: Any, source: Any, known: Mapping[str, Any], **about: Any) -> OfferedAnswer:
    kind = sheet_kind_of(round_)
    item = kind.Item(round=round_, **{kind.subject: getattr(source, kind.subject)})
    return OfferedAnswer(source, item, known, **about)


def offered_examples(round_: Any) -> list[OfferedAnswer]:
    """Return the known answers that a draft can use, one per subject, in the default order."""
    kind = sheet_kind_of(round_)
    rows = known_items(round_)
    known = [_offer(round_, row, row.known_answer, notes=row.key_notes) for row in rows]
    seen = {like_of(kind, row) for row in rows}
    agreed = agreed_answers(round_)
    return known + [offer for offer in agreed if like_of(kind, offer.source) not in seen]


@transaction.atomic
def take_example(*, round_: Any, offer: OfferedAnswer, actor: User) -> Any:
    """Add an offered answer to a draft's examples, unless it is already one of them.

    Raises RoundNotReady.
    """
    stored, kind = locked_round(round_, Round.State.DRAFT), sheet_kind_of(round_)
    item = item_like(stored, offer.source)
    if item is not None and item.is_example:
        return item
    thing = getattr(item, kind.subject) if item else kind.copied(stored, offer.source)
    about: Any = {"known": offer.known, "notes": offer.notes}
    return set_example(round_=stored, thing=thing, actor=actor, **about)


@transaction.atomic
def set_example(
    *,
    round_: Any,
    thing: Any,
    known: Mapping[str, Any] | None,
    notes: Mapping[str, str] | None = None,
    actor: User,
) -> Any:
    """Make a thing an example in a draft, with its known answer; None undoes this.

    An item that was drawn for the work is not part of the work while it is an example; any other
    item is deleted when this is undone. Raises RoundNotReady if the round is not a draft, or if a
    new draw has replaced the thing.
    """
    stored, kind = locked_round(round_, Round.State.DRAFT), sheet_kind_of(round_)
    item = examples_of(stored).filter(**{kind.subject: thing}).first()
    if known is not None:
        if not type(thing)._default_manager.filter(pk=thing.pk).exists():
            raise RoundNotReady(REDRAWN)
        item = add_example(stored, thing, known, notes)
    elif item is not None and item.is_drawn:
        item.key_points, item.key_notes = None, {}
        item.save(update_fields=["key_points", "key_notes"])
    elif item is not None:
        # In a sample, a subject left behind would count as drawn.
        (getattr(item, kind.subject) if kind.is_sample else item).delete()
    if item is not None:
        verb = "example_removed" if known is None else "example_set"
        about = f"{stored.name}: {item.position}"
        record(study=stored.study, actor=actor, verb=verb, subject=about, after=known)
    return item


def item_like(round_: Any, row: Any) -> Any | None:
    """Return the round's item about the same thing as an item or sheet of another round."""
    kind = sheet_kind_of(round_)
    like = dict(zip(kind.likeness, like_of(kind, row), strict=True))
    return kind.Item._default_manager.filter(round=round_.pk, **like).first()


def like_of(kind: SheetKind, row: Any) -> tuple[int | None, ...]:
    """Return the keys in an item's or a sheet's `SheetKind.likeness` columns."""
    names = (column.replace("__", ".") for column in kind.likeness)
    return tuple(attrgetter(f"{name}_id")(row) for name in names)


def _locked(round_: Any) -> Any:
    """Lock the round and all enrolments, so that nobody gets or submits a sheet in the meantime.

    Raises RoundNotReady for closed rounds.
    """
    stored = locked_round(round_, *CHANGEABLE)
    list(Place.objects.select_for_update().filter(round=round_.pk).order_by("pk"))
    return stored


def _turn_sheets(kind: SheetKind, stored: Any, item: Any) -> None:
    """Apply a change of the known answer to the sheets and slots of a running round."""
    thing = {kind.subject: getattr(item, f"{kind.subject}_id")}
    sheets = kind.Sheet._default_manager.filter(round=stored, is_example=False, **thing)
    slots = kind.Slot._default_manager.filter(item=item.pk)
    # Saving a draft locks its sheet and slot, but not the enrolment.
    list(sheets.select_for_update(of=("self",)).order_by("pk"))
    list(slots.select_for_update().order_by("pk"))
    sheets.update(known=item.known, slot=None)
    if item.known is not None:
        slots.delete()
        return
    ordinary = unseen_items(stored, ()).order_by("position").values_list("pk", flat=True)
    numbers = range(1, kind.slots(stored, ordinary)[item.pk] + 1)
    slots.bulk_create(kind.Slot(round=stored, item=item, number=number) for number in numbers)
    submitted = sheets.filter(state=Sheet.State.SUBMITTED, replicate=0, is_extra=False)
    for sheet in submitted.select_related("round").order_by("pk"):
        hold_slot(sheet)
        sheet.save(update_fields=["slot", "is_extra"])


def _note(stored: Any, item: Any, actor: User, before: dict[str, Any] | None) -> None:
    if stored.state != Round.State.DRAFT:
        controls = type(item)._default_manager.filter(round=stored, known__isnull=False)
        Round.objects.filter(pk=stored.pk).update(n_controls=controls.count())
    record(
        study=stored.study,
        actor=actor,
        verb="control_set" if item.known is not None else "control_removed",
        subject=f"{stored.name}: {item.position}",
        before=before,
        after=item.known,
    )
