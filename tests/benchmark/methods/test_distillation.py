"""Which pairs are taken for training, by sheets written down by hand."""

import pandas as pd
import pytest

from benchmark.methods.distillation import BOTH, JUDGES, PEOPLE, Rules, choose_pairs

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


@pytest.fixture
def sheets():
    columns = ["answer", "question", "system", "rater_kind", "rater", "total"]
    return pd.DataFrame(ROWS, columns=columns).assign(scenario=1).astype({"total": float})


def taken(sheets, **rules):
    return choose_pairs(sheets, ["person"], Rules(**({"validation": 0} | rules)))


def test_with_both_the_lower_mean_counts(sheets):
    chosen = taken(sheets, basis=BOTH, least_total=17)
    assert chosen.pairs["answer"].tolist() == [1]
    assert chosen.pairs.loc[0, [PEOPLE, JUDGES, "total", "gap"]].tolist() == [17, 18, 17, 1]
    # Answer 3 has no people's sheet; answers 2 and 4 have too few points.
    assert chosen.left_out == {
        "not scored by those who count": 1,
        "a total below the least one": 2,
    }


def test_of_several_good_answers_the_best_is_taken(sheets):
    chosen = taken(sheets, basis=PEOPLE, least_total=17)
    assert chosen.pairs["answer"].tolist() == [2]
    assert chosen.left_out["a better answer to the same question"] == 1
    assert taken(sheets, basis=PEOPLE, least_total=17, each=2).pairs["answer"].tolist() == [2, 1]


def test_people_and_judges_must_not_be_far_apart(sheets):
    chosen = taken(sheets, basis=PEOPLE, least_total=17, widest_gap=2)
    assert chosen.pairs["answer"].tolist() == [1]
    assert chosen.left_out["people and judges too far apart"] == 1


def test_replicates_are_averaged_before_raters(sheets):
    assert taken(sheets, basis=JUDGES, least_total=18).pairs["total"].tolist() == [18, 18]


def test_a_question_is_in_one_part_only():
    rows = [(n, n // 2, "A", "model", 9, 19) for n in range(40)]
    columns = ["answer", "question", "system", "rater_kind", "rater", "total"]
    sheets = pd.DataFrame(rows, columns=columns).assign(scenario=1).astype({"total": float})
    rules = Rules(basis=JUDGES, least_total=1, each=2, validation=0.25)
    pairs = choose_pairs(sheets, ["person"], rules).pairs
    parts = pairs.groupby("question")["part"].nunique()
    assert (parts == 1).all()
    assert pairs.drop_duplicates("question")["part"].value_counts().to_dict() == {
        "train": 15,
        "validation": 5,
    }


def test_filters_and_empty_tables(sheets):
    assert taken(sheets, basis=JUDGES, least_total=1, systems=("B",)).pairs["answer"].tolist() == [
        2
    ]
    assert len(taken(sheets, basis=JUDGES, least_total=1, scenarios=(4,)).pairs) == 0
    assert taken(sheets.iloc[:0], basis=BOTH, least_total=1).questions == 0
