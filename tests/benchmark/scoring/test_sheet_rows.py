"""The table of sheets: what is in it and what is left out; totals that were changed."""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from benchmark.leaderboard.reports.snapshot import board_table
from benchmark.rubrics.methods.rubric import COMPQA, RESERVED
from benchmark.rubrics.models import RubricVersion, default_rubric, save_rubric
from benchmark.scoring.models import ScoreSheet
from benchmark.scoring.reports.sheets import counted_sheets, sheet_table
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.rounds.made_work import Sitting

pytestmark = pytest.mark.django_db


def test_a_row_a_sheet_with_points_and_totals(study, django_assert_max_num_queries):
    answers = make_scored_answers(study)
    sheets = make_sheets(study, answers, [make_rater(study, "Ada"), make_rater(study, "Bo")])
    rubric = default_rubric(study)
    with django_assert_max_num_queries(5):
        table = sheet_table(counted_sheets(rubric), rubric.rubric)
    assert len(table) == len(sheets) == 16
    assert (table[list(COMPQA.keys)].sum(axis=1) == table["total"]).all()
    assert (table[["structure", "relevance", "quality"]].sum(axis=1) == table["total"]).all()
    assert set(table["system"]) == {"Alpha", "Beta"}
    by_id = {str(each.public_id): each for each in study.systems.all()}
    assert [by_id[key].name for key in table["system_id"]] == table["system"].tolist()
    assert set(table["rater_id"]) == {str(each.public_id) for each in study.raters.all()}


def test_examples_extras_and_begun_sheets_do_not_count(study):
    sheets = make_sheets(study, make_scored_answers(study), [make_rater(study, "Ada")])
    rubric = default_rubric(study)
    ScoreSheet.objects.filter(pk=sheets[0].pk).update(is_example=True)
    ScoreSheet.objects.filter(pk=sheets[1].pk).update(is_extra=True)
    ScoreSheet.objects.filter(pk=sheets[2].pk).update(state="open", total=None)
    ScoreSheet.objects.filter(pk=sheets[3].pk).update(
        state="unscored", total=None, reason="truncated"
    )
    table = sheet_table(counted_sheets(rubric), rubric.rubric)
    assert len(table) == len(sheets) - 3
    assert table["total"].isna().sum() == 1


IMPOSSIBLE = [
    *({"total": 19.5}, {"total": -1}, {"state": "unscored"}, {"reason": "truncated"}),
    *({"source": ""}, {"state": "open"}),
]


def test_the_database_itself_refuses_impossible_sheets(study):
    sheets = make_sheets(study, make_scored_answers(study, questions=1), [make_rater(study, "A")])
    for broken in IMPOSSIBLE:
        with pytest.raises(IntegrityError), transaction.atomic():
            ScoreSheet.objects.filter(pk=sheets[0].pk).update(**broken)


def test_a_rubric_is_kept_once_for_each_text_and_no_group_is_called_like_a_column(study):
    first = default_rubric(study)
    assert default_rubric(study) == first
    assert save_rubric(study=study, rubric=COMPQA) == first
    assert (first.number, first.rubric.maximum) == (1, 19)
    make_sheets(study, make_scored_answers(study, questions=1), [make_rater(study, "Ada")])
    rubric = default_rubric(study)
    table, _draws = board_table(rubric)
    groups = {each.key for each in rubric.rubric.groups}
    assert set(table.columns) - groups - set(rubric.rubric.keys) <= RESERVED


@pytest.fixture(scope="module")
def built(build_once):
    return build_once(Sitting, "score")


@pytest.fixture
def sheet(built, db):
    world = built.copy()
    return world.submit(world.sheet)


def test_all_is_well_after_scoring(sheet):
    call_command("check_integrity")


def break_rubric(sheet):
    version = RubricVersion.objects.get()
    version.content["criteria"][0]["asks"] = "Something else?"
    version.save()


def break_sheet(**fields):
    return lambda sheet: ScoreSheet.objects.filter(pk=sheet.pk).update(**fields)


BREAKS = {
    "total 3.0": break_sheet(total=3),
    "total None": break_sheet(total=None),
    "have different maxima": break_sheet(maximum=20),
    "other points than its last submission": break_sheet(points={}),
    "matches its hash": break_rubric,
}


@pytest.mark.parametrize("said", BREAKS)
def test_a_broken_row_is_named(sheet, said, capsys):
    BREAKS[said](sheet)
    with pytest.raises(CommandError):
        call_command("check_integrity")
    assert said in capsys.readouterr().err
