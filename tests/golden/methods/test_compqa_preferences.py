"""Released judgements turned into 2,000 pairs: what strengths say beside mean scores.

A scripted judge prefers the answer that GPT-4o gave more points. So the pairs know less than the
scores (2,000 comparisons, and of each only the sign), and the figures say what that costs.
"""

import evalica
import numpy as np
import pandas as pd
import pytest

from benchmark.imports.methods.score_files import read_judged_file
from benchmark.leaderboard.methods import ranks
from benchmark.leaderboard.methods.board import make_board
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.preferences.methods.consistency import compare_rankings
from benchmark.preferences.methods.pair_planning import plan_pairs
from benchmark.preferences.methods.pairs import Candidate
from benchmark.preferences.methods.ranking import rank_by_preference
from benchmark.preferences.methods.verdict_tables import Verdicts
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from tests.benchmark.leaderboard import made_boards
from tests.golden.places import COMPQA as FOLDER
from tests.golden.places import ROOT, needs

JUDGED = FOLDER / "judged_gpt4"
SIZE, SEED = 2000, 1
# The leaderboard does not rank it either: 18 of its 28 questions are nobody else's.
OTHER_QUESTIONS = "yahoo"

pytestmark = needs(JUDGED)


@pytest.fixture(scope="module")
def sheets():
    """The paper's recipe: whole judgements, two values off the scale included."""
    rows = []
    for path in sorted(JUDGED.glob("*.json")):
        file = read_judged_file(path, COMPQA)
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
