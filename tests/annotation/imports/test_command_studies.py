"""Studies that commands make: somebody can open them, and a dry run leaves none behind."""

import io

import pytest
from django.core.management import CommandError, call_command

from cqa_site.people.access import membership_or_404
from cqa_site.people.models import Membership, Role, Study, User
from tests import cast
from tests.annotation.imports.import_files import crowd_file, crowd_row, table_file

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def path(tmp_path):
    return crowd_file(tmp_path, crowd_row())


def run(*args) -> str:
    out = io.StringIO()
    call_command(*map(str, args), stdout=out)
    return out.getvalue()


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
    ("fields", "words"), [({"is_active": False}, "deactivated"), (None, "Nobody here")]
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


@pytest.mark.parametrize(
    "command",
    [
        "import_answers",
        "import_argkp",
        "import_arguments",
        "import_compqa",
        "import_counts",
        "import_expert_workbook",
        "import_final_labels",
        "import_gold",
        "import_human_scores",
        "import_judged",
        "import_score_sheets",
        "import_silver",
        "import_summary_scores",
        "import_table",
        "import_toloka",
        "train_match_scorer",
        "train_quality_scorer",
    ],
)
def test_every_command_that_makes_a_study_takes_a_member(command, capsys):
    with pytest.raises(SystemExit):
        call_command(command, "--help")
    said = capsys.readouterr().out
    assert "--create-study" in said
    assert "--member" in said
