"""Workers that carry an assignment of statements, and apply its codes, are killed on the way."""

import json
import time
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.argsum.coding.made_coding import codes_of, says_codes, statements_in
from tests.faults.fault_site import wait_until
from tests.faults.nursery import HASTY, kill
from tests.judging.llmstub import StubServer

STATEMENTS, KILLS = 240, 10
START = """
import json, sys
import django
django.setup()
from argsum.analysis.models import FoundPoint, Placement
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.runs import start_run
from cqa_site.runs.models import Endpoint
from tests.argsum.analysis.made_comments import add_statement, make_cell, write_analysis
from tests.argsum.analysis.made_writing import WORDS
from tests.argsum.coding.made_coding import TEXTS, assignment_plan, sign
name, statements = json.loads(sys.argv[1])
study, boss = Study.objects.get(), User.objects.get(email="boss@bench.example")
cell = make_cell(study, name=name)
for number in range(statements):
    add_statement(cell, f"Comment {number} is about {WORDS[number % 3]}.")
analysis = write_analysis(study, cell, number=study.analyses.count() + 1)
for point, text in zip(analysis.points.order_by("position"), TEXTS.values(), strict=True):
    FoundPoint.objects.filter(pk=point.pk).update(text=text)
Placement.objects.filter(analysis=analysis).update(point=analysis.points.get(position=1))
sign(analysis, boss)
plan = assignment_plan(analysis, Endpoint.objects.get(name=name), boss, sizes={"batch_size": 5})
print(start_run(study=study, actor=boss, plan=plan).public_id)
"""
# The scorer reads words, and a worker that applies the codes says so in a file and takes a while
# over it, inside the transaction.
SLOWLY = """
import time
from argsum.analysis.actions import analyses
from argsum.coding.actions import assignment
from tests.argsum.analysis.made_writing import word_vectors
analyses.ScorerTools.vectors = lambda _tools, texts: word_vectors(texts)
whole = assignment._keep_agreement
def slowly(*args):
    whole(*args)
    open(%r, "w").close()
    time.sleep(%s)
assignment._keep_agreement = slowly
from datetime import timedelta
from django.conf import settings
settings.JOB_LEASE = timedelta(seconds=3)
"""
FACTS = """
import json, sys
import django
django.setup()
from argsum.analysis.models import Placement
from cqa_site.runs.models import Attempt, Run
run = Run.objects.get(public_id=sys.argv[1])
analysis = run.study.analyses.get(coding=run)
placed = Placement.objects.filter(analysis=analysis).values_list("argument__text", "point__text")
attempts = Attempt.objects.filter(call__run=run)
print(json.dumps({
    "state": run.state,
    "planned": run.planned,
    "placed": sorted(placed),
    "edits": analysis.changes.filter(verb="coded").count(),
    "coded": run.coded_statements.filter(reason="").count(),
    "attempts": attempts.count(),
    "lost": attempts.filter(outcome__in=["lost", "stale"]).count(),
}))
"""


EDITS = "SELECT id FROM argsum_pointchange WHERE verb = 'coded'"


def jobs_of(site) -> list[tuple]:
    """The states of the jobs that apply codes."""
    return site.sql("SELECT state FROM runs_job WHERE kind = 'analysis_follow_run'")


@pytest.mark.long
def test_killed_workers_lose_no_code_pay_nothing_twice_and_place_all_at_once(site, tmp_path):
    """The model leaves out every tenth statement until it is shown in a smaller request."""
    paid: Counter[str] = Counter()
    marker = tmp_path / "applying"

    def answer(document: dict) -> str:
        request = SimpleNamespace(messages=document["messages"])
        paid[document["messages"][-1]["content"]] += 1
        codes, texts = codes_of(request), statements_in(request)
        if len(texts) == 5:
            codes = {name: own for name, own in codes.items() if "0 is" not in texts[name]}
        return says_codes(codes)

    in_flight: set[tuple[int, int]] = set()
    with StubServer(port=site.stub_port, answer=answer, latency=0.05) as stub:
        asked = json.dumps([site.offer(stub), STATEMENTS])
        run = site.python("-c", START, asked).split()[-1]
        for number in range(KILLS):
            worker = site.nursery.work(after=HASTY + SLOWLY % (str(marker), 30))
            wanted = stub.counts["requests"] + 1 + number * 7 % 20
            wait_until(
                lambda n=wanted: stub.counts["requests"] >= n or marker.exists(), 60, every=0.01
            )
            kill(worker)
            # A commit that was on its way to PostgreSQL still counts.
            time.sleep(0.05)
            in_flight |= site.leases()
            assert not site.sql(EDITS)
        # Then while the codes are applied: everything is asked, and nothing is stored.
        worker = site.nursery.work(after=HASTY + SLOWLY % (str(marker), 30))
        wait_until(marker.exists, 60, lambda: jobs_of(site))
        kill(worker)
        time.sleep(0.05)
        assert site.state_of(run) == "done"
        assert not site.sql(EDITS)
        answered = stub.counts["answered"]
        site.nursery.work(after=HASTY + SLOWLY % (str(marker), 0))
        wait_until(lambda: site.sql(EDITS), 60, lambda: jobs_of(site))
        assert stub.counts["answered"] == answered
    site.check_integrity()
    facts = json.loads(site.python("-c", FACTS, run).splitlines()[-1])
    assert (facts["state"], facts["edits"]) == ("done", 1)
    assert len(facts["placed"]) == facts["coded"] == STATEMENTS
    for text, point in facts["placed"]:
        word = text.split()[-1].rstrip(".")
        assert word in point, (text, point)
    assert site.lost() == in_flight
    assert facts["lost"] == len(in_flight)
    assert facts["attempts"] == facts["planned"] + len(in_flight)
    assert len(paid) == facts["planned"]
    assert sum(paid.values()) <= facts["attempts"]
