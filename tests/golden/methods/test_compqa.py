"""The released CompQA scores through our readers, links, agreement and preferences."""

import evalica
import numpy as np
import pandas as pd
import pytest

from annotation.imports.methods.releases import read_raw_answers
from benchmark.agreement.methods.agreement import agreement
from benchmark.agreement.methods.grid import PEOPLE
from benchmark.imports.methods.human_scores import (
    LETTERS,
    OPENING,
    link_by_letters,
    read_human_scores,
)
from benchmark.imports.methods.score_files import judge_of, read_judged_file
from benchmark.leaderboard.methods import ranks
from benchmark.leaderboard.methods.board import make_board
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.preferences.methods.consistency import compare_rankings
from benchmark.preferences.methods.pair_planning import plan_pairs
from benchmark.preferences.methods.pairs import Candidate
from benchmark.preferences.methods.ranking import rank_by_preference
from benchmark.preferences.methods.verdict_tables import Verdicts
from benchmark.rubrics.methods.rubric import COMPQA
from benchmark.scoring.methods import length_points, sentence_places
from cqa_site.stats.estimate import to_json
from tests.benchmark.leaderboard import made_boards
from tests.golden.places import COMPQA as FOLDER, ROOT, needs

JUDGED, RAW = FOLDER / "judged_gpt4", FOLDER / "raw_summaries"
HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
SIZE, SEED = 2000, 1
# The leaderboard does not rank it either: 18 of its 28 questions are nobody else's.
OTHER_QUESTIONS = "yahoo"

pytestmark = needs(JUDGED, HUMAN)


@pytest.fixture(scope="module")
def judged():
    return [read_judged_file(path, COMPQA) for path in sorted(JUDGED.glob("*.json"))]


@pytest.fixture(scope="module")
def people():
    return list(read_human_scores(HUMAN, COMPQA))


@pytest.fixture(scope="module")
def links(judged, people):
    answers = {}
    for file in judged:
        answers[file.system, file.scenario] = [each.answer for each in file.answers]
    return link_by_letters(people, answers)


@pytest.fixture(scope="module")
def sheets(judged):
    """The paper's recipe: whole judgements, two values outside the scale included."""
    rows = []
    for file in judged:
        about = {"system": file.system, "scenario": file.scenario}
        for each in file.answers:
            answer, total = each.answer, sum(each.paper_points(COMPQA).values())
            question = f"{answer.object1} / {answer.object2} / {answer.aspect or ''}"
            own = {"answer": f"{file.name} {answer.position}", "choice": answer.position}
            rows.append(about | own | {"question": question, "total": total})
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def verdicts(sheets):
    """Of each pair the answer with more points wins; equal points are a tie."""
    # Of the eight systems that the leaderboard ranks.
    candidates = [
        Candidate(answer=row.answer, question=row.question, system=row.system)
        for row in sheets.itertuples()
        if row.system != OTHER_QUESTIONS
    ]
    points, outcomes = sheets.set_index("answer")["total"], ("tie", "first", "second")
    rows = []
    for place, pair in enumerate(plan_pairs(candidates, SIZE, seed=SEED).pairs):
        outcome = outcomes[int(np.sign(points[pair.left] - points[pair.right]))]
        about = {"pair": place, "question": pair.question, "rater": "gpt-4o", "side": "left"}
        systems = {"first": pair.left_system, "second": pair.right_system}
        rows.append(about | systems | {"outcome": outcome})
    return Verdicts.from_frame(pd.DataFrame(rows))


@pytest.fixture(scope="module")
def ranking(verdicts):
    return rank_by_preference(verdicts)


def test_the_leaderboard_ranks_all_but_the_system_with_questions_of_its_own(sheets):
    rows = made_boards.sheets(*sheets.drop(columns="answer").to_dict("records"))
    board = make_board(rows, BoardOptions(maximum=COMPQA.maximum))
    names, found = [each.name for each in board.systems], board.rankings[0]
    unranked = {names[at]: why for at, why in found.unranked.items()}
    assert unranked == {"yahoo": ranks.OTHER_QUESTIONS}
    assert (found.scenarios, found.n_common) == ((1, 2, 3, 4), 50)
    places = {names[int(each.system)]: (each.rank_low, each.rank_high) for each in found.standings}
    # Corrected for all pairs, the tests do not tell it from the second.
    assert (places["gpt4"], places["cam"]) == ((1, 2), (8, 8))
    assert places["human"][1] - places["human"][0] >= 2


def test_strengths_and_intervals(ranking):
    strengths = ranking.strengths
    assert (ranking.reason, strengths.unranked, strengths.n_ties) == (None, {}, 340)
    assert strengths.nu == pytest.approx(0.5246, abs=0.00005)
    best, worst = ranking.standings[0], ranking.standings[-1]
    assert (best.system, best.rank_low, best.rank_high) == ("gpt4", 1, 3)
    assert (worst.system, worst.rank_low, worst.rank_high, worst.tie_group) == ("cam", 8, 8, 3)
    assert (best.value, worst.value) == pytest.approx((0.948, -3.528), abs=0.0005)


def test_strengths_are_those_of_an_independent_package(ranking, verdicts):
    winners = {"first": evalica.Winner.X, "second": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    first, second, outcomes = (
        verdicts.frame[name].tolist() for name in ("first", "second", "outcome")
    )
    won = [winners[each] for each in outcomes]
    theirs = evalica.newman(first, second, won, tolerance=1e-14, limit=100_000)
    logs = np.log(theirs.scores)
    expected = dict(logs - logs.mean())
    assert ranking.strengths.by_system() == pytest.approx(expected, abs=1e-6)
    # Newman's algorithm has 2 v where Davidson has nu.
    assert ranking.strengths.nu == pytest.approx(2 * theirs.v, abs=1e-6)


def test_the_table_of_the_document_is_this_one(ranking, verdicts, sheets):
    # Systems by questions: the mean of a system's scenario means, as on the leaderboard.
    cells = sheets.groupby(["system", "scenario", "question"])["total"].mean()
    table = cells.groupby(["system", "question"]).mean().unstack()
    means = table.drop(index=OTHER_QUESTIONS).dropna(axis=1, how="all")
    found = compare_rankings(verdicts, means)
    points = dict(zip(found.systems, found.means, strict=True))
    by_points = sorted(points, key=points.get, reverse=True)
    written = (ROOT / "docs" / "papers" / "compqa.md").read_text()
    for each in ranking.standings:
        value = f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]".replace("-", "−")
        rank = f"{each.rank} ({each.rank_low}–{each.rank_high})"
        votes = f"{each.wins}–{each.ties}–{each.losses}"
        mean = f"{points[each.system]:.2f} | {by_points.index(each.system) + 1}"
        assert f"| {each.system} | {value} | {rank} | {votes} | {mean} |" in written


def test_the_judged_answers_are_the_raw_ones(judged):
    for file in judged:
        assert [each.answer for each in file.answers] == list(read_raw_answers(RAW / file.name))
    answers = [(file.system, each.answer) for file in judged for each in file.answers]
    assert (len(answers), len(judged), judge_of(JUDGED.name)) == (2158, 27, "gpt4")
    assert len({(each.object1, each.object2) for _system, each in answers}) == 50
    own = [each for system, each in answers if each.aspect and system != "yahoo"]
    assert len({(each.object1, each.object2) for each in own}) == 20


def test_every_row_of_the_human_table_is_linked(people, links):
    assert (len(people), any(each.blanks for each in people)) == (367, False)
    assert sum(each.stated_score == 0 for each in people) == 145
    assert [each.swallowed for each in people if each.swallowed] == [3]
    halves = [value for each in people for value in each.points.values() if value % 1]
    assert set(halves) == {0.5, 1.5}
    # More than the criterion can give; the figures below contain them.
    off_scale = [(each.row, each.off_scale) for each in people if each.off_scale]
    assert off_scale == [(51, ("C2",)), (86, ("C2",)), (613, ("C13",))]
    assert (len(links.links), links.unlinked, len(links.repeats)) == (367, (), 6)
    # Before its text is cut at the tab, the row that swallowed others has only its opening, too.
    assert (links.made_by(LETTERS), links.made_by(OPENING)) == (366, 1)
    assert [each.rivals for each in links.ambiguous] == [(71,)]
    places = {(own.score.system, own.score.scenario, own.answer.position) for own in links.links}
    assert len(places) == 361


@pytest.fixture(scope="module")
def found(judged, links):
    """Each of the 367 linked rows as an answer, as the known figures count them."""
    given = {
        (file.system, file.scenario, each.answer.position): each.paper_points(COMPQA)
        for file in judged
        for each in file.answers
    }
    rows, counted = [], {}
    for number, link in enumerate(links.links):
        score, answer = link.score, link.answer
        question = f"{answer.object1} / {answer.object2} / {answer.aspect or ''}"
        about = {"answer": number, "question": question, "characters": len(answer.text)}
        about |= {"system": score.system, "scenario": score.scenario}
        about["aspect"] = answer.aspect or ""
        judge = given[score.system, score.scenario, answer.position]
        rows.append(about | judge | {"rater_id": "gpt-4o", "rater_kind": "model"})
        rows.append(about | score.points | {"rater_id": "h", "rater_kind": "reference"})
        counted[number] = float(length_points(len(sentence_places(answer.text))))
    return to_json(agreement(_with_totals(pd.DataFrame(rows)), COMPQA, counted=counted))


def _with_totals(table):
    sums = {"total": COMPQA.keys} | {
        group.key: [each.key for each in COMPQA.of_group(group.key)] for group in COMPQA.groups
    }
    made = {
        name: table[list(keys)].astype(float).sum(axis=1, skipna=False)
        for name, keys in sums.items()
    }
    fixed = {"system_kind": "imported", "model": "", "replicate": 0, "state": "submitted"}
    return table.assign(rater_name=table["rater_id"], **fixed, **made)


@pytest.mark.long
def test_agreement_by_the_report_of_the_site(found):
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"]) == ("gpt-4o", PEOPLE)
    total = pair["columns"]["total"]
    assert total["n"] == 367
    for name, value, off in (
        ("alpha_interval", 0.394, 0.0005),
        ("pearson", 0.549, 0.0005),
        ("spearman", 0.432, 0.002),
        ("bias", 1.93, 0.005),
    ):
        assert total[name]["value"] == pytest.approx(value, abs=off), name
    assert total["leniency"]["low"] > 0.05
    # Counting sentences beats the judge.
    code = found["by_code"]["raters"][PEOPLE]
    judge = pair["columns"]["C15"]
    assert code["exact"] == pytest.approx(279 / 367, abs=1e-6)
    assert code["alpha_interval"]["value"] > judge["alpha_interval"]["value"] + 0.3
    assert abs(code["leniency"]["value"]) < abs(judge["leniency"]["value"])
    # What the release can tell about replacing people. There is one consolidated sheet an
    # answer: no second person to compare with, no replicates.
    total = found["verdict"]["gpt-4o"]["total"]
    results = {name: each["result"] for name, each in total["rules"].items()}
    assert (total["result"], results["bias"]) == ("no", "no")
    assert results["alternative"] == results["agreement"] == "not_shown"
    assert results["consistency"] == "not_shown"
    assert total["rules"]["alternative"]["missing"]["people"] == 2
