"""Files as people and their programs write them: the same by page, interface and command line."""

import io
import json
import re
from html import unescape

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpus.models import Argument, Question
from annotation.labelling.models import Assignment
from argsum.datasets.models import CellArgument, Comment
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Rater

pytestmark = pytest.mark.django_db
TEXTS = ("The lift is slow.", "Lifts are too small.", "Stairs are steep.", "Ramps, please.")
PAIRED = "object1,object2,text"


def paired(*more, heads=()):
    """Arguments about lifts and stairs, with further cells."""
    rows = [
        ",".join(["lift", "stairs", json.dumps(text), *cells])
        for text, cells in zip(TEXTS, more, strict=True)
    ]
    return "\n".join([",".join([PAIRED, *heads]), *rows, ""]).encode()


def sheets(**rows):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, own in rows.items():
        page = book.create_sheet(title)
        for row in own:
            page.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


class Ways:
    """A file through page, interface or command line, up to its dry run and its import."""

    def __init__(self, study, client, api, inline, folder):
        self.study, self.client, self.api = study, client, api
        self.inline, self.folder = inline, folder

    def page(self, name, content, kind="", said=None, **asked):
        upload = SimpleUploadedFile(name, content)
        address = reverse("import_upload", args=[self.study.public_id])
        with self.inline():
            reply = self.client.post(address, {"kind": kind, "file": upload}, follow=True)
        file = self.study.import_files.latest("pk")
        if said:
            place = reverse("import_reading", args=[self.study.public_id, file.public_id])
            with self.inline():
                reply = self.client.post(place, said, follow=True)
        if (asking := reply.context.get("asking")) is not None:
            form = reply.context["form"]
            fields = {each.html_name: each.value() for each in form} | asked
            given = {key: value for key, value in fields.items() if value not in (None, False)}
            assert asking
            with self.inline():
                self.client.post(reply.request["PATH_INFO"], given)
        file.refresh_from_db()
        self.shown = reply
        return file

    def interface(self, name, content, kind, **said):
        body = {"file": SimpleUploadedFile(name, content), "kind": kind} | said
        address = f"/api/v1/studies/{self.study.public_id}/imports/"
        with self.inline():
            assert self.api.post(address, body, format="multipart").status_code == 202
        return self.study.import_files.latest("pk")

    def command(self, command, name, content, *more):
        path = self.folder / name
        path.write_bytes(content)
        out = io.StringIO()
        call_command(command, str(path), "--study", self.study.name, *more, stdout=out)
        return out.getvalue()

    def apply(self, file, **boxes):
        address = reverse("import_apply", args=[self.study.public_id, file.public_id])
        with self.inline():
            self.client.post(address, boxes)
        file.refresh_from_db()
        return file


@pytest.fixture
def ways(study, client, api, inline, tmp_path):
    return Ways(study, client, api, inline, tmp_path)


def new(file):
    return {name: row["new"] for name, row in file.counts.items() if row["new"]}


def notes(file):
    return " ".join(file.notes)


WESTERN = "id;comment\n1;Zu eng – „viel“ zu eng\n2;Treppen sind steil.\n".encode("cp1252")


def test_another_encoding_is_shown_and_taken_by_one_click(ways):
    file = ways.page("lifts.csv", WESTERN)
    page = unescape(ways.shown.text)
    assert "row 2: byte 0x96 at offset 20 is not UTF-8 text" in page
    assert "Read as cp1252" in page
    assert file.state == "uploaded"
    file = ways.page("lifts.csv", WESTERN, said={"encoding": "cp1252"}, topic="Lifts")
    assert (file.kind, new(file)["comments"]) == ("comments", 2)


@pytest.mark.long
def test_another_encoding_by_program(ways):
    file = ways.interface("lifts.csv", WESTERN, "comments", topic="Lifts")
    assert (file.state, file.options["proposed"]) == ("refused", {"encoding": "cp1252"})
    assert "as cp1252 it reads" in file.refusal
    file = ways.interface("lifts.csv", WESTERN, "comments", topic="Lifts", encoding="cp1252")
    assert new(file)["comments"] == 2
    with pytest.raises(CommandError, match="as cp1252 it reads"):
        ways.command("import_comments", "lifts.csv", WESTERN, "--topic", "Lifts")
    more = ("--topic", "Lifts", "--encoding", "cp1252")
    ways.command("import_comments", "lifts.csv", WESTERN, *more)
    assert Comment.objects.count() == 2


def test_why_nothing_can_be_seen_is_told(ways):
    for name, content, words in (
        ("a.parquet", b"PAR1" + b"\x00" * 40, "is a Parquet file, not a table"),
        ("a.csv", b"a,b\n1,\x002\n", "NUL byte near offset"),
        ("a.ods", b"mimetype", "is named .ods but holds plain text"),
    ):
        ways.page(name, content)
        assert words in unescape(ways.shown.text)
        assert "no known kind" not in ways.shown.text


COVER = sheets(
    About=[["How to read this"], ["One row per person."], ["Do not pass on."]],
    Answers=[["id", "comment"], *[[at, text] for at, text in enumerate(TEXTS)]],
)


@pytest.mark.long
def test_the_sheet_that_fits_is_proposed_and_can_be_chosen(ways):
    file = ways.page("lifts.xlsx", COVER, topic="Lifts")
    assert (file.options["sheet"], new(file)["comments"]) == ("Answers", 4)
    assert "Read from the sheet “Answers”. Not read: About." in notes(file)
    assert b'<option value="About">' in ways.shown.content
    assert new(ways.interface("l.xlsx", COVER, "comments", topic="L"))["comments"] == 4
    said = ways.command("import_comments", "l.xlsx", COVER, "--topic", "L", "--dry-run")
    assert "Read from the sheet “Answers”" in said
    chosen = ways.interface("l.xlsx", COVER, "comments", topic="L", sheet="About")
    assert new(chosen)["comments"] == 2


SURVEY = "\n".join(
    [
        "ResponseId,RecordedDate,Q1,Q2_TEXT",
        "Response ID,Recorded Date,How often do you ride?,What should change? - Your words",
        ",".join(f'"{{""ImportId"":""{name}""}}"' for name in "abcd"),
        *[f'R_{at},2026-03-0{at} 09:00:00,{at},"{text}"' for at, text in enumerate(TEXTS, 1)],
        "",
    ]
)


def test_a_survey_export_is_recognised_with_its_questions(ways):
    file = ways.page("survey.csv", SURVEY.encode())
    form = ways.shown.context["form"]
    assert form["topic"].value() == "What should change?"
    chosen = {field: form[f"map_{field}"].value() for field in ("comment", "id", "date")}
    assert chosen == {"comment": "Q2_TEXT", "id": "ResponseId", "date": "RecordedDate"}
    assert "Q2_TEXT · What should change? - Your words" in ways.shown.text
    assert new(file)["comments"] == 4
    ways.apply(file)
    first = Comment.objects.order_by("position").first()
    assert first.attributes == {"How often do you ride?": "1"}
    assert str(first.written_on) == "2026-03-01"
    assert new(ways.interface("s.csv", SURVEY.encode(), "comments", topic="X"))["comments"] == 4
    said = ways.command("import_comments", "s.csv", SURVEY.encode(), "--topic", "X", "--dry-run")
    assert "2 rows of questions or descriptions" in said


def test_the_header_row_can_be_said(ways):
    content = b"a;comment;b\nno;comment;score\n1;Slow lifts.;3\n2;Steep stairs.;4\n"
    file = ways.interface("l.csv", content, "comments", topic="L", header_row="1")
    assert new(file)["comments"] == 3
    address = reverse("import_comments", args=[ways.study.public_id, file.public_id])
    page = ways.client.get(address, {"header_row": "2"})
    assert "header in row 2" in page.text
    assert "score" in page.context["form"].columns
    assert ways.client.get(address, {"header_row": "77"}).status_code == 422
    said = ways.command(
        "import_comments", "l.csv", content, "--topic", "L", "--header-row", "2", "--dry-run"
    )
    assert re.search(r"comments\s+2 ", said)


@pytest.mark.long
def test_a_footer_is_rejected_and_the_rest_imported_on_every_way(ways):
    content = b"id,comment,n\n1,Slow.,1\n2,Steep.,2\n3,Dark.,3\nIn all: 3 answers\n"
    file = ways.page("l.csv", content, topic="Lifts")
    assert (file.rows["rejected"], new(file)["comments"]) == (1, 3)
    (problem,) = file.problems.filter(is_rejection=True)
    assert (problem.row, "1 cell but the header has 3" in problem.reason) == (5, True)
    assert ways.apply(file).state == "checked"
    assert ways.apply(file, leave_out_rejected="on").state == "applied"
    assert Comment.objects.count() == 3
    again = ways.interface("l.csv", content, "comments", topic="Lifts", dataset="l")
    assert new(again) == {}
    with pytest.raises(CommandError, match="1 row is rejected"):
        ways.command("import_comments", "l.csv", content, "--topic", "Lifts")


def test_rich_text_becomes_statements_without_tags(ways):
    content = (
        b"id,comment\n"
        b"1,<p>The lift is&nbsp;slow.</p><ul><li>Too small</li><li>Too dark</li></ul>\n"
        b"2,Tom &amp; Ann say it&#39;s &lt;loud&gt;\n3,It has 2 < 3 seats\n"
    )
    ways.command("import_comments", "l.csv", content, "--topic", "Lifts")
    lines = {"The lift is slow.", "Too small", "Too dark", "It has 2 < 3 seats"}
    texts = set(CellArgument.objects.values_list("text", flat=True))
    assert texts == lines | {"Tom & Ann say it's <loud>"}


@pytest.mark.long
def test_one_rater_however_the_name_is_written(ways):
    names = [("Ann ",), ("ann",), ("Ann\xa0",), ("w1A",)]
    content = paired(
        *[(*name, str(at % 4)) for at, name in enumerate(names)], heads=("rater", "label")
    )
    file = ways.page("votes.csv", content)
    assert (new(file)["raters"], new(file)["votes"]) == (2, 4)
    assert "“ann” and “Ann” are treated as one rater, “Ann”." in notes(file)
    assert "spaces at the ends of 2 cells of “rater”" in notes(file)
    ways.apply(file)
    again = ways.interface(
        "more.csv", paired(*[("ANN", "1")] * 4, heads=("rater", "label")), "table"
    )
    assert new(again).get("raters", 0) == 0


@pytest.mark.long
def test_labels_and_qualities_are_the_same_in_every_spelling(ways):
    labels = [("Ann", "2.0"), ("Ann", '"1,0"'), ("Ann", "NA"), ("Ann", "3 - perfect")]
    file = ways.page("votes.csv", paired(*labels, heads=("rater", "label")))
    assert (new(file)["votes"], file.rows["rejected"]) == (3, 0)
    ways.apply(file)
    assert sorted(Assignment.objects.values_list("label", flat=True)) == [1, 2, 3]
    content = b"topic;argument;stance;WA\nLifts;They carry many.;1;0,25\nLifts;Slow.;1;1,0\n"
    ways.command("import_arguments", "l.csv", content)
    assert sorted(CellArgument.objects.values_list("quality", flat=True)) == [0.25, 1.0]


@pytest.mark.long
def test_a_column_for_each_rater_is_offered_and_imported_on_every_way(ways):
    wide = paired(("0", "1"), ("1", "2"), ("2", "2"), ("2", ""), heads=("Ann", "Ben"))
    file = ways.page("wide.csv", wide)
    assert ways.shown.context["form"]["label_columns"].value() == ["Ann", "Ben"]
    assert (new(file)["raters"], new(file)["votes"]) == (2, 7)
    assert new(ways.interface("wide.csv", wide, "table"))["votes"] == 7
    maps = ("--map", "object1=object1", "--map", "object2=object2", "--map", "text=text")
    ways.command("import_table", "wide.csv", wide, *maps, "--map", "label:Eve=Ann")
    assert set(Rater.objects.values_list("external_id", flat=True)) == {"Eve"}
    assert Argument.objects.filter(attributes={"Ben": "1"}).exists()


def test_labels_without_a_rater_are_told_of(ways):
    rows = [
        json.dumps({"object1": "lift", "object2": "stairs", "text": text, "label": [str(at)]})
        for at, text in enumerate(TEXTS)
    ]
    content = "\n".join(rows).encode()
    file = ways.page("labels.jsonl", content)
    assert "name the rater" in ways.shown.text
    assert new(file) == {"comparisons": 1, "arguments": 4}
    assert "stored with the arguments: label" in notes(file)
    assert "“label” may contain labels: name the rater" in notes(file)
    assert new(ways.interface("labels.jsonl", content, "table", rater="Ann"))["votes"] == 4


@pytest.mark.long
def test_crowd_results_are_recognised_and_rejected_work_does_not_count(ways):
    heads = "HITId,WorkerId,AssignmentStatus,SubmitTime,Input.object1,Input.object2,Input.sentence"
    rows = [
        f'H{at},W{at % 2}x,{status},Mon Mar 02 09:00:2{at} PST 2026,lift,stairs,"{text}",{at}'
        for at, (text, status) in enumerate(
            zip(TEXTS, ("Approved", "Rejected", "Submitted", "Approved"), strict=True)
        )
    ]
    content = "\n".join([f"{heads},Answer.relevance.label", *rows]).encode()
    file = ways.apply(ways.page("batch.csv", content))
    assert (file.kind, file.state) == ("table", "applied")
    votes = Assignment.objects.order_by("item__external_id")
    states = [(0, "answered"), (None, "void"), (2, "answered"), (3, "answered")]
    assert [(vote.label, vote.state) for vote in votes] == states
    assert votes[1].comment == "Status Rejected in the source, label 1."
    assert votes[0].answered_at.isoformat() == "2026-03-02T17:00:20+00:00"


def test_an_optional_column_that_does_not_fit_costs_no_row_and_stays_beside_the_argument(ways):
    content = paired(*[("our shop", "12")] * 4, heads=("source", "votes up")).replace(
        b"object1,object2", b"option_a,option_b"
    )
    file = ways.apply(ways.page("own.csv", content))
    assert (file.state, file.rows["rejected"]) == ("applied", 0)
    argument = Argument.objects.order_by("pk").first()
    assert (str(argument.comparison), argument.source_url) == ("lift vs stairs", "")
    assert argument.attributes == {"source": "our shop", "votes up": "12"}
    address = reverse("argument", args=[ways.study.public_id, argument.public_id])
    assert "our shop" in ways.client.get(address).text
    told = ways.api.get(f"/api/v1/studies/{ways.study.public_id}/arguments/").json()["results"]
    assert told[0]["attributes"] == {"source": "our shop", "votes up": "12"}
    # Somebody chose it: the cells are left out, each with a remark.
    mapping = {
        "object1": "option_a",
        "object2": "option_b",
        "text": "text",
        "source_url": "source",
    }
    file = ways.interface("own.csv", content, "table", mapping=json.dumps(mapping))
    assert (file.rows["rejected"], file.problems.count()) == (0, 4)


def test_pasted_questions_are_parsed_as_this_site_writes_them(ways):
    lines = [
        "Which is better for long trips, train or plane?",
        "Which is better for cats, dogs or mice: A or B?",
        "Is a lift or a ramp better?",
        "tea vs coffee",
        "Only one thing",
    ]
    address = reverse("question_list", args=[ways.study.public_id])
    with ways.inline():
        ways.client.post(address, {"pasted": "\n".join(lines)})
    file = ImportFile.objects.get()
    (problem,) = file.problems.all()
    assert (problem.row, "Only one thing" in problem.reason) == (5, True)
    ways.apply(file, leave_out_rejected="on")
    assert sorted(map(str, Question.objects.all())) == [
        "Is a lift or a ramp better?",
        "Which is better for cats, dogs or mice: A or B?",
        "Which is better for long trips, train or plane?",
        "Which is better: tea or coffee?",
    ]
    aspects = set(Question.objects.values_list("aspect", flat=True))
    assert aspects == {"", "cats, dogs or mice", "long trips"}
