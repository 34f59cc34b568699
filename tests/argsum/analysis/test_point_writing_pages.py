"""Pages, interface and reports that show what a language model wrote for an analysis."""

import pytest
from django.core.cache import cache

from tests.argsum.signed_in import SignedIn

from .made_comments import word_engine
from .made_writing import never_parking, word_scorer
from .test_point_writing import Lab as Written

pytestmark = pytest.mark.django_db
__all__ = ["word_engine", "word_scorer"]
BY = "stub-1, prompt v1"


class Lab(Written, SignedIn):
    """The same with a researcher who is signed in."""

    def __init__(self):
        super().__init__()
        self.researcher = self.boss
        self.ids = {"analysis_id": self.analysis.public_id}


@pytest.fixture(scope="module")
def built(build_once):
    return build_once(Lab)


@pytest.fixture
def lab(built, db, word_engine, word_scorer):
    cache.clear()
    return built.copy()


def test_only_an_analysis_that_is_done_has_the_form(lab):
    type(lab.analysis).objects.update(state="failed")
    assert lab.get("point_writing").status_code == 404
    assert lab.post("point_writing_estimate").status_code == 404


def test_the_run_has_a_page_when_its_analysis_is_gone(lab):
    run = lab.write()
    lab.analysis.delete()
    assert "a deleted analysis" in lab.text("run", run_id=run.public_id)
    lab.text("run_calls", run_id=run.public_id)


@pytest.mark.long
def test_a_program_reads_what_was_written(lab):
    assert lab.told("analysis", public_id=lab.analysis.public_id)["writing"] is None
    run = lab.write(never_parking)
    writing = lab.told("analysis", public_id=lab.analysis.public_id)["writing"]
    assert writing == {
        "run": str(run.public_id), "written": 2, "kept": 1, "same": 0, "refused": 1,
        "unusable": 0, "changed": 0, "unchecked": 0,
    }  # fmt: skip
    points = {each["text"]: each["writer"] for each in lab.told("found_points")["results"]}
    assert points["People speak of quiet"] == {
        "run": str(run.public_id), "model": "stub-1", "prompt": str(run.prompt.public_id),
        "prompt_number": 1,
    }  # fmt: skip
    assert points[lab.parking.text] is None
    told = lab.told("analysis_report")
    assert sorted(each["writer"] for each in told["key_points"]) == ["", BY, BY]
