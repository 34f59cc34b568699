"""The rule of final labels on small tables."""

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from annotation.consensus.methods import final_labels, label_votes, majority_of_others
from cqa_site.stats.ratings import DuplicateRatingError


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
    table = final_labels(votes, labels_of("a 1 | b 1"), labels_of("a 2"), units=[*"abcde"])
    assert table["provenance"].tolist() == ["adjudicated", "expert", "votes", "votes", "none"]
    assert table["label"].tolist()[:4] == [2, 1, 0, 2]
    assert pd.isna(table["label"]["e"])
    assert table["majority_label"].tolist()[:4] == [0, 0, 0, 2]
    # A tie goes to the higher label for votes, experts and adjudicators alike.
    row = final_labels(labels_of("a 0 3 1"), labels_of("a 1 2"), labels_of("a 0 2")).loc["a"]
    assert (row.majority_label, row.expert_label, row.adjudicated_label) == (3, 2, 2)
    assert (row.tied, row.spread, row.pattern, row.n) == (True, 3, "1-1-1", 3)
    # Without votes there are no labels rather than an error.
    table = final_labels(NOTHING, NOTHING, NOTHING, compared=("mace",), units=[1, 2])
    assert table["provenance"].tolist() == ["none", "none"]
    assert (table["n"].tolist(), table["pattern"].tolist()) == ([0, 0], ["", ""])
    assert final_labels(NOTHING, NOTHING, NOTHING).empty


def test_votes_of_all_items_of_a_unit_are_pooled_even_by_the_same_rater():
    rows = [("a", 1, "r", 0), ("a", 2, "r", 0), ("a", 1, "s", 3)]
    votes = pd.DataFrame(rows, columns=["unit", "item", "rater", "value"])
    row = final_labels(votes, NOTHING, NOTHING, compared=("dawid_skene", "mace")).loc["a"]
    assert (row.label, row.n, row.pattern) == (0, 3, "2-1")
    with pytest.raises(DuplicateRatingError):
        final_labels(pd.concat([votes, votes[:1]]), NOTHING, NOTHING)


def test_methods_that_differ_are_flagged_and_the_aggregator_is_obeyed():
    # Two raters answer 3 whatever is shown; three careful ones agree with each other.
    careful = "".join(f"| u{at} {at % 3} {at % 3} {at % 3} 3 3" for at in range(30))
    low = labels_of("x 1 1").assign(rater=["r0", "r1"])
    high = labels_of("x 3 3").assign(rater=["r3", "r4"])
    votes = pd.concat([labels_of(careful), low, high])
    votes["item"] = votes["unit"]
    by_votes = final_labels(votes, NOTHING, NOTHING, compared=("dawid_skene",))
    by_model = final_labels(votes, NOTHING, NOTHING, "dawid_skene")
    differing = by_votes.loc["x", ["label", "dawid_skene_label", "methods_differ"]]
    assert differing.tolist() == [3, 1, True]
    assert by_model["label"]["x"] == 1
    assert not by_model["methods_differ"]["u1"]


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
