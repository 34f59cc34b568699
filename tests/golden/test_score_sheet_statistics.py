"""Agreement of the released judge with people, straight from the files: 367 linked answers."""

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cqa_site.stats.bland_altman import bland_altman
from cqa_site.stats.correlation import correlation
from cqa_site.stats.ranks.system_correlation import within_and_across
from cqa_site.stats.reliability.shuffled import concatenated_alpha, shuffled_baseline

_DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDER = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", _DEFAULT)) / "compqa"
HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = FOLDER / "judged_gpt4"
CRITERIA = [str(number) for number in range(1, 16)]
pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(
        not (HUMAN.exists() and JUDGED.exists()),
        reason="released data absent: compqa (set COUNTERPOINT_REFERENCE_DATA)",
    ),
]


def letters(text):
    return re.sub(r"[^a-z0-9]", "", text.lower())


def judged_answers(name):
    """Letters of a text, whole and shortened -> record, for one pair of one file."""
    found = {}
    for record in json.loads((JUDGED / f"{name}.json").read_text()):
        pair, text = (record["object1"], record["object2"]), letters(record["comparison"])
        for key in (text[:300], text):
            found.setdefault((*pair, key), record)
    return found


@pytest.fixture(scope="module")
def linked():
    """Sheets of people and judge, shape (367, 15) each; file and question of every answer."""
    people, judge, systems, questions = [], [], [], []
    files = {}
    with HUMAN.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle, delimiter="\t"):
            name = re.fullmatch(r"scored_(.+)_(?:comparison|summaries)", row["filename"])[1]
            answers = files.setdefault(name, judged_answers(name))
            text = letters(row["comparison"].split("\t")[0])
            pair = (row["object1"], row["object2"])
            record = answers.get((*pair, text)) or answers[(*pair, text[:300])]
            people.append([float(row[f"C{number}"] or 0) for number in CRITERIA])
            judge.append([float(record["score_dict"][number]) for number in CRITERIA])
            systems.append(name)
            questions.append((*pair, row["aspect"]))
    return np.array(people), np.array(judge), systems, questions


def test_every_row_is_linked(linked):
    people, judge, _, _ = linked
    assert people.shape == judge.shape == (367, 15)


def test_totals_correlate(linked):
    people, judge, _, questions = linked
    totals = (judge.sum(axis=1), people.sum(axis=1), questions)
    pearson = correlation(*totals)
    spearman = correlation(*totals, kind="spearman")
    assert pearson.value == pytest.approx(0.549, abs=0.0005)
    assert spearman.value == pytest.approx(0.432, abs=0.002)
    assert pearson.low < 0.549 < pearson.high
    assert correlation(*totals, kind="kendall").value < spearman.value


def test_totals_agree_less_than_they_correlate(linked):
    people, judge, _, _ = linked
    totals = (judge.sum(axis=1), people.sum(axis=1))
    assert concatenated_alpha(*totals) == pytest.approx(0.394, abs=0.0005)
    assert bland_altman(*totals).bias.value == pytest.approx(1.93, abs=0.005)


def test_most_of_the_concatenated_alpha_is_left_when_sheets_are_shuffled(linked):
    people, judge, _, _ = linked
    found = shuffled_baseline(concatenated_alpha, people, judge, n_repeats=50)
    assert found.observed == pytest.approx(0.645, abs=0.0005)
    assert found.mean == pytest.approx(0.54, abs=0.005)
    assert found.sd < 0.01


def test_systems_are_ranked_more_alike_than_answers_to_one_question(linked):
    people, judge, systems, questions = linked
    table = pd.DataFrame(
        {
            "system": systems,
            "question": [" | ".join(question) for question in questions],
            "x": judge.sum(axis=1),
            "y": people.sum(axis=1),
        }
    )
    found = within_and_across(table)
    assert found.n_systems == 27
    assert found.across.value > found.within.value
    assert found.n_questions_used + sum(found.skipped.values()) == found.n_questions
