"""The rule of final labels: on small tables, and on the released data."""

import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.consensus.methods.consensus import final_labels, label_votes, majority_of_others
from annotation.imports.methods.expert_workbook import match_key, read_expert_workbook
from annotation.imports.methods.final_labels import read_final_labels
from annotation.imports.methods.toloka import read_toloka
from cqa_site.stats.ratings import DuplicateRatingError

ROOT = Path(__file__).resolve().parents[4]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))


def labels_of(text):
    """ "a 3 3 0 | b 1" → one row per vote; raters are r0, r1, … by position."""
    rows = []
    for part in filter(None, text.split("|")):
        unit, *values = part.split()
        rows += [(unit, unit, f"r{at}", int(value)) for at, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["unit", "item", "rater", "value"])


NOTHING = labels_of("")


def test_the_strongest_source_decides_and_is_named():
    votes = labels_of("a 0 0 1 | b 0 0 1 | c 0 0 1 | d 2 2 2")
    table = final_labels(
        votes, labels_of("a 1 | b 1"), labels_of("a 2"), units=["a", "b", "c", "d", "e"]
    )
    assert table["provenance"].tolist() == ["adjudicated", "expert", "votes", "votes", "none"]
    assert table["label"].tolist()[:4] == [2, 1, 0, 2]
    assert pd.isna(table["label"]["e"])
    assert table["majority_label"].tolist()[:4] == [0, 0, 0, 2]


def test_a_tie_goes_to_the_higher_label_for_votes_experts_and_adjudicators_alike():
    table = final_labels(labels_of("a 0 3 1"), labels_of("a 1 2"), labels_of("a 0 2"))
    row = table.loc["a"]
    assert (row.majority_label, row.expert_label, row.adjudicated_label) == (3, 2, 2)
    assert (row.tied, row.spread, row.pattern, row.n) == (True, 3, "1-1-1", 3)


def test_votes_of_all_items_of_a_unit_are_pooled_even_by_the_same_rater():
    votes = pd.DataFrame(
        [("a", 1, "r", 0), ("a", 2, "r", 0), ("a", 1, "s", 3)],
        columns=["unit", "item", "rater", "value"],
    )
    row = final_labels(votes, NOTHING, NOTHING, compared=("dawid_skene", "mace")).loc["a"]
    assert (row.label, row.n, row.pattern) == (0, 3, "2-1")
    doubled = pd.concat([votes, votes[:1]])
    with pytest.raises(DuplicateRatingError):
        final_labels(doubled, NOTHING, NOTHING)


def test_a_unit_may_be_named_by_a_tuple():
    votes = labels_of("a 1 1").assign(unit=[("x", "y", "s")] * 2)
    assert final_labels(votes, NOTHING, NOTHING)["label"].tolist() == [1]


def test_methods_that_differ_are_flagged_and_the_aggregator_is_obeyed():
    # Two raters answer 3 whatever is shown; three careful ones agree with each other.
    careful = "".join(f"| u{at} {at % 3} {at % 3} {at % 3} 3 3" for at in range(30))
    votes = labels_of(careful)
    votes = pd.concat([votes, labels_of("x 1 1").assign(rater=["r0", "r1"])])
    votes = pd.concat([votes, labels_of("x 3 3").assign(rater=["r3", "r4"])])
    votes["item"] = votes["unit"]
    by_votes = final_labels(votes, NOTHING, NOTHING, compared=("dawid_skene",))
    by_model = final_labels(votes, NOTHING, NOTHING, "dawid_skene")
    assert by_votes.loc["x", ["label", "dawid_skene_label", "methods_differ"]].tolist() == [
        3,
        1,
        True,
    ]
    assert by_model["label"]["x"] == 1
    assert not by_model["methods_differ"]["u1"]


def test_without_votes_there_are_no_labels_rather_than_an_error():
    table = final_labels(NOTHING, NOTHING, NOTHING, compared=("mace",), units=[1, 2])
    assert table["provenance"].tolist() == ["none", "none"]
    assert (table["n"].tolist(), table["pattern"].tolist()) == ([0, 0], ["", ""])
    assert final_labels(NOTHING, NOTHING, NOTHING).empty


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_majority_and_majority_of_others_match_a_plain_count(rows):
    votes = pd.DataFrame(rows, columns=["unit", "rater", "value"]).astype(int)
    best = label_votes(votes, "majority")
    for unit, part in votes.groupby("unit"):
        counts = part["value"].value_counts()
        assert best[unit] == max(counts[counts == counts.max()].index)
    others = majority_of_others(votes)
    for index, row in votes.iterrows():
        rest = votes[(votes["unit"] == row["unit"]) & (votes["rater"] != row["rater"])]["value"]
        counts = rest.value_counts()
        expected = max(counts[counts == counts.max()].index) if len(rest) else pd.NA
        assert (others[index] is pd.NA and expected is pd.NA) or others[index] == expected


@pytest.mark.reference
@pytest.mark.skipif(not (DATA / "relevance").exists(), reason=f"no released data at {DATA}")
def test_the_released_labels_step_by_step():
    def unit(row):
        return (row.object1, row.object2, match_key(row.text))

    folder = DATA / "relevance"
    export = read_toloka(folder / "assignments_from_pool_42774131__05-02-2024.tsv")
    votes = pd.DataFrame(
        [(unit(row), row.task_id, row.worker_id, row.label) for row in export if row.is_counted],
        columns=["unit", "item", "rater", "value"],
    )
    batches = read_expert_workbook(folder / "expert_annotation.xlsx")[:3]
    overrides = pd.DataFrame(
        [
            (unit(row), sheet.position, row.label)
            for sheet in batches
            for row in sheet.rows
            if row.label is not None
        ],
        columns=["unit", "rater", "value"],
    )
    released: dict[tuple, list[int]] = {}
    for row in read_final_labels(folder / "dataset_cqa_all_gpt.json"):
        if row.text is not None:
            released.setdefault(unit(row), []).append(row.label)
    adopted = pd.DataFrame(
        [(key, "release", label) for key, labels in released.items() for label in labels],
        columns=["unit", "rater", "value"],
    )

    def matches(table):
        # Eight sentences carry two released labels; either of them is a match.
        return sum(table["label"].get(key) in labels for key, labels in released.items())

    nothing = overrides[:0]
    by_votes = final_labels(votes, nothing, nothing)
    assert by_votes["label"].value_counts().sort_index().tolist() == [49, 241, 522, 907]
    tied = by_votes.index[by_votes["tied"]]
    assert (len(by_votes), len(tied), len(released)) == (1719, 265, 1688)
    by_experts = final_labels(votes, overrides, nothing)
    settled = final_labels(votes, overrides, adopted[adopted["unit"].isin(tied)])
    assert [matches(by_votes), matches(by_experts), matches(settled)] == [1440, 1528, 1673]
