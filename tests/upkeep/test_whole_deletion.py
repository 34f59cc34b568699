"""A study with everything in it is deleted, beside another one: no row and no file remains."""

from collections import Counter
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.management import call_command
from django.urls import reverse

from annotation.exports.models import ExportFile
from argsum.scorers.models import Scorer
from cqa_site.files.models import ImportFile
from cqa_site.people.models import AuditEvent, Study, User
from cqa_site.rounds.models import Round
from cqa_site.runs import jobs
from cqa_site.runs.models import Job, Run
from cqa_site.upkeep.studies import deletion
from cqa_site.upkeep.studies.deletion import archive_study
from cqa_site.web.uploads import path_of
from tests.cast import sign_in
from tests.everything import make_everything, make_much
from tests.lengths import mostly
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


def models_of_studies():
    """Every model from which a foreign key leads to a study, by whatever way, and these keys."""
    found = {Study}
    while True:
        more = {
            model
            for model in apps.get_models(include_auto_created=True)
            for field in model._meta.get_fields()
            if field.concrete and field.is_relation and field.related_model in found
        } - found
        if not more:
            return found - {Study}
        found |= more


def remaining():
    """How many rows each of these models has, without those that have none."""
    return Counter({model.__name__: model._base_manager.count() for model in models_of_studies()})


def make_worlds():
    """A study with labels, files and runs, how many rows those are, and one with everything."""
    other = make_much("Coffee")
    rows = +remaining()
    world = make_everything("Tea")
    return SimpleNamespace(other=other, rows=rows, world=world)


worlds = built_once(make_worlds)


def quiet(study):
    """End everything in a study that was made to be full of work."""
    Round.objects.filter(study=study, state__in=("open", "paused")).update(state="closed")
    Run.objects.filter(study=study, state__in=Run.WORKING).update(state="paused")
    Job.objects.filter(study=study, state__in=Job.ACTIVE).update(state="done", lease_until=None)


def test_exports_are_made_in_an_archived_study(worlds):
    other = worlds.other
    quiet(other.study)
    archive_study(study=other.study, actor=other.people.admin)
    before = ExportFile.objects.count()
    client = sign_in(other.people.researcher)
    data = {"contents": ["final_labels"], "format": "csv"}
    url = reverse("exports", args=[other.study.public_id, other.label_round.public_id])
    reply = client.post(url, data)
    assert reply.status_code == 302
    assert ExportFile.objects.count() > before


def delete(study, admin):
    """Archive it and ask for its deletion."""
    archive_study(study=study, actor=admin)
    return deletion.delete_study(study=study, actor=admin)


@pytest.fixture
def world(worlds, settings, tmp_path):
    """The study with everything, of which nothing is under way."""
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path
    quiet(worlds.world.study)
    return worlds.world


def write(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a")
    return path


# What the site keeps of a deleted study: one line, and the job itself.
OF_THE_SITE = Counter(Job=1, AuditEvent=1)


def test_no_row_and_no_file_of_a_deleted_study_remains_and_another_loses_nothing(world, worlds):
    study, admin, other = world.study, world.people.admin, worlds.other.study
    models = models_of_studies()
    filled = {model for model in models if model._base_manager.exists()}
    # So that a table that is empty anyway proves nothing.
    assert len(filled) > 0.8 * len(models), sorted(m.__name__ for m in models - filled)
    ImportFile.objects.filter(pk=world.imported.pk).update(stored_as="upload")
    trained = Scorer.objects.filter(study=study).first().stored_paths[0]
    paths = [path_of(ImportFile.STORED_IN, "upload"), world.export.path]
    paths = [write(path) for path in (*paths, world.export.manifest_path, trained / "weights")]
    participant, people = world.participant.pk, set(User.objects.filter(email__isnull=False))
    rows = (remaining() - worlds.rows).total() + 1
    theirs = {model: set(deletion.rows_of(model, other)) for model in models}

    job = delete(study, admin)
    jobs.drain()
    job.refresh_from_db()

    assert (job.state, job.error, job.study) == ("done", "", None)
    assert +remaining() == worlds.rows + OF_THE_SITE
    assert {model: set(deletion.rows_of(model, other)) for model in models} == theirs
    assert Study.objects.get() == other
    line = AuditEvent.objects.get(study=None)
    assert (line.actor, line.verb, line.subject) == (admin, "study_deleted", "Tea")
    # The log has a line more since the count: of the archive.
    assert line.details == {"rows": rows + 1, "id": str(study.public_id)}
    assert not any(path.exists() for path in paths)
    assert set(User.objects.filter(email__isnull=False)) == people
    assert not User.objects.filter(pk=participant).exists()
    assert User.objects.filter(pk=worlds.other.participant.pk).exists()
    call_command("check_integrity")
    call_command("check")


class Killed(BaseException):
    """As if the worker had died there."""


@pytest.mark.parametrize("after", mostly([1, 30, 70, 100], 30))
def test_a_worker_that_dies_leaves_its_work_to_the_next(world, worlds, monkeypatch, after):
    study, admin = world.study, world.people.admin
    rows = (remaining() - worlds.rows).total() + 2
    job = delete(study, admin)
    monkeypatch.setattr(deletion, "BATCH", 3)
    steps = 0

    def die(work, *told, step=jobs.JobContext.step):
        nonlocal steps
        steps += 1
        step(work, *told)
        if steps == after:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(jobs.JobContext, "step", die)
        with pytest.raises(Killed):
            jobs.drain()
    assert Study.objects.filter(pk=study.pk).exists()
    Job.objects.filter(pk=job.pk).update(lease_until="2000-01-01T00:00Z")
    jobs.drain()
    job.refresh_from_db()
    assert (job.state, job.losses) == ("done", 1)
    assert +remaining() == worlds.rows + OF_THE_SITE
    assert AuditEvent.objects.get(study=None).details["rows"] == rows
