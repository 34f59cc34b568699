"""Choice of a draft's examples: known answers of other rounds, or answers to its own items."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from cqa_site.people.access import record
from cqa_site.people.models import User

from ..controls import NOT_OFFERED, REDRAWN, agreed_answers, item_like, like_of
from ..examples import add_example, examples_of, known_items
from ..kind import RoundNotReady, sheet_kind_of
from ..lifecycle import locked_round
from ..models import Round


@dataclass(frozen=True)
class OfferedExample:
    """A known answer of another round: of an item, or agreed in a sheet by ``people``."""

    row: Any
    known: Mapping[str, Any]
    notes: Mapping[str, str] = field(default_factory=dict)
    people: int | None = None

    @property
    def id(self) -> str:
        """The sheet, or the round and the position of the item."""
        if self.people is None:
            return f"{self.row.round.public_id}-{self.row.position}"
        return str(self.row.public_id)


def offered_examples(round_: Any) -> list[OfferedExample]:
    """Return the known answers that a draft can take, each thing once, in the default's order."""
    kind = sheet_kind_of(round_)
    known = [OfferedExample(row, row.known_answer, row.key_notes) for row in known_items(round_)]
    seen = {like_of(kind, offer.row) for offer in known}
    agreed = [row for row in agreed_answers(round_) if like_of(kind, row.source) not in seen]
    return known + [OfferedExample(row.source, row.known, people=row.people) for row in agreed]


def offer_named(offers: list[OfferedExample], named: str | None) -> OfferedExample:
    """Return the offer with this id; raises LookupError."""
    for offer in offers:
        if offer.id == named:
            return offer
    raise LookupError(NOT_OFFERED)


@transaction.atomic
def take_offer(*, round_: Any, offer: OfferedExample, actor: User) -> Any:
    """Add an offered answer to the examples of a draft, once; raises RoundNotReady."""
    stored, kind = locked_round(round_, Round.State.DRAFT), sheet_kind_of(round_)
    item = item_like(stored, offer.row)
    if item is not None and item.is_example:
        return item
    thing = getattr(item, kind.subject) if item else kind.copied(stored, offer.row)
    return set_example(
        round_=stored, thing=thing, known=offer.known, notes=offer.notes, actor=actor
    )


@transaction.atomic
def set_example(
    *,
    round_: Any,
    thing: Any,
    known: Mapping[str, Any] | None,
    notes: Mapping[str, str] | None = None,
    actor: User,
) -> Any:
    """Make a thing an example of a draft with its known answer, or with None delete the example.

    An item that was drawn for the work becomes an example and is no longer part of the work.
    Raises RoundNotReady if the round is no draft, or was drawn again and has another thing.
    """
    stored, kind = locked_round(round_, Round.State.DRAFT), sheet_kind_of(round_)
    item = examples_of(stored).filter(**{kind.subject: thing}).first()
    if known is not None:
        if not type(thing)._default_manager.filter(pk=thing.pk).exists():
            raise RoundNotReady(REDRAWN)
        item = add_example(stored, thing, known, notes)
    elif item is not None:
        # Of a sample, with its thing: what stays would count as drawn.
        (getattr(item, kind.subject) if kind.is_sample else item).delete()
    if item is not None:
        verb = "example_removed" if known is None else "example_set"
        about = f"{stored.name}: {item.position}"
        record(study=stored.study, actor=actor, verb=verb, subject=about, after=known)
    return item
