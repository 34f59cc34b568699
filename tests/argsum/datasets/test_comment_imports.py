"""Comments into datasets: one column, further columns, again, more of it, and refusals."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from openpyxl import Workbook

from argsum.datasets.actions import DatasetInUse, change_recipe
from argsum.datasets.models import Cell, CellArgument, Comment, CommentStatement, Dataset
from argsum.datasets.reports.comments import new_comments
from argsum.datasets.reports.datasets import dataset_rows
from cqa_site.files.actions.imports import ImportRefused, import_path
from cqa_site.files.actions.recognition import look_at, recognised
from ..argument_files import csv_of
from ..made_cells import make_system_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def bring(study, tmp_path):
    """Import a file of comments into the dataset “Bus”."""

    def import_it(content, name="bus.csv", *, write=True, update=False, reject=True, **options):
        path = tmp_path / name
        path.write_bytes(content)
        asked = {"write": write, "update_changed": update, "leave_out_rejected": not reject}
        asked["options"] = {"dataset": "Bus", "topic": ASKED} | options
        return import_path(study=study, kind="comments", path=path, name=name, **asked)

    return import_it


ASKED = "What do you think of the night bus?"
COMMENTS = (
    "The bus is late every night. The driver never says why.",
    "It is a good bus; I only wish that it came twice an hour",
    "n/a",
    "The driver never says why.",
)


def column(*texts, header="comment"):
    return csv_of((header,), [(text,) for text in texts])


def lines_of(*texts):
    return "\n".join(texts).encode() + b"\n"


def sheet_of(columns, *rows):
    """A workbook of one sheet."""
    book, body = Workbook(), io.BytesIO()
    for row in (columns, *rows):
        book.active.append(row)
    book.save(body)
    return body.getvalue()


def stored():
    """Every table as it is, to compare."""
    return [
        list(model.objects.order_by("pk").values_list())
        for model in (Comment, CellArgument, CommentStatement)
    ]


def test_one_column_is_enough(bring):
    done = bring(column(*COMMENTS))
    assert done.counts["comments"]["new"] == 4
    assert done.counts["statements"] == {"new": 5, "same": 0, "changed": 0, "rejected": 0}
    assert done.notes == [
        f"New on “{ASKED}”: comments: 4 → statements: 6 → new and distinct: 5 → with content: 4"
    ]
    cell = Cell.objects.get()
    assert (cell.topic, cell.stance, cell.split) == (ASKED, 0, "")
    assert list(cell.arguments.values_list("text", "left_out")) == [
        ("The bus is late every night.", ""),
        ("The driver never says why.", ""),
        ("It is a good bus", ""),
        ("I only wish that it came twice an hour", ""),
        ("n/a", "nothing_said"),
    ]
    said = CellArgument.objects.get(text="The driver never says why.").said_in
    assert list(said.values_list("comment__position", "position")) == [(1, 2), (4, 1)]
    (row,) = dataset_rows([Dataset.objects.get()])
    (funnel,) = row.funnels
    assert (funnel.comments, row.comments) == (4, 4)
    steps = [(step.name, step.left) for step in funnel.steps]
    assert steps == [("Statements", 6), ("Different", 5), ("With content", 4)]
    dataset = change_recipe(dataset=Dataset.objects.get(), steps=[], actor=None)
    assert dataset.recipe["counts"] == {"": {"read": 6, "unique": 5}}
    assert dataset.recipe["comments"] == 4
    assert not CellArgument.objects.exclude(left_out="").exists()


def test_a_longer_file_adds_the_rest_and_need_not_say_the_topic_again(bring):
    bring(column(*COMMENTS))
    before = stored()
    # Equal comments of one file are as many comments.
    longer = column(*COMMENTS, "n/a", "Too crowded at night. The bus is late every night.")
    more = bring(longer, topic="")
    assert more.counts["comments"] == {"new": 2, "same": 4, "changed": 0, "rejected": 0}
    assert more.counts["statements"]["new"] == 1
    assert [table[: len(rows)] for table, rows in zip(stored(), before, strict=True)] == before
    (counts,) = Dataset.objects.get().recipe["counts"].values()
    assert counts == {"read": 9, "unique": 6, "says_something": 5}


def test_a_first_row_may_be_a_comment_and_a_question_is_none(bring, alone):
    question, said = "What do you think of it?", "The bus is late."
    cases = ((question, "", 1), (question, "header", 1), (said, "", 2), (said, "comment", 2))
    for header, option, comments in (*cases, (said, "header", 1)):
        with alone((header, option)):
            found = bring(column("Too loud.", header=header), first_row=option)
            assert Comment.objects.count() == comments
            is_said = any("first row was read as a comment" in note for note in found.notes)
            assert is_said == (comments > 1)


def test_plain_text_has_a_comment_a_line_and_commas_make_no_columns(bring, alone):
    lines = ["Late, loud, and dear", "", "I like it; really", '"Quoted, yes"']
    one = ["comment", "Late", "Loud, dear, and late", 'The "best" bus']
    for name, given, texts in (
        ("a.txt", lines, ["Late, loud, and dear", "I like it; really", "Quoted, yes"]),
        ("a.csv", one, one[1:]),
    ):
        with alone(name):
            bring(lines_of(*given), name)
            assert list(Comment.objects.values_list("text", flat=True)) == texts


ROWS = [
    ("r1", "Too late.", "31/1/2024", "North", 5),
    ("r2", "Too loud.", "1/2/2024", "South", None),
    ("r3", "Too dear.", "soon", "", 2.5),
]
HEADS = ("Response ID", "Comment", "Date", "Group", "Stars")


def as_jsonl(columns, rows):
    return "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows).encode()


def test_further_columns_stay_beside_the_comments(bring, alone):
    for name, content in (
        ("bus.csv", csv_of(HEADS, ROWS)),
        ("bus.xlsx", sheet_of(HEADS, *ROWS)),
        ("bus.jsonl", as_jsonl(HEADS, ROWS)),
    ):
        with alone(name):
            assert_columns_are_beside(bring(content, name))


def assert_columns_are_beside(found):
    assert list(Comment.objects.values_list("name", "text", "attributes")) == [
        ("r1", "Too late.", {"Group": "North", "Stars": "5"}),
        ("r2", "Too loud.", {"Group": "South"}),
        ("r3", "Too dear.", {"Stars": "2.5"}),
    ]
    days = Comment.objects.values_list("written_on", flat=True)
    assert [day and day.isoformat() for day in days] == ["2024-01-31", "2024-02-01", None]
    (flag,) = found.flags
    assert (flag.column, flag.is_rejection) == ("Date", False)
    assert "“soon” is not a readable date" in flag.reason
    recipe = Dataset.objects.get().recipe
    assert (recipe["attributes"], recipe["group"]) == (["Group", "Stars"], "Group")


def test_what_does_not_fit_beside_a_comment_is_counted(bring):
    heads = ["comment", *(f"c{number}" for number in range(53))]
    found = bring(csv_of(heads, [("Late.", "x" * 201, *["y"] * 52), ("", *["z"] * 53)]))
    assert len(Comment.objects.get().attributes) == 50
    assert Comment.objects.get().attributes["c0"] == "x" * 200
    told = " ".join(found.notes)
    assert "3 more columns are left out" in told
    assert "1 value in other columns is cut to 200" in told
    assert "1 row has no comment and is left out" in told
    assert [(flag.row, flag.column) for flag in found.flags] == [(3, "comment")]


def test_dates_that_nothing_tells_apart_are_said(bring):
    content = csv_of(("comment", "date"), [("Late.", "3/4/2024"), ("Loud.", "5/6/2024")])
    assert "2 dates are ambiguous" in " ".join(bring(content, write=False).notes)
    bring(content, date_order="day")
    assert Comment.objects.first().written_on.isoformat() == "2024-04-03"
    with pytest.raises(ImportRefused, match="not a date order"):
        bring(content, date_order="year")


def test_a_column_of_topics_makes_a_cell_each(bring):
    rows = [("Bus", "Late."), ("Tram", "Loud."), ("Bus", "Loud."), ("", "Dear.")]
    content = csv_of(("topic", "comment"), rows)
    with pytest.raises(ImportRefused, match="1 row is rejected"):
        bring(content)
    bring(content, reject=False)
    assert list(Cell.objects.values_list("topic", "position")) == [("Bus", 1), ("Tram", 2)]
    assert Cell.objects.first().comments.count() == 2


def with_ids(*rows):
    return csv_of(("id", "comment", "age"), rows)


def test_another_text_under_the_same_id_is_only_replaced_if_asked(bring):
    rows = [("1", "Late it is.", ""), ("1", "Late it is.", ""), ("1", "Other it is.", "")]
    found = bring(with_ids(*rows), write=False)
    assert found.counts["comments"] == {"new": 1, "same": 1, "changed": 0, "rejected": 1}
    assert "appears earlier in this file" in found.flags[0].reason
    bring(with_ids(("1", "Late. Loud it is.", "30"), ("2", "Loud it is.", "40")))
    other = with_ids(("1", "Early today. Loud it is.", "30"), ("2", "Loud it is.", "41"))
    found = bring(other)
    assert found.counts["comments"]["changed"] == 2
    (flag,) = found.flags
    assert (flag.row, flag.column) == (2, "comment")
    assert "Differs; the stored value was kept" in flag.reason
    assert "1 comment differs from the stored one" in " ".join(found.notes)
    assert Comment.objects.first().text.startswith("Late")
    bring(other, update=True)
    one, two = Comment.objects.order_by("position")
    assert [each.argument.text for each in one.statements.all()] == ["Early today.", "Loud it is."]
    assert two.attributes == {"age": "41"}
    assert not CellArgument.objects.filter(text="Late.").exists()
    (counts,) = Dataset.objects.get().recipe["counts"].values()
    assert counts == {"read": 3, "unique": 2, "says_something": 2}


def test_equal_rows_of_another_file_are_the_same_unless_said_otherwise(bring):
    bring(column("Late it is.", "Loud it is."), "one.csv")
    second = column("Late it is.", "Dear it is.")
    looked = bring(second, "two.csv", write=False)
    assert looked.counts["comments"]["new"] == 1
    assert "1 row is identical to a comment from another file" in " ".join(looked.notes)
    for _time in range(2):
        bring(second, "two.csv", repeats="new")
    assert (Comment.objects.count(), CellArgument.objects.count()) == (4, 3)
    with pytest.raises(ImportRefused, match="Use new or same"):
        bring(second, repeats="perhaps")


def test_a_summarized_dataset_grows_and_keeps_what_it_has(bring):
    bring(with_ids(("1", "Late it is.", ""), ("2", "thanks", "")))
    dataset = Dataset.objects.get()
    make_system_run(dataset)
    cell = dataset.cells.get()
    before = stored()
    found = bring(
        with_ids(("3", "Late it is. Too dear for me.", ""), ("2", "thanks", "")), "b.csv"
    )
    assert found.counts["comments"] == {"new": 1, "same": 1, "changed": 0, "rejected": 0}
    assert [table[: len(rows)] for table, rows in zip(stored(), before, strict=True)] == before
    assert [each.name for each in new_comments(cell, 2)] == ["3"]
    assert cell.arguments.order_by("position").last().text == "Too dear for me."
    assert Comment.objects.get(name="3").source == "b.csv"
    with pytest.raises(DatasetInUse):
        change_recipe(dataset=dataset, steps=[], actor=None)
    with pytest.raises(ImportRefused, match="but not replaced"):
        bring(with_ids(("1", "Early it is.", "")), update=True)
    assert Comment.objects.get(name="1").text == "Late it is."


def test_bad_input_is_refused_with_the_reason(bring, study, tmp_path):
    for options, reason in (
        ({"topic": ""}, "Enter the topic"),
        ({"mapping": {"comment": "Text"}}, "no column “Text”"),
        ({"mapping": {"comment": "comment", "age": "comment"}}, "is not a field"),
        ({"first_row": "both"}, "Use comment or header"),
        ({"topic": "x" * 501}, "at most 500"),
    ):
        with pytest.raises(ImportRefused, match=reason):
            bring(column("Late."), **options)
    with pytest.raises(ImportRefused, match="one column without a name"):
        bring(csv_of(("a", "b"), [("c", "d")]), first_row="comment")
    with pytest.raises(ImportRefused, match="1 row is rejected"):
        bring(with_ids(("x" * 121, "Late.", "")))
    assert not Dataset.objects.exists()
    Dataset.objects.create(study=study, name="Bus")
    with pytest.raises(ImportRefused, match="Choose another name"):
        bring(column("Late."))
    # Arguments do not go into a dataset of comments.
    bring(column("Late it is."), dataset="Comments")
    path = tmp_path / "list.csv"
    path.write_bytes(b"topic,argument,stance\nBus,Late.,1\n")
    asked = {"kind": "argument_list", "options": {"dataset": "Comments"}, "write": True}
    with pytest.raises(ImportRefused, match="contains comments"):
        import_path(study=study, path=path, name="list.csv", **asked)


def test_an_import_takes_few_queries(bring, django_assert_max_num_queries):
    content = column(*(f"Comment number {n} says that it is late." for n in range(300)))
    with django_assert_max_num_queries(30):
        bring(content)
    with django_assert_max_num_queries(14):
        bring(content)


def test_what_a_file_is_taken_for(tmp_path):
    path = tmp_path / "file"
    for name, content, kinds in (
        ("a.csv", column("It is late.", header="It is loud."), ["comments"]),
        ("a.txt", lines_of("Late, loud", "Dear"), ["comments"]),
        ("a.csv", b"topic,text\nBus,Late.\n", ["comments"]),
        ("a.csv", b"topic,comment,stance\nBus,Late.,1\n", ["argument_list"]),
        ("a.csv", b"when,which\n1,2\n", []),
    ):
        path.write_bytes(content)
        assert list(recognised(look_at(path, name=name))) == kinds, content


def test_the_upload_proposes_the_topic_and_asks_for_one(study, client):
    content = csv_of(("Id", "Where", "What do you think?"), [("1", "North", "A bus, late it is.")])
    upload = {"kind": "comments", "file": SimpleUploadedFile("bus.csv", content)}
    page = client.post(reverse("import_upload", args=[study.public_id]), upload).url
    form = client.get(page).context["form"]
    assert form["topic"].value() == "What do you think?"
    given = {name: form[name].value() or "" for name in form.fields}
    assert list(client.post(page, given | {"topic": ""}).context["form"].errors) == ["topic"]
    assert client.post(page, given | {"map_id": "Where", "map_group": "Where"}).status_code == 422
