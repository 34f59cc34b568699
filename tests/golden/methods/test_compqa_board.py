"""The leaderboard of the released judgements by GPT-4o: published rows, and what ranks say."""

import pandas as pd
import pytest

from benchmark.imports.methods.judged_files import read_judged_file
from benchmark.leaderboard.methods.board import make_board
from benchmark.leaderboard.methods.figures import Board
from benchmark.leaderboard.methods.options import BoardOptions
from benchmark.leaderboard.methods.ranks import OTHER_QUESTIONS
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from tests.benchmark.leaderboard.made_boards import sheets
from tests.golden.places import COMPQA as FOLDER

JUDGED = FOLDER / "judged_gpt4"

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(not JUDGED.exists(), reason=f"released data not found at {JUDGED}"),
]


def released() -> pd.DataFrame:
    """The paper's recipe: whole judgements, two values off the scale included."""
    rows = []
    for path in sorted(JUDGED.glob("*.json")):
        file = read_judged_file(path, COMPQA)
        for each in file.answers:
            answer, points = each.answer, each.paper_points(COMPQA)
            rows.append(
                {
                    "system": file.system,
                    "scenario": file.scenario,
                    "question": f"{answer.object1} / {answer.object2} / {answer.aspect or ''}",
                    "choice": answer.position,
                    "total": sum(points.values()),
                }
            )
    return sheets(*rows)


@pytest.fixture(scope="module")
def board() -> Board:
    return make_board(released(), BoardOptions(maximum=COMPQA.maximum))


def test_only_the_system_with_questions_of_its_own_has_no_rank(board):
    ranking = board.rankings[0]
    names = [each.name for each in board.systems]
    assert {names[at]: why for at, why in ranking.unranked.items()} == {"yahoo": OTHER_QUESTIONS}
    assert ranking.scenarios == (1, 2, 3, 4)
    ranks = {names[int(each.system)]: each for each in ranking.standings}
    assert ranking.n_common == 50
    assert (ranks["gpt4"].rank_low, ranks["gpt4"].rank_high) == (1, 1)
    assert (ranks["cam"].rank_low, ranks["cam"].rank_high) == (8, 8)
    assert ranks["human"].rank_high - ranks["human"].rank_low >= 2
