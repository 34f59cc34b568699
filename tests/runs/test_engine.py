"""The engine from plan to result, inline, with a scripted endpoint."""

import itertools
import json

import pytest

from annotation.judges.models import JudgeLabel
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.models import Run
from tests.runs.judging import Lab, answer_by_text, good, script
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(Lab)


def run_to_end(lab: Lab, capture, **values) -> Run:
    with capture(execute=True):
        run = lab.start(**values)
    run.refresh_from_db()
    assert list(find_violations()) == []
    return run


def test_the_batch_form_reads_each_item_apart(lab, monkeypatch, commits):
    def answer(request):
        ids = [n for n in range(1, 21) if f'"id": {n},' in request.messages[-1]["content"]]
        entries = [{"id": n, "reason": "r", "label": 9 if n == 4 else n % 4} for n in ids]
        return json.dumps({"labels": entries})

    client = script(monkeypatch, answer)
    run = run_to_end(lab, commits, prompt=lab.batch)
    assert run.planned == 2
    # At temperature 0 the same request is sent twice, no more.
    assert len(client.requests) == 4
    rows = JudgeLabel.objects.filter(run=run)
    assert rows.count() == 30
    assert {row.reason for row in rows if row.label is None} == {"out_of_set"}
    assert rows.filter(label=None).count() == 2


def test_a_label_that_dominates_the_canary_waits_for_a_decision(lab, monkeypatch, commits):
    labels = itertools.chain([3], itertools.repeat(1))
    script(monkeypatch, lambda request: good(next(labels)))
    run = run_to_end(lab, commits, preflight="auto")
    assert (run.state, run.preflight["problems"]) == (Run.State.CHECKED, ["dominant"])
    assert run.preflight["dominant"] == {"label": "1", "count": 19, "of": 20}
    assert run.preflight["valid"] == 20


def test_a_good_canary_goes_on_by_itself_if_told_so(lab, monkeypatch, commits):
    script(monkeypatch, answer_by_text)
    run = run_to_end(lab, commits, preflight="auto")
    assert run.state == Run.State.DONE
    assert run.preflight["passed"] is True
