"""The import commands, studies that they make, and lists of questions of any kind."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from annotation.corpus.models import Argument, Question
from annotation.imports.methods.question_list import pasted_list
from annotation.labelling.models.rounds import Assignment, label_rounds_of
from annotation.management.environment import throwaway_database
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.files.models import ImportFile
from cqa_site.people.access import membership_or_404
from cqa_site.people.models import AuditEvent, Membership, Role, Study, User
from tests import cast
from tests.annotation.faithfulness.made_faithfulness import compute, make_faithful
from tests.annotation.imports import import_files
from tests.annotation.imports.import_files import crowd_file, crowd_row, numbers, table_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files_apart")]


def run(*args) -> str:
    out = io.StringIO()
    call_command(*map(str, args), stdout=out)
    return out.getvalue()


def test_a_crowd_file_with_its_record(tmp_path):
    path = crowd_file(tmp_path, crowd_row())
    text = run("import_toloka", path, "--study", "New", "--create-study", "--round", "Crowd")
    assert text.splitlines()[0].split() == ["new", "same", "changed", "rejected"]
    assert ["votes", "1", "0", "0", "0"] in [line.split() for line in text.splitlines()]
    study = Study.objects.get(name="New")
    assert label_rounds_of(study).get().name == "Crowd"
    record = study.import_files.get()
    assert (record.state, record.name, record.created_by) == ("applied", "pool.tsv", None)
    assert AuditEvent.objects.get(study=study, verb="import_applied").subject == "pool.tsv"


def test_rejected_rows_exit_with_1_and_are_named(tmp_path, capsys):
    study = cast.make_study()
    path = crowd_file(tmp_path, crowd_row("t1"), crowd_row("t2", "w2", 8))
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 row is rejected") as refusal:
        call_command("import_toloka", str(path), "--study", study.name, stdout=out)
    assert refusal.value.returncode == 1
    assert "rejected: row 7, OUTPUT:R-4: '8' is not a label" in out.getvalue()
    assert (Assignment.objects.count(), ImportFile.objects.count()) == (0, 0)
    run("import_toloka", path, "--study", study.name, "--leave-out-rejected")
    assert Assignment.objects.count() == 1


def test_the_study_must_be_there_and_clear(tmp_path):
    path = crowd_file(tmp_path, crowd_row())
    with pytest.raises(CommandError, match="--create-study"):
        run("import_toloka", path, "--study", "Nowhere")
    cast.make_study("Twice")
    cast.make_study("Twice")
    with pytest.raises(CommandError, match="give the id"):
        run("import_toloka", path, "--study", "Twice")
    with pytest.raises(CommandError, match="is not a file"):
        run("import_toloka", tmp_path, "--study", "Twice")


def test_a_table_by_guess_and_by_hand(tmp_path):
    study = cast.make_study()
    guessed = table_file(tmp_path, {"obj1": "tea", "obj2": "coffee", "sentence": "Tea."})
    text = run("import_table", guessed, "--study", study.name)
    assert "columns: object1=obj1, object2=obj2, text=sentence" in text
    by_hand = table_file(tmp_path, {"x": "tea", "y": "coffee", "z": "Coffee."}, name="other.csv")
    maps = ("--map", "object1=x", "--map", "object2=y", "--map", "text=z")
    run("import_table", by_hand, "--study", study.name, *maps)
    assert sorted(Argument.objects.values_list("text", flat=True)) == ["Coffee.", "Tea."]
    with pytest.raises(CommandError, match="choose a column for text"):
        run("import_table", by_hand, "--study", study.name, *maps[:4])


@pytest.mark.long
def test_the_throwaway_database_is_another_one_and_ends_also_after_an_error():
    cast.make_study("Here")
    configured = connection.settings_dict["NAME"]
    with throwaway_database():
        assert Study.objects.count() == 0
        cast.make_study("There")
        assert Study.objects.get().name == "There"
    with pytest.raises(RuntimeError), throwaway_database():
        raise RuntimeError
    assert connection.settings_dict["NAME"] == configured
    assert Study.objects.get().name == "Here"


@pytest.mark.long
def test_reproduce_says_which_file_is_missing_and_checks_its_control_labels(tmp_path):
    with pytest.raises(CommandError, match=r"assignments_from_pool_\*\.tsv is missing"):
        run("reproduce", "relevance", "--data", tmp_path)
    for value in ("t1", "=2", "t1=9"):
        with pytest.raises(CommandError, match="TASK_ID=LABEL"):
            run("reproduce", "relevance", "--data", tmp_path, "--control-label", value)


@pytest.mark.long
def test_the_tables_of_a_study(tmp_path):
    """One answer that cites 1, 2, 3 and 9, of which 1 and 2 are relevant."""
    study = Study.objects.create(name="Mine")
    with pytest.raises(CommandError, match="neither votes nor figures"):
        run("reproduce", "relevance", "--study", "Mine")
    make_faithful(study, questions=1)
    compute(study)
    text = run("reproduce", "relevance", "--study", "Mine")
    assert "Model A, " in text
    assert text == run("reproduce", "relevance", "--study", str(study.public_id))
    row = next(line.split() for line in text.splitlines() if line.startswith("Model A"))
    assert row[-10:-8] == ["1", "1"]
    # Precision 2/4, recall 2/2; nobody judged coherence.
    assert row[-4:] == ["0.50", "1.00", "0.67", "–"]
    ours = run("reproduce", "relevance", "--study", "Mine", "--ours", "--tables", "latex")
    assert r"\toprule" in ours
    with pytest.raises(CommandError, match="no study"):
        run("reproduce", "relevance", "--study", "Other")
    path = crowd_file(tmp_path, crowd_row())
    run("import_toloka", path, "--study", "Mine", "--round", "Crowd")
    votes = run("reproduce", "relevance", "--study", "Mine", "--table", "relevance-votes")
    assert "Votes of “Crowd”" in votes


@pytest.fixture
def path(tmp_path):
    return crowd_file(tmp_path, crowd_row())


def make_administrator(email="root@example.com", **fields) -> User:
    return User.objects.create_superuser(email, "a long password", **fields)


def test_the_first_active_administrator_can_open_a_made_study(path):
    make_administrator("gone@example.com", is_active=False)
    first = make_administrator()
    make_administrator("second@example.com")
    text = run("import_toloka", path, "--study", "New", "--create-study")
    assert "root@example.com is its admin" in text
    study = Study.objects.get(name="New")
    assert membership_or_404(first, study.public_id).is_researcher
    assert (study.created_by, study.memberships.count()) == (first, 1)


def test_the_named_member_comes_before_the_administrator(path):
    make_administrator()
    person = User.objects.create_user("ada@example.com", "a long password")
    asked = ("--study", "New", "--create-study", "--member", "Ada@example.com")
    run("import_toloka", path, *asked)
    membership = Membership.objects.get()
    assert (membership.user, membership.role) == (person, Role.ADMIN)


def test_without_an_administrator_it_says_what_to_do(path):
    text = run("import_toloka", path, "--study", "New", "--create-study")
    assert "createsuperuser" in text
    assert "--member" in text
    person = make_administrator()
    run("import_toloka", path, "--study", "New", "--member", person.email)
    assert Membership.objects.get().role == Role.ADMIN


def test_a_member_of_a_study_that_has_an_admin_is_a_researcher(path):
    study = cast.make_study()
    cast.make_member(study, Role.ADMIN)
    person = User.objects.create_user("ada@example.com", "a long password")
    for _time in range(2):
        run("import_toloka", path, "--study", study.name, "--member", person.email)
    assert study.memberships.get(user=person).role == Role.RESEARCHER


@pytest.mark.parametrize(
    ("fields", "words"), [({"is_active": False}, "deactivated"), (None, "No user has")]
)
def test_a_member_must_be_somebody_who_can_sign_in(path, fields, words):
    if fields is not None:
        User.objects.create_user("ada@example.com", "a long password", **fields)
    with pytest.raises(CommandError, match=words):
        run("import_toloka", path, "--study", "N", "--create-study", "--member", "ada@example.com")
    assert not Study.objects.exists()


def test_a_dry_run_and_a_refusal_leave_no_study(path, tmp_path):
    make_administrator()
    asked = ("--study", "New", "--create-study")
    assert "votes" in run("import_toloka", path, *asked, "--dry-run")
    with pytest.raises(CommandError):
        run("import_toloka", table_file(tmp_path, {"a": 1}), *asked)
    assert not Study.objects.exists()
    assert not any(path.is_file() for path in (tmp_path / "media").rglob("*"))


ROWS = (
    {"object1": "tea", "object2": "coffee", "aspect": "", "wording": "", "argument 1": "Hot."},
    {"object1": "tea", "object2": "coffee", "aspect": "price", "wording": "", "argument 1": ""},
    {"object1": "bus", "object2": "tram", "aspect": "", "wording": "Bus?", "argument 1": "Big."},
)


def take(study, path, **how):
    return import_files.take(study, "questions", path, **how)


def asked():
    fields = ("comparison__object1", "comparison__object2", "aspect", "wording")
    return sorted(Question.objects.values_list(*fields))


EXPECTED = [
    ("bus", "tram", "", "Bus?"),
    ("tea", "coffee", "", ""),
    ("tea", "coffee", "price", ""),
]


def test_a_table_brings_questions_and_arguments(study, tmp_path):
    outcome = take(study, table_file(tmp_path, *ROWS))
    assert (numbers(outcome, "questions"), outcome.rows["read"]) == ((3, 0, 0, 0), 3)
    assert asked() == EXPECTED
    texts = Argument.objects.order_by("pk").values_list("comparison__object1", "text")
    assert list(texts) == [("tea", "Hot."), ("bus", "Big.")]


def test_a_list_means_exactly_what_it_says(study, tmp_path):
    """A worded question is another one than the plain one, in whatever order they come."""
    rows = [{"object1": "a1", "object2": "b1", "wording": words} for words in ("", "Why?", "How?")]
    outcome = take(study, table_file(tmp_path, *rows))
    assert (numbers(outcome, "questions"), outcome.flags) == ((3, 0, 0, 0), [])


@pytest.mark.long
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


def test_a_table_of_something_else_is_refused_and_a_pasted_line_is_named_by_its_number(
    study, tmp_path
):
    name, content = pasted_list("tea vs coffee\n\nonly tea")
    (tmp_path / name).write_bytes(content)
    (flag,) = take(study, tmp_path / name, write=False).flags
    assert (flag.row, flag.column) == (3, "object2")
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


def test_the_page_takes_a_pasted_list(study, client, inline):
    address = reverse("question_list", args=[study.public_id])
    assert "Or paste questions" in client.get(address).content.decode()
    assert client.post(address, {"pasted": " "}).status_code == 422
    lines = "\n".join(f"a{n} vs b{n}" for n in range(432))
    with inline():
        response = client.post(address, {"pasted": lines})
    file = ImportFile.objects.get()
    assert response.url == reverse("import_file", args=[study.public_id, file.public_id])
    page = client.get(response.url).content.decode()
    assert "432 new questions" in page
    assert not Question.objects.exists()
    apply = reverse("import_apply", args=[study.public_id, file.public_id])
    with inline():
        client.post(apply)
    assert Question.objects.count() == 432
    assert "Systems can answer the questions." in client.get(response.url).content.decode()
