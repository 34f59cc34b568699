"""Gates, budgets and keys of endpoints."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TypedDict

from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Now

from cqa_site.judging import rate_limits
from cqa_site.runs.models import Budget, Call, Endpoint, Gate, Run
from cqa_site.sealing import KeyUnreadable, seal, unseal

# A worker counts as active for this time after a turn; it normally takes four turns a second.
WORKER_SECONDS = 5.0


@dataclass(slots=True)
class OpenGate:
    """The gate of an endpoint while its row is locked."""

    endpoint: Endpoint
    state: rate_limits.GateState
    now: datetime
    workers: dict[str, float] = field(default_factory=dict)
    refusals: int = 0

    def note(
        self, outcome: rate_limits.RequestOutcome, epoch: int, retry_after: float | None = None
    ) -> None:
        """Update the gate after one finished request."""
        self.refusals += outcome is rate_limits.RequestOutcome.THROTTLED
        self.state = rate_limits.after(
            self.state,
            outcome,
            now=self.now.timestamp(),
            epoch=epoch,
            ceiling=self.endpoint.source.max_in_flight,
            retry_after=retry_after,
            break_seconds=settings.CALL_BREAK_SECONDS,
        )

    def share(self, worker: str, own: int) -> int:
        """Return how many more requests this worker may send within its share of the limit.

        Only workers that had a turn recently get a share. Without shares, the first worker would
        refill every slot that it frees, and no slots would be left for the other workers.
        """
        now = self.now.timestamp()
        self.workers = {
            name: at for name, at in self.workers.items() if 0 <= now - at < WORKER_SECONDS
        } | {worker: now}
        limit = min(self.state.limit, self.endpoint.max_in_flight)
        return min(self.room(), max(0, -(-limit // len(self.workers)) - own))

    def room(self) -> int:
        """Return how many more requests may be sent now."""
        source = self.endpoint.source
        own = busy = in_flight(self.endpoint)
        if source.is_offered:
            busy = in_flight(source, *source.added.all())
        free = rate_limits.room(
            self.state, in_flight=busy, ceiling=source.max_in_flight, now=self.now.timestamp()
        )
        free = min(free, self.endpoint.max_in_flight - own)
        if self.state.requests_left is not None:
            free = min(free, int(self.state.requests_left))
        return 0 if (self.state.tokens_left or 0) < 0 else max(0, free)


@contextmanager
def locked_gate(endpoint: Endpoint) -> Iterator[OpenGate]:
    """Lock the gate row, advance it to the database's time, and save it at the end.

    Call inside a transaction. An endpoint from another study uses the gate of its original, so
    that all studies together respect its limits.
    """
    rows = Gate.objects.select_for_update().annotate(now=Now()).filter(endpoint=endpoint.source)
    row = rows.first()
    if row is None:
        _make_row(endpoint.source)
        row = rows.get()
    state = rate_limits.refill(
        rate_limits.GateState(**row.state),
        now=row.now.timestamp(),
        per_minute=endpoint.requests_per_minute,
        tokens=endpoint.tokens_per_minute,
    )
    gate = OpenGate(endpoint, state, row.now, row.workers)
    yield gate
    Gate.objects.filter(pk=row.pk).update(
        state=asdict(gate.state),
        workers=gate.workers,
        refusals_total=row.refusals_total + gate.refusals,
    )


def in_flight(*endpoints: Endpoint) -> int:
    """Count the requests in flight to some endpoints, across all runs and workers."""
    leased = Call.objects.filter(state=Call.State.LEASED, run__endpoint__in=endpoints)
    return leased.exclude(leased_by=Call.IN_BATCH).count()


def _make_row(endpoint: Endpoint) -> None:
    # Lock the endpoint's row, in case two workers are the first to use a gate.
    Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    Gate.objects.get_or_create(endpoint=endpoint)


# Budgets: reserved before a request is sent, settled when it returns or is lost


def budgets_of(run: Run) -> list[Budget]:
    """Return the locked budgets that a run uses, in the global locking order."""
    return list(
        Budget.objects.select_for_update()
        .filter(
            Q(pk=run.budget_id)
            | Q(pk__in=Budget.objects.filter(pk=run.budget_id).values("parent"))
            | Q(study=run.study_id, is_study_wide=True)
        )
        .order_by("pk")
    )


def affordable(budgets: Sequence[Budget], estimates: Sequence[int]) -> int:
    """Return how many of the estimated calls, taken in order, fit into every budget."""
    left = min(
        (
            b.cap_micro - b.spent_micro - b.reserved_micro
            for b in budgets
            if b.cap_micro is not None
        ),
        default=None,
    )
    if left is None:
        return len(estimates)
    for count, estimate in enumerate(estimates):
        left -= estimate
        if left < 0:
            return count
    return len(estimates)


def reserve(budgets: Sequence[Budget], amount: int) -> bool:
    """Reserve money in every budget; return False if a budget has too little money left.

    The caller must then roll back the transaction.
    """
    for budget in budgets:
        fits = Q(cap_micro__isnull=True) | Q(
            cap_micro__gte=F("spent_micro") + F("reserved_micro") + amount
        )
        rows = Budget.objects.filter(fits, pk=budget.pk)
        if rows.update(reserved_micro=F("reserved_micro") + amount) != 1:
            return False
    return True


def settle(
    run: Run, *, released: int, spent: int, tokens_in: int = 0, tokens_out: int = 0
) -> None:
    """Replace reserved amounts with the actual cost."""
    if not any((released, spent, tokens_in, tokens_out)):
        return
    for budget in budgets_of(run):
        Budget.objects.filter(pk=budget.pk).update(
            reserved_micro=F("reserved_micro") - released,
            spent_micro=F("spent_micro") + spent,
            tokens_in=F("tokens_in") + tokens_in,
            tokens_out=F("tokens_out") + tokens_out,
        )


class Prices(TypedDict):
    """Prices in currency units per million tokens."""

    price_in: Decimal
    price_out: Decimal


def prices_of(run: Run) -> Prices:
    prices = run.spec["prices"]
    return {"price_in": Decimal(prices["in"]), "price_out": Decimal(prices["out"])}


# API keys: encrypted with a key outside the database, and bound to their address

__all__ = ["WITHDRAWN", "KeyUnreadable", "clear_key", "open_key", "seal", "set_key", "unseal"]
WITHDRAWN = (
    "The endpoint is no longer offered to this study. Ask a site administrator to offer it again, "
    "or start a new run with another endpoint."
)


def set_key(endpoint: Endpoint, secret: str) -> None:
    """Set a key for the endpoint's current address, without saving the row."""
    endpoint.key_ciphertext = seal(secret)
    endpoint.key_origin = endpoint.origin
    endpoint.key_last4 = secret[-4:] if len(secret) >= 12 else ""


def clear_key(endpoint: Endpoint) -> None:
    """Delete the key, without saving the row."""
    endpoint.key_ciphertext, endpoint.key_origin, endpoint.key_last4 = b"", "", ""


def open_key(endpoint: Endpoint) -> str:
    """Return the decrypted key if it was entered for the current address; otherwise empty.

    Raises KeyUnreadable for an endpoint that is no longer offered.
    """
    if endpoint.is_withdrawn:
        raise KeyUnreadable(WITHDRAWN)
    return unseal(endpoint.source.key_ciphertext) if endpoint.has_key else ""
