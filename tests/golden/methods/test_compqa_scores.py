"""The released CompQA scores through our readers and links; their figures are in
`test_reproduce_compqa.py`."""

import pytest

from annotation.imports.methods.releases import read_raw_answers
from benchmark.imports.methods import human_scores
from benchmark.imports.methods.score_files import judge_of, read_judged_file
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from tests.golden.places import COMPQA as FOLDER
from tests.golden.places import needs

HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = FOLDER / "judged_gpt4"
RAW = FOLDER / "raw_summaries"

pytestmark = needs(HUMAN)


@pytest.fixture(scope="module")
def judged():
    return [read_judged_file(path, COMPQA) for path in sorted(JUDGED.glob("*.json"))]


def test_the_judged_answers_are_the_raw_ones(judged):
    for file in judged:
        assert [each.answer for each in file.answers] == list(read_raw_answers(RAW / file.name))
    answers = [(file.system, each.answer) for file in judged for each in file.answers]
    assert (len(answers), len(judged), judge_of(JUDGED.name)) == (2158, 27, "gpt4")
    assert len({(each.object1, each.object2) for _system, each in answers}) == 50
    own = [each for system, each in answers if each.aspect and system != "yahoo"]
    assert len({(each.object1, each.object2) for each in own}) == 20


def test_every_row_of_the_human_table_is_linked(judged):
    people = list(human_scores.read_human_scores(HUMAN, COMPQA))
    assert (len(people), any(each.blanks for each in people)) == (367, False)
    assert sum(each.stated_score == 0 for each in people) == 145
    assert [each.swallowed for each in people if each.swallowed] == [3]
    halves = [value for each in people for value in each.points.values() if value % 1]
    assert set(halves) == {0.5, 1.5}
    # More than the criterion can give; the figures below contain them.
    off_scale = [(each.row, each.off_scale) for each in people if each.off_scale]
    assert off_scale == [(51, ("C2",)), (86, ("C2",)), (613, ("C13",))]
    answers = {}
    for file in judged:
        answers[file.system, file.scenario] = [each.answer for each in file.answers]
    links = human_scores.link_by_letters(people, answers)
    assert (len(links.links), links.unlinked, len(links.repeats)) == (367, (), 6)
    # Before its text is cut at the tab, the row that swallowed others has only its opening, too.
    assert (links.made_by(human_scores.LETTERS), links.made_by(human_scores.OPENING)) == (366, 1)
    assert [each.rivals for each in links.ambiguous] == [(71,)]
    places = {(own.score.system, own.score.scenario, own.answer.position) for own in links.links}
    assert len(places) == 361
