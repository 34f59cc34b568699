"""Bonuses and pay for outcomes, from due to confirmed to paid."""

import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import ngettext

from cqa_site.people.actions import hold_people
from cqa_site.people.models import User
from ..models import CrowdPayment, Participant, ParticipantLink
from .participants import record_link
from .pay import CENT, Earning, earnings_of
from .platform import ENDS
from .submissions import newest_status

# Money is earned for one submission. When a payment is confirmed, it copies the ids of the
# submission and its participant; later changes to an enrolment or an item do not affect it.
#
# The platform pays an order each time it is asked. A payment is therefore stored as being sent
# before the request. If no response arrives, only a person can enter the outcome.

STATES, KINDS = CrowdPayment.State, CrowdPayment.Kind
# A payment request is over after this time, whatever its outcome.
SENT_SECONDS = 600


# States of payments that the site has requested without knowing the outcome.
UNCLEAR = (STATES.SENDING, STATES.UNKNOWN)


class PaymentsChanged(Exception):
    """Some payments are no longer in the required state; nothing was changed."""


class NotChecked(Exception):
    """Nobody has checked the platform since payments were sent; nothing was changed."""


@dataclass(frozen=True)
class DuePayment:
    """A payment that nobody has confirmed yet."""

    participant: Participant
    kind: str
    amount: Decimal
    reason: str
    # The status of the submission if it was returned, timed out or rejected on the platform.
    ended_there: str = ""

    @property
    def key(self) -> str:
        """A key with all changeable values, so that payments are only confirmed as shown."""
        person = self.participant
        amount = f"{self.amount} {person.link.currency}"
        return f"{person.user.public_id}:{self.kind}:{amount}:{self.reason}:{self.ended_there}"


@dataclass(frozen=True)
class DueList:
    """Payments that can be confirmed, and the number of payments for unproven submissions."""

    payments: list[DuePayment]
    unproven: int

    @property
    def total(self) -> Decimal:
        return sum((payment.amount for payment in self.payments), Decimal())


def due_payments(link: ParticipantLink) -> DueList:
    """Return unconfirmed payments (except rewards) that are due for ended participations.

    A submission is proven by the platform's signature, or by a row in the platform's list with the
    same participant.
    """
    settled = set(link.study.crowd_payments.values_list("submission", "kind"))
    listed = {(row.submission, row.participant_id): row for row in link.submissions.all()}
    payments, unproven = [], 0
    for earning in earnings_of(link.round, link=link):
        person = earning.participant
        for payment in _payments_of(earning):
            if (person.session_id, payment.kind) in settled:
                continue
            row = listed.get((person.session_id, person.participant_id))
            if person.session_id and (person.is_verified or row):
                status = newest_status(person, row)
                payments.append(replace(payment, ended_there=status if status in ENDS else ""))
            else:
                unproven += 1
    return DueList(payments, unproven)


def _payments_of(earning: Earning) -> Iterator[DuePayment]:
    person, items = earning.participant, earning.items
    is_complete = person.outcome == Participant.Outcome.COMPLETED
    if earning.bonus > 0:
        text = ngettext("%(n)d item answered", "%(n)d items answered", items) % {"n": items}
        yield DuePayment(person, KINDS.BONUS, earning.bonus.quantize(CENT), text)
    if earning.pay and not is_complete:
        text = person.get_outcome_display()
        yield DuePayment(person, KINDS.OUTCOME, earning.pay.quantize(CENT), text)


@transaction.atomic
def confirm_payments(*, link: ParticipantLink, keys: Collection[str], actor: User) -> int:
    """Confirm the due payments with these keys, each at most once; return their number."""
    hold_people(link.study)
    link.refresh_from_db(fields=["currency"])
    chosen: dict[tuple[str, str], CrowdPayment] = {}
    for payment in due_payments(link).payments:
        person = payment.participant
        if payment.key in keys:
            chosen.setdefault(
                (person.session_id, payment.kind),
                CrowdPayment(
                    study=link.study,
                    link=link,
                    participant=person,
                    submission=person.session_id,
                    payee=person.participant_id,
                    kind=payment.kind,
                    amount=payment.amount,
                    reason=payment.reason,
                    confirmed_by=actor,
                ),
            )
    CrowdPayment.objects.bulk_create(chosen.values())
    _record(link, "crowd_payments_confirmed", actor, chosen.values())
    return len(chosen)


@transaction.atomic
def hand_out(*, link: ParticipantLink, actor: User) -> tuple[str, list[CrowdPayment]]:
    """Mark all confirmed payments as exported in one file; return the file's id and the payments.

    The payments are not sent in any other way until a person marks them as not paid.
    """
    rows, batch = list(_locked(link, state=STATES.CONFIRMED)), f"file-{uuid.uuid4().hex[:8]}"
    _move(link, rows, STATES.EXPORTED, batch=batch)
    _record(link, "crowd_payments_exported", actor, rows)
    return batch, rows


@transaction.atomic
def begin_batch(link: ParticipantLink, payments: Collection[CrowdPayment], batch: str) -> None:
    """Record that a payment order is about to be sent; raises PaymentsChanged."""
    keys = [payment.pk for payment in payments]
    rows = list(_locked(link, pk__in=keys, state=STATES.CONFIRMED))
    if len(rows) < len(keys):
        raise PaymentsChanged
    _move(link, rows, STATES.SENDING, batch=batch)


@transaction.atomic
def end_batch(link: ParticipantLink, batch: str, state: str, actor: User | None) -> None:
    """Store the outcome of a payment order that was sent."""
    rows = list(_locked(link, batch=batch, state__in=(STATES.SENDING, STATES.UNKNOWN)))
    _move(link, rows, state)
    if state == STATES.PAID:
        _record(link, "crowd_payments_sent", actor, rows)


def doubt_unended(link: ParticipantLink) -> None:
    """Mark payments as unknown after the worker that was sending them has ended."""
    sending = link.payments.filter(state=STATES.SENDING)
    sending.update(state=STATES.UNKNOWN, changed_at=timezone.now())


def open_payments(link: ParticipantLink) -> QuerySet[CrowdPayment]:
    long_ago = timezone.now() - timedelta(seconds=SENT_SECONDS)
    handed = Q(state__in=(STATES.EXPORTED, STATES.UNKNOWN))
    return link.payments.filter(handed | Q(state=STATES.SENDING, changed_at__lt=long_ago))


def payment_states(link: ParticipantLink, seen_at: datetime | None) -> list[dict[str, Any]]:
    """Return the number and total amount of payments, by state and order.

    ``is_open`` means that a person can enter the outcome. ``is_seen`` means that the platform's
    list from ``seen_at`` is newer than the payments, or that their state is not in doubt.
    """
    rows = link.payments.order_by().values("state", "batch")
    rows = rows.annotate(count=Count("pk"), total=Sum("amount"), at=Max("changed_at"))
    still_open = set(open_payments(link).values_list("state", "batch"))
    return [
        row
        | {
            "title": STATES(row["state"]).label,
            "total": row["total"].quantize(CENT),
            "is_open": (row["state"], row["batch"]) in still_open,
            "is_seen": _is_seen(row["state"], row["at"], seen_at),
        }
        for row in rows.order_by("state", "batch")
    ]


@transaction.atomic
def settle_payments(
    *,
    link: ParticipantLink,
    was_paid: bool,
    actor: User,
    seen_at: datetime | None = None,
    has_looked: bool = False,
    **where: Any,
) -> int:
    """Store a person's report on whether payments were made; if not, they can be resent.

    Raises NotChecked if the outcome is unknown, unless the person states that they have checked
    it or the platform's list was fetched afterwards, at ``seen_at``.
    """
    # The state is read from the locked rows, because a worker may have stored the outcome.
    rows = list(open_payments(link).filter(**where).select_for_update().order_by("pk"))
    is_seen = all(_is_seen(row.state, row.changed_at, seen_at) for row in rows)
    if not (is_seen or has_looked):
        raise NotChecked
    _move(link, rows, STATES.PAID if was_paid else STATES.CONFIRMED)
    about = {"orders": sorted({row.batch for row in rows}), "stated": not is_seen}
    _record(link, f"crowd_payments_{'paid' if was_paid else 'unpaid'}", actor, rows, **about)
    return len(rows)


def _is_seen(state: str, changed_at: datetime, seen_at: datetime | None) -> bool:
    return state not in UNCLEAR or bool(seen_at and seen_at > changed_at)


@transaction.atomic
def take_back(*, link: ParticipantLink, actor: User) -> int:
    """Delete confirmed payments that were neither sent nor exported; return their number."""
    rows = list(_locked(link, state=STATES.CONFIRMED))
    link.payments.filter(pk__in=[row.pk for row in rows]).delete()
    _record(link, "crowd_payments_withdrawn", actor, rows)
    return len(rows)


def misdirected() -> QuerySet[CrowdPayment]:
    """Return payments whose submission does not belong to the person who earned them."""
    own = Q(submission=F("participant__session_id"), payee=F("participant__participant_id"))
    return CrowdPayment.objects.exclude(own & Q(link=F("participant__link")))


def _locked(link: ParticipantLink, **where: Any) -> QuerySet[CrowdPayment]:
    return link.payments.filter(**where).select_for_update().order_by("pk")


def _move(link: ParticipantLink, rows: Collection[CrowdPayment], state: str, **more: Any) -> None:
    keys = [row.pk for row in rows]
    # A payment that can be sent again does not belong to an order.
    more |= {"batch": ""} if state == STATES.CONFIRMED else {}
    link.payments.filter(pk__in=keys).update(state=state, changed_at=timezone.now(), **more)


def _record(
    link: ParticipantLink,
    verb: str,
    actor: User | None,
    payments: Collection[CrowdPayment],
    **about: Any,
) -> None:
    if payments:
        total = sum((payment.amount for payment in payments), Decimal())
        about |= {"total": str(total), "currency": link.currency}
        record_link(link, verb, actor, payments=len(payments), **about)
