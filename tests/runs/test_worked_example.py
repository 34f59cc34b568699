"""The programs in docs/api.md, run as they stand against a server."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cqa_site.runs import jobs
from cqa_site.runs.carrying import worker
from cqa_site.runs.models import Run
from cqa_site.runs.progress import progress_of
from cqa_site.web.limits import CourtesyThrottle
from tests.api.conftest import client_of
from tests.runs.judging import Lab, answer_by_text, script

assert worker  # registers the jobs this test runs

DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"


def program(heading: str) -> str:
    """The code below a heading of the document."""
    section = DOCUMENT.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.S)
    return code.replace("time.sleep(2)", "time.sleep(0.1)")


@pytest.fixture
def worker_comes_late(monkeypatch):
    """Nobody works before the program has asked how far the run is."""
    asked = []

    def late(run):
        asked.append(run)
        if len(asked) > 1:
            jobs.drain()
            worker.drain_inline()
        return progress_of(run)

    monkeypatch.setattr(jobs, "ring", lambda: None)
    monkeypatch.setattr("cqa_site.runs.api.runs.progress_of", late)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_documented_program_starts_and_watches_a_run(
    live_server, monkeypatch, worker_comes_late
):
    monkeypatch.setattr(CourtesyThrottle, "rate", None)
    client = script(monkeypatch, answer_by_text)
    lab = Lab(items=25)
    done = subprocess.run(
        [sys.executable, "-I", "-c", program("Judge runs")],
        env=os.environ
        | {
            "COUNTERPOINT_STUDY": f"{live_server.url}/api/v1/studies/{lab.study.public_id}",
            "COUNTERPOINT_TOKEN": client_of(lab.researcher).secret,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    run = Run.objects.get()
    assert lines[0].startswith("estimate: {'requests': 25,")
    assert f"state: done spent: {run.budget.spent_micro}" in lines
    queued = "The run is queued. A worker prepares the requests first. Nothing has been sent yet."
    assert f"0% {queued}" in lines
    assert "100% Every request was answered or failed with a reason." in lines
    labels = dict(run.judge_labels.values_list("argument__text", "label"))
    assert len(labels) == len(client.requests) == 25
    assert set(lines[-25:]) == {f"{label}\t\t{text}" for text, label in labels.items()}
