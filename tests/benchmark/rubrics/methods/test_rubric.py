"""Rubrics: what fits together, what points are, JSON and hash, and the rubric of the paper."""

import json
import re
from dataclasses import replace

import pytest

from benchmark.rubrics.methods.rubric import (
    COMPQA,
    FEWEST_SENTENCES,
    MOST_SENTENCES,
    RubricError,
    canonical_json,
    rubric_from_dict,
    rubric_sha256,
    rubric_to_dict,
)
from tests.benchmark.small_rubric import SMALL, changed, stored

# -- what fits together -----------------------------------------------------------------------


TWO_LEVELS = [{"points": 0, "text": "a"}, {"points": 1, "text": "b"}]
BROKEN = [
    (changed(2, name=" "), "C2", "name"),
    (changed(2, asks="?" * 1001), "C2", "asks"),
    (changed(2, asks=None), "C2", "asks"),
    (changed(3, key="C4"), "C3", "key"),
    (changed(1, group="facts "), "C1", "group"),
    *((changed(1, maximum=maximum), "C1", "maximum") for maximum in (3, 0, True)),
    (changed(1, maximum=2), "C1", "levels"),
    (changed(1, levels=TWO_LEVELS[::-1]), "C1", "levels"),
    (changed(1, levels=[{"points": 0, "text": ""}, TWO_LEVELS[1]]), "C1", "level 0"),
    (changed(1, levels=[{"points": 0}, TWO_LEVELS[1]]), "C1", "text"),
    (changed(1, levels="none"), "C1", "levels"),
    *((changed(3, counted_by=by), "C3", "counted_by") for by in ("letters", 4)),
    (changed(3, colour="red"), "C3", "colour"),
    (stored(name=""), None, "name"),
    (stored(criteria=[]), None, "criteria"),
    (stored(maximum=5), None, "maximum"),
    (stored(allows_halves=1), None, "allows_halves"),
    (stored(version=2), None, "version"),
    (stored(criteria=["C1"]), "C1", ""),
]


def test_what_is_wrong_is_named():
    for broken, criterion, field in BROKEN:
        with pytest.raises(RubricError) as raised:
            rubric_from_dict(broken)
        assert (raised.value.criterion, raised.value.field) == (criterion, field)
        assert field in str(raised.value)


def group(key="form", name="Form", maximum=2):
    return {"key": key, "name": name, "maximum": maximum}


def test_groups_add_up_and_their_keys_are_no_other_columns():
    for groups in (
        [group(maximum=3), group("facts")],
        [group(), group("facts"), group("empty", maximum=0)],
        [group(), group("facts"), group("form")],
        [group(name=""), group("facts")],
    ):
        with pytest.raises(RubricError, match="group"):
            rubric_from_dict(stored(groups=groups))
    keys = ("total", "C1", "C3", "answer", "rater_id", "two words", "a\r\nb", "=1+1", "<b>")
    for key in keys:
        made = stored(groups=[group(key), group("facts")])
        for criterion in made["criteria"]:
            if criterion["group"] == "form":
                criterion["group"] = key
        with pytest.raises(RubricError, match="this key cannot be used"):
            rubric_from_dict(made)


# -- points -----------------------------------------------------------------------------------


def test_points_off_the_scale_are_refused_and_halves_where_they_are_not_allowed():
    for points in (-1, 2, 0.5, 1.5, "1", None, True, float("nan"), float("inf")):
        with pytest.raises(RubricError) as raised:
            SMALL.check_points("C1", points)
        assert (raised.value.criterion, raised.value.field) == ("C1", "points")
    halves = replace(SMALL, allows_halves=True)
    assert [halves.check_points("C2", each) for each in (0, 0.5, 1, 1.5, 2)] == [0, 0.5, 1, 1.5, 2]
    for points in (0.25, 2.5, -0.5):
        with pytest.raises(RubricError, match="half"):
            halves.check_points("C2", points)


def test_a_total_needs_every_criterion_and_a_group_only_its_own():
    sheet = {"C1": 1, "C2": None, "C3": 0}
    assert SMALL.total(sheet) is None
    assert SMALL.group_totals(sheet) == {"form": 1, "facts": None}
    assert SMALL.total({**sheet, "C2": 2}) == 3
    assert SMALL.total({"C1": 0, "C2": 0, "C3": 0}) == 0
    with pytest.raises(RubricError, match="C4"):
        SMALL.total({"C1": 1, "C2": 1, "C3": 1, "C4": 1})


# -- JSON and hash ----------------------------------------------------------------------------


@pytest.mark.parametrize("rubric", [SMALL, COMPQA, replace(SMALL, allows_halves=True)])
def test_a_rubric_comes_back_from_json(rubric):
    back = rubric_from_dict(json.loads(canonical_json(rubric)))
    assert back == rubric
    assert rubric_sha256(back) == rubric_sha256(rubric)


def test_every_word_changes_the_hash_and_the_order_of_fields_does_not():
    wanted = '{"allows_halves":false,"criteria":[{"asks":"Has it a title?","counted_by":null,'
    assert canonical_json(SMALL).startswith(wanted)
    turned = dict(reversed(rubric_to_dict(SMALL).items()))
    hashes = {
        rubric_sha256(SMALL),
        rubric_sha256(rubric_from_dict(turned)),
        rubric_sha256(replace(SMALL, name="Little")),
        rubric_sha256(replace(SMALL, allows_halves=True)),
        rubric_sha256(rubric_from_dict(changed(1, asks="Has it a title ?"))),
        rubric_sha256(rubric_from_dict(changed(3, counted_by=None))),
    }
    assert len(hashes) == 5
    assert rubric_sha256(rubric_from_dict(turned)) == rubric_sha256(SMALL)


# -- the paper's ------------------------------------------------------------------------------


def test_the_length_criterion_names_the_numbers_of_sentences_that_the_code_counts_by():
    length = next(one for one in COMPQA.criteria if one.counted_by == "sentences")
    for level in length.levels:
        assert re.findall(r"\d+", level.text) == [str(FEWEST_SENTENCES), str(MOST_SENTENCES)]
