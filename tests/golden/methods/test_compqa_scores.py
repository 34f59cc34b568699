"""The released CompQA scores through our readers and links; their figures are in
`test_reproduce_compqa.py`."""

import pytest

from annotation.imports.methods.releases import read_raw_answers
from benchmark.imports.methods.human_scores import (
    LETTERS,
    OPENING,
    HumanScore,
    Links,
    link_by_letters,
    read_human_scores,
)
from benchmark.imports.methods.score_files import JudgedFile, judge_of, read_judged_file
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from tests.golden.places import COMPQA as FOLDER
from tests.golden.places import needs

HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = FOLDER / "judged_gpt4"
RAW = FOLDER / "raw_summaries"

pytestmark = needs(HUMAN)


@pytest.fixture(scope="module")
def judged() -> list[JudgedFile]:
    return [read_judged_file(path, COMPQA) for path in sorted(JUDGED.glob("*.json"))]


@pytest.fixture(scope="module")
def people() -> list[HumanScore]:
    return list(read_human_scores(HUMAN, COMPQA))


@pytest.fixture(scope="module")
def links(judged, people) -> Links:
    answers = {
        (file.system, file.scenario): [each.answer for each in file.answers] for file in judged
    }
    return link_by_letters(people, answers)


def test_answers_files_and_pairs(judged):
    answers = [each.answer for file in judged for each in file.answers]
    assert (len(answers), len(judged), judge_of(JUDGED.name)) == (2158, 27, "gpt4")
    assert len({(each.object1, each.object2) for each in answers}) == 50
    with_aspect = {
        (each.answer.object1, each.answer.object2)
        for file in judged
        for each in file.answers
        if each.answer.aspect and file.system != "yahoo"
    }
    assert len(with_aspect) == 20


def test_the_judged_answers_are_the_raw_ones(judged):
    for file in judged:
        assert [each.answer for each in file.answers] == list(read_raw_answers(RAW / file.name))


def test_the_human_table(people):
    assert len(people) == 367
    assert all(isinstance(each, HumanScore) and not each.blanks for each in people)
    assert sum(each.stated_score == 0 for each in people) == 145
    assert [each.swallowed for each in people if each.swallowed] == [3]
    halves = [value for each in people for value in each.points.values() if value % 1]
    assert set(halves) == {0.5, 1.5}
    # More than the criterion can give; the figures below contain them.
    off_scale = [(each.row, each.off_scale) for each in people if each.off_scale]
    assert off_scale == [(51, ("C2",)), (86, ("C2",)), (613, ("C13",))]


def test_every_human_row_is_linked(people, links):
    assert len(links.links) == 367
    assert links.unlinked == ()
    # Before its text is cut at the tab, the row that swallowed others has only its opening, too.
    assert (links.made_by(LETTERS), links.made_by(OPENING)) == (366, 1)
    assert [each.rivals for each in links.ambiguous] == [(71,)]
    assert len(links.repeats) == 6
    places = {
        (each.score.system, each.score.scenario, each.answer.position) for each in links.links
    }
    assert len(places) == 361
