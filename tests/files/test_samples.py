"""The invented files that the site offers: each is recognized, and each can be imported."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from cqa_site.files.format_parts import csv_of
from cqa_site.files.formats import FORMATS
from cqa_site.files.models import ImportFile

pytestmark = pytest.mark.django_db


def url(name, study, *ids):
    return reverse(name, args=[study.public_id, *ids])


def test_a_sample_comes_in_by_its_button_or_by_hand(client, study, inline):
    with inline():
        client.post(url("import_sample_take", study, "table"))
    file = study.import_files.get()
    assert (file.state, file.refusal, file.rows["rejected"]) == ("checked", "", 0)
    with inline():
        client.post(url("import_apply", study, file.public_id))
    file.refresh_from_db()
    assert (file.state, file.refusal) == ("applied", "")
    client.post(url("import_kind", study, file.public_id), {"kind": "questions"})
    file.refresh_from_db()
    assert (file.kind, file.state) == ("table", "applied"), "what is imported keeps its kind"
    page = client.get(url("import_file", study, file.public_id)).text
    assert "a sample file of this site" in page
    reply = client.get(url("import_sample", study, "table"))
    name = FORMATS["table"].sample.name
    assert reply["Content-Disposition"] == f'attachment; filename="{name}"'
    assert client.get(url("import_sample", study, "nothing")).status_code == 404
    page = client.get(url("imports", study)).text
    assert "All data in these files are invented" in page
    assert all(url("import_sample", study, kind) in page for kind in FORMATS)


def sent(client, study, name, content, inline, kind=""):
    with inline():
        reply = client.post(
            url("import_upload", study), {"file": SimpleUploadedFile(name, content), "kind": kind}
        )
    return reply, study.import_files.first()


def table(*heading, row=("tea", "coffee", "Tea wins.")):
    return csv_of(heading, [row])


def test_a_clear_table_asks_nothing_says_how_it_was_read_and_can_be_corrected(
    client, study, inline
):
    content = table("Object A", "Object B", "Text")
    reply, file = sent(client, study, "y.csv", content, inline)
    assert reply["Location"] == url("import_file", study, file.public_id)
    assert (file.kind, file.state) == ("table", "checked")
    page = client.get(reply["Location"]).text
    assert "its columns Object A and Object B are the two objects" in page
    assert "Change the kind" in page
    reply = client.post(url("import_kind", study, file.public_id), {"kind": "score_sheets"})
    assert reply["Location"] == url("import_scores", study, file.public_id)
    file.refresh_from_db()
    assert (file.kind, file.state, file.counts) == ("score_sheets", "uploaded", {})
    # What was said is not doubted; a row that cannot be read hides no kind.
    _reply, file = sent(client, study, "z.csv", content, inline, kind="questions")
    assert (file.kind, "fits" in file.options) == ("questions", False)
    content = b"object1,object2,text\ntea,coffee,Tea wins.\ntea,coffee\n"
    reply, file = sent(client, study, "x.csv", content, inline)
    assert file.kind == "table"
    assert "this row has 2 cells but the header has 3" in client.get(reply["Location"]).text


def test_where_two_kinds_fit_a_person_is_asked(client, study, inline):
    # A column that begins with "sentence" may be that of a list of questions, too.
    _reply, file = sent(client, study, "s.csv", table("Object A", "Object B", "Sentence"), inline)
    assert set(file.options["fits"]) == {"table", "questions"}
    reply, file = sent(client, study, "x.csv", table("object1", "object2", "argument"), inline)
    assert file.state == "uploaded"
    assert "fits more than one kind" in client.get(reply["Location"]).text
    with inline():
        client.post(url("import_kind", study, file.public_id), {"kind": "questions"})
    file.refresh_from_db()
    assert (file.kind, file.state) == ("questions", "checked")
    assert "fits" not in file.options


def test_many_files_of_one_kind_are_recognised_together_and_others_uploaded_apart(
    client, study, inline
):
    made = {kind: FORMATS[kind].sample for kind in ("answers", "judged")}
    files = [SimpleUploadedFile(each.name, each.make()) for each in made.values()]
    mixed = client.post(url("import_upload", study), {"file": files, "kind": ""})
    assert mixed.status_code == 422
    assert "of several kinds" in mixed.text
    assert not ImportFile.objects.exists()
    content = made["answers"].make()
    files = [SimpleUploadedFile(f"m{number}_scenario_1.json", content) for number in (1, 2)]
    with inline():
        client.post(url("import_upload", study), {"file": files, "kind": ""})
    assert list(ImportFile.objects.values_list("kind", flat=True)) == ["answers"] * 2


def test_an_archive_of_other_files_is_not_taken_for_key_points(client, study, inline):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("photographs/1.txt", "A picture.")
    reply, file = sent(client, study, "compqa.zip", target.getvalue(), inline)
    assert file.options["fits"] == {}
    _reply, table = sent(client, study, "x.csv", b"colour,size\nred,3\n", inline)
    assert table.state == "uploaded"
    asked = client.get(url("import_file", study, table.public_id), follow=True).text
    assert "matches no known kind" in asked
    page = client.get(reply["Location"]).text
    assert "The archive contains no file of a known kind." in page
