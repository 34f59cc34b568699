"""Many files in one upload, on the page and through the API: each whole or not at all."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.answers.models import Answer, System
from benchmark.scoring.models import ScoreSheet
from cqa_site.files.actions import import_jobs
from cqa_site.files.models import ImportFile
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.benchmark.score_files import ALL_ONES, judged_record

pytestmark = pytest.mark.django_db
NO_JSON = b"nothing to import"


def judged(*texts: str) -> bytes:
    return json.dumps([judged_record(text, ALL_ONES) for text in texts]).encode()


def three() -> list[SimpleUploadedFile]:
    """Two judged files, and between them one that is none."""
    names = ("alpha_scenario_3.json", "broken.json", "beta.json")
    contents = (judged("One.", "Two."), NO_JSON, judged("Three."))
    return [SimpleUploadedFile(*each) for each in zip(names, contents, strict=True)]


def page_of(name: str, study, batch=None) -> str:
    return reverse(name, args=[study.public_id, *([batch.public_id] if batch else [])])


def upload(client, study, files, **more):
    body = {"kind": "judged", "rater": "gpt4", "file": files} | more
    return client.post(page_of("import_upload", study), body)


def sent(client, study, files=None, **more):
    """A batch after its dry run."""
    assert upload(client, study, files or three(), **more).status_code == 302
    jobs.drain()
    return study.import_batches.latest("pk")


def apply(client, study, batch, *left_out: str, **more):
    files = batch.files.filter(state="checked").exclude(name__in=left_out)
    body = {"files": [str(each.public_id) for each in files]} | more
    response = client.post(page_of("import_batch_apply", study, batch), body)
    jobs.drain()
    return response


def states(batch) -> dict[str, str]:
    return dict(batch.files.values_list("name", "state"))


@pytest.mark.long
def test_several_files_are_looked_at_and_imported_on_the_page(client, study):
    batch = sent(client, study)
    page = page_of("import_batch", study, batch)
    assert [file.state for file in batch.files.order_by("pk")] == ["checked", "refused", "checked"]
    assert not ScoreSheet.objects.exists()
    refusal = batch.files.get(name="broken.json").refusal
    text = client.get(page).text
    for words in ("2 files are ready to import", "3 new answers, 3 new score sheets", refusal):
        assert words in text
    # A file can be left out, and taken later.
    apply(client, study, batch, "beta.json")
    assert states(batch)["beta.json"] == "checked"
    assert set(System.objects.values_list("name", flat=True)) == {"alpha"}
    assert apply(client, study, batch).status_code == 302
    assert sorted(states(batch).values()) == ["applied", "applied", "refused"]
    assert ScoreSheet.objects.count() == Answer.objects.count() == 3
    assert set(ScoreSheet.objects.values_list("rater__name", flat=True)) == {"gpt4"}
    shown = Answer.objects.values_list("system__name", "scenario")
    assert set(shown) == {("alpha", 3), ("beta", 0)}
    assert "2 files imported" in client.get(page).text
    client.post(page_of("import_batch_discard", study, batch))
    assert {file.state for file in study.import_files.all()} == {"applied"}


def test_an_error_in_one_file_keeps_no_other_out_and_a_lost_job_is_gone_on_with(
    client, study, monkeypatch
):
    batch = sent(client, study, three()[::2])
    real = import_jobs.apply_import

    def fails_once(*, import_file, **asked):
        if import_file.name.startswith("alpha"):
            raise ZeroDivisionError
        lost = {"fence": 99, "state": "ready", "lease_until": None}
        Job.objects.filter(pk=import_file.job_id).update(**lost)
        monkeypatch.setattr(import_jobs, "apply_import", real)
        return real(import_file=import_file, **asked)

    monkeypatch.setattr(import_jobs, "apply_import", fails_once)
    files = [str(each.public_id) for each in batch.files.all()]
    client.post(page_of("import_batch_apply", study, batch), {"files": files})
    jobs.run(jobs.claim())
    assert states(batch) == {"alpha_scenario_3.json": "checked", "beta.json": "applying"}
    assert "Unexpected error" in batch.files.get(state="checked").refusal
    assert not Answer.objects.exists(), "who lost the job imports nothing"
    jobs.drain()
    assert states(batch) == {"alpha_scenario_3.json": "checked", "beta.json": "applied"}
    assert Answer.objects.filter(source="beta.json").count() == 1


@pytest.mark.long
def test_the_judge_can_be_named_later_and_work_that_broke_off_is_offered_again(client, study):
    batch = sent(client, study, rater="")
    assert set(states(batch).values()) == {"refused"}
    page = client.get(page_of("import_batch", study, batch)).text
    assert "No file can be imported" in page
    client.post(page_of("import_batch_check", study, batch), {"rater": "llama"})
    jobs.drain()
    assert sorted(states(batch).values()) == ["checked", "checked", "refused"]
    files = [str(each.public_id) for each in batch.files.filter(state="checked")]
    client.post(page_of("import_batch_apply", study, batch), {"files": files})
    Job.objects.filter(kind="import_batch", state="ready").update(state="failed")
    page = client.get(page_of("import_batch", study, batch)).text
    assert "Processing of these files stopped" in page
    client.post(page_of("import_batch_check", study, batch), {"rater": "gpt4"})
    jobs.drain()
    assert sorted(states(batch).values()) == ["checked", "checked", "refused"]


def test_what_cannot_come_together_is_said_at_once(client, api, study, settings):
    """Files of one kind only, each with a name of its own, no larger than one may be."""
    for kind, names, words in (
        ("argkp", ["a.zip", "b.zip"], "one by one"),
        ("judged", ["a.json", "a.json"], "the same name: a.json"),
    ):
        files = [SimpleUploadedFile(name, judged("One.")) for name in names]
        response = upload(client, study, files, kind=kind)
        assert response.status_code == 422
        assert words in response.text
    settings.MAX_UPLOAD_BYTES = 1_000

    def two():
        return [SimpleUploadedFile(f"{n}.json", b" " * 600) for n in range(2)]

    assert upload(client, study, two()).status_code == 413
    body, address = {"kind": "judged", "files": two()}, page_of("api_import_batches", study)
    assert api.post(address, body, format="multipart").status_code == 400
    assert not ImportFile.objects.exists()


@pytest.mark.long
def test_the_page_costs_the_same_for_many_files(client, study, django_assert_max_num_queries):
    files = [SimpleUploadedFile(f"s{n}.json", judged(f"Text {n}.")) for n in range(12)]
    batch = sent(client, study, files)
    with django_assert_max_num_queries(14):
        assert client.get(page_of("import_batch", study, batch)).status_code == 200


@pytest.mark.long
def test_the_same_through_the_api(api, study):
    url = page_of("api_import_batches", study)
    body = {"kind": "judged", "rater": "gpt4", "files": three()}
    made = api.post(url, body, format="multipart")
    assert made.status_code == 202, made.json()
    here = f"{url}{made.json()['id']}/"

    def apply_those(status, **body):
        assert api.post(f"{here}apply/", body, format="json").status_code == status
        jobs.drain()
        return ScoreSheet.objects.count()

    apply_those(409)
    assert api.get(here).json()["states"] == {"checked": 2, "refused": 1}
    listed = api.get(page_of("api_imports", study), {"batch": made.json()["id"]}).json()["results"]
    by_name = {row["name"]: row for row in listed}
    alpha, broken = by_name["alpha_scenario_3.json"], by_name["broken.json"]
    assert (alpha["system"], alpha["scenario"]) == ("alpha", 3)
    assert alpha["counts"]["sheets"]["new"] == 2
    assert broken["refusal"]
    assert apply_those(409, files=[broken["id"]]) == 0
    assert apply_those(202, files=[alpha["id"]]) == 2
    assert apply_those(202) == 3
    assert api.get(here).json()["states"] == {"applied": 2, "refused": 1}
    assert api.delete(here).status_code == 204
    assert api.get(here).status_code == 404
    assert study.import_files.count() == 2
