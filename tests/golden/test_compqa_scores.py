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
from benchmark.scoring.methods.sentence_count import length_points, sentence_places
from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.ratings import Ratings

ROOT = Path(__file__).resolve().parents[2]
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
KEYS = list(COMPQA.keys)
# Table 5 of the paper: system, scenario → GPT-4o, people; mean and sd as printed.
PUBLISHED = """
gpt3-5 1 16.95 1.44 14.93 2.84
gpt3-5 2 14.10 3.15 11.46 2.93
gpt3-5 3 18.21 1.02 16.92 1.90
gpt3-5 4 17.37 1.83 15.00 1.70
gpt4 1 17.59 1.00 15.22 1.52
gpt4 2 17.22 1.33 14.48 1.62
gpt4 3 18.23 0.95 17.24 1.33
gpt4 4 18.03 0.95 16.89 0.94
llama3-70b 1 17.22 1.20 14.04 1.59
llama3-70b 2 15.90 1.78 13.29 2.40
llama3-70b 3 18.06 1.11 17.69 1.58
llama3-70b 4 17.30 1.37 16.46 1.30
llama3-8b 1 16.78 1.40 14.00 2.94
llama3-8b 2 14.10 3.36 11.94 2.65
llama3-8b 3 18.26 0.88 16.50 1.96
llama3-8b 4 17.18 1.57 16.68 1.10
mixtral 1 16.80 1.20 14.67 1.73
mixtral 2 16.12 1.76 11.54 3.66
mixtral 3 18.40 0.86 16.29 2.73
mixtral 4 17.48 1.43 12.50 2.39
perplexity 1 17.32 1.24 12.86 1.48
perplexity 2 16.46 2.07 14.14 2.00
perplexity 3 18.68 0.47 17.40 1.84
perplexity 4 17.20 1.56 15.64 1.75
human 0 17.088 1.72 16.69 1.76
yahoo 0 9.32 3.95 6.00 1.00
cam 0 9.52 3.81 8.04 2.78
"""
# Table 3 without what table 5 has already.
PUBLISHED_ROWS = """
gpt4 17.77 1.06 15.96 1.35
gpt3-5 16.66 1.86 14.58 2.34
perplexity 17.42 1.34 15.00 1.77
mixtral 17.20 1.31 13.75 2.63
llama3-8b 16.58 1.80 14.77 2.16
llama3-70b 17.12 1.37 15.37 1.72
"""


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


@pytest.fixture(scope="module")
def both(sheets, links) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge's and people's sheets of the same answers, row by row."""
    human = sheets[sheets["rater"] == PEOPLE].reset_index(drop=True)
    judge = sheets[sheets["rater"] == JUDGE].set_index(["system", "scenario", "choice"])
    places = [
        (each.score.system, each.score.scenario, each.answer.position) for each in links.links
    ]
    return judge.loc[places].reset_index(drop=True), human


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


@pytest.mark.parametrize(
    ("rater", "system", "scenario", "mean", "sd", "n"),
    [
        (JUDGE, "gpt4", 1, "17.59", "1.00", 150),
        (JUDGE, "gpt4", 2, "17.22", "1.33", 150),
        (JUDGE, "gpt4", 3, "18.23", "0.95", 150),
        (JUDGE, "gpt4", 4, "18.03", "0.95", 150),
        (JUDGE, "cam", 0, "9.5200", "3.8078", 50),
        (JUDGE, "human", 0, "17.09", "1.72", 80),
        (PEOPLE, "human", 0, "16.6875", "1.7595", 16),
        (PEOPLE, "gpt4", 3, "17.24", "1.33", None),
    ],
)
def test_cells(sheets, rater, system, scenario, mean, sd, n):
    cell = recipes.cell_scores(sheets).loc[(rater, system, scenario)]
    assert as_printed(cell["mean"], mean)
    assert as_printed(cell["sd"], sd)
    assert n is None or cell["n"] == n
    assert cell["dropped"] == 0


def as_printed(value: float, shown: str) -> bool:
    """Whether a figure is the printed one, to half a unit of its last digit."""
    digits = len(shown.partition(".")[2])
    return abs(value - float(shown)) <= 0.5 * 10**-digits + 1e-9


def test_all_cells_of_the_papers_table_are_as_printed(sheets):
    cells = recipes.cell_scores(sheets)
    published = [line.split() for line in PUBLISHED.split("\n") if line]
    assert len(published) == 27
    for system, scenario, *figures in published:
        for rater, mean, sd in ((JUDGE, *figures[:2]), (PEOPLE, *figures[2:])):
            cell = cells.loc[(rater, system, int(scenario))]
            assert as_printed(cell["mean"], mean), (rater, system, scenario, cell["mean"])
            assert as_printed(cell["sd"], sd), (rater, system, scenario, cell["sd"])


def test_leaderboard_rows(sheets):
    rows = recipes.system_scores(recipes.cell_scores(sheets))
    best = rows.loc[(JUDGE, "gpt4")]
    assert as_printed(best["mean"], "17.7650")
    assert as_printed(best["sd"], "1.0568")
    older = rows.loc[(JUDGE, "gpt3-5")]
    assert as_printed(older["mean"], "16.66")
    assert as_printed(older["sd"], "1.86")
    assert best["cells"] == 4


def test_the_papers_rows(sheets):
    """Table 3; two of its human means are cut off rather than rounded."""
    rows = recipes.system_scores(recipes.cell_scores(sheets))
    cut = {"perplexity": 15.00, "llama3-8b": 14.77}
    for system, *figures in (line.split() for line in PUBLISHED_ROWS.strip().split("\n")):
        for rater, mean, sd in ((JUDGE, *figures[:2]), (PEOPLE, *figures[2:])):
            row = rows.loc[(rater, system)]
            assert as_printed(row["sd"], sd), (rater, system, row["sd"])
            if rater == PEOPLE and system in cut:
                assert np.floor(row["mean"] * 100) / 100 == cut[system] == float(mean)
            else:
                assert as_printed(row["mean"], mean), (rater, system, row["mean"])


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


def test_human_scores_with_and_without_an_aspect(sheets):
    human = sheets[sheets["rater"] == PEOPLE]
    cells = recipes.aspect_scores(human, human["has_aspect"]).loc[PEOPLE]
    assert cells.loc[True, ["mean", "sd"]].tolist() == pytest.approx([13.4314, 2.9837], abs=5e-5)
    assert cells.loc[False, ["mean", "sd"]].tolist() == pytest.approx([15.0133, 2.6862], abs=5e-5)
    answers = recipes.aspect_scores(human, human["has_aspect"], over="answers").loc[PEOPLE]
    assert answers.loc[True, ["mean", "sd", "n"]].tolist() == pytest.approx(
        [13.91, 3.05, 141], abs=5e-3
    )
    assert answers.loc[False, ["mean", "sd", "n"]].tolist() == pytest.approx(
        [15.33, 2.90, 226], abs=5e-3
    )


# -- judge and people -------------------------------------------------------------------------


def ratings(judge, human) -> Ratings:
    judge, human = np.ravel(judge), np.ravel(human)
    items = np.arange(len(judge))
    table = {"item": np.tile(items, 2), "value": np.concatenate([judge, human])}
    return Ratings.from_frame(pd.DataFrame(table).assign(rater=np.repeat(["j", "h"], len(items))))


def test_agreement_on_totals(both):
    judge, human = (each["total"] for each in both)
    found = krippendorff_alpha(ratings(judge, human), "interval")
    assert (found.n_pairable_items, round(found.value, 3)) == (367, 0.394)
    assert found.low < 0.394 < found.high
    assert np.corrcoef(judge, human)[0, 1] == pytest.approx(0.549, abs=5e-4)
    assert np.corrcoef(judge.rank(), human.rank())[0, 1] == pytest.approx(0.432, abs=2e-3)
    assert (judge - human).mean() == pytest.approx(1.93, abs=5e-3)


def test_all_criteria_concatenated_agree_mostly_because_their_ranges_differ(both):
    judge, human = (each[KEYS].to_numpy(float) for each in both)
    assert krippendorff_alpha(ratings(judge, human), "interval").value == pytest.approx(
        0.645, abs=5e-4
    )
    generator = np.random.default_rng(1)
    shuffled = [
        krippendorff_alpha(ratings(judge, generator.permutation(human)), "interval").value
        for _repeat in range(20)
    ]
    assert np.mean(shuffled) == pytest.approx(0.54, abs=0.01)


def test_a_count_of_sentences_agrees_with_people_better_than_the_judge(both, links):
    judge, human = (each["C15"].to_numpy(float) for each in both)
    counted = np.array(
        [length_points(len(sentence_places(each.answer.text))) for each in links.links]
    )
    assert [(counted == human).sum(), (judge == human).sum()] == [279, 226]
    assert krippendorff_alpha(ratings(counted, human), "interval").value > 0.6
    assert krippendorff_alpha(ratings(judge, human), "interval").value < 0
