"""check_integrity finds totals and rubrics that are not what they were."""

import pytest
from django.core.management import CommandError, call_command

from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreSheet
from tests.rounds.made_work import Sitting


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
    "another maximum": break_sheet(maximum=20),
    "other points than its last submission": break_sheet(points={}),
    "matches its hash": break_rubric,
}


@pytest.mark.parametrize("said", BREAKS)
def test_a_broken_row_is_named(sheet, said, capsys):
    BREAKS[said](sheet)
    with pytest.raises(CommandError):
        call_command("check_integrity")
    assert said in capsys.readouterr().err
