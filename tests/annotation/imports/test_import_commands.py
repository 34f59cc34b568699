"""The import commands, studies that they make, and lists of questions of any kind."""

import io
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from annotation.corpus.models import Argument, Question
from annotation.imports.methods.question_list import pasted_list
from annotation.labelling.models import Assignment, label_rounds_of
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


def test_rejected_rows_exit_with_1_and_are_named(tmp_path):
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
    # The study must be there and clear.
    for _time in range(2):
        cast.make_study("Twice")
    for file, name, words in (
        (path, "Nowhere", "--create-study"),
        (path, "Twice", "give the id"),
        (tmp_path, "Twice", "is not a file"),
    ):
        with pytest.raises(CommandError, match=words):
            run("import_toloka", file, "--study", name)


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
def test_the_tables_of_a_study(tmp_path):
    """One answer that cites 1, 2, 3 and 9, of which 1 and 2 are relevant."""
    study = Study.objects.create(name="Mine")
    reproduce = partial(run, "reproduce", "relevance")
    with pytest.raises(CommandError, match="neither votes nor figures"):
        reproduce("--study", "Mine")
    make_faithful(study, questions=1)
    compute(study)
    text = reproduce("--study", "Mine")
    assert "Model A, " in text
    assert text == reproduce("--study", str(study.public_id))
    row = next(line.split() for line in text.splitlines() if line.startswith("Model A"))
    assert row[-10:-8] == ["1", "1"]
    # Precision 2/4, recall 2/2; nobody judged coherence.
    assert row[-4:] == ["0.50", "1.00", "0.67", "–"]
    assert r"\toprule" in reproduce("--study", "Mine", "--ours", "--tables", "latex")
    for refused, words in (
        (("--study", "Other"), "no study"),
        (("--data", tmp_path), r"assignments_from_pool_\*\.tsv is missing"),
        *(
            (("--data", tmp_path, "--control-label", value), "TASK_ID=LABEL")
            for value in ("t1", "=2", "t1=9")
        ),
    ):
        with pytest.raises(CommandError, match=words):
            reproduce(*refused)
    path = crowd_file(tmp_path, crowd_row())
    run("import_toloka", path, "--study", "Mine", "--round", "Crowd")
    votes = reproduce("--study", "Mine", "--table", "relevance-votes")
    assert "Votes of “Crowd”" in votes


def test_the_first_active_administrator_can_open_a_made_study(load):
    text = load()
    # Without an administrator it says what to do.
    assert "createsuperuser" in text
    assert "--member" in text
    member = person("ada@example.com")
    load("--member", "Ada@example.com")
    membership = Membership.objects.get()
    assert (membership.user, membership.role) == (member, Role.ADMIN)
    # A member of a study that has an admin is a researcher.
    other = person("eva@example.com")
    for _time in range(2):
        load("--member", other.email)
    assert Membership.objects.get(user=other).role == Role.RESEARCHER
    root = {"is_superuser": True, "is_staff": True}
    person("gone@example.com", is_active=False, **root)
    first = person("root@example.com", **root)
    person("second@example.com", **root)
    assert "root@example.com is its admin" in load(name="Led")
    study = Study.objects.get(name="Led")
    assert membership_or_404(first, study.public_id).is_researcher
    assert (study.created_by, study.memberships.count()) == (first, 1)
    # The named member comes before the administrator.
    load("--member", other.email, name="Named")
    membership = Membership.objects.get(study__name="Named")
    assert (membership.user, membership.role) == (other, Role.ADMIN)


def test_a_dry_run_and_a_refusal_leave_no_study(load, tmp_path):
    person("root@example.com", is_superuser=True, is_staff=True)
    person("gone@example.com", is_active=False)
    assert "votes" in load("--dry-run")
    with pytest.raises(CommandError):
        run("import_toloka", table_file(tmp_path, {"a": 1}), "--study", "New", "--create-study")
    # A member must be somebody who can sign in.
    for email, words in (("gone@example.com", "deactivated"), ("ada@x.example", "No user has")):
        with pytest.raises(CommandError, match=words):
            load("--member", email)
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


EXPECTED = [("bus", "tram", "", "Bus?"), ("tea", "coffee", "", ""), ("tea", "coffee", "price", "")]


def test_a_table_brings_questions_and_arguments(study, tmp_path):
    outcome = take(study, table_file(tmp_path, *ROWS))
    assert (numbers(outcome, "questions"), outcome.rows["read"]) == ((3, 0, 0, 0), 3)
    assert asked() == EXPECTED
    texts = Argument.objects.order_by("pk").values_list("comparison__object1", "text")
    assert list(texts) == [("tea", "Hot."), ("bus", "Big.")]
    # A list means exactly what it says: a worded question is another one than the plain one, in
    # whatever order they come.
    rows = [{"object1": "a1", "object2": "b1", "wording": words} for words in ("", "Why?", "How?")]
    outcome = take(study, table_file(tmp_path, *rows))
    assert (numbers(outcome, "questions"), outcome.flags) == ((3, 0, 0, 0), [])
    # Bad rows are named.
    row = {"object1": "bike", "object2": "car", "aspect": ""}
    for cells, column, words in (
        ({"object1": " "}, "object1", "is empty"),
        ({"object2": "bike"}, "object2", "same as the other"),
        ({"aspect": "x" * 301}, "aspect", "longer than 300"),
    ):
        outcome = take(study, table_file(tmp_path, row, row | cells), write=False)
        (flag,) = outcome.flags
        assert (flag.row, flag.column, flag.is_rejection) == (3, column, True)
        assert words in flag.reason
        assert numbers(outcome, "questions") == (1, 0, 0, 1)
    # A table of something else is refused.
    with pytest.raises(ImportRefused, match="no column object1 or object2"):
        take(study, table_file(tmp_path, {"x": 1, "y": 2}))


def test_pasted_lists(paste):
    # A line is named by its number.
    (flag,) = paste("tea vs coffee\n\nonly tea", write=False).flags
    assert (flag.row, flag.column) == (3, "object2")
    for text in (
        "tea vs coffee\n\ntea vs. coffee\tprice\nbus versus tram\t\tBus?",
        "tea\tcoffee\ntea\tcoffee\tprice\nbus\ttram\t\tBus?",
        "object1\tobject2\taspect\twording\n"
        "tea\tcoffee\t\t\ntea\tcoffee\tprice\t\nbus\ttram\t\tBus?\n",
        "object1,object2,aspect,wording\ntea,coffee,,\ntea,coffee,price,\nbus,tram,,Bus?\n",
    ):
        Question.objects.all().delete()
        assert paste(text).rejected == 0
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


@pytest.fixture
def load(tmp_path):
    """Import a file into a new study, unless another one is named."""
    path = crowd_file(tmp_path, crowd_row())
    return lambda *more, name="New": run(
        *("import_toloka", path, "--study", name, "--create-study"), *more
    )


def person(email, **fields) -> User:
    return User.objects.create_user(email, "a long password", **fields)


@pytest.fixture
def paste(study, tmp_path):
    """Import pasted text, or look at it."""

    def paste(text, **how):
        name, content = pasted_list(text)
        (tmp_path / name).write_bytes(content)
        return take(study, tmp_path / name, **how)

    return paste
