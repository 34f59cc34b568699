"""Clients of endpoints, for single requests and for provider batches."""

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from cqa_site.judging.chat import CallFailed, ChatClient, ChatReply, ChatRequest, Failure
from ..ledger import gates
from ..ledger.gates import OpenGate, locked_gate
from ..ledger.lease import OutgoingRequest, key_of, requests_for
from ..ledger.replies import FinishedRequest, pause, read, settle, store
from ..models import Attempt, Call, Endpoint, ProviderBatch, Run

if TYPE_CHECKING:
    from cqa_site.judging.endpoints import Capabilities


class EndpointClient(ChatClient, Protocol):
    """The client of one endpoint, which can also probe the capabilities of its models."""

    async def probe(self, model: str) -> "Capabilities":
        """Probe the model with a few tiny requests; raises CallFailed."""


def remote_client(endpoint: Endpoint) -> EndpointClient:
    """Return a client for an OpenAI-compatible server that uses the guarded transport."""
    from cqa_site.judging.transport.egress import parse_allowed
    from cqa_site.judging.transport.openai_client import OpenAIClient

    return OpenAIClient(
        base_url=endpoint.base_url,
        api_key=gates.open_key(endpoint),
        allowed=parse_allowed(settings.EGRESS_ALLOW),
    )


def embedded_client(endpoint: Endpoint) -> EndpointClient:
    """Return a client of the built-in model, whose server starts on the first request."""
    from ..model_box.embedded import EmbeddedClient

    return EmbeddedClient(endpoint)


MAKERS: dict[str, Callable[[Endpoint], EndpointClient]] = {
    Endpoint.Kind.REMOTE: remote_client,
    Endpoint.Kind.SHARED: remote_client,
    Endpoint.Kind.EMBEDDED: embedded_client,
}


class RefusingClient:
    """A stand-in for a missing client: every request fails with the same reason."""

    def __init__(self, failure: CallFailed) -> None:
        self._failure = failure

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raise the failure without sending anything."""
        raise CallFailed(self._failure.kind, str(self._failure))

    async def close(self) -> None:
        """Do nothing, because no connection is open."""


def client_for(endpoint: Endpoint) -> EndpointClient:
    """Return a client, to be closed by the caller; raises CallFailed if the key cannot be used."""
    try:
        return MAKERS[endpoint.kind](endpoint)
    except gates.KeyUnreadable as reason:
        raise CallFailed(Failure.KEY, str(reason)) from None


def client_or_refusal(endpoint: Endpoint) -> ChatClient:
    """Return a client, or a stand-in that always fails, so that the ledger records the failure."""
    try:
        return client_for(endpoint)
    except CallFailed as failure:
        return RefusingClient(failure)


# Provider batches: thousands of calls in one file, answered within a day for less money
#
# A batch row with a unique mark exists before anything is sent. The mark is part of the batch's
# metadata. If a process dies after submitting the batch but before storing its id, the next one
# finds the batch in the provider's list, instead of paying twice.

log = logging.getLogger(__name__)
LARGEST = 2_000
AT_ONCE = 200
WINDOW = timedelta(hours=48)
BETWEEN_CHECKS = timedelta(seconds=60)
STEP = timedelta(minutes=10)
MARK = "counterpoint"
CANCELLED = "The run was cancelled before this was sent."
ENDED = ("completed", "failed", "expired", "cancelled")
PERMANENT = (
    Failure.DENIED, Failure.KEY, Failure.QUOTA, Failure.BLOCKED, Failure.CERTIFICATE,
    Failure.REQUEST, Failure.PARAMETER,
)  # fmt: skip


def tend() -> int:
    """Prepare, submit and collect all due batches; return how many changed."""
    for run in Run.objects.filter(state=Run.State.RUNNING, mode=Run.Mode.BATCH):
        prepare(run)
    moved = 0
    due = ProviderBatch.objects.filter(state__in=ProviderBatch.OPEN, check_after__lte=Now())
    # After a restore, the original site may still process these batches.
    due = due.exclude(run__pause_reason=Run.RESTORED)
    due = due.exclude(state=ProviderBatch.State.PREPARED, run__state=Run.State.PAUSED)
    for batch in due.select_related("run__endpoint", "run__prompt", "run__study"):
        # The process that postpones the check does the step; if it dies, the step is due again.
        mine = ProviderBatch.objects.filter(pk=batch.pk, check_after__lte=Now())
        if mine.update(check_after=Now() + STEP) == 1:
            moved += _step(batch)
    return moved


@transaction.atomic
def prepare(run: Run) -> ProviderBatch | None:
    """Put due calls of a run into a new batch, reserve their cost, and record their attempts."""
    with locked_gate(run.endpoint) as gate:
        run.refresh_from_db(fields=["state"])
        if run.state != Run.State.RUNNING:
            return None
        waiting = run.calls.filter(state=Call.State.READY, batch__isnull=True, is_canary=False)
        calls = list(waiting.select_for_update().order_by("position")[:LARGEST])
        budgets = gates.budgets_of(run)
        calls = calls[: gates.affordable(budgets, [call.reserve_micro for call in calls])]
        if not calls:
            _pause_without_money(run)
            return None
        gates.reserve(budgets, sum(call.reserve_micro for call in calls))
        batch = ProviderBatch.objects.create(run=run)
        _lease(calls, batch, gate)
    return batch


def _pause_without_money(run: Run) -> None:
    calls = run.calls.filter(batch__isnull=True, is_canary=False)
    if calls.filter(state=Call.State.READY).exists():
        pause(run, "budget")


def _lease(calls: list[Call], batch: ProviderBatch, gate: OpenGate) -> None:
    for call in calls:
        call.state, call.leased_by, call.batch = Call.State.LEASED, Call.IN_BATCH, batch
        call.lease_until = gate.now + WINDOW
        call.fence += 1
    Call.objects.bulk_update(calls, ["state", "leased_by", "batch", "lease_until", "fence"])
    Attempt.objects.bulk_create(
        Attempt(
            call=call,
            fence=call.fence,
            worker=Call.IN_BATCH,
            amendment=len(call.run.amendments),
            reserve_micro=call.reserve_micro,
        )
        for call in calls
    )


def _step(batch: ProviderBatch) -> bool:
    try:
        if batch.state == ProviderBatch.State.PREPARED:
            _submit(batch)
        else:
            _collect(batch)
    except CallFailed as failure:
        log.warning("batch %s: %s", batch.public_id, failure)
        batch.message = f"{failure.kind}: {failure}"[:300]
        if failure.kind in PERMANENT and batch.state == ProviderBatch.State.PREPARED:
            _give_back(batch, failure)
        else:
            _save(batch, check_after=Now() + BETWEEN_CHECKS)
        return False
    return True


def _submit(batch: ProviderBatch) -> None:
    """Submit a batch; for a cancelled run, only check whether it was already submitted."""
    batch.run.refresh_from_db(fields=["state"])
    if batch.run.state == Run.State.PAUSED:
        _save(batch, check_after=Now())
        return
    mark = {MARK: str(batch.public_id)}
    is_wanted = batch.run.state != Run.State.CANCELLED
    client = client_for(batch.run.endpoint)
    state = asyncio.run(_find_or_send(client, mark, _file(batch) if is_wanted else None))
    if state is None:
        _give_back(batch, CallFailed(Failure.CONNECTION, CANCELLED))
        return
    batch.batch_id, batch.remote_status = state.id, state.status
    batch.state, batch.message = ProviderBatch.State.SUBMITTED, ""
    _save(batch, check_after=Now() + BETWEEN_CHECKS)


async def _find_or_send(client: Any, mark: dict[str, str], content: bytes | None) -> Any:
    """Find a batch by its mark if it was submitted before a crash; otherwise submit it."""
    try:
        batch = await client.find_batch(mark)
        if batch or content is None:
            return batch
        return await client.create_batch(await client.upload(io.BytesIO(content)), mark)
    finally:
        await client.close()


def _file(batch: ProviderBatch) -> bytes:
    from cqa_site.judging.chat import request_body

    lines = []
    for calls in _chunks(batch):
        for call, request in zip(calls, requests_for(batch.run, calls), strict=True):
            line = {
                "custom_id": str(call.public_id),
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": request_body(request),
            }
            lines.append(json.dumps(line))
    return "\n".join(lines).encode()


def _chunks(batch: ProviderBatch) -> Iterator[list[Call]]:
    calls = list(
        batch.calls.filter(state=Call.State.LEASED, leased_by=Call.IN_BATCH).order_by("position")
    )
    for start in range(0, len(calls), AT_ONCE):
        yield calls[start : start + AT_ONCE]


def _collect(batch: ProviderBatch) -> None:
    """Check a batch's progress and, once it has ended, store its replies like any others."""
    client = client_for(batch.run.endpoint)
    state, lines = asyncio.run(_fetch(client, batch.batch_id))
    batch.remote_status = state.status
    if state.status not in ENDED:
        _save(batch, check_after=Now() + BETWEEN_CHECKS)
        return
    answers = {str(line.get("custom_id")): line for line in lines}
    for calls in _chunks(batch):
        _store(batch, calls, answers)
    batch.state = ProviderBatch.State.COLLECTED
    _save(batch)


async def _fetch(client: Any, batch_id: str) -> tuple[Any, list[dict[str, Any]]]:
    """Return the state of a batch and, once it has ended, the lines of its result files."""
    try:
        state = await client.batch(batch_id)
        lines: list[dict[str, Any]] = []
        if state.status in ENDED:
            for file_id in filter(None, (state.output_file, state.error_file)):
                lines += await client.batch_lines(file_id)
        return state, lines
    finally:
        await client.close()


def _store(batch: ProviderBatch, calls: list[Call], answers: dict[str, dict[str, Any]]) -> None:
    """Store raw replies, and then their readings in a second transaction, as for live calls."""
    run = batch.run
    attempts = {
        attempt.call_id: attempt
        for attempt in Attempt.objects.filter(call__in=calls, outcome=Attempt.Outcome.OPEN)
    }
    requests = dict(zip((call.pk for call in calls), requests_for(run, calls), strict=True))
    finished = []
    for call in calls:
        request = requests[call.pk]
        key = key_of(run, call, request)
        sent = OutgoingRequest(run, call, attempts[call.pk], request, key, key)
        finished.append(_finished(sent, answers.get(str(call.public_id))))
    with transaction.atomic(), locked_gate(run.endpoint) as gate:
        run.refresh_from_db(fields=["state"])
        replied = store(run, gate, finished)
    readings = read(run, replied)
    with transaction.atomic(), locked_gate(run.endpoint) as gate:
        settle(run, gate, readings)


def _finished(sent: OutgoingRequest, line: dict[str, Any] | None) -> FinishedRequest:
    from cqa_site.judging.endpoint_responses import reply_of_line

    try:
        return FinishedRequest(sent, reply=reply_of_line(line))
    except CallFailed as failure:
        return FinishedRequest(sent, failure=failure)


@transaction.atomic
def _give_back(batch: ProviderBatch, failure: CallFailed) -> None:
    """Requeue the calls of an unsubmitted batch if the run is active, and pause the run."""
    run = batch.run
    with locked_gate(run.endpoint) as gate:
        for calls in _chunks(batch):
            attempts = Attempt.objects.filter(call__in=calls, outcome=Attempt.Outcome.OPEN)
            finished = [
                FinishedRequest(
                    OutgoingRequest(run, attempt.call, attempt, None, "", ""), failure=failure
                )
                for attempt in attempts.select_related("call")
            ]
            store(run, gate, finished)
        run.calls.filter(batch=batch, state=Call.State.READY).update(batch=None)
        pause(run, f"{failure.kind}: {failure}")
    batch.state = ProviderBatch.State.FAILED
    _save(batch)


def _save(batch: ProviderBatch, **values: Any) -> None:
    ProviderBatch.objects.filter(pk=batch.pk).update(
        state=batch.state,
        batch_id=batch.batch_id,
        remote_status=batch.remote_status,
        message=batch.message,
        **values,
    )
