"""Workers that carry runs which write answers are killed on the way."""

import hashlib
import json
import time
from collections import Counter

import pytest

from cqa_site.runs.jobs import MAX_LOSSES
from tests.faults.fault_site import wait_until
from tests.faults.nursery import HASTY, kill
from tests.judging.llmstub import StubServer

QUESTIONS, SCENARIOS, CHOICES = 50, 4, 3
PLANNED = QUESTIONS * SCENARIOS * CHOICES
KILLS = 6

START = """
import json, sys
import django
django.setup()
from annotation.generation.actions.prompts import PROMPTS
from annotation.generation.actions.prompts import target_of
from cqa_site.runs.actions.endpoints import first_prompts
from annotation.answers.actions import add_missing_questions
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.models import Endpoint
name, questions, scenarios, choices = json.loads(sys.argv[1])
study, boss = Study.objects.get(), User.objects.get(email="boss@bench.example")
add_missing_questions(study=study, actor=boss)
for number in range(1, scenarios + 1):
    (prompt,) = first_prompts(study, {f"answer_{number}": PROMPTS[f"answer_{number}"]}, boss)
    plan = RunPlan(
        kind="answers",
        endpoint=Endpoint.objects.get(name=name),
        prompt=prompt,
        target=target_of(questions="sample", sample=questions),
        params={"max_tokens": 900, "seed": 1},
        replicates=choices,
        preflight="off",
        reuse=False,
    )
    print(start_run(study=study, actor=boss, plan=plan).public_id)
"""
FACTS = """
import json
import django
django.setup()
from collections import Counter
from annotation.answers.models import Answer
from annotation.corpus.models import ArgumentList
from cqa_site.runs.ledger.lease import requests_for
from cqa_site.runs.models import Attempt, Run
from tests.faults.test_generation import key_of, text_of
answers = {answer.call_id: answer for answer in Answer.objects.all()}
wrong, keys = [], {}
for run in Run.objects.select_related("study", "prompt", "endpoint"):
    calls = list(run.calls.all())
    for call, request in zip(calls, requests_for(run, calls), strict=True):
        keys[call.pk] = key_of([dict(one) for one in request.messages], request.params["seed"])
        answer = answers.get(call.pk)
        if answer is None or answer.text != text_of(keys[call.pk]):
            wrong.append(call.pk)
attempts = Attempt.objects.exclude(outcome="reused")
stored = attempts.filter(reply__isnull=False).values_list("call", flat=True)
lost = attempts.filter(outcome__in=["lost", "stale"]).values_list("call", flat=True)
print(json.dumps({
    "states": dict(Counter(Run.objects.values_list("state", flat=True))),
    "answers": len(answers),
    "places": Answer.objects.values("question", "scenario", "choice").distinct().count(),
    "lists": ArgumentList.objects.filter(answers__isnull=False).distinct().count(),
    "wrong": wrong,
    "stored": dict(Counter(keys[call] for call in stored)),
    "lost": dict(Counter(keys[call] for call in lost)),
}))
"""


def key_of(messages: list[dict], seed: int) -> str:
    """What makes two requests of these runs the same request."""
    return hashlib.sha256(json.dumps([messages, seed]).encode()).hexdigest()


def text_of(key: str) -> str:
    """The answer that the stub writes to a request."""
    return f"Summary:\n{key}\n\nBest option: thing"


@pytest.mark.long
def test_killed_workers_lose_no_answer_and_repeat_at_most_what_was_in_flight(site):
    """All four scenarios for fifty questions with three choices, by `manage.py work`."""
    paid: Counter[str] = Counter()

    def write(document: dict) -> str:
        key = key_of(document["messages"], document["seed"])
        paid[key] += 1
        return text_of(key)

    in_flight: set[tuple[int, int]] = set()
    with StubServer(port=site.stub_port, answer=write, latency=0.05) as stub:
        asked = json.dumps([site.offer(stub), QUESTIONS, SCENARIOS, CHOICES])
        runs = site.python("-c", START, asked).split()[-SCENARIOS:]
        for number in range(KILLS):
            worker = site.nursery.work(after=HASTY)
            if number == MAX_LOSSES:
                # Planning that lost its worker once more would be given up.
                wait_until(site.has_planned, 60)
            wanted = stub.counts["requests"] + 1 + number * 23 % 60
            wait_until(lambda n=wanted: stub.counts["requests"] >= n, 60, every=0.01)
            kill(worker)
            # A commit that was on its way to PostgreSQL still counts.
            time.sleep(0.05)
            in_flight |= site.leases()
        site.nursery.work()
        for run in runs:
            wait_until(lambda one=run: site.state_of(one) == "done", 120)
        answered = stub.counts["answered"]
    site.check_integrity()
    facts = json.loads(site.python("-c", FACTS).splitlines()[-1])
    assert facts["states"] == {"done": SCENARIOS}
    assert facts["answers"] == facts["places"] == PLANNED
    assert facts["lists"] == QUESTIONS
    assert facts["wrong"] == []
    assert site.lost() == in_flight
    assert len(in_flight) >= KILLS
    assert PLANNED <= answered <= PLANNED + len(in_flight)
    for key, times in paid.items():
        stored = facts["stored"].get(key, 0)
        assert stored <= times <= stored + facts["lost"].get(key, 0)
