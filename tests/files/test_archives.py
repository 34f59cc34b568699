"""An archive of files: what is in it is said, and taken out group by group."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.answers.models import Answer
from cqa_site.files.formats import FORMATS
from cqa_site.files.models import ImportFile
from cqa_site.files.registration import files_waiting
from cqa_site.tabular import Limits, UnreadableFile
from cqa_site.tabular.binary_formats import place_in, unpacked

pytestmark = pytest.mark.django_db


def sample(kind):
    return FORMATS[kind].sample.make()


def archive(members, name="release.zip"):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, content in members.items():
            packed.writestr(member, content)
    return SimpleUploadedFile(name, target.getvalue())


def release():
    """As the second paper's: answers, what two judges say about them, and people's points."""
    judged = [f"judged_{judge}/{name}" for judge in ("two", "one") for name in ("cam", "yahoo")]
    return archive(
        {
            "compqa/human/people.tsv": sample("human_scores"),
            **{f"compqa/{name}.json": sample("judged") for name in judged},
            "compqa/raw_summaries/sample_model_scenario_4.json": sample("answers"),
            "compqa/README.md": "Points of many people and machines.",
            "__MACOSX/compqa/._people.tsv": b"\x00",
        }
    )


def send(client, study, upload):
    client.post(reverse("import_upload", args=[study.public_id]), {"file": upload})
    return study.import_files.get()


def page_of(file):
    return reverse("import_file", args=[file.study.public_id, file.public_id])


def take(client, file, number):
    ids = [file.study.public_id, file.public_id, number]
    return client.post(reverse("import_group", args=ids))


def test_an_archive_says_what_is_in_it_in_the_order_of_what_needs_what(client, study):
    file = send(client, study, release())
    page = client.get(page_of(file))
    inside = page.context["inside"]
    assert [(each["kind"], each["folder"], each["names"]) for each in inside["groups"]] == [
        ("answers", "compqa/raw_summaries", ["sample_model_scenario_4.json"]),
        ("judged", "compqa/judged_one", ["cam.json", "yahoo.json"]),
        ("judged", "compqa/judged_two", ["cam.json", "yahoo.json"]),
        ("human_scores", "compqa/human", ["people.tsv"]),
    ]
    assert inside["unknown"] == ["compqa/README.md"]
    assert "6 files were recognized. They are imported only after a dry run." in page.text
    assert (ImportFile.objects.count(), Answer.objects.count()) == (1, 0)


def test_a_group_is_taken_out_once_and_looked_at(client, study, inline):
    file = send(client, study, release())
    with inline():
        assert take(client, file, 0).status_code == 302
    with inline():
        judged = take(client, file, 2)
    one = study.import_files.get(kind="answers", batch=None, name__endswith="_4.json")
    assert (one.state, one.counts["answers"]["new"]) == ("checked", 2)
    batch = study.import_batches.get()
    assert judged["Location"] == reverse("import_batch", args=[study.public_id, batch.public_id])
    assert [each.name for each in batch.files.order_by("pk")] == ["cam.json", "yahoo.json"]
    # The folder says who judged, and the way leads back.
    said = {(each.options["rater"], each.state) for each in batch.files.all()}
    assert said == {("two", "checked")}
    for page in (judged["Location"], page_of(one)):
        assert f'<a href="{page_of(file)}">release.zip</a>' in client.get(page).text
    # Two files that came together are one thing to look at.
    assert files_waiting(study) == 2
    assert take(client, file, 2)["Location"] == judged["Location"]
    groups = client.get(page_of(file)).context["inside"]["groups"]
    assert [bool(each["page"]) for each in groups] == [True, False, True, False]
    # Nothing was imported by it, and what was thrown away can be taken out again.
    assert not Answer.objects.exists()
    one.delete()
    take(client, file, 0)
    assert study.import_files.filter(name=one.name).count() == 1
    assert take(client, file, 4)["Location"] == page_of(file)
    assert study.import_files.count() == 4


def test_an_archive_that_unpacks_to_too_much_says_so_and_names_lead_nowhere(
    client, study, monkeypatch, tmp_path
):
    assert place_in("/etc/../..\\passwd\n.json") == "etc/passwd?.json"
    path = tmp_path / "a.zip"
    path.write_bytes(archive({"../x.json": b"[]", "x.json": b"{}"}).read())
    reading = unpacked(path, name="a.zip", is_wanted=lambda name: True, called=place_in)
    with pytest.raises(UnreadableFile, match=r"contains x\.json twice"), reading:
        pass
    small = unpacked.__wrapped__.__kwdefaults__ | {"limits": Limits(text_bytes=50_000)}
    monkeypatch.setattr(unpacked.__wrapped__, "__kwdefaults__", small)
    file = send(client, study, archive({"a.json": b" " * 100_000}))
    page = client.get(page_of(file)).text
    assert "release.zip" in page
    assert "unpacks to more than" in page


@pytest.mark.long
def test_a_page_asks_no_more_however_many_groups_there_are(
    client, study, django_assert_max_num_queries
):
    members = {f"{number}/cam.json": sample("judged") for number in range(8)}
    file = send(client, study, archive(members))
    for number in range(8):
        take(client, file, number)
    with django_assert_max_num_queries(12):
        page = client.get(page_of(file))
    assert all(each["page"] for each in page.context["inside"]["groups"])
