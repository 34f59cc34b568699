"""Documents that 0.1.0 stored name the round of labels as this version does."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from cqa_site.judging.chat import digest
from cqa_site.people.models import AuditEvent
from cqa_site.runs.models import Job
from tests.cast import make_label_round, make_member, make_study
from tests.runs.made_runs import make_endpoint, make_run

KEYS = import_module("annotation.migrations.0007_label_round_keys")


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["done", "running"])
def test_stored_documents_are_renamed_and_back(state):
    study = make_study()
    boss = make_member(study, "researcher")
    run = make_run(make_label_round(study), make_endpoint(study, boss), boss)
    run.state, new = state, run.spec["target"]["label_round"]
    run.save()
    job = Job.objects.create(study=study, kind="snapshot", payload={"label_round": new, "a": 1})
    event = AuditEvent.objects.create(
        study=study, verb="decision_undone", details={"label_round": new}
    )
    editor = SimpleNamespace(connection=connection)
    for move, name in ((KEYS.backwards, "campaign"), (KEYS.forwards, "label_round")):
        cited = run.spec_hash
        move(apps, editor)
        for row in (run, job, event):
            row.refresh_from_db()
        assert run.spec["target"][name] == job.payload[name] == event.details[name] == new
        assert len(job.payload) == 2
        assert run.spec_hash == (digest(run.spec) if state == "running" else cited)
