"""May a judge take the place of people: every rule with each of its three results."""

import pytest

from benchmark.agreement.methods import verdict as rules
from benchmark.agreement.methods.agreement import Options, agreement
from benchmark.rubrics.methods.compqa_rubric import COMPQA

from ..made_sheets import noisy, sheets_of, together, truth


def figure(value, low=None, high=None, n=100, reason=""):
    return {"value": value, "low": low, "high": high, "n": n, "reason": reason}


def test_as_alternative():
    shown = {"omega": 1.0, "rho": 0.9, "n": 50, "caution": "", "reason": "few"}
    asked = shown | {"each": [50, 12]}
    assert rules.by_alternative(asked | {"passed": True}, 2)["result"] == "yes"
    assert rules.by_alternative(asked | {"passed": False}, 2)["result"] == "no"
    lacking = rules.by_alternative(asked | {"passed": None}, 2)
    assert (lacking["result"], lacking["missing"]) == ("not_shown", {"answers": 18})
    alone = rules.by_alternative(asked | {"passed": None, "each": [50]}, 1)
    assert alone["missing"] == {"people": 1, "answers": 30}


@pytest.mark.parametrize(
    ("difference", "result"),
    [
        (figure(0.02, -0.05, 0.09), "yes"),
        (figure(-0.05, -0.08, -0.02), "yes"),
        (figure(-0.05, -0.15, 0.05), "not_shown"),
        (figure(-0.3, -0.4, -0.2), "no"),
        (figure(0.3, 0.2, 0.4, n=29), "not_shown"),
        (figure(None, n=0, reason="no item was rated by two"), "not_shown"),
        (figure(0.0, reason="so there is no spread"), "yes"),
    ],
)
def test_agreement(difference, result):
    assert rules.by_agreement(difference)["result"] == result


@pytest.mark.parametrize(
    ("found", "result"),
    [
        (figure(0.01, -0.02, 0.04), "yes"),
        (figure(0.04, 0.01, 0.07), "not_shown"),
        (figure(0.09, 0.06, 0.12), "no"),
        (figure(-0.09, -0.12, -0.06), "no"),
        (figure(0.2, reason="so there is no spread"), "no"),
        (figure(0.0, -0.01, 0.01, n=29), "not_shown"),
    ],
)
def test_bias(found, result):
    assert rules.by_bias(found)["result"] == result


def test_how_many_more_would_show_the_bias():
    # Half a width of .06 has to become .03: four times as many answers.
    assert rules.by_bias(figure(0.02, -0.04, 0.08))["missing"] == {"answers": 300}
    assert rules.by_bias(figure(0.06, 0.03, 0.09))["missing"] == {}


def test_unscored():
    assert rules.by_unscored(0, 72)["result"] == "yes"
    assert rules.by_unscored(40, 100)["result"] == "no"
    few = rules.by_unscored(0, 71)
    assert (few["result"], few["missing"]) == ("not_shown", {"replies": 1})


def test_consistency():
    def repeats(single, exact=0.5, n=40, k=2):
        reliability = figure(single, n=n, reason="" if single else "alike")
        split = {"n": n, "exact": exact, "reliability": reliability}
        return {"columns": {"total": split}, "each": k}

    assert rules.by_consistency(repeats(0.7), "total")["result"] == "yes"
    assert rules.by_consistency(repeats(0.7, k=1.0), "total")["result"] == "not_shown"
    assert rules.by_consistency(repeats(0.4), "total")["result"] == "no"
    middling = rules.by_consistency(repeats(0.6), "total")
    assert (middling["result"], middling["missing"]) == ("not_shown", {"replicates": 1})
    assert rules.by_consistency(repeats(None, exact=1.0), "total")["result"] == "yes"
    assert rules.by_consistency(repeats(0.7, n=8), "total")["missing"] == {"repeated": 22}


def test_a_judge_as_good_as_a_person_and_one_that_is_not():
    points = truth(COMPQA, 240)
    people = [
        sheets_of(COMPQA, name, noisy(points, COMPQA, 0.4, seed))
        for seed, name in enumerate(("Ada", "Bo", "Cy"), start=10)
    ]
    good = noisy(points, COMPQA, 0.1, 1)
    steady = [sheets_of(COMPQA, "good", good, kind="model", replicate=at) for at in (0, 1)]
    random = [
        sheets_of(COMPQA, "dice", truth(COMPQA, 240, at + 5), kind="model", replicate=at)
        for at in (0, 1)
    ]
    found = agreement(together(*people, *steady, *random), COMPQA, Options(n_resamples=200))
    verdicts = found["verdict"]
    assert verdicts["id-good"]["total"]["result"] == "yes"
    dice = verdicts["id-dice"]["total"]
    assert dice["result"] == "no"
    assert {name for name, each in dice["rules"].items() if each["result"] == "no"} == {
        "alternative",
        "agreement",
        "consistency",
    }
    assert dice["rules"]["bias"]["result"] == dice["rules"]["unscored"]["result"] == "yes"


def test_one_no_is_enough_and_yes_needs_all():
    yes = {name: {"result": "yes"} for name in rules.RULES}
    assert rules.verdict(yes)["result"] == "yes"
    assert rules.verdict(yes | {"bias": {"result": "not_shown"}})["result"] == "not_shown"
    both = yes | {"bias": {"result": "not_shown"}, "unscored": {"result": "no"}}
    assert rules.verdict(both)["result"] == "no"
