"""What a judge reads of a rubric."""

import json
import re

import pytest

from benchmark.judges.methods.judgement_reading import read_judgement
from benchmark.judges.methods.texts import criteria_text, format_text, points_text
from benchmark.rubrics.methods.compqa_rubric import COMPQA


def test_every_word_of_the_rubric_is_there():
    text = criteria_text(COMPQA)
    for criterion in COMPQA.criteria:
        assert f"{criterion.key} ({criterion.name}): {criterion.asks}" in text
        for level in criterion.levels:
            assert f"  {level.points}: {level.text} For example: {level.example}" in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Structure", "## Relevance", "## Quality",
    ]  # fmt: skip


def test_a_group_is_asked_for_by_itself():
    text = criteria_text(COMPQA, "relevance")
    assert re.findall(r"^C\d+", text, re.MULTILINE) == ["C8", "C9", "C10"]
    with pytest.raises(KeyError):
        criteria_text(COMPQA, "style")


@pytest.mark.parametrize("reasons", [True, False])
def test_the_format_filled_in_is_a_judgement(reasons):
    text = format_text(COMPQA.criteria, reasons=reasons)
    filled = re.sub(r"<one short sentence>", "Because.", text)
    filled = re.sub(r"<0 (or|to) (\d)>", r"\2", filled)
    assert read_judgement(filled, "stop", COMPQA).total == 19


@pytest.mark.parametrize("reasons", [True, False])
def test_an_example_reads_as_what_it_says(reasons):
    points = dict.fromkeys(COMPQA.keys, 1.0)
    notes = dict.fromkeys(COMPQA.keys, "Well done.")
    text = points_text(points, notes, COMPQA.criteria, reasons=reasons)
    assert read_judgement(text, "stop", COMPQA).total == 15
    assert ("Well done." in text) is reasons


def test_missing_reasons_are_not_made_up():
    points = dict.fromkeys(COMPQA.keys, 1.0)
    text = points_text(points, {"C1": "Good."}, COMPQA.of_group("relevance"), reasons=True)
    assert text == "Points: C8 1, C9 1, C10 1"
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
