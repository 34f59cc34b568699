"""A list of questions: any kind of table, pasted text, page, API and command; a dry run first."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from openpyxl import Workbook

from annotation.corpus.models.questions import Argument, Comparison, Question
from annotation.imports.methods.question_list import pasted_list
from cqa_site.files.actions.reading import import_path
from cqa_site.files.actions.rows import ImportRefused
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Role
from tests.annotation.imports.import_files import numbers, table_file
from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db
ROWS = (
    {"object1": "tea", "object2": "coffee", "aspect": "", "wording": "", "argument 1": "Hot."},
    {"object1": "tea", "object2": "coffee", "aspect": "price", "wording": "", "argument 1": ""},
    {"object1": "bus", "object2": "tram", "aspect": "", "wording": "Bus?", "argument 1": "Big."},
)


@pytest.fixture(autouse=True)
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def study():
    return make_study()


def take(study, path, *, write=True):
    return import_path(study=study, kind="questions", path=path, name=path.name, write=write)


def asked():
    fields = ("comparison__object1", "comparison__object2", "aspect", "wording")
    return sorted(Question.objects.values_list(*fields))


EXPECTED = [
    ("bus", "tram", "", "Bus?"),
    ("tea", "coffee", "", ""),
    ("tea", "coffee", "price", ""),
]


def test_a_table_brings_questions_and_arguments_once(study, tmp_path):
    path = table_file(tmp_path, *ROWS)
    looked = take(study, path, write=False)
    assert not Question.objects.exists()
    assert (numbers(looked, "questions"), looked.rows["read"]) == ((3, 0, 0, 0), 3)
    outcome = take(study, path)
    assert outcome.counts == looked.counts
    assert asked() == EXPECTED
    texts = Argument.objects.order_by("pk").values_list("comparison__object1", "text")
    assert list(texts) == [("tea", "Hot."), ("bus", "Big.")]
    again = take(study, path)
    assert (again.added, numbers(again, "questions")) == (0, (0, 3, 0, 0))


def test_json_lines_and_workbooks(study, tmp_path):
    path = tmp_path / "q.jsonl"
    rows = [{"object1": "tea", "object2": "coffee", "arguments": ["Hot.", "Cheap."]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    take(study, path)
    assert Argument.objects.count() == 2
    book = Workbook()
    for row in (["Object 1", "Object 2", "Aspect"], ["tea", "coffee", "price"]):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    take(study, tmp_path / "q.xlsx")
    assert (Comparison.objects.count(), Question.objects.count()) == (1, 2)


def test_a_list_means_exactly_what_it_says(study, tmp_path):
    """A worded question is another one than the plain one, in whatever order they come."""
    rows = [{"object1": "a1", "object2": "b1", "wording": words} for words in ("", "Why?", "How?")]
    outcome = take(study, table_file(tmp_path, *rows))
    assert (numbers(outcome, "questions"), outcome.flags) == ((3, 0, 0, 0), [])


@pytest.mark.parametrize(
    ("cells", "column", "words"),
    [
        ({"object1": " "}, "object1", "is empty"),
        ({"object2": "tea"}, "object2", "same as the other"),
        ({"aspect": "x" * 301}, "aspect", "longer than 300"),
    ],
)
def test_bad_rows_are_named(study, tmp_path, cells, column, words):
    row = {"object1": "tea", "object2": "coffee", "aspect": ""}
    outcome = take(study, table_file(tmp_path, row, row | cells), write=False)
    (flag,) = outcome.flags
    assert (flag.row, flag.column, flag.is_rejection) == (3, column, True)
    assert words in flag.reason
    assert numbers(outcome, "questions") == (1, 0, 0, 1)


def test_a_table_of_something_else_is_refused(study, tmp_path):
    with pytest.raises(ImportRefused, match="no column object1 or object2"):
        take(study, table_file(tmp_path, {"x": 1, "y": 2}))


@pytest.mark.parametrize(
    "text",
    [
        "tea vs coffee\n\ntea vs. coffee\tprice\nbus versus tram\t\tBus?",
        "tea\tcoffee\ntea\tcoffee\tprice\nbus\ttram\t\tBus?",
        "object1\tobject2\taspect\twording\n"
        "tea\tcoffee\t\t\ntea\tcoffee\tprice\t\nbus\ttram\t\tBus?\n",
        "object1,object2,aspect,wording\ntea,coffee,,\ntea,coffee,price,\nbus,tram,,Bus?\n",
    ],
)
def test_pasted_lists(study, tmp_path, text):
    name, content = pasted_list(text)
    (tmp_path / name).write_bytes(content)
    assert take(study, tmp_path / name).rejected == 0
    assert asked() == EXPECTED


def test_a_pasted_line_without_a_second_object_is_named_by_its_line(study, tmp_path):
    name, content = pasted_list("tea vs coffee\n\nonly tea")
    (tmp_path / name).write_bytes(content)
    (flag,) = take(study, tmp_path / name, write=False).flags
    assert (flag.row, flag.column) == (3, "object2")


def test_queries_do_not_grow_with_the_rows(study, tmp_path):
    def counted(number):
        rows = [
            {"object1": f"a{n}", "object2": "b", "aspect": "x", "argument": f"Says {n}."}
            for n in range(number)
        ]
        with CaptureQueriesContext(connection) as queries:
            take(study, table_file(tmp_path, *rows), write=False)
        return len(queries)

    assert counted(432) == counted(1)


# -- page, API, command -----------------------------------------------------------------------


def test_the_page_takes_a_pasted_list(study, django_capture_on_commit_callbacks):
    client = sign_in(make_member(study, Role.RESEARCHER))
    address = reverse("question_list", args=[study.public_id])
    assert "Or paste them here" in client.get(address).content.decode()
    assert client.post(address, {"pasted": " "}).status_code == 422
    lines = "\n".join(f"a{n} vs b{n}" for n in range(432))
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(address, {"pasted": lines})
    file = ImportFile.objects.get()
    assert response.url == reverse("import_file", args=[study.public_id, file.public_id])
    page = client.get(response.url).content.decode()
    assert "432 new questions" in page
    assert not Question.objects.exists()
    apply = reverse("import_apply", args=[study.public_id, file.public_id])
    with django_capture_on_commit_callbacks(execute=True):
        client.post(apply)
    assert Question.objects.count() == 432
    assert "Its questions can be answered" in client.get(response.url).content.decode()
