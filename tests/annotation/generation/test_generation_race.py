"""Runs of one system whose replies are stored at the same moment count on without a collision."""

import threading

import pytest
from django.db import connection, connections

from annotation.answers.models import Answer
from cqa_site.runs.carrying.worker import drain_inline
from cqa_site.runs.planning import write_calls
from tests.annotation.generation_lab import GenerationLab
from tests.annotation.made_generations import write_by_text
from tests.runs.made_runs import scripted

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nobody meets"
    ),
]
CHOICES = (2, 3, 4)


def drain(start: threading.Barrier, errors: list[Exception]) -> None:
    """Work as one of several workers do."""
    try:
        start.wait(30)
        drain_inline()
    except Exception as error:  # noqa: BLE001 the test looks at it
        errors.append(error)
    finally:
        connections.close_all()


def test_three_workers_over_three_runs_give_every_number_once(monkeypatch):
    # Nobody works before all three do.
    monkeypatch.setattr("cqa_site.runs.jobs.ring", lambda: None)
    lab = GenerationLab(questions=6)
    runs = [lab.start(number=1, replicates=n, reuse=False) for n in CHOICES]
    for run in runs:
        write_calls(run)
    start, errors = threading.Barrier(len(CHOICES)), []
    with scripted(write_by_text):
        workers = [threading.Thread(target=drain, args=(start, errors)) for _ in CHOICES]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
        drain_inline()
    assert errors == []
    for question in lab.questions:
        found = Answer.objects.filter(question=question).order_by("choice")
        assert list(found.values_list("choice", flat=True)) == list(range(1, 10))
    for run in runs:
        first = run.answers.get(question=lab.questions[0], call__replicate=0).choice
        own = run.answers.filter(question=lab.questions[0]).order_by("call__replicate")
        assert [answer.choice - first for answer in own] == list(range(own.count()))
