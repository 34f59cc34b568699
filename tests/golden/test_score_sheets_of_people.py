"""The two people's own tables of the release meet the released answers: nothing is made twice."""

import os
from pathlib import Path

import pytest

from annotation.answers.models.answers import Answer
from annotation.management.throwaway import throwaway_database
from benchmark.imports.methods.columns import guess_columns
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.files.actions.reading import import_path
from cqa_site.people.models import Study
from cqa_site.tabular import preview

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
ANSWERS = DATA / "compqa" / "raw_summaries"
HUMAN = DATA / "compqa" / "human"
pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(not HUMAN.exists(), reason="released data absent: compqa/human"),
]


@pytest.fixture(scope="module")
def study(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), throwaway_database():
        study = Study.objects.create(name="Two people")
        for path in sorted(ANSWERS.glob("*.json")):
            taken = import_path(study=study, kind="answers", path=path, name=path.name, write=True)
            assert taken.rejected == 0
        yield study


def take(study, number: int, *, write: bool, near: str = ""):
    path = HUMAN / f"dataset_hum{number}_evaluation.tsv"
    mapping = guess_columns(preview(path, name=path.name).columns, COMPQA)
    # Of no use: the column is 0 where the row was not scored.
    mapping.pop("total", None)
    options = {"mapping": mapping, "rater": f"hum{number}", "rater_kind": "person", "near": near}
    return import_path(
        study=study,
        kind="score_sheets",
        path=path,
        name=path.name,
        options=options,
        write=write,
        leave_out_rejected=True,
    )


# Sheets: rows with points, less incomplete ones and those off the scale. One text of the second
# table has swallowed what stood below it, so that only its beginning is that of an answer.
@pytest.mark.parametrize(
    ("number", "sheets", "rejected", "near"), [(1, 121, 8, 0), (2, 244, 4, 1)]
)
def test_every_sheet_finds_an_answer_that_is_there(study, number, sheets, rejected, near):
    before = Answer.objects.count()
    assert before == 2_158
    looked = take(study, number, write=False)
    assert looked.rows["read"] == 397
    assert (len(looked.near), looked.rejected) == (near, rejected + near)
    assert looked.counts["sheets"]["new"] == sheets - near
    assert looked.counts["answers"] == {"new": 0, "same": 0, "changed": 0, "rejected": 0}
    taken = take(study, number, write=True, near="same")
    assert (taken.counts["sheets"]["new"], taken.rejected) == (sheets, rejected)
    assert Answer.objects.count() == before
    stored = ScoreSheet.objects.filter(source=f"dataset_hum{number}_evaluation.tsv")
    assert stored.count() == sheets
    again = take(study, number, write=True, near="same")
    assert (again.counts["sheets"]["new"], again.counts["sheets"]["same"]) == (0, sheets)
