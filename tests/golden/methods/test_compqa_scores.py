"""The released CompQA scores through our readers, links and recipes: every known figure."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from annotation.imports.methods.raw_answers import RawAnswer, read_raw_answers
from benchmark.imports.methods.human_links import LETTERS, OPENING, Links, link_by_letters
from benchmark.imports.methods.human_scores import HumanScore, read_human_scores
from benchmark.imports.methods.judged_files import JudgedFile, judge_of, read_judged_file
from benchmark.judges.methods.judgement_keys import Reading
from benchmark.leaderboard.methods import recipes
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from cqa_site.stats.ratings import Ratings

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "compqa"
HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = FOLDER / "judged_gpt4"
RAW = FOLDER / "raw_summaries"

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(not HUMAN.exists(), reason=f"released data not found at {FOLDER}"),
]

JUDGE, PEOPLE = "gpt4", "people"
# Table 5 of the paper: system, scenario → GPT-4o, people; mean and sd as printed.
# Table 3 without what table 5 has already.


def of_answer(answer: RawAnswer, system: str, scenario: int) -> dict:
    question = f"{answer.object1} / {answer.object2} / {answer.aspect or ''}"
    return {
        "system": system,
        "scenario": scenario,
        "question": question,
        # The place tells answers apart that are not next to each other.
        "choice": answer.position,
        "has_aspect": answer.aspect is not None,
    }


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


@pytest.fixture(scope="module")
def sheets(judged, links) -> pd.DataFrame:
    """The paper's recipe: whole judgements, two values off the scale included."""
    rows = [
        of_answer(each.answer, file.system, file.scenario)
        | {"rater": JUDGE}
        | each.paper_points(COMPQA)
        for file in judged
        for each in file.answers
    ]
    # Six answers have two rows, which the release counts like rows on different answers.
    rows += [
        of_answer(each.answer, each.score.system, each.score.scenario)
        | {"rater": PEOPLE, "choice": -each.score.row}
        | each.score.points
        for each in links.links
    ]
    return recipes.with_totals(pd.DataFrame(rows), COMPQA)


# -- what was read ----------------------------------------------------------------------------


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


def test_every_judgement_is_whole_and_two_values_are_off_the_scale(judged):
    counts = sum((file.counts for file in judged), Counter())
    assert counts == {Reading.VALID: 2157, Reading.OUT_OF_RANGE: 1}
    (odd,) = [
        each
        for file in judged
        for each in file.answers
        if each.judgement.reading is Reading.OUT_OF_RANGE
    ]
    assert (odd.judgement.given["C5"], odd.judgement.given["C6"]) == (2, 2)
    top = {each.key: each.maximum for each in COMPQA.criteria}
    assert sum(value > top[key] for key, value in odd.judgement.given.items()) == 2
    problems = [each for file in judged for each in file.problems]
    assert [each.column for each in problems] == ["score_dict"]
    assert problems[0].row == odd.answer.position


def test_the_human_table(people):
    assert len(people) == 367
    assert all(isinstance(each, HumanScore) and not each.blanks for each in people)
    assert sum(each.stated_score == 0 for each in people) == 145
    assert [each.swallowed for each in people if each.swallowed] == [3]
    halves = [value for each in people for value in each.points.values() if value % 1]
    assert set(halves) == {0.5, 1.5}
    # More than the criterion can give; the figures below contain them.
    assert [(each.row, each.off_scale) for each in people if each.off_scale] == [
        (51, ("C2",)),
        (86, ("C2",)),
        (613, ("C13",)),
    ]


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


# -- leaderboard ------------------------------------------------------------------------------


def test_human_scenarios_and_groups(sheets):
    means = recipes.scenario_scores(sheets).loc[PEOPLE, "mean"]
    assert [round(means[scenario], 3) for scenario in range(1, 5)] == [
        14.494,
        12.989,
        16.983,
        15.787,
    ]
    groups = recipes.group_scores(sheets, COMPQA)["mean"]
    found = [groups[(group.key, PEOPLE, 3)] for group in COMPQA.groups]
    assert found == pytest.approx([6.4535, 4.1512, 6.3779], abs=5e-5)


# -- judge and people -------------------------------------------------------------------------


def ratings(judge, human) -> Ratings:
    judge, human = np.ravel(judge), np.ravel(human)
    items = np.arange(len(judge))
    table = {"item": np.tile(items, 2), "value": np.concatenate([judge, human])}
    return Ratings.from_frame(pd.DataFrame(table).assign(rater=np.repeat(["j", "h"], len(items))))
