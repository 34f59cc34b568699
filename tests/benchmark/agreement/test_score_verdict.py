"""May a judge take the place of people: every rule with each of its three results."""

from dataclasses import replace

import pytest

from benchmark.agreement.methods import verdict as rules
from benchmark.agreement.methods.agreement import Options, agreement
from benchmark.agreement.methods.figures import (
    Agreement,
    Alternative,
    Consistency,
    Figure,
    Outcome,
    Split,
)
from benchmark.agreement.reports.choice import TOTAL, Choice
from benchmark.agreement.reports.pair_tables import PAIR_TABLES
from benchmark.agreement.reports.words import answer_of, chance_of, numbers_of, reasons_of
from benchmark.agreement.views.verdict import verdict_context
from cqa_site.stats.as_json import from_json, to_json

from ..made_sheets import BRIEF, noisy, sheets_of, together, truth

# A verdict compares each judge with all people; other pairs are not looked at here.
FEW_PAIRS = Options(n_resamples=100, most_pairs=0)


def figure(value, low=None, high=None, n=100, reason=""):
    return Figure(value=value, low=low, high=high, n=n, reason=reason)


def outcome(result, numbers=None):
    return Outcome(result=result, numbers=numbers or figure(0.0), missing={}, reason="")


def test_as_alternative():
    shown = {"omega": 1.0, "rho": 0.9, "n": 50, "caution": "", "reason": "few"}
    test = Alternative(**shown, passed=None, each=(50, 12), tested=2, beaten=1)
    assert rules.by_alternative(replace(test, passed=True), 2).result == "yes"
    assert rules.by_alternative(replace(test, passed=False), 2).result == "no"
    lacking = rules.by_alternative(test, 2)
    assert (lacking.result, lacking.missing) == ("not_shown", {"answers": 18})
    alone = rules.by_alternative(replace(test, each=(50,)), 1)
    assert alone.missing == {"people": 1, "answers": 30}


@pytest.mark.parametrize(
    ("rule", "found", "result"),
    [
        (rules.by_agreement, figure(0.02, -0.05, 0.09), "yes"),
        (rules.by_agreement, figure(-0.05, -0.08, -0.02), "yes"),
        (rules.by_agreement, figure(-0.05, -0.15, 0.05), "not_shown"),
        (rules.by_agreement, figure(-0.3, -0.4, -0.2), "no"),
        (rules.by_agreement, figure(0.3, 0.2, 0.4, n=29), "not_shown"),
        (rules.by_agreement, figure(None, n=0, reason="no item was rated by two"), "not_shown"),
        (rules.by_agreement, figure(0.0, reason="so there is no spread"), "yes"),
        (rules.by_bias, figure(0.01, -0.02, 0.04), "yes"),
        (rules.by_bias, figure(0.04, 0.01, 0.07), "not_shown"),
        (rules.by_bias, figure(0.09, 0.06, 0.12), "no"),
        (rules.by_bias, figure(-0.09, -0.12, -0.06), "no"),
        (rules.by_bias, figure(0.2, reason="so there is no spread"), "no"),
        (rules.by_bias, figure(0.0, -0.01, 0.01, n=29), "not_shown"),
    ],
)
def test_agreement_and_bias(rule, found, result):
    assert rule(found).result == result


def test_how_many_more_would_show_the_bias():
    # Half a width of .06 has to become .03: four times as many answers.
    assert rules.by_bias(figure(0.02, -0.04, 0.08)).missing == {"answers": 300}
    assert rules.by_bias(figure(0.06, 0.03, 0.09)).missing == {}


def test_unscored():
    assert rules.by_unscored(0, 72).result == "yes"
    assert rules.by_unscored(40, 100).result == "no"
    few = rules.by_unscored(0, 71)
    assert (few.result, few.missing) == ("not_shown", {"replies": 1})


def test_consistency():
    def repeats(single, exact=0.5, n=40, k=2):
        reliability = figure(single, n=n, reason="" if single else "alike")
        unknown = {"between": None, "within": None, "curve": ()}
        split = Split(n=n, exact=exact, reliability=reliability, **unknown)
        return Consistency(answers=n, replicates=k, each=k, columns={"total": split})

    assert rules.by_consistency(repeats(0.7), "total").result == "yes"
    assert rules.by_consistency(repeats(0.7, k=1.0), "total").result == "not_shown"
    assert rules.by_consistency(repeats(0.4), "total").result == "no"
    middling = rules.by_consistency(repeats(0.6), "total")
    assert (middling.result, middling.missing) == ("not_shown", {"replicates": 1})
    assert rules.by_consistency(repeats(None, exact=1.0), "total").result == "yes"
    assert rules.by_consistency(repeats(0.7, n=8), "total").missing == {"repeated": 22}


@pytest.mark.parametrize(
    ("result", "found", "said"),
    [("no", figure(-0.09, -0.12, -0.06), "It is stricter than people by"),
     ("no", figure(0.2), "It is more lenient than people by"),
     ("not_shown", figure(0.04, 0.01, 0.07), "may be too lenient: "),
     ("not_shown", figure(-0.04, -0.07, 0.02), "may be too strict: "),
     ("not_shown", figure(0.0, -0.2, 0.2), "may be too strict or too lenient"),
     ("not_shown", figure(0.0, -0.01, 0.01, n=29), "Too few answers"),
     ("not_shown", figure(None), "Too few answers")],
)  # fmt: skip
def test_bias_says_its_direction(result, found, said):
    verdict = rules.verdict({rule: outcome("yes") for rule in rules.RULES})
    verdict.rules["bias"] = outcome(result, found)
    (first, *_others) = reasons_of(verdict)
    assert said in first["says"]


def test_a_judge_as_good_as_a_person_and_one_that_is_not():
    points = truth(BRIEF, 480)
    people = [
        sheets_of(BRIEF, name, noisy(points, BRIEF, 0.4, seed))
        for seed, name in enumerate(("Ada", "Bo", "Cy"), start=10)
    ]
    good = noisy(points, BRIEF, 0.1, 1)
    steady = [sheets_of(BRIEF, "good", good, kind="model", replicate=at) for at in (0, 1)]
    random = [
        sheets_of(BRIEF, "dice", truth(BRIEF, 480, at + 5), kind="model", replicate=at)
        for at in (0, 1)
    ]
    found = agreement(together(*people, *steady, *random), BRIEF, FEW_PAIRS)
    assert found.verdict["id-good"]["total"].result == "yes"
    dice = found.verdict["id-dice"]["total"]
    assert dice.result == "no"
    assert {name for name, each in dice.rules.items() if each.result == "no"} == {
        "alternative",
        "agreement",
        "consistency",
    }
    assert dice.rules["bias"].result == dice.rules["unscored"].result == "yes"
    # The words beside the verdict: groups fail as criteria do, and guessing is called so.
    named = {
        one.key
        for line in answer_of(found, "id-dice")
        if line["badge"] == "bad"
        for one in line["columns"]
    }
    failed = {key for key, each in found.verdict["id-dice"].items() if each.result == "no"}
    assert named == failed
    assert {"total", "structure", "relevance", "quality"} <= named
    assert "above chance level: alpha with people" in chance_of(found, "id-dice")
    assert chance_of(found, "id-good") == ""
    context = verdict_context(found, Choice(judge="id-dice"))
    sure = context["finding"].sure
    assert "not proven to score above chance level" in sure
    assert "3 people scored 480 answers, all of them by two or more people." in sure
    assert "comes closer on up to 15 % more of the answers (epsilon 0.15)" in sure
    # With two people the test says little, and the headline has to carry that.
    two = agreement(together(*people[:2], *random), BRIEF, FEW_PAIRS)
    said = verdict_context(two, Choice(judge="id-dice"))["finding"].sure
    assert "With two humans the test only says" in said


def test_one_no_is_enough_and_yes_needs_all():
    yes = {name: outcome("yes") for name in rules.RULES}
    assert rules.verdict(yes).result == "yes"
    assert rules.verdict(yes | {"bias": outcome("not_shown")}).result == "not_shown"
    both = yes | {"bias": outcome("not_shown"), "unscored": outcome("no")}
    assert rules.verdict(both).result == "no"


def test_agreement_that_version_1_froze_can_be_read():
    points = truth(BRIEF, 40)
    people = [sheets_of(BRIEF, "Ada", points), sheets_of(BRIEF, "Bo", points)]
    judge = sheets_of(BRIEF, "good", points, kind="model")
    stored = to_json(agreement(together(*people, judge), BRIEF, Options(n_resamples=50)))
    del stored["people"]["consolidated"]
    for column, beside in stored["with_people"]["id-good"].items():
        del beside["difference"]
        alphas = {"people": to_json(figure(0.5)), "judge": to_json(figure(0.4))}
        stored["verdict"]["id-good"][column]["rules"]["agreement"]["numbers"] = alphas
    found = from_json(Agreement, stored)
    said = numbers_of("agreement", found.verdict["id-good"][TOTAL].rules["agreement"])
    assert said == "people 0.500, n 100; judge 0.400, n 100"
    _columns, rows = PAIR_TABLES["ceiling"].build(found, Choice(judge="id-good"))
    assert rows[0][-4:] == [None] * 4
