"""Planning a run: which requests it will make, what they will take, one ledger row each."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple
from operator import add

from django.db import transaction
from django.db.models.functions import Now

from cqa_site.judging.estimating import Estimate, estimate

from . import jobs
from .kinds import Subject, kind_of
from .ledger.claiming import key_of, questions_for, request_of, requests_for
from .ledger.money import prices_of
from .models import Call, Run

CANARIES = 20
AT_ONCE = 500
SAMPLE = 1_000


def estimate_run(run: Run) -> tuple[Estimate, bool]:
    """Write the prompts of a run and count; nothing is stored.

    Beyond a thousand subjects a seeded sample is written and scaled up; then the second
    value is True.
    """
    subjects = kind_of(run).subjects(run)
    replicates = run.spec["replicates"]
    sample = subjects
    if len(subjects) > SAMPLE:
        sample = random.Random(run.spec["seed"]).sample(list(subjects), SAMPLE)  # noqa: S311
    requests = (one for calls in _calls(run, sample, 1) for one in requests_for(run, calls))
    found = estimate(requests, **prices_of(run))
    scale = replicates * len(subjects) / max(1, len(sample))
    return Estimate(*(round(value * scale) for value in astuple(found))), sample is not subjects


def write_calls(run: Run) -> int:
    """Write the ledger rows of a draft and start its pre-flight; return how many rows.

    All rows and the change of state are one transaction, so a draft has no calls and
    everything else has all of them.
    """
    subjects = kind_of(run).subjects(run)
    canaries = _canaries(run, subjects)
    with transaction.atomic():
        if not Run.objects.select_for_update().filter(pk=run.pk, state=Run.State.DRAFT).exists():
            return 0
        total, flags = Estimate(0, 0, 0, 0), Counter[str]()
        for calls in _calls(run, subjects, run.spec["replicates"]):
            for call, question in zip(calls, questions_for(run, calls), strict=True):
                flags.update(question.flags)
                request = request_of(run, call, question)
                one = estimate([request], **prices_of(run))
                total = Estimate(*map(add, astuple(total), astuple(one)))
                call.content_key = key_of(run, call, request)
                call.tokens_estimated = one.tokens_in + one.tokens_out
                call.reserve_micro = one.cost_micro
                call.is_canary = call.replicate == 0 and call.subject in canaries
            Call.objects.bulk_create(calls, batch_size=AT_ONCE)
        run.estimate = asdict(total)
        run.planned = total.requests
        run.state = Run.State.CHECKING if canaries else Run.State.RUNNING
        Run.objects.filter(pk=run.pk).update(
            spec=run.spec,
            flags={"texts": dict(flags)} if flags else {},
            estimate=run.estimate,
            planned=run.planned,
            state=run.state,
            started_at=Now(),
        )
        transaction.on_commit(jobs.ring)
    return run.planned


def _calls(run: Run, subjects: Sequence[Subject], replicates: int) -> Iterator[list[Call]]:
    """Unsaved calls in the order in which they are asked, some hundreds at a time.

    Replicates of one subject stand together: servers keep the beginning of a prompt.
    """
    rows = [
        Call(
            run=run,
            subject=subject.name,
            subject_ids=list(subject.ids),
            replicate=replicate,
            position=place * replicates + replicate,
        )
        for place, subject in enumerate(subjects)
        for replicate in range(replicates)
    ]
    for start in range(0, len(rows), AT_ONCE):
        yield rows[start : start + AT_ONCE]


def _canaries(run: Run, subjects: Sequence[Subject]) -> set[str]:
    if run.spec["preflight"] == "off":
        return set()
    names = [subject.name for subject in subjects]
    chooser = random.Random(run.spec["seed"])  # noqa: S311 - a reproducible sample
    return set(names if len(names) <= CANARIES else chooser.sample(names, CANARIES))
