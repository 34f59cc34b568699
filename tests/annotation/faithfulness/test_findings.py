"""Sentences about faithfulness and editing say no more than a paired test shows."""

from types import SimpleNamespace

import numpy as np

from annotation.faithfulness.reports import edited
from annotation.faithfulness.reports.edited import (
    edited_finding,
    experts_finding,
    faithfulness_finding,
)
from cqa_site.stats.means import clustered_mean, paired_tests

QUESTIONS = 12


def group(name, values):
    mean = clustered_mean(range(len(values)), values, [1] * len(values))
    about = {"condition_name": "Plain", "is_edited": False, "measures": {"f1": mean}}
    return SimpleNamespace(name=name, by_question={"f1": dict(enumerate(values))}, **about)


def test_groups_whose_intervals_overlap_are_told_apart_by_their_questions():
    hard = np.linspace(0, 0.8, QUESTIONS)
    wobble = 0.01 * (np.arange(QUESTIONS) % 3)
    low, high = group("Low", hard), group("High", hard + 0.1 + wobble)
    assert low.measures["f1"].high > high.measures["f1"].low
    found = faithfulness_finding([low, high])
    assert found.says.startswith("High (Plain) cites the relevant arguments best: F1 0.51")
    assert found.sure.endswith(" Paired t test.")


def test_the_highest_of_groups_that_no_test_tells_apart_is_called_just_that():
    rng = np.random.default_rng(3)
    found = faithfulness_finding([group(name, rng.random(QUESTIONS)) for name in "ABC"])
    assert " has the highest F1 in these data: " in found.says
    needed = " common questions would be needed to show the clearest of these differences (80 %"
    for words in (
        *("the data do not show that the highest value exceeds", f"{needed} power)."),
        "Holm's correction for 3 pairs",
    ):
        assert words in found.sure
    assert "chance" not in found.sure
    few = faithfulness_finding([group("A", [0.9, 0.8]), group("B", [0.1, 0.2])])
    assert "A verdict needs 10 or more common questions." in few.sure


def summary(differences):
    """One measure for each row of differences, one text a question."""

    def pair(question, after):
        before = SimpleNamespace(question_id=question)
        return SimpleNamespace(edited=SimpleNamespace(before=before), sides=(0.0, after))

    changes = [
        edited._change("f1", f"M{at}", [*map(pair, range(len(row)), row)], lambda each: each.sides)
        for at, row in enumerate(differences)
    ]
    distance = changes[0].difference
    return SimpleNamespace(n=len(differences[0]), distance=distance, checks=[], changes=changes)


def test_eighteen_measures_are_one_family():
    rng = np.random.default_rng(5)
    nothing = rng.normal(size=(18, 20))
    alone = [paired_tests([row])[0].direction for row in nothing]
    assert set(alone) != {"not_shown"}
    sure = edited_finding(summary(nothing)).sure
    assert sure.startswith("No measure is shown to have changed. Measures tested together over ")
    assert "questions would be needed to show the clearest of these differences" in sure
    nothing[4] += 3
    sure = edited_finding(summary(nothing)).sure
    assert sure.startswith("Shown to have changed: M4 0.000 → ")
    assert "Each interval below is for one measure alone" in sure
    few = edited_finding(summary(nothing[:, :5])).sure
    assert few == "A verdict needs 10 or more questions."


def test_experts_are_compared_answer_by_answer():
    wobble = 0.02 * np.array([1, -1, 2, -2, 0.5, -0.5, 1, -1, 1, -1])
    for shift, says in (
        (0.1, "more similar to each other (0.95) than"),
        (-0.1, "less similar to each other (0.75) than"),
        (0.0, "The data do not show which is higher"),
    ):
        alike = [(0.85 + shift + each, 0.85) for each in wobble]
        found = experts_finding(SimpleNamespace(alike=alike))
        assert says in found.says
        assert "Mean cosines over 10 calibration answers" in found.sure
    assert experts_finding(SimpleNamespace(alike=[])) is None
