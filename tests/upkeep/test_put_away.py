"""Studies that are archived, restored and deleted: what stops, what stays, and what is left."""

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from annotation.exports.models import ExportFile
from annotation.labelling.actions import serving
from annotation.labelling.models.rounds import Assignment
from argsum.scorers.models import Scorer
from cqa_site.files.models import ImportFile
from cqa_site.people.models import AuditEvent, Membership, Role, Study, User
from cqa_site.rounds.lifecycle import close_round, open_round
from cqa_site.rounds.models import Round
from cqa_site.runs import jobs
from cqa_site.runs.models import Job, Run
from cqa_site.upkeep.studies import deletion as archiving
from cqa_site.upkeep.studies import deletion as deleting
from cqa_site.web.limits import path_of
from tests.api.conftest import client_of
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.everything import make_everything, make_much
from tests.lengths import mostly
from tests.runs.made_runs import make_endpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study("Tea")


@pytest.fixture
def admin(study):
    return make_member(study, Role.ADMIN)


def at(name, study, **ids):
    return reverse(name, kwargs={"study_id": study.public_id, **ids})


def archive(study, admin):
    archiving.archive_study(study=study, actor=admin)
    study.refresh_from_db()


def quiet(study):
    """End everything in a study that was made to be full of work."""
    Round.objects.filter(study=study, state__in=("open", "paused")).update(state="closed")
    Run.objects.filter(study=study, state__in=Run.WORKING).update(state="paused")
    Job.objects.filter(study=study, state__in=Job.ACTIVE).update(state="done", lease_until=None)


# -- archive --


def test_an_archive_is_refused_with_what_still_runs(study, admin):
    label_round = make_label_round(study)
    open_round(round_=label_round, actor=admin)
    client = sign_in(admin)
    reply = client.post(at("study_archive", study))
    assert reply.status_code == 409
    assert at("label_round", study, label_round_id=label_round.public_id) in reply.content.decode()
    study.refresh_from_db()
    assert not study.is_archived
    close_round(round_=label_round, actor=admin)
    jobs.drain()
    assert client.post(at("study_archive", study)).url == at("study_settings", study)
    study.refresh_from_db()
    assert study.is_archived
    assert client.post(at("study_unarchive", study)).url == at("study", study)
    study.refresh_from_db()
    assert not study.is_archived
    verbs = study.audit_events.order_by("pk").values_list("verb", flat=True)
    assert [verb for verb in verbs if "archived" in verb] == ["study_archived", "study_unarchived"]


def test_an_archived_study_is_read_and_not_changed(study, admin):
    archive(study, admin)
    client = sign_in(admin)
    page = client.get(at("study_settings", study))
    assert page.status_code == 200
    assert "exported but not changed" in page.content.decode()
    refused = client.post(at("guideline_new", study), {"title": "New"})
    assert refused.status_code == 409
    assert "The study is archived" in refused.content.decode()
    assert not study.guidelines.exists()
    script = client.post(at("guideline_new", study), headers={"Accept": "application/json"})
    assert script.json()["error"] == "archived"
    assert client.post(at("study_settings", study), {"name": "Other"}).status_code == 409


def test_a_label_that_waited_in_a_browser_is_kept(study, admin, settings):
    settings.SETTLE_MS = 0
    annotator = make_member(study, Role.ANNOTATOR)
    label_round = make_label_round(study, controls=0, controls_per_block=0)
    open_round(round_=label_round, actor=admin)
    label_round.refresh_from_db()
    membership = Membership.objects.get(study=study, user=annotator)
    place = serving.member_place(label_round=label_round, membership=membership)
    item = serving.next_work(label_round=label_round, place=place).assignments[0]
    close_round(round_=label_round, actor=admin)
    jobs.drain()
    archive(study, admin)
    client = sign_in(annotator)
    sent = {"item": item.public_id, "label": 2, "client_key": "k", "active_ms": 5}
    reply = client.post(
        at("label_answer", study, label_round_id=label_round.public_id),
        sent,
        headers={"Accept": "application/json"},
    )
    assert reply.status_code == 200, reply.content
    stored = Assignment.objects.get(pk=item.pk)
    assert (stored.label, stored.is_extra) == (2, True)
    page = client.get(at("label", study, label_round_id=label_round.public_id))
    assert "exported but not changed" in page.content.decode()
    assert not client.get(at("study", study)).context["waiting"]


def test_exports_are_made_in_an_archived_study():
    world = make_much("Tea")
    quiet(world.study)
    archive(world.study, world.people.admin)
    before = ExportFile.objects.count()
    client = sign_in(world.people.researcher)
    data = {"contents": ["final_labels"], "format": "csv"}
    url = at("exports", world.study, label_round_id=world.label_round.public_id)
    reply = client.post(url, data)
    assert reply.status_code == 302
    assert ExportFile.objects.count() > before


# -- deletion --


@pytest.fixture
def world(settings, tmp_path):
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path
    return make_everything("Tea")


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
    return {
        model.__name__: count
        for model in models_of_studies()
        if (count := model._base_manager.count())
    }


def delete(world_study, admin):
    archive(world_study, admin)
    job = archiving.delete_study(study=world_study, actor=admin)
    jobs.drain()
    job.refresh_from_db()
    return job


def test_no_row_and_no_file_of_a_deleted_study_remains(world):
    study, admin = world.study, world.people.admin
    quiet(study)
    models = models_of_studies()
    filled = {model for model in models if model._base_manager.exists()}
    # So that a table that is empty anyway proves nothing.
    assert len(filled) > 0.8 * len(models), sorted(m.__name__ for m in models - filled)
    upload = path_of(ImportFile.STORED_IN, "upload")
    upload.parent.mkdir(parents=True, exist_ok=True)
    upload.write_text("a")
    ImportFile.objects.filter(pk=world.imported.pk).update(stored_as="upload")
    trained = Scorer.objects.filter(study=study).first().stored_paths[0]
    trained.mkdir(parents=True)
    exported = [world.export.path, world.export.manifest_path]
    assert all(path.is_file() for path in exported)
    participant, people = world.participant.pk, set(User.objects.filter(email__isnull=False))
    rows = sum(remaining().values()) + 1

    job = delete(study, admin)

    assert (job.state, job.error, job.study) == ("done", "", None)
    left = remaining()
    # What the site keeps: one line, and the job itself, neither of a study.
    assert left == {"Job": 1, "AuditEvent": 1}
    assert not Study.objects.exists()
    line = AuditEvent.objects.get()
    assert (line.study, line.actor, line.verb, line.subject) == (
        None, admin, "study_deleted", "Tea",
    )  # fmt: skip
    # The log has a line more since the count: of the archive.
    assert line.details == {"rows": rows + 1, "id": str(study.public_id)}
    assert not any(path.exists() for path in [upload, trained, *exported])
    assert set(User.objects.filter(email__isnull=False)) == people
    assert not User.objects.filter(pk=participant).exists()
    call_command("check_integrity")
    call_command("check")


def test_another_study_loses_nothing(world):
    other = make_much("Coffee")
    before = {
        model: set(archiving.rows_of(model, other.study).values_list("pk", flat=True))
        for model in models_of_studies()
    }
    quiet(world.study)
    assert delete(world.study, world.people.admin).state == "done"
    for model, keys in before.items():
        kept = set(archiving.rows_of(model, other.study).values_list("pk", flat=True))
        assert kept == keys, model
    assert User.objects.filter(pk=other.participant.pk).exists()


class Killed(BaseException):
    """As if the worker had died there."""


@pytest.mark.parametrize("after", mostly([1, 30, 70, 100], 30))
def test_a_worker_that_dies_leaves_its_work_to_the_next(world, monkeypatch, after):
    study, admin = world.study, world.people.admin
    quiet(study)
    archive(study, admin)
    rows = sum(remaining().values()) + 1
    job = archiving.delete_study(study=study, actor=admin)
    monkeypatch.setattr(deleting, "BATCH", 3)
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
    assert remaining() == {"Job": 1, "AuditEvent": 1}
    assert AuditEvent.objects.get().details["rows"] == rows


def test_what_other_studies_refer_to_goes_as_well(study, admin, monkeypatch):
    """An endpoint that was offered, and batches whose rows refer to each other."""
    other = make_study("Coffee")
    boss = make_member(other, Role.ADMIN)
    mine = make_endpoint(study, admin, "Cluster", is_offered=True)
    make_endpoint(study, admin, "Second", original=mine)
    theirs = make_endpoint(other, boss, "Cluster", kind="shared", original=mine)
    monkeypatch.setattr(deleting, "BATCH", 1)
    archive(study, admin)
    archiving.delete_study(study=study, actor=admin)
    jobs.drain()
    assert not Study.objects.filter(pk=study.pk).exists()
    theirs.refresh_from_db()
    assert theirs.original is None
    assert theirs.is_withdrawn
    # References are looked at when a transaction ends.
    connection.check_constraints()


def test_a_deletion_that_failed_is_asked_for_again(study, admin):
    archive(study, admin)
    job = archiving.delete_study(study=study, actor=admin)
    Job.objects.filter(pk=job.pk).update(state="failed")
    assert archiving.delete_again() == 1
    jobs.drain()
    assert not Study.objects.exists()
    assert AuditEvent.objects.get().actor == admin
    assert archiving.delete_again() == 0


def test_nobody_opens_a_study_that_is_being_deleted(study, admin):
    archive(study, admin)
    client = sign_in(admin)
    page = client.get(at("study_delete", study))
    assert page.status_code == 200
    assert client.post(at("study_delete", study), {"name": "Te"}).status_code == 422
    assert not Job.objects.exists()
    reply = client.post(at("study_delete", study), {"name": "Tea"})
    assert client.get(at("study", study)).status_code == 404
    shown = client.get(reply.url)
    assert shown.status_code == 200
    assert f'hx-get="{reply.url}"' in shown.content.decode()
    stranger = make_member(make_study("Other"), Role.ADMIN)
    assert sign_in(stranger).get(reply.url).status_code == 404


def test_only_an_archived_study_without_work_is_deleted(study, admin):
    with pytest.raises(archiving.NotArchived):
        archiving.delete_study(study=study, actor=admin)
    client = sign_in(admin)
    assert client.post(at("study_delete", study), {"name": "Tea"}).url == at(
        "study_settings", study
    )
    archive(study, admin)
    jobs.enqueue(study=study, kind="export", key="x")
    assert client.post(at("study_delete", study), {"name": "Tea"}).status_code == 409
    assert Study.objects.get().deleted_at is None


def test_what_a_late_request_wrote_goes_in_another_pass(study, admin, monkeypatch):
    """A row that comes while the study goes is found in the next pass, not left or lost."""
    archive(study, admin)
    contents = archiving.Deletion.delete_contents
    late = []

    def then_one_more(deletion):
        contents(deletion)
        if not late:
            late.append(study.guidelines.create(number=1, title="t", body="b", levels=[]))

    def at_once(deletion, delete_study=archiving.Deletion.delete_study):
        with transaction.atomic():
            delete_study(deletion)
            if Study.objects.filter(pk=study.pk).exists() or study.guidelines.exists():
                # Where constraints are looked at: at the end of the outermost transaction.
                raise IntegrityError

    monkeypatch.setattr(archiving.Deletion, "delete_contents", then_one_more)
    monkeypatch.setattr(archiving.Deletion, "delete_study", at_once)
    job = archiving.delete_study(study=study, actor=admin)
    jobs.drain()
    job.refresh_from_db()
    assert (job.state, late and True) == ("done", True)
    assert remaining() == {"Job": 1, "AuditEvent": 1}


def test_commands_refuse_an_archived_study(study, admin, tmp_path):
    archive(study, admin)
    file = tmp_path / "questions.csv"
    file.write_text("object1,object2\ntea,coffee\n")
    with pytest.raises(CommandError, match="is archived"):
        call_command("import_questions", file, study="Tea")


# -- API --


def test_programs_archive_and_delete(study, admin):
    client = client_of(admin)
    here = f"/api/v1/studies/{study.public_id}/"
    assert client.delete(here, {"name": "Tea"}, format="json").status_code == 409
    told = client.post(f"{here}archive/").json()
    assert told["is_archived"]
    assert client.get(here).status_code == 200
    refused = client.patch(here, {"description": "x"}, format="json")
    assert refused.status_code == 409
    assert "archived" in refused.json()["detail"]
    assert client.post(f"{here}guidelines/", {}, format="json").status_code == 409
    listed = {
        flag: client.get(f"/api/v1/studies/?is_archived={flag}").json()["count"]
        for flag in ("true", "false")
    }
    assert listed == {"true": 1, "false": 0}
    assert client.delete(here, {"name": "tea"}, format="json").status_code == 400
    assert client.delete(here, {}, format="json").status_code == 400
    researcher = client_of(make_member(study, Role.RESEARCHER))
    assert researcher.delete(here, {"name": "Tea"}, format="json").status_code == 403
    reply = client.delete(here, {"name": "Tea"}, format="json")
    assert reply.status_code == 202
    assert client.get(here).status_code == 404
    jobs.drain()
    assert not Study.objects.exists()
