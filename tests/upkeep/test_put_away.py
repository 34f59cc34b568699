"""Studies that are archived, restored and deleted: what stops, what stays, and what is left."""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from annotation.labelling.actions import serving
from annotation.labelling.models import Assignment
from cqa_site.people.models import AuditEvent, Membership, Role, Study
from cqa_site.rounds.lifecycle import close_round, open_round
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from cqa_site.upkeep.studies import deletion as archiving
from tests.api.conftest import client_of
from tests.cast import make_label_round, make_member, make_study, sign_in
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
    client, here = sign_in(annotator), {"label_round_id": label_round.public_id}
    sent = {"item": item.public_id, "label": 2, "client_key": "k", "active_ms": 5}
    asks_json = {"Accept": "application/json"}
    reply = client.post(at("label_answer", study, **here), sent, headers=asks_json)
    assert reply.status_code == 200, reply.content
    stored = Assignment.objects.get(pk=item.pk)
    assert (stored.label, stored.is_extra) == (2, True)
    page = client.get(at("label", study, **here))
    assert "exported but not changed" in page.content.decode()
    assert not client.get(at("study", study)).context["waiting"]


def test_what_other_studies_refer_to_goes_as_well(study, admin, monkeypatch):
    """An endpoint that was offered, and batches whose rows refer to each other."""
    other = make_study("Coffee")
    boss = make_member(other, Role.ADMIN)
    mine = make_endpoint(study, admin, "Cluster", is_offered=True)
    make_endpoint(study, admin, "Second", original=mine)
    theirs = make_endpoint(other, boss, "Cluster", kind="shared", original=mine)
    monkeypatch.setattr(archiving, "BATCH", 1)
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
    assert not study.guidelines.exists()


def test_commands_refuse_an_archived_study(study, admin, tmp_path):
    archive(study, admin)
    file = tmp_path / "questions.csv"
    file.write_text("object1,object2\ntea,coffee\n")
    with pytest.raises(CommandError, match="is archived"):
        call_command("import_questions", file, study="Tea")


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
