"""check_integrity finds broken score sheets."""

import pytest
from django.core.management import CommandError, call_command

from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.rounds import ScoringSlot
from benchmark.scoring.models.sheets import ScoreEvent, ScoreSheet
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.scoring.test_scoring import begin, submit
from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def sheet():
    study = make_study()
    make_scored_answers(study)
    scoring_round = make_round(study, make_member(study, "researcher"))
    client = sign_in(make_member(study, "annotator"))
    made = begin(client, study, scoring_round)
    submit(client, study, made)
    begin(client, study, scoring_round)
    return made


def test_all_is_well_after_scoring(sheet):
    call_command("check_integrity")


def break_rubric(sheet):
    version = RubricVersion.objects.get()
    version.content["criteria"][0]["asks"] = "Something else?"
    version.save()


BREAKS = {
    "total 3.0": lambda sheet: ScoreSheet.objects.filter(pk=sheet.pk).update(total=3),
    "total None": lambda sheet: ScoreSheet.objects.filter(pk=sheet.pk).update(total=None),
    "another maximum": lambda sheet: ScoreSheet.objects.filter(pk=sheet.pk).update(maximum=20),
    "holds no slot": lambda sheet: ScoreSheet.objects.filter(pk=sheet.pk).update(slot=None),
    "says otherwise": lambda sheet: ScoringSlot.objects.filter(state="done").update(state="open"),
    "last submission": lambda sheet: ScoreEvent.objects.update(content={}),
    "matches its hash": break_rubric,
}


@pytest.mark.parametrize("said", BREAKS)
def test_a_broken_row_is_named(sheet, said, capsys):
    BREAKS[said](sheet)
    with pytest.raises(CommandError):
        call_command("check_integrity")
    assert said in capsys.readouterr().err
