"""Programs for a throw-away site that report a run's ledger and enlarge it."""

FACTS = """
import json, sys
import django
django.setup()
from collections import Counter
from cqa_site.runs.models import Attempt, Run
run = Run.objects.select_related("budget").get(public_id=sys.argv[1])
bad = set(
    Attempt.objects.filter(call__run=run).exclude(unusable="").values_list("call", flat=True)
)
once = run.calls.filter(pk__in=bad, state="done", format_tries=1).count()
scored = run.judge_labels.filter(label__isnull=False)
print(json.dumps({
    "state": run.state,
    "ended_at": run.ended_at.timestamp() if run.ended_at else None,
    "planned": run.planned,
    "scored": scored.count(),
    "bad_scored": scored.exclude(call__reply__finish_reason="stop").count(),
    "bad": len(bad),
    "recovered": once,
    "outcomes": Counter(Attempt.objects.filter(call__run=run).values_list("outcome", flat=True)),
}))
"""
# Creates the ledger rows of a large run without sending it, by copying the engine's rows.
MULTIPLY = """
import sys
import django
django.setup()
from django.db import connection
from cqa_site.runs.models import Attempt, Call, Run
run, times = Run.objects.get(public_id=sys.argv[1]), int(sys.argv[2])
is_postgres = connection.vendor == "postgresql"
def insert(model, values, source):
    fields = [f for f in model._meta.concrete_fields if not f.primary_key]
    quote = connection.ops.quote_name
    into = ", ".join(quote(f.column) for f in fields)
    what = ", ".join(values.get(f.column, "old." + quote(f.column)) for f in fields)
    copies = "WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < %s)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({into}) {copies} SELECT {what} {source}",
            [times, run.pk],
        )
uuid = "gen_random_uuid()" if is_postgres else "lower(hex(randomblob(16)))"
place = f"old.position + copy.n * {run.planned}"
insert(
    Call,
    {"public_id": uuid, "replicate": "copy.n", "position": place},
    "FROM runs_call old CROSS JOIN copy WHERE old.run_id = %s AND old.state IN ('done', 'ready')",
)
insert(
    Attempt,
    {"call_id": "new.id"},
    "FROM copy JOIN runs_call new ON new.replicate = copy.n JOIN runs_call first ON "
    "first.run_id = new.run_id AND first.subject = new.subject AND first.replicate = 0 "
    "JOIN runs_attempt old ON old.call_id = first.id WHERE new.run_id = %s",
)
Run.objects.filter(pk=run.pk).update(planned=run.calls.count())
if is_postgres:
    connection.cursor().execute("ANALYZE")
print(run.calls.count())
"""
