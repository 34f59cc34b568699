"""Which pairs are taken for training, by sheets written down by hand."""

import pandas as pd
import pytest

from benchmark.distillation.methods import BOTH, JUDGES, PEOPLE, Rules, choose_pairs

# answer, question, system, rater kind, rater, total
ROWS = [
    (1, 1, "A", "person", 1, 18),
    (1, 1, "A", "person", 2, 16),
    (1, 1, "A", "model", 9, 18),
    (2, 1, "B", "person", 1, 19),
    (2, 1, "B", "model", 9, 12),
    (3, 2, "A", "model", 9, 17),
    (3, 2, "A", "model", 9, 19),
    (4, 3, "A", "person", 1, 10),
    (4, 3, "A", "model", 9, 10),
    (5, 3, "B", "person", 1, None),
]


COLUMNS = ["answer", "question", "system", "rater_kind", "rater", "total"]


def table(rows):
    made = pd.DataFrame(rows, columns=COLUMNS).astype({"total": float})
    return made.assign(scenario=1, group=made["question"], rater_id=made["rater"].astype(str))


@pytest.fixture
def sheets():
    return table(ROWS)


def taken(sheets, **rules):
    return choose_pairs(sheets, ["person"], Rules(**({"validation": 0} | rules)))


def test_of_several_good_answers_the_best_or_the_lower_mean_counts(sheets):
    chosen = taken(sheets, basis=BOTH, least_total=17)
    assert chosen.pairs["answer"].tolist() == [1]
    assert chosen.pairs.loc[0, [PEOPLE, JUDGES, "total", "gap"]].tolist() == [17, 18, 17, 1]
    # Answer 3 has no people's sheet; answers 2 and 4 have too few points.
    assert chosen.left_out == {
        "not scored by those whose points count": 1,
        "a total below the minimum": 2,
    }
    chosen = taken(sheets, basis=PEOPLE, least_total=17, each=1)
    assert chosen.pairs["answer"].tolist() == [2]
    assert chosen.left_out["a better answer to the same question"] == 1
    assert taken(sheets, basis=PEOPLE, least_total=17, each=2).pairs["answer"].tolist() == [2, 1]
    # Without a limit all good answers count, as in the paper.
    every = taken(sheets, basis=PEOPLE, least_total=17)
    assert every.pairs["answer"].tolist() == [2, 1]
    assert "a better answer to the same question" not in every.left_out
    # People and judges must not be far apart.
    chosen = taken(sheets, basis=PEOPLE, least_total=17, widest_gap=2)
    assert chosen.pairs["answer"].tolist() == [1]
    assert chosen.left_out["people and judges too far apart"] == 1


def test_replicates_are_averaged_and_filters_and_chosen_judges_taken(sheets):
    assert taken(sheets, basis=JUDGES, least_total=18).pairs["total"].tolist() == [18, 18]
    of_b = taken(sheets, basis=JUDGES, least_total=1, systems=("B",))
    assert of_b.pairs["answer"].tolist() == [2]
    assert len(taken(sheets, basis=JUDGES, least_total=1, scenarios=(4,)).pairs) == 0
    assert taken(sheets.iloc[:0], basis=BOTH, least_total=1).questions == 0
    other = sheets[sheets["rater"] == 9].assign(rater=8, rater_id="8", total=12.0)
    both = pd.concat([sheets, other])
    assert taken(both, basis=JUDGES, least_total=17).pairs["answer"].tolist() == []
    chosen = taken(both, basis=JUDGES, least_total=17, judges=("9",))
    assert chosen.pairs["answer"].tolist() == [1, 3]
    # The mean of several that were chosen.
    pair = taken(both, basis=JUDGES, least_total=15, judges=("8", "9"))
    assert pair.pairs["total"].tolist() == [15, 15]


def test_a_question_is_in_one_part_only_and_those_of_a_group_stay_together(sheets):
    rows = table([(n, n // 2, "A", "model", 9, 19) for n in range(40)])
    rules = Rules(basis=JUDGES, least_total=1, each=2, validation=0.25)
    pairs = choose_pairs(rows, ["person"], rules).pairs
    assert (pairs.groupby("question")["part"].nunique() == 1).all()
    sizes = pairs.drop_duplicates("question")["part"].value_counts().to_dict()
    assert sizes == {"train": 15, "validation": 5}
    together = sheets.assign(group="a pair of objects")
    parts = choose_pairs(together, ["person"], Rules(basis=JUDGES, least_total=1, validation=0.5))
    assert parts.pairs["part"].nunique() == 1
    unfit = choose_pairs(sheets, ["person"], Rules(basis=JUDGES, least_total=17), unfit={3})
    assert unfit.pairs["answer"].tolist() == [1]
    assert unfit.left_out["it cites an argument that is not stored"] == 1
