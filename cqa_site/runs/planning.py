"""Planning of runs: requests, estimates, previews and checks for repeated replies."""

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, astuple, dataclass, field
from struct import Struct
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.db.models.functions import Now

from cqa_site.judging.chat import ChatRequest
from cqa_site.judging.endpoints import CostEstimate, estimate, estimate_messages
from cqa_site.people.models import Study
from cqa_site.web.bulk_queries import insert_like
from . import jobs
from .kinds import CallRequest, Subject, kind_of, run_kind_of
from .ledger.gates import prices_of
from .ledger.lease import key_of, planned_key, questions_for, request_of
from .models import Call, PromptVersion, Run

# Planning a run: its requests, their cost, and one ledger row for each
#
# For any size of run, only one block of prompts is in memory, and a few bytes for each call.

CANARIES = 20
AT_ONCE = 200
SAMPLE = 1_000
# Content key, tokens and price of one call; a hundred thousand calls take 4.4 MB.
FIGURES = Struct("<32sIQ")
COLUMNS = (
    "public_id", "subject", "subject_ids", "replicate", "position", "is_canary", "content_key",
    "tokens_estimated", "reserve_micro",
)  # fmt: skip


@dataclass(slots=True)
class CallPlan:
    """The totals for a run's calls, and the figures of each call in sending order."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_micro: int = 0
    most_micro: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    figures: bytearray = field(default_factory=bytearray)

    @property
    def calls(self) -> int:
        """Number of calls."""
        return len(self.figures) // FIGURES.size

    def add(self, key: str, estimate: CostEstimate, flags: Sequence[str]) -> None:
        self.tokens_in += estimate.tokens_in
        self.tokens_out += estimate.tokens_out
        self.cost_micro += estimate.cost_micro
        self.most_micro += estimate.most_micro
        self.flags.update(flags)
        self.figures += FIGURES.pack(
            bytes.fromhex(key), estimate.tokens_in + estimate.tokens_out, estimate.cost_micro
        )


def estimate_run(run: Run) -> tuple[CostEstimate, bool]:
    """Write the prompts of a run and estimate its cost; nothing is stored.

    For more than a thousand subjects, the prompts of a seeded sample are written and the cost is
    scaled up; the second returned value is then True.
    """
    subjects = kind_of(run).subjects(run)
    sample = subjects
    if len(subjects) > SAMPLE:
        sample = random.Random(run.spec["seed"]).sample(subjects, SAMPLE)  # noqa: S311
    call = Call(run=run)
    requests = (request_of(run, call, question) for question in _questions(run, sample))
    forecast = estimate(requests, **prices_of(run))
    scale = run.spec["replicates"] * len(subjects) / max(1, len(sample))
    return CostEstimate(
        *(round(value * scale) for value in astuple(forecast))
    ), sample is not subjects


def write_calls(run: Run) -> int:
    """Write the ledger rows of a draft and start its pre-flight; return the number of rows.

    All rows and the change of state are written in one transaction, so a draft has no calls and
    any other run has all of them. The prompts are written before the transaction begins, because
    a transaction blocks all other writers on SQLite.
    """
    subjects = kind_of(run).subjects(run)
    plan = _plan(run, subjects)
    canaries = _canaries(run, len(subjects))
    with transaction.atomic():
        if not Run.objects.select_for_update().filter(pk=run.pk, state=Run.State.DRAFT).exists():
            return 0
        insert_like(Call(run=run), COLUMNS, _rows(run, subjects, plan, canaries))
        run.estimate = asdict(
            CostEstimate(
                plan.calls, plan.tokens_in, plan.tokens_out, plan.cost_micro, plan.most_micro
            )
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
        transaction.on_commit(jobs.ring)
    return run.planned


def write_more(run: Run, subjects: Sequence[Subject]) -> None:
    """Append ledger rows to a planned run; call under the gate's lock."""
    plan = _plan(run, subjects)
    rows = _rows(run, subjects, plan, set(), first=run.planned)
    insert_like(Call(run=run), COLUMNS, rows)
    run.planned += plan.calls
    Run.objects.filter(pk=run.pk).update(planned=run.planned)


def _plan(run: Run, subjects: Sequence[Subject]) -> CallPlan:
    """Write every prompt once, regardless of the number of replicates, and store its figures."""
    plan, prices = CallPlan(), prices_of(run)
    calls = [Call(run=run, replicate=replicate) for replicate in range(run.spec["replicates"])]
    for question in _questions(run, subjects):
        requests = [request_of(run, call, question) for call in calls]
        # Replicates differ only in their seed, which uses no tokens.
        forecast = estimate(requests[:1], **prices)
        for call, request in zip(calls, requests, strict=True):
            plan.add(key_of(run, call, request), forecast, question.flags)
    return plan


def _questions(run: Run, subjects: Sequence[Subject]) -> Iterator[CallRequest]:
    """Yield the app's requests, in batches of `AT_ONCE` subjects."""
    for start in range(0, len(subjects), AT_ONCE):
        yield from kind_of(run).questions(run, subjects[start : start + AT_ONCE])


def _rows(
    run: Run, subjects: Sequence[Subject], plan: CallPlan, canaries: set[int], first: int = 0
) -> Iterator[tuple[Any, ...]]:
    """Yield the values of `COLUMNS` for every call, in sending order.

    Replicates of a subject follow each other, because servers cache the beginning of a prompt.
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
    """Return the positions of the subjects to send first."""
    if run.spec["preflight"] == "off":
        return set()
    chooser = random.Random(run.spec["seed"])  # noqa: S311 - a reproducible sample
    return set(chooser.sample(range(subjects), min(CANARIES, subjects)))


# Previews: the messages that a prompt produces for an item of the study, without storing them


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """The messages for some items, their size in tokens, and flags about the texts."""

    items: list[Any]
    messages: tuple[Mapping[str, str], ...]
    tokens: int
    flags: list[str]


def preview_prompt(study: Study, version: PromptVersion, item: Model) -> PromptPreview:
    """Write the request for an item in the study; ``version`` may be unsaved."""
    tried = run_kind_of(version.kind).tried_on
    run, items = tried.draft(study, version, item)
    subject = Subject("preview", tried.ids(items))
    question = kind_of(run).questions(run, [subject])[0]
    return PromptPreview(
        items, question.messages, estimate_messages(question.messages), sorted(set(question.flags))
    )


@dataclass(frozen=True, slots=True)
class RewrittenRequest:
    """The rewritten request, its size in tokens, its flags, and whether it equals the original."""

    request: ChatRequest
    flags: tuple[str, ...]
    is_same: bool
    tokens: int


def asked_again(run: Run, call: Call) -> RewrittenRequest | None:
    """Rewrite the first request of a call with the current data; None if an item was deleted."""
    first = copy(call)
    first.token_limit = 0
    try:
        question = questions_for(run, [first])[0]
    except KeyError:
        return None
    request = request_of(run, first, question)
    key = key_of(run, first, request)
    is_same = planned_key(run, first, question, key) == call.content_key
    return RewrittenRequest(request, question.flags, is_same, estimate_messages(request.messages))


# Repetition in sample replies: the same value too often, or nearly the same text
#
# Pages and documents use the same rule. A value *dominates* if its scale has at least ten values
# and its share reaches the limit of its kind of run (four in five by default). Prose has no scale:
# at least five texts are *alike* if four in five of them share four fifths of their distinct words
# with one of them.

ENOUGH_VALUES = 10
ENOUGH_TEXTS = 5
MOST = 0.8
SHARED_WORDS = 0.8


@dataclass(frozen=True, slots=True)
class Dominant:
    """A value given ``count`` times among the ``of`` values of its scale."""

    label: str
    count: int
    of: int


def dominant(values: Mapping[str, int]) -> Dominant | None:
    """Return the most dominant value relative to its scale, or None if there are no values.

    Parameters
    ----------
    values
        Value → number of times it was given. If there are several scales, a value begins with its
        scale's name, a colon and a space, and is compared only within that scale.

    Examples
    --------
    >>> dominant({"1": 19, "2": 1})
    Dominant(label='1', count=19, of=20)
    """
    sizes: dict[str, int] = defaultdict(int)
    for label, count in values.items():
        sizes[_scale(label)] += count
    dominants = [Dominant(label, count, sizes[_scale(label)]) for label, count in values.items()]
    return max(
        dominants,
        key=lambda candidate: (candidate.count / candidate.of, candidate.of),
        default=None,
    )


def dominates(dominant: Dominant | None, share: float = MOST) -> bool:
    """Whether one value is so frequent that a person should check before the run continues."""
    return (
        dominant is not None
        and dominant.of >= ENOUGH_VALUES
        and dominant.count >= share * dominant.of
    )


def alike(texts: Sequence[str]) -> int:
    """Count the texts that are nearly identical to the most frequent text, including that text.

    Examples
    --------
    >>> alike(["I cannot say.", "I cannot say!", "Tea, because it is warm."])
    2
    """
    sets = [frozenset(_letters(text).split()) for text in texts]
    return max((sum(_near(words, other) for other in sets) for words in sets), default=0)


def are_alike(texts: Sequence[str]) -> bool:
    """Whether the model wrote nearly the same text for different requests."""
    return len(texts) >= ENOUGH_TEXTS and alike(texts) >= MOST * len(texts)


def _scale(label: str) -> str:
    return label.rpartition(": ")[0]


def _letters(text: str) -> str:
    return "".join(character if character.isalnum() else " " for character in text.casefold())


def _near(words: frozenset[str], other: frozenset[str]) -> bool:
    return len(words & other) >= SHARED_WORDS * max(1, len(words | other))


def seeded_places(n: int, size: int, seed: int) -> list[int]:
    """Draw ``size`` of the indices 0 … n − 1 without replacement, in ascending order.

    Returns all indices if there are at most ``size``.

    Examples
    --------
    >>> seeded_places(3, 5, seed=1)
    [0, 1, 2]
    >>> seeded_places(100, 3, seed=1) == seeded_places(100, 3, seed=1)
    True
    """
    if n <= size:
        return list(range(n))
    return sorted(random.Random(seed).sample(range(n), size))  # noqa: S311 - not a secret
