"""The gate of an endpoint as a locked row."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime

from django.conf import settings
from django.db.models.functions import Now

from cqa_site.judging import gate as rules
from cqa_site.runs.models import Call, Endpoint, Gate

# A worker that carries calls takes a turn every quarter of a second.
WORKER_SECONDS = 5.0


@dataclass(slots=True)
class OpenGate:
    """An endpoint's gate while its row is locked."""

    endpoint: Endpoint
    state: rules.Gate
    now: datetime
    workers: dict[str, float] = field(default_factory=dict)
    refusals: int = 0

    def note(self, outcome: rules.Outcome, epoch: int, retry_after: float | None = None) -> None:
        """Take one finished request into account."""
        self.refusals += outcome is rules.Outcome.THROTTLED
        self.state = rules.after(
            self.state,
            outcome,
            now=self.now.timestamp(),
            epoch=epoch,
            ceiling=self.endpoint.max_in_flight,
            retry_after=retry_after,
            break_seconds=settings.CALL_BREAK_SECONDS,
        )

    def share(self, worker: str, own: int) -> int:
        """How many more requests this worker may send of what all workers may have in flight.

        Workers that took a turn a moment ago count. Without a share each, the first one
        would fill every place it frees, and the others would find none.
        """
        now = self.now.timestamp()
        self.workers = {
            name: at for name, at in self.workers.items() if 0 <= now - at < WORKER_SECONDS
        } | {worker: now}
        limit = min(self.state.limit, self.endpoint.max_in_flight)
        return min(self.room(), max(0, -(-limit // len(self.workers)) - own))

    def room(self) -> int:
        """How many more requests may leave now."""
        free = rules.room(
            self.state,
            in_flight=in_flight(self.endpoint),
            ceiling=self.endpoint.max_in_flight,
            now=self.now.timestamp(),
        )
        if self.state.requests_left is not None:
            free = min(free, int(self.state.requests_left))
        return 0 if (self.state.tokens_left or 0) < 0 else max(0, free)


@contextmanager
def locked_gate(endpoint: Endpoint) -> Iterator[OpenGate]:
    """Lock the gate row, bring it up to the database's clock, and save it at the end.

    Call inside a transaction.
    """
    rows = Gate.objects.select_for_update().annotate(now=Now()).filter(endpoint=endpoint)
    row = rows.first()
    if row is None:
        _make_row(endpoint)
        row = rows.get()
    state = rules.refill(
        rules.Gate(**row.state),
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


def in_flight(endpoint: Endpoint) -> int:
    """Requests of all runs and workers that are on their way to an endpoint."""
    leased = Call.objects.filter(state=Call.State.LEASED, run__endpoint=endpoint)
    return leased.exclude(leased_by=Call.IN_BATCH).count()


def _make_row(endpoint: Endpoint) -> None:
    # The endpoint's row is the lock that two first users of a gate share.
    Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    Gate.objects.get_or_create(endpoint=endpoint)
