"""A sheet of a round as somebody who works would have it, of which nothing stays.

Serving, saving and submitting are the real ones; the transaction around them is taken back.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from cqa_site.people.models import Rater

from .kind import SheetKind, sheet_kind_of
from .models import Round
from .serving import place_for

# So many items of a round can be tried.
MOST = 20


def tried_items(round_: Any) -> QuerySet[Any]:
    """The first items that people work on, in the order of the round."""
    items = sheet_kind_of(round_).Item._default_manager.filter(round=round_.pk)
    return items.filter(key_points__isnull=True).order_by("position")[:MOST]


def tried_id(round_: Round, number: int) -> uuid.UUID:
    """The same for the same item each time, so that a browser keeps no more than one draft."""
    return uuid.uuid5(round_.public_id, f"trial {number}")


@contextmanager
def sheet_on_trial(round_: Any, item: Any, *, number: int, version: int) -> Iterator[Any]:
    """A begun sheet of nobody's in a round that takes work, whatever the round's state is."""
    kind = sheet_kind_of(round_)
    with transaction.atomic():
        try:
            yield _begun(kind, round_, item, number=number, version=version)
        finally:
            transaction.set_rollback(True)


def _begun(kind: SheetKind, round_: Any, item: Any, *, number: int, version: int) -> Any:
    rater = Rater.objects.create(
        study=round_.study, external_id=str(tried_id(round_, 0)), public_id=tried_id(round_, 0)
    )
    Round.objects.filter(pk=round_.pk).exclude(state=Round.State.OPEN).update(
        state=Round.State.OPEN
    )
    round_.state = Round.State.OPEN
    place_for(round_=round_, rater=rater)
    subject = f"{kind.subject}_id"
    made: Any = kind.Sheet._default_manager.create(
        public_id=tried_id(round_, number),
        study_id=round_.study_id,
        rater=rater,
        round=round_,
        place=number,
        version=version,
        served_at=Now(),
        **{subject: getattr(item, subject)},
        **kind.begin(round_, item, rater),
    )
    sheet: Any = kind.sheets().get(pk=made.pk)
    sheet.round, sheet.rater = round_, rater
    return sheet
