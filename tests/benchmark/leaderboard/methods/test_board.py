"""The leaderboard on tables small enough to work out by hand."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from benchmark.leaderboard.methods import ranks
from benchmark.leaderboard.methods.board import (
    NO_DRAW,
    NO_PEOPLE,
    OTHER_ANSWERS,
    PART,
    SEVERAL_ROUNDS,
    UNFINISHED,
    make_board,
)
from benchmark.leaderboard.methods.changes import board_changes
from benchmark.leaderboard.methods.data import NO_SPREAD, read_scores
from benchmark.leaderboard.methods.figures import ScoreBoard
from benchmark.leaderboard.methods.options import BoardOptions
from cqa_site.stats.calibrated_mean import calibrated_mean
from cqa_site.stats.ranking import rank_systems
from tests.benchmark.leaderboard.made_boards import scores, sheets

NAN = math.nan
FOUR = {"q1": 10.0, "q2": 12.0, "q3": 14.0, "q4": 8.0}


def board(*rows, **options):
    return make_board(sheets(*rows), BoardOptions(maximum=19.0, **options))


def cell(made, system=0, scenario=1, judge="J"):
    return next(
        each
        for each in made.cells
        if (each.judge, each.system, each.scenario) == (judge, system, scenario)
    )


def test_a_cell_is_the_mean_over_questions_with_the_sd_over_answers():
    found = cell(board(*scores("A", FOUR)))
    assert found.mean == 11
    # Squares of -1, 1, 3, -3 sum to 20, over n - 1 = 3.
    assert found.sd == pytest.approx(math.sqrt(20 / 3))
    assert (found.n_answers, found.n_questions, found.asked, found.coverage) == (4, 4, 4, 1.0)
    assert (found.low, found.reason) == (
        None,
        "fewer than 10 questions have a score, too few for an interval",
    )
    # Choices are averaged inside their question first.
    rows = [*scores("A", {"q1": 6.0}), *scores("A", {"q1": 12.0}, choice=2)]
    made = board(*rows, *scores("A", {"q2": 3.0, "q3": 3.0}))
    assert cell(made).mean == (9 + 3 + 3) / 3
    assert made.paper.cells[0].mean == (6 + 12 + 3 + 3) / 4
    assert (cell(made).n_answers, cell(made).n_questions) == (4, 3)


def test_replicates_count_once_people_are_one_column_and_their_first_points_count():
    rows = [
        *scores("A", {"q1": 4.0}, rater_id="P1", rater_kind="person"),
        *scores("A", {"q1": 8.0}, rater_id="P2", rater_kind="expert"),
        *scores("A", {"q2": 10.0}, rater_id="R", rater_kind="reference"),
        *scores("A", {"q1": 1.0}),
        *scores("A", {"q1": 3.0}, replicate=1),
    ]
    made = board(*rows)
    assert [each.key for each in made.judges] == ["people", "J"]
    assert made.judges[0].raters == 3
    assert made.judges[0].name == ""
    assert cell(made, judge="people").mean == (6 + 10) / 2
    assert cell(made).mean == 2
    assert cell(made).n_answers == 1
    # Of a person's sheets of one answer the first with points counts.
    ada = {"rater_id": "P1", "rater_kind": "person"}
    rows = [
        *scores("A", {"q1": 0.0}, replicate=1, **ada),
        *scores("A", {"q1": 8.0}, replicate=0, **ada),
        *scores("A", {"q1": 10.0}, replicate=0, rater_id="P2", rater_kind="person"),
        *scores("A", {"q2": NAN}, replicate=0, **ada),
        *scores("A", {"q2": 3.0}, replicate=1, **ada),
    ]
    made = board(*rows)
    assert cell(made, judge="people").mean == (9 + 3) / 2
    # A repeat is no sheet without points; the sheet that has none is.
    assert (made.judges[0].sheets, made.judges[0].unscored) == (5, 1)


def test_unscored_answers_are_counted_and_bounded_and_another_column_has_its_own_maximum():
    made = board(*scores("A", {"q1": 10.0, "q2": 10.0, "q3": 10.0, "q4": NAN}))
    found = cell(made)
    assert (found.mean, found.coverage, found.unscored, found.asked) == (10, 0.75, 1, 4)
    assert (found.worst, found.best) == (30 / 4, 49 / 4)
    assert found.is_low
    assert made.rankings[0].unranked == {0: ranks.LOW_COVERAGE}
    assert made.counts.unscored == 1
    rows = [*scores("A", FOUR, C1=NAN), *scores("B", FOUR, C1=1.0)]
    found = make_board(sheets(*rows), BoardOptions(column="C1", maximum=1.0))
    assert cell(found, 0).n_answers == 0
    assert cell(found, 0).best == 1.0
    assert cell(found, 1).mean == 1.0
    assert found.rows[0].mean is None


def test_an_interval_is_that_of_the_ranks_and_pairs_say_by_how_much():
    generator = np.random.default_rng(5)
    rows = []
    for name in "AB":
        values = {f"q{at:02}": float(v) for at, v in enumerate(generator.integers(0, 20, 40))}
        rows += scores(name, values)
    made = board(*rows)
    by_name = {each.system: each for each in made.rankings[0].standings}
    for place in (0, 1):
        found, standing = cell(made, place), by_name[str(place)]
        assert (found.low, found.high) == pytest.approx((standing.low, standing.high))
        assert made.rows[place].low == found.low
    generator = np.random.default_rng(1)
    hard = generator.integers(0, 8, 30)
    rows = [
        *scores("B", {f"q{at:02}": float(each) for at, each in enumerate(hard)}),
        *scores("A", {f"q{at:02}": float(each + 3 + at % 2) for at, each in enumerate(hard)}),
    ]
    made = board(*rows)
    ranking = made.rankings[0]
    first = ranking.standing(0)
    assert (first.rank, first.rank_low, first.rank_high, first.tie_group) == (1, 1, 1, 1)
    assert ranking.standing(1).tie_group == 2
    assert ranking.pairs.mean == (pytest.approx(3.5),)
    assert ranking.pairs.p_holm[0] < 0.05
    by_system = pd.DataFrame(
        np.array(made.scores["J"].values).T, index=list(map(str, made.scores["J"].systems))
    )
    again = rank_systems(by_system)
    assert again.standings[0].mean == first.mean
    generator = np.random.default_rng(2)
    rows = []
    for name in "ABC":
        for scenario in (1, 2):
            n = 12 if (name, scenario) == ("B", 2) else 20
            values = generator.integers(0, 20, n).tolist()
            rows += scores(
                name, {f"q{at}": float(v) for at, v in enumerate(values)}, scenario=scenario
            )
    made = board(*rows)
    means = {each.system: each.mean for each in made.rows}
    pairs = made.rankings[0].pairs
    assert len(pairs.mean) == 3
    for first, second, difference in zip(pairs.first, pairs.second, pairs.mean, strict=True):
        assert means[first] - means[second] == pytest.approx(difference)
    assert {each.n_used for each in made.rows} == {12}


TEN = {f"q{at}": float(10 + at % 4) for at in range(10)}


def three_systems(*more):
    """A is best, B next, C last; each with ten questions in scenarios 1 to 3."""
    rows = []
    for name, more_points in (("A", 3), ("B", 2), ("C", 0)):
        values = {q: v + more_points for q, v in TEN.items()}
        rows += [row for n in (1, 2, 3) for row in scores(name, values, scenario=n)]
    return board(*rows, *more, least_questions=5)


def test_one_answer_of_another_scenario_moves_no_mean_interval_or_rank():
    before = three_systems()
    one = scores("A", {"q1": 15.0}, scenario=4)
    after = three_systems(*one, *scores("B", {"q1": 1.0, "q2": 2.0}, scenario=4))
    figures = ("mean", "low", "high", "scenarios", "n_used", "is_common")
    for old, new in zip(before.rows, after.rows, strict=True):
        assert [getattr(old, each) for each in figures] == [getattr(new, each) for each in figures]
    assert after.rankings[0].standings == before.rankings[0].standings
    assert after.rankings[0].scenarios == (1, 2, 3)
    thin = cell(after, 0, 4)
    assert (thin.is_thin, thin.mean, thin.low) == (True, 15.0, None)
    assert "fewer than 5 questions" in thin.reason
    assert cell(after, 0, 1).is_thin is False
    # No mean stands without its interval or the reason.
    made = three_systems(*scores("D", {"q1": 4.0, "q2": 5.0}))
    bare = [each for each in made.rows if each.low is None]
    assert [(each.system, each.mean, each.reason) for each in bare] == [(3, None, ranks.TOO_THIN)]
    flat = board(*scores("A", dict.fromkeys(TEN, 7.0))).rows[0]
    assert (flat.mean, flat.low, flat.reason) == (7.0, None, NO_SPREAD)


def test_groups_of_a_ranked_system_add_up_to_its_mean():
    rows = []
    for at, name in enumerate("AB"):
        for question, total in TEN.items():
            one = {"G1": total - 3 - at, "G2": 3.0 + at}
            rows += scores(name, {question: total}, **one)
    rows += scores("A", {"q99": 19.0}, G1=19.0, G2=0.0)
    made = board(*rows, parts={"G1": 15.0, "G2": 4.0})
    for row in made.rows:
        groups = [made.parts["J"][part][row.system] for part in ("G1", "G2")]
        assert sum(each[0] for each in groups) == pytest.approx(row.mean)
        assert groups[0][2] < groups[0][0] < groups[0][3]
    # The same everywhere: no interval.
    assert made.parts["J"]["G2"][0][2:] == (None, None)


def test_the_papers_recipe_takes_sheets_as_they_came():
    given = json.dumps({"C1": 2, "C2": 3})
    rows = [
        *scores("A", {"q1": 4.0, "q2": 8.0}),
        *scores("A", {"q2": 9.0}, replicate=1),
        *scores("A", {"q3": NAN}, off_scale_points=given),
        *scores("A", {"q4": NAN}, off_scale_points=""),
        *scores("A", {"q1": 1.0}, scenario=2),
        *scores("A", {"q1": 6.0}, rater_id="R1", rater_kind="reference"),
        *scores("A", {"q1": 7.0}, rater_id="R2", rater_kind="reference"),
        *scores("A", {"q1": 2.0}, rater_id="P", rater_kind="person"),
        *scores("A", {"q5": 3.0}, rater_id="P", rater_kind="person"),
    ]
    made = board(*rows, criteria={"total": ("C1", "C2")}).paper
    people, one, two = made.cells
    assert made.has_given
    assert (one.mean, one.n, one.dropped, one.off_scale) == ((4 + 8 + 9 + 5) / 4, 4, 1, 1)
    assert one.sd == pytest.approx(math.sqrt(sum((x - 6.5) ** 2 for x in (4, 8, 9, 5)) / 3))
    assert (two.mean, two.sd, two.n) == (1.0, None, 1)
    # What people settled stands for them; where they did not, single sheets count.
    assert (people.mean, people.n) == ((6 + 7 + 3) / 3, 3)
    row = made.rows[1]
    assert (row.mean, row.cells, row.n) == ((6.5 + 1) / 2, 2, 5)
    assert made.rows[0].mean == people.mean


def test_systems_without_a_shared_scenario_or_enough_common_questions_are_not_ranked():
    rows = []
    for name in "ABC":
        rows += scores(name, FOUR)
        rows += scores(name, FOUR, scenario=2) if name != "C" else []
    rows += scores("Human", FOUR, scenario=0)
    made = board(*rows)
    ranking = made.rankings[0]
    assert ranking.scenarios == (1, 2)
    assert ranking.unranked == {2: ranks.OTHER_SCENARIOS}
    assert {each.system for each in ranking.standings} == {"0", "1", "3"}
    other = {"x1": 1.0, "x2": 2.0, "x3": 3.0}
    made = board(*scores("A", FOUR), *scores("B", FOUR), *scores("C", other))
    assert made.rankings[0].unranked == {2: ranks.OTHER_QUESTIONS}
    assert made.rankings[0].n_common == 4
    # Without a rank there is a mean over the own questions.
    assert [each.is_common for each in made.rows] == [True, True, False]
    assert (made.rows[2].mean, made.rows[2].n_used) == (2.0, 3)
    for first, second, reason in (
        (FOUR, {f"x{at}": value for at, value in enumerate(FOUR.values())}, ranks.OTHER_QUESTIONS),
        ({"q1": 1.0}, {"q1": 2.0}, ranks.TOO_THIN),
    ):
        ranking = board(*scores("A", first), *scores("B", second)).rankings[0]
        assert (ranking.reason, ranking.standing(0)) == (ranks.NOTHING_SHARED, None)
        assert ranking.unranked == {0: reason, 1: reason}


def test_length_is_paid_for_at_a_hundredth_of_a_point_a_character():
    # Points are 1 for each 100 characters plus 2 for system B, on top of the question.
    rows = []
    for name, bonus in (("A", 0), ("B", 2)):
        for at in range(6):
            length = 200 + 100 * ((at * (1 + bonus)) % 4)
            total = at + bonus + length / 100
            rows += scores(name, {f"q{at}": total}, characters=length)
    found = board(*rows).lengths[0]
    assert found.within_systems == pytest.approx(1.0)
    assert found.means[1] - found.means[0] == pytest.approx(2.0)
    alike = board(*scores("A", FOUR), *scores("B", FOUR)).lengths[0]
    assert alike.slope is None
    assert "do not differ" in alike.reason


def human(chance, n, **more):
    return {"rater_kind": "person", "rater_id": "P", "probability": chance, "round": 3} | more


def calibrating(n=40, every=4, chance=0.25, **more):
    judged = {f"q{at:02}": float(at % 7) for at in range(n)}
    rows = scores("A", judged, probability=NAN)
    for at in range(0, n, every):
        rows += scores("A", {f"q{at:02}": at % 7 + 1.0 + at % 2}, **human(chance, n), **more)
    drawn = len(range(0, n, every))
    return rows, {"drawn": drawn, "known": drawn, "stands_for": drawn / chance}


JUDGED = [float(at % 7) for at in range(40)]
BY_PEOPLE = [at % 7 + 1.0 + at % 2 if at % 4 == 0 else NAN for at in range(40)]


def test_a_random_part_by_people_calibrates_the_judge_by_clusters_of_choices():
    rows, draw = calibrating()
    made = board(*rows, draws={3: draw})
    found = made.calibrated[0]
    expected = calibrated_mean(JUDGED, BY_PEOPLE, 0.25).estimate
    assert made.why_not_calibrated is None
    assert found.mean == pytest.approx(expected.value)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.n_both == 10
    # Several choices of a question are one cluster.
    more = [{**row, "choice": 2, "total": row["total"] + 1} for row in rows]
    both = {name: 2 * value for name, value in draw.items()}
    found = board(*rows, *more, draws={3: both}).calibrated[0]
    scored = [[*each, *(value + 1 for value in each)] for each in (JUDGED, BY_PEOPLE)]
    clusters = [*range(40), *range(40)]
    expected = calibrated_mean(*scored, 0.25, clusters=clusters).estimate
    assert found.mean == pytest.approx(expected.value)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    apart = calibrated_mean(*scored, 0.25).estimate
    assert found.high - found.low > 1.2 * (apart.high - apart.low)
    assert (found.n_both, found.to_halve) == (20, None)


def test_nothing_is_calibrated_without_a_known_and_finished_draw_of_one_round():
    rows, draw = calibrating()
    for change, reason in (
        ({"known": 9}, NO_DRAW),
        ({"drawn": 12, "known": 12}, UNFINISHED),
        ({"stands_for": 400.0}, OTHER_ANSWERS),
    ):
        (found,) = board(*rows, draws={3: draw | change}).calibrated
        assert (found.mean, found.reason) == (None, reason)
    rows, draw = calibrating()
    drawn = {"draws": {3: draw}}
    kept = [row for row in rows if row["question"] < "q20"]
    assert board(*kept, **drawn, is_part=True).why_not_calibrated == PART
    assert board(*scores("A", FOUR)).why_not_calibrated == NO_PEOPLE
    imported = [{**row, "round": 0} for row in rows]
    assert board(*imported, **drawn).why_not_calibrated == NO_DRAW
    other = scores("A", {"q01": 5.0}, **(human(0.25, 1) | {"round": 4, "rater_id": "Q"}))
    assert board(*rows, *other, **drawn).why_not_calibrated == SEVERAL_ROUNDS
    # With answers of other conditions a draw stands for more than is shown.
    rows = [{**row, **under("v1")} for row in rows]
    assert board(*rows, **drawn).why_not_calibrated is None
    other = scores("A", {"q01": 5.0}, choice=2, **under("v2", is_plain=0))
    assert board(*rows, *other, **drawn).why_not_calibrated == PART
    rows = [
        *scores("A", {"q1": 5.0}, **human(0.5, 1)),
        *scores("A", {"q1": 5.0}, **(human(NAN, 1) | {"round": 0, "rater_id": "Q"})),
    ]
    found = read_scores(sheets(*rows), BoardOptions(maximum=19.0))
    assert np.isnan(found.probability).all()
    assert found.round.tolist() == [-1]


def test_what_stands_beside_the_board_is_plain_and_no_table_too_small():
    rows = [
        *scores("A", {"q1": 3.0}, C1=1.0, cost_micro=5.0, seconds=2.0),
        *scores("A", {"q2": 4.5}, C1=NAN, cost_micro=7.0, seconds=4.0),
    ]
    made = board(*rows, parts={"C1": 1.0}, least_questions=2)
    assert made.parts["J"]["C1"] == ((1.0, 1, None, None),)
    assert made.costs.judges["J"] == (6.0, 3.0, 2)
    assert made.costs.systems == ((None, None, 0),)
    counts = made.distributions["J"][0]
    assert len(counts) == 20
    assert (counts[3], counts[4], sum(counts)) == (1, 1, 2)
    assert made.profile["J"] == ((3.75, 2, None, None),)
    # People beside a judge only on answers that both scored.
    rows += scores("A", {"q1": 2.0, "q9": 19.0}, rater_kind="person", rater_id="P")
    (found,) = board(*rows).beside
    assert (found.people, found.value, found.n) == (2, 3, 1)
    rows, draw = calibrating()
    empty = make_board(sheets(*scores("A", FOUR)).iloc[:0], BoardOptions(maximum=19.0))
    assert empty.cells == empty.rows == empty.judges == ()
    for made in (board(*rows, draws={3: draw}), empty):
        text = json.dumps(made.as_dict(), allow_nan=False)
        assert json.loads(text) == made.as_dict()
        assert ScoreBoard.from_dict(json.loads(text)).as_dict() == made.as_dict()


def test_what_moved_between_two_boards():
    before = board(*scores("A", FOUR), *scores("B", {q: v + 1 for q, v in FOUR.items()}))
    better = {q: v + 2 for q, v in FOUR.items()}
    after = board(
        *scores("A", better),
        *scores("B", {q: v + 1 for q, v in FOUR.items()}),
        *scores("C", {"q1": 1.0}),
    )
    found = board_changes(before, after)
    assert found["systems"] == {"added": ["C"], "gone": []}
    assert [each["system"] for each in found["moved"]] == ["A", "B"]
    assert found["moved"][0] == {"judge": "J", "system": "A", "mean": [11, 13], "rank": [2, 1]}
    assert board_changes(before, before)["moved"] == []


def under(name, *, is_plain=1):
    return {"condition_id": f"id-{name}", "condition": name, "is_plain": is_plain}


def test_a_cell_is_about_one_condition_and_names_the_others():
    rows = [
        *scores("A", FOUR, choice=1, **under("v2")),
        *scores("A", {"q1": 19.0}, choice=2, **under("v1")),
        *scores("A", dict.fromkeys((*FOUR, "q5"), 1.0), choice=3, **under("cold", is_plain=0)),
        *scores("A", {"q1": 19.0}, choice=2, rater_id="K", **under("v1")),
        *scores("B", FOUR, choice=1, **under("v1")),
    ]
    made = board(*rows)
    assert cell(made).mean == 11
    named = [(each.system, each.name, each.n_questions, each.is_shown) for each in made.conditions]
    assert named[:2] == [(0, "v2", 4, True), (0, "v1", 1, False)]
    assert named[2:] == [(0, "cold", 5, False), (1, "v1", 4, True)]
    # The choice is one for all judges, so this one has nothing to say here.
    assert [each.key for each in made.judges] == ["J"]
    assert made.paper.cells[0].n == 4
    # Without any condition nothing is left out.
    made = board(*scores("A", FOUR), *scores("A", {"q1": 5.0}, choice=2))
    assert (made.conditions, cell(made).n_answers) == ((), 5)
