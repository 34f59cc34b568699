"""Code that a fault site runs in processes of its own."""

FACTS = """
import json, re, sys
import django
django.setup()
from collections import Counter
from cqa_site.runs.models import Attempt, Run
run = Run.objects.select_related("budget").get(public_id=sys.argv[1])
case = lambda text: int(re.search(r"in case ([0-9]+)[.]", text)[1])
rows = run.judge_labels.select_related("argument", "call")
case_of = {row.call_id: case(row.argument.text) for row in rows}
attempts = Attempt.objects.filter(call__run=run)
stored = Attempt.objects.filter(call__run=run, reply__isnull=False).exclude(outcome="reused")
lost = attempts.filter(outcome__in=["lost", "stale"])
def per_case(found):
    return dict(Counter(case_of.get(call, -1) for call in found.values_list("call", flat=True)))
print(json.dumps({
    "state": run.state,
    "pause_reason": run.pause_reason,
    "planned": run.planned,
    "calls": dict(Counter(run.calls.values_list("state", flat=True))),
    "reasons": dict(Counter(run.calls.exclude(reason="").values_list("reason", flat=True))),
    "outcomes": dict(Counter(attempts.values_list("outcome", flat=True))),
    "failures": dict(Counter(attempts.exclude(failure="").values_list("failure", flat=True))),
    "labels": {case(row.argument.text): row.label for row in rows},
    "rows": len(rows),
    "attempts": attempts.count(),
    "lost_by_worker": dict(Counter(lost.values_list("worker", flat=True))),
    "lost": per_case(lost),
    "stored": per_case(stored),
    "timeouts": per_case(attempts.filter(failure="timeout")),
    "spent": run.budget.spent_micro,
    "reserved": run.budget.reserved_micro,
    "cap": run.budget.cap_micro,
    "refusals": run.refusals,
}))
"""
STEER = """
import json, sys
import django
django.setup()
from cqa_site.people.models import User
from cqa_site.runs.actions import runs
from cqa_site.runs.models import Run
run = Run.objects.select_related("study", "endpoint").get(public_id=sys.argv[1])
boss = User.objects.get(email="boss@bench.example")
getattr(runs, sys.argv[2])(run=run, actor=boss, **json.loads(sys.argv[3]))
"""
INTEGRITY = """
import django
django.setup()
from django.core.management import call_command
call_command("check_integrity")
"""
