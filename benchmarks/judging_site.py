"""A throw-away site whose round can be judged, and workers that can be killed."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass

from benchmarks.label_round_server import ROOT, LabelRoundServer

ENDPOINT = """
import json, sys
import django
django.setup()
from annotation.judges.actions.relevance_judge import PROMPTS
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import create_endpoint
from cqa_site.runs.models import Endpoint
name, url, limit, key, deadline = json.loads(sys.argv[1])
study, boss = Study.objects.get(), User.objects.get(email="boss@bench.example")
first_prompts(study, PROMPTS, boss)
values = {
    "name": name, "base_url": url, "model": "stub-1", "price_in": 1, "price_out": 2,
    "max_in_flight": limit, "deadline_seconds": deadline,
}
endpoint = create_endpoint(study=study, actor=boss, values=values, key=key)
Endpoint.objects.filter(pk=endpoint.pk).update(probed_at=endpoint.created_at)
"""
START = """
import json, sys
import django
django.setup()
from annotation.judges.actions.relevance_judge import SINGLE, target_of
from annotation.labelling.models import LabelRound
from cqa_site.people.models import User
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.models import Endpoint, PromptVersion
values = {
    "params": {"temperature": 0, "max_tokens": 200}, "preflight": "off", "reuse": False,
} | json.loads(sys.argv[1])
label_round = LabelRound.objects.get()
endpoint, sample = values.pop("endpoint", "Stub"), values.pop("sample", 0)
plan = RunPlan(
    kind="relevance",
    endpoint=Endpoint.objects.get(name=endpoint),
    prompt=PromptVersion.objects.get(kind=SINGLE),
    target=target_of(label_round, choice="sample" if sample else "all", sample=sample),
    **values,
)
boss = User.objects.get(email="boss@bench.example")
run = start_run(study=label_round.study, actor=boss, plan=plan)
print(run.public_id)
"""
STATE = """
import json, sys
import django
django.setup()
from dataclasses import asdict
from cqa_site.runs.models import Attempt, Run
from cqa_site.runs.progress import progress_of
run = Run.objects.select_related("budget", "endpoint").get(public_id=sys.argv[1])
outcomes = {}
for outcome in Attempt.objects.filter(call__run=run).values_list("outcome", flat=True):
    outcomes[outcome] = outcomes.get(outcome, 0) + 1
labels = run.judge_labels.filter(label__isnull=False).count()
print(json.dumps(
    asdict(progress_of(run))
    | {"state": run.state, "pause_reason": run.pause_reason}
    | {"outcomes": outcomes, "labels": labels}
))
"""


@dataclass
class JudgingSite(LabelRoundServer):
    """A site with a label round and an endpoint; broker and lease of its workers can be set."""

    stub_port: int = 0
    broker: str = "filesystem://"
    lease: int = 3
    variables: dict | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Settings of the throw-away site."""
        return (
            super().environment
            | {
                "EGRESS_ALLOW": f"127.0.0.1/32:{self.stub_port}",
                "CELERY_BROKER_URL": self.broker,
                "CALL_LEASE_SECONDS": str(self.lease),
                "JOB_LEASE_SECONDS": str(self.lease),
                "CALL_BREAK_SECONDS": "0.5",
            }
            | (self.variables or {})
        )

    def add_endpoint(
        self,
        base_url: str,
        *,
        limit: int = 64,
        key: str = "sk-stub-0123456789",
        deadline: int = 5,
        name: str = "Stub",
    ) -> None:
        """Create the endpoint and the default prompts."""
        self.python("-c", ENDPOINT, json.dumps([name, base_url, limit, key, deadline]))

    def start_run(self, **values) -> str:
        """Start a run over all arguments or a ``sample`` of them; return its id.

        Other values are those of a plan; ``endpoint`` is a name.
        """
        return self.python("-c", START, json.dumps(values)).split()[-1]

    def state(self, run: str) -> dict:
        """Return the progress of a run and the outcomes of its attempts."""
        return json.loads(self.python("-c", STATE, run).splitlines()[-1])

    def worker(self) -> subprocess.Popen:
        """Start a process that runs jobs and calls without Celery."""
        return self._process("manage.py", "work")

    def celery(self, name: str) -> subprocess.Popen:
        """Start a Celery worker."""
        return self._process(
            "-m", "celery", "-A", "cqa_site", "worker", "--pool", "threads", "--concurrency", "2",
            "--hostname", f"{name}@test", "--without-mingle",
        )  # fmt: skip

    def _process(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, start_new_session=True
        )


def end(process: subprocess.Popen, how: int = signal.SIGTERM) -> None:
    """Signal a process group and wait for it."""
    if process.poll() is None:
        os.killpg(process.pid, how)
    process.wait(60)
