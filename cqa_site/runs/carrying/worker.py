"""The worker loop that sends the calls of runs, its jobs, and webhooks."""

import asyncio
import hashlib
import hmac
import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings
from django.db import Error, close_old_connections, connections

from cqa_site.judging import packages
from cqa_site.judging.chat import CallFailed, ChatClient, Failure
from cqa_site.judging.packages import PackagePart
from cqa_site.web.logging import around
from .. import jobs
from ..actions.endpoints import probe
from ..jobs import STOP, JobContext, JobRefused, handles, wait_for
from ..ledger import gates
from ..ledger.lease import OutgoingRequest
from ..ledger.replies import CallReading, FinishedRequest, read
from ..ledger.turns import Turn, is_waiting, take_turn
from ..models import Call, Endpoint, Run
from ..planning import write_calls
from ..processes import worker_name
from ..progress import progress_of
from . import clients

# Draining runs: one asyncio loop per process sends all requests that may leave
#
# The loop sends requests, and a separate thread does the database turns. Neither waits for the
# other longer than a commit takes. Celery only starts the loop; see `cqa_site.runs.tasks`.

log = logging.getLogger(__name__)
ONE_DRAIN = threading.Lock()
LARGEST_WINDOW = 512
PAUSE = 0.02
# With this many requests in flight, a turn waits for the full pause to collect more replies.
MANY = 64
# A turn stores only part of the replies, so that new requests are sent while the next turn stores
# the rest. A single turn for all replies would leave the endpoint idle in the meantime.
WAVES = 4
LEAST_TOGETHER = 16
IDLE_PAUSE = 0.25
TURN_TRIES = 3
LONGEST_BEAT = 5.0


@dataclass
class EndpointSession:
    """One endpoint during a drain: its client, requests in flight, and work for the next turn."""

    endpoint: Endpoint
    client: ChatClient
    worker: str
    on_the_way: dict[asyncio.Task[None], int] = field(default_factory=dict)
    finished: list[FinishedRequest] = field(default_factory=list)
    readings: list[tuple[Run, CallReading]] = field(default_factory=list)
    reaped_at: float = 0.0
    news: asyncio.Event = field(default_factory=asyncio.Event)


def drain_runs(max_seconds: float = 50.0) -> int:
    """Send calls until no run is working or the time is up; return how many calls ended.

    A process has only one drain at a time; a second caller returns immediately.
    """
    if not ONE_DRAIN.acquire(blocking=False):
        return 0
    try:
        if not has_work():
            return 0
        return asyncio.run(_drain(max_seconds))
    finally:
        ONE_DRAIN.release()


def has_work() -> bool:
    """Whether any run is working or has calls in flight."""
    return bool(busy_endpoints())


async def _drain(max_seconds: float) -> int:
    loop = asyncio.get_running_loop()
    # In a separate thread, because Django's connections belong to threads, and one is enough.
    database = ThreadPoolExecutor(1, "ledger")
    ends_at = time.monotonic() + max_seconds
    serving: dict[int, asyncio.Task[int]] = {}
    total = 0
    try:
        while True:
            if time.monotonic() < ends_at and not STOP.is_set():
                for endpoint in await loop.run_in_executor(database, _endpoints_to_serve):
                    if endpoint.pk not in serving:
                        client = clients.client_or_refusal(endpoint)
                        session = EndpointSession(endpoint, client, worker_name())
                        serving[endpoint.pk] = asyncio.create_task(
                            _serve(session, database, ends_at)
                        )
            if not serving:
                return total
            await asyncio.wait(serving.values(), timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
            for key in [key for key, task in serving.items() if task.done()]:
                total += _result(serving.pop(key))
    finally:
        await loop.run_in_executor(database, connections.close_all)
        database.shutdown()


def _result(task: asyncio.Task[int]) -> int:
    """Return how many calls a session ended; log a crash without affecting other sessions."""
    if error := task.exception():
        log.error("an endpoint session failed", exc_info=error)
        return 0
    return task.result()


def busy_endpoints() -> list[Endpoint]:
    """Return endpoints with working runs, or with calls that a worker left behind.

    Runs of the built-in model wait while it is being downloaded.
    """
    runs = Run.objects.filter(state__in=Run.WORKING).select_related("endpoint__original")
    if packages.state(packages.PackagePart.MODEL).is_fetching:
        runs = runs.exclude(endpoint__kind=Endpoint.Kind.EMBEDDED)
    endpoints = {run.endpoint_id: run.endpoint for run in runs if not is_waiting(run)}
    left = Call.objects.filter(state__in=Call.LEFT).exclude(leased_by=Call.IN_BATCH)
    rows = Endpoint.objects.select_related("original").exclude(pk__in=endpoints)
    rows = rows.filter(pk__in=left.values("run__endpoint"))
    return [*endpoints.values(), *rows]


def _endpoints_to_serve() -> list[Endpoint]:
    """Return `busy_endpoints`, or nothing if the database is down, so that the loop continues."""
    try:
        close_old_connections()
        return busy_endpoints()
    except Error:
        log.warning("the database is not responding", exc_info=True)
        connections.close_all()
        return []


async def _serve(session: EndpointSession, database: ThreadPoolExecutor, ends_at: float) -> int:
    """Take turns for one endpoint until no work is left or the time is up."""
    with around(endpoint=str(session.endpoint.public_id), worker=session.worker):
        return await _take_turns(session, database, ends_at)


async def _take_turns(
    session: EndpointSession, database: ThreadPoolExecutor, ends_at: float
) -> int:
    ended = 0
    try:
        while True:
            may_claim = time.monotonic() < ends_at and not STOP.is_set()
            turn = await _turn(session, database, may_claim=may_claim)
            ended += turn.ended
            for outgoing in turn.outgoing:
                task = asyncio.create_task(_carry(session, outgoing))
                session.on_the_way[task] = outgoing.call.pk
                task.add_done_callback(session.on_the_way.pop)
            is_over = not session.on_the_way and not session.finished and not session.readings
            if is_over and (turn.is_idle or not may_claim):
                return ended
            await _wait(session, turn)
    finally:
        await session.client.close()


async def _turn(
    session: EndpointSession, database: ThreadPoolExecutor, *, may_claim: bool
) -> Turn:
    """Run one database turn, and retry it if the database is busy or down."""
    session.news.clear()
    turn = Turn(may_claim=may_claim, on_the_way=set(session.on_the_way.values()))
    # Three heartbeats in a lease, so that one may be late.
    beat = min(LONGEST_BEAT, settings.CALL_LEASE.total_seconds() / 3)
    turn.does_reap = time.monotonic() - session.reaped_at > beat
    most = max(LEAST_TOGETHER, (len(session.on_the_way) + len(session.finished)) // WAVES)
    turn.finished, session.finished = session.finished[:most], session.finished[most:]
    # Replies for a later turn need their leases, which may be old after a database outage.
    turn.on_the_way |= {done.sent.call.pk for done in session.finished}
    turn.read, session.readings = session.readings, []
    room = max(0, LARGEST_WINDOW - len(session.on_the_way))
    loop = asyncio.get_running_loop()
    in_thread = partial(copy_context().run, _in_thread, session, turn, room)
    session.readings = await loop.run_in_executor(database, in_thread)
    if turn.does_reap:
        session.reaped_at = time.monotonic()
    return turn


def _in_thread(session: EndpointSession, turn: Turn, room: int) -> list[tuple[Run, CallReading]]:
    """Run the turn and, after its commit, read the stored replies."""
    before = (list(turn.finished), list(turn.read))
    for attempt in range(TURN_TRIES):
        try:
            take_turn(session.endpoint, session.worker, turn, room)
            break
        except Error:
            # The turn was rolled back completely; its replies are still in memory.
            log.warning("a database turn of the ledger failed", exc_info=True)
            connections.close_all()
            turn.finished, turn.read = before
            turn.outgoing, turn.to_read, turn.ended = [], [], 0
            time.sleep(min(5.0, 0.5 * 2**attempt))
    else:
        return _keep_for_later(session, turn, before)
    return [(run, reading) for run, calls in turn.to_read for reading in read(run, calls)]


def _keep_for_later(
    session: EndpointSession,
    turn: Turn,
    before: tuple[list[FinishedRequest], list[tuple[Run, CallReading]]],
) -> list[tuple[Run, CallReading]]:
    """Claim nothing while the database is unavailable; keep the results for the next turn."""
    session.finished = before[0] + session.finished
    turn.is_idle = turn.does_reap = False
    return before[1]


async def _carry(session: EndpointSession, outgoing: OutgoingRequest) -> None:
    """Send one request, and record every outcome, including errors."""
    run, call = outgoing.run, outgoing.call
    with around(
        "call",
        request=run.request_id,
        run=str(run.public_id),
        call=str(call.public_id),
        study=str(run.study.public_id),
    ):
        done = await _ask(session, outgoing)
        log.info("call ended", extra={"fields": _how(done)})
    session.finished.append(done)
    session.news.set()


def _how(done: FinishedRequest) -> dict[str, object]:
    """Describe the outcome of a request for its log line."""
    if done.reply:
        reply = done.reply
        return {
            "milliseconds": reply.milliseconds,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
        }
    assert done.failure is not None  # noqa: S101
    failure = done.failure
    return {"failure": failure.kind.value, "milliseconds": failure.milliseconds}


async def _ask(session: EndpointSession, outgoing: OutgoingRequest) -> FinishedRequest:
    if outgoing.planned_key != outgoing.call.content_key and not outgoing.call.token_limit:
        changed = CallFailed(Failure.REQUEST, "The text changed after the run was planned.")
        return FinishedRequest(outgoing, failure=changed)
    assert outgoing.request is not None  # noqa: S101
    try:
        async with asyncio.timeout(outgoing.request.deadline + 5):
            reply = await session.client.complete(outgoing.request)
        return FinishedRequest(outgoing, reply=reply)
    except CallFailed as failure:
        return FinishedRequest(outgoing, failure=failure)
    except TimeoutError:
        late = CallFailed(Failure.TIMEOUT, "No reply within the deadline.")
        return FinishedRequest(outgoing, failure=late)
    except Exception:
        log.exception("a client raised an exception other than CallFailed")
        broken = CallFailed(Failure.CONNECTION, "The request could not be sent.")
        return FinishedRequest(outgoing, failure=broken)


async def _wait(session: EndpointSession, turn: Turn) -> None:
    """Wait for results for the next turn, and then a moment longer for further results."""
    if session.finished:
        return
    patience = PAUSE if session.readings else IDLE_PAUSE
    if 0 < turn.waits_until < 5 and not session.on_the_way:
        patience = min(turn.waits_until + 0.01, 2.0)
    try:
        async with asyncio.timeout(patience):
            await session.news.wait()
    except TimeoutError:
        return
    await asyncio.sleep(PAUSE * min(1.0, len(session.on_the_way) / MANY))


def drain_inline() -> int:
    """Do all work in the caller's thread and connection, for tests and commands."""
    return sum(_serve_inline(endpoint) for endpoint in busy_endpoints())


jobs.INLINE.append(drain_inline)


def _serve_inline(endpoint: Endpoint) -> int:
    session = EndpointSession(endpoint, clients.client_or_refusal(endpoint), worker_name())
    ended = 0
    while True:
        turn = Turn(finished=session.finished, read=session.readings, does_reap=True)
        take_turn(endpoint, session.worker, turn, LARGEST_WINDOW)
        ended += turn.ended
        session.finished = []
        session.readings = [
            (run, reading) for run, calls in turn.to_read for reading in read(run, calls)
        ]
        asyncio.run(_carry_all(session, turn.outgoing))
        if turn.is_idle and not session.finished:
            return ended
        if not turn.outgoing and not session.readings:
            time.sleep(PAUSE)


async def _carry_all(session: EndpointSession, outgoing: list[OutgoingRequest]) -> None:
    await asyncio.gather(*(_carry(session, request) for request in outgoing))


def carry_on() -> None:
    """Wake a worker if runs are still working, so that one drain follows another without a gap.

    Do nothing during a drain in this process; otherwise another thread would receive the message
    and send the next one immediately.
    """
    if not STOP.is_set() and not ONE_DRAIN.locked() and has_work():
        jobs.ring()


# Signed messages that notify another program of the end of a run

WAITS = (1, 5, 15)
HEADER = "X-Counterpoint-Signature"


def payload(run: Run) -> bytes:
    """Return the message body, which contains numbers and ids but no judged texts."""
    progress = progress_of(run)
    return json.dumps(
        {
            "event": "run_ended",
            "study": str(run.study.public_id),
            "run": str(run.public_id),
            "number": run.number,
            "state": run.state,
            "planned": progress.planned,
            "done": progress.done,
            "unscored": progress.unscored,
            "cancelled": progress.cancelled,
            "spent_micro": progress.spent_micro,
        }
    ).encode()


def signature(secret: str, at: int, body: bytes) -> str:
    """Return ``t=<unix seconds>,v1=<hex>``: HMAC-SHA256 over ``<seconds>.<body>``."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def send(run: Run) -> None:
    """Post the message through the guarded transport; raises JobRefused after four tries."""
    body = payload(run)
    try:
        secret = gates.unseal(run.webhook_ciphertext)
    except gates.KeyUnreadable as reason:
        raise JobRefused(str(reason)) from None
    for wait in (*WAITS, None):
        # Sign the message again, because receivers reject an old time.
        headers = {
            "Content-Type": "application/json",
            HEADER: signature(secret, int(time.time()), body),
        }
        if _is_accepted(run.webhook_url, body, headers):
            return
        if wait is not None:
            time.sleep(wait)
    raise JobRefused("The address did not accept the message.")


def _is_accepted(url: str, body: bytes, headers: dict[str, str]) -> bool:
    from cqa_site.judging.transport.egress import EgressFailed, fetch, parse_allowed

    allowed = parse_allowed(settings.EGRESS_ALLOW)
    try:
        answer = asyncio.run(
            fetch(url, method="POST", body=body, headers=headers, allowed=allowed)
        )
    except EgressFailed as failure:
        if failure.kind in (Failure.BLOCKED, Failure.CERTIFICATE):
            raise JobRefused(str(failure)) from None
        return False
    return 200 <= answer.status < 300


@handles("plan_run", sends=True)
def plan_run(work: JobContext) -> None:
    """Write the calls of a draft, after probing its endpoint if it was never probed before."""
    run = Run.objects.select_related("endpoint", "prompt", "study", "budget").get(
        public_id=work.payload["run"]
    )
    if run.state != Run.State.DRAFT:
        return
    _wait_for_model(run.endpoint)
    if run.endpoint.probed_at is None:
        try:
            probe(run.endpoint)
        except CallFailed:
            # The pre-flight calls will report the exact problem.
            run.endpoint.capabilities = {}
        run.spec["use_schema"] = run.endpoint.can("json_schema")
    write_calls(run)


@handles("probe_endpoint", sends=True)
def probe_endpoint(work: JobContext) -> None:
    endpoint = Endpoint.objects.get(study=work.study, public_id=work.payload["endpoint"])
    _wait_for_model(endpoint)
    try:
        probe(endpoint)
    except CallFailed as failure:
        raise JobRefused(f"{failure.kind}: {failure}") from None


@handles("run_webhook", sends=True)
def run_webhook(work: JobContext) -> None:
    """Notify a run's webhook address that the run has ended."""
    send(
        Run.objects.select_related("study", "budget", "endpoint").get(
            public_id=work.payload["run"]
        )
    )


def _wait_for_model(endpoint: Endpoint) -> None:
    if endpoint.kind == Endpoint.Kind.EMBEDDED:
        wait_for(PackagePart.MODEL)
