"""Planning a run: which requests it will make, what they will take, one ledger row each.

Whatever the size of a run, planning holds one block of prompts, and some bytes for each call.
"""

import random
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field
from struct import Struct
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from cqa_site.judging.estimating import Estimate, estimate

from .. import bell
from ..kinds import Question, Subject, kind_of
from ..ledger.claiming import key_of, request_of
from ..ledger.money import prices_of
from ..ledger.writing import insert_like
from ..models import Call, Run

CANARIES = 20
AT_ONCE = 200
SAMPLE = 1_000
# Content key, tokens and price of one call: a hundred thousand of them take 4.4 MB.
FIGURES = Struct("<32sIQ")
COLUMNS = (
    "public_id",
    "subject",
    "subject_ids",
    "replicate",
    "position",
    "is_canary",
    "content_key",
    "tokens_estimated",
    "reserve_micro",
)


@dataclass(slots=True)
class Plan:
    """What all calls of a run come to, and the figures of each in the order they are asked."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_micro: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    figures: bytearray = field(default_factory=bytearray)

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return len(self.figures) // FIGURES.size

    def add(self, key: str, one: Estimate, flags: Sequence[str]) -> None:
        """Count one more call."""
        self.tokens_in += one.tokens_in
        self.tokens_out += one.tokens_out
        self.cost_micro += one.cost_micro
        self.flags.update(flags)
        self.figures += FIGURES.pack(
            bytes.fromhex(key), one.tokens_in + one.tokens_out, one.cost_micro
        )


def estimate_run(run: Run) -> tuple[Estimate, bool]:
    """Write the prompts of a run and count; nothing is stored.

    Beyond a thousand subjects a seeded sample is written and scaled up; then the second
    value is True.
    """
    subjects = kind_of(run).subjects(run)
    sample = subjects
    if len(subjects) > SAMPLE:
        sample = random.Random(run.spec["seed"]).sample(subjects, SAMPLE)  # noqa: S311
    call = Call(run=run)
    requests = (request_of(run, call, question) for question in _questions(run, sample))
    found = estimate(requests, **prices_of(run))
    scale = run.spec["replicates"] * len(subjects) / max(1, len(sample))
    return Estimate(*(round(value * scale) for value in astuple(found))), sample is not subjects


def write_calls(run: Run) -> int:
    """Write the ledger rows of a draft and start its pre-flight; return how many rows.

    All rows and the change of state are one transaction, so a draft has no calls and
    everything else has all of them. The prompts are written before it begins: on SQLite
    nobody else can write while it lasts.
    """
    subjects = kind_of(run).subjects(run)
    plan = _plan(run, subjects)
    canaries = _canaries(run, len(subjects))
    with transaction.atomic():
        if not Run.objects.select_for_update().filter(pk=run.pk, state=Run.State.DRAFT).exists():
            return 0
        insert_like(Call(run=run), COLUMNS, _rows(run, subjects, plan, canaries))
        run.estimate = asdict(
            Estimate(plan.calls, plan.tokens_in, plan.tokens_out, plan.cost_micro)
        )
        run.planned = plan.calls
        run.state = Run.State.CHECKING if canaries else Run.State.RUNNING
        Run.objects.filter(pk=run.pk).update(
            spec=run.spec,
            flags={"texts": dict(plan.flags)} if plan.flags else {},
            estimate=run.estimate,
            planned=run.planned,
            state=run.state,
            started_at=Now(),
        )
        transaction.on_commit(bell.ring)
    return run.planned


def write_more(run: Run, subjects: Sequence[Subject]) -> None:
    """Write ledger rows behind those that a planned run has; call under the gate's lock."""
    plan = _plan(run, subjects)
    rows = _rows(run, subjects, plan, set(), first=run.planned)
    insert_like(Call(run=run), COLUMNS, rows)
    run.planned += plan.calls
    Run.objects.filter(pk=run.pk).update(planned=run.planned)


def _plan(run: Run, subjects: Sequence[Subject]) -> Plan:
    """Write every prompt once, whatever the number of replicates, and keep its figures."""
    plan, prices = Plan(), prices_of(run)
    calls = [Call(run=run, replicate=replicate) for replicate in range(run.spec["replicates"])]
    for question in _questions(run, subjects):
        requests = [request_of(run, call, question) for call in calls]
        # Replicates differ in their seed alone, which takes no tokens.
        one = estimate(requests[:1], **prices)
        for call, request in zip(calls, requests, strict=True):
            plan.add(key_of(run, call, request), one, question.flags)
    return plan


def _questions(run: Run, subjects: Sequence[Subject]) -> Iterator[Question]:
    """What the app asks, written some hundreds at a time."""
    for start in range(0, len(subjects), AT_ONCE):
        yield from kind_of(run).questions(run, subjects[start : start + AT_ONCE])


def _rows(
    run: Run, subjects: Sequence[Subject], plan: Plan, canaries: set[int], first: int = 0
) -> Iterator[tuple[Any, ...]]:
    """Values of `COLUMNS` for every call in the order in which they are asked.

    Replicates of one subject stand together: servers keep the beginning of a prompt.
    """
    replicates = run.spec["replicates"]
    for position, (key, tokens, cost) in enumerate(FIGURES.iter_unpack(plan.figures)):
        place, replicate = divmod(position, replicates)
        if replicate == 0:
            subject = subjects[place]
        is_canary = replicate == 0 and place in canaries
        yield (
            uuid.uuid4(), subject.name, list(subject.ids), replicate, first + position, is_canary,
            key.hex(), tokens, cost,
        )  # fmt: skip


def _canaries(run: Run, subjects: int) -> set[int]:
    """Places of the subjects that are asked first."""
    if run.spec["preflight"] == "off":
        return set()
    chooser = random.Random(run.spec["seed"])  # noqa: S311 - a reproducible sample
    return set(chooser.sample(range(subjects), min(CANARIES, subjects)))
