"""The import commands: the counts they print, what makes them exit with 1."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.management.throwaway import throwaway_database
from annotation.models import Argument, Assignment, ImportFile
from annotation.reports.relevance_published import PUBLISHED, compare
from cqa_site.people.models import AuditEvent, Study
from tests import cast
from tests.annotation.import_files import crowd_file, crowd_row, table_file

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def run(*args) -> str:
    out = io.StringIO()
    call_command(*map(str, args), stdout=out)
    return out.getvalue()


def test_a_crowd_file_with_its_record(tmp_path):
    path = crowd_file(tmp_path, crowd_row())
    text = run("import_toloka", path, "--study", "New", "--create-study", "--campaign", "Crowd")
    assert text.splitlines()[0].split() == ["new", "same", "changed", "rejected"]
    assert text.splitlines()[-1].split() == ["votes", "1", "0", "0", "0"]
    study = Study.objects.get(name="New")
    assert study.campaigns.get().name == "Crowd"
    record = study.import_files.get()
    assert (record.state, record.name, record.created_by) == ("applied", "pool.tsv", None)
    assert AuditEvent.objects.get(study=study, verb="import_applied").subject == "pool.tsv"


def test_a_dry_run_leaves_no_trace(tmp_path):
    study = cast.make_study()
    path = crowd_file(tmp_path, crowd_row())
    text = run("import_toloka", path, "--study", study.public_id, "--dry-run")
    assert "Dry run: nothing was imported." in text
    assert (Argument.objects.count(), ImportFile.objects.count()) == (0, 0)


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


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("import_toloka", "is no Toloka export"),
        ("import_expert_workbook", "is not an .xlsx workbook"),
        ("import_final_labels", "was to be read as json"),
        ("import_silver", "was to be read as json"),
    ],
)
def test_another_kind_of_file_is_refused(tmp_path, command, words):
    study = cast.make_study()
    path = table_file(tmp_path, {"a": 1, "b": 2})
    with pytest.raises(CommandError, match=words):
        run(command, path, "--study", study.name)
    assert not any(path.is_file() for path in (tmp_path / "media").rglob("*"))


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


# -- reproduce --------------------------------------------------------------------------------


def test_the_throwaway_database_is_another_one_and_ends():
    cast.make_study("Here")
    configured = connection.settings_dict["NAME"]
    with throwaway_database():
        assert Study.objects.count() == 0
        cast.make_study("There")
        assert Study.objects.get().name == "There"
    assert connection.settings_dict["NAME"] == configured
    assert Study.objects.get().name == "Here"


def test_the_throwaway_database_ends_after_an_error():
    with pytest.raises(RuntimeError), throwaway_database():
        raise RuntimeError
    assert Study.objects.count() == 0
    cast.make_study("Here")


def test_reproduce_says_which_file_is_missing(tmp_path):
    with pytest.raises(CommandError, match=r"assignments_from_pool_\*\.tsv is missing"):
        run("reproduce", "relevance", "--data", tmp_path)


@pytest.mark.parametrize("value", ["t1", "=2", "t1=9"])
def test_reproduce_checks_its_control_labels(tmp_path, value):
    with pytest.raises(CommandError, match="TASK_ID=LABEL"):
        run("reproduce", "relevance", "--data", tmp_path, "--control-label", value)


def test_figures_match_differ_or_are_absent():
    values = {each.key: each.released for each in PUBLISHED}
    figures = {figure.key: figure for figure in compare(values)}
    assert {figure.status for figure in figures.values()} == {"match", "not in the data"}
    assert json.dumps([figure.as_dict() for figure in figures.values()])
    near = {figure.key: figure for figure in compare(values | {"kept_alpha": 0.4050, "rows": 1})}
    assert near["kept_alpha"].status == "within tolerance"
    assert near["rows"].status == "differs"
    assert (
        compare(values | {"kept_alpha": None})[
            [each.key for each in PUBLISHED].index("kept_alpha")
        ].status
        == "differs"
    )


def test_a_figure_an_option_changed_says_so():
    values = {each.key: each.released for each in PUBLISHED} | {"kept_workers": 1}
    (figure,) = [
        each
        for each in compare(values, asked={"kept_workers": "workers kept from 0.9"})
        if each.status == "differs"
    ]
    assert (figure.key, figure.why) == ("kept_workers", "workers kept from 0.9")
