"""May a judge take the place of people: every rule with each of its three results."""

from dataclasses import replace

import pytest

from benchmark.agreement.methods import figures, replacement as rules
from benchmark.agreement.methods.agreement import AgreementOptions, agreement
from benchmark.agreement.reports.judges import answer_of, chance_of
from benchmark.agreement.reports.snapshot import AgreementSelection
from benchmark.agreement.views import verdict_context
from ..made_sheets import BRIEF, noisy, sheets_of, together, truth

# A verdict compares each judge with all people; other pairs are not looked at here.
FEW_PAIRS = AgreementOptions(most_pairs=0)
LEVELS = rules.Levels.of("total", 19, 1)


def figure(value, low=None, high=None, n=100, reason=""):
    return figures.AgreementFigure(value=value, low=low, high=high, n=n, reason=reason)


def outcome(result, numbers=None):
    return figures.RuleOutcome(
        result=result, numbers=numbers or figure(0.0), missing={}, reason=""
    )


def test_as_alternative_or_not_shown_to_have_failed():
    shown = {"omega": 1.0, "rho": 0.9, "n": 50, "caution": "", "reason": "few"}
    test = figures.Alternative(**shown, passed=None, each=(50, 12), tested=2, beaten=1)
    known = replace(test, questions=20, p_yes=0.001, p_no=0.9, passed=True)
    assert rules.by_alternative(known, 2, LEVELS).result == "yes"
    behind = replace(known, passed=False, p_yes=0.9, p_no=0.001)
    assert rules.by_alternative(behind, 2, LEVELS).result == "no"
    lacking = rules.by_alternative(test, 2, LEVELS)
    assert (lacking.result, lacking.missing) == ("not_shown", {"answers": 18})
    alone = rules.by_alternative(replace(test, each=(50,)), 1, LEVELS)
    assert alone.missing == {"people": 1, "answers": 30}
    shown = {"omega": 0.0, "rho": 0.7, "n": 50, "caution": "", "reason": ""}
    test = figures.Alternative(
        **shown, passed=False, each=(50, 50, 50), tested=3, beaten=0, questions=25,
        p_yes=0.2, p_no=0.8,
    )  # fmt: skip
    found = rules.by_alternative(test, 3, LEVELS)
    assert found.result == "not_shown"
    assert 100 < found.missing["answers"] < 1000


RESULTS = [
    (0.02, 0.98, 100, "yes"),
    (0.03, 0.97, 100, "not_shown"),
    (0.98, 0.005, 100, "no"),
    (0.98, 0.02, 100, "not_shown"),
    (0.001, 0.98, 29, "not_shown"),
    (None, None, 100, "not_shown"),
]


def test_agreement_and_bias():
    for p_yes, p_no, n, result in RESULTS:
        found = replace(figure(0.0, n=n), p_yes=p_yes, p_no=p_no, units=30)
        assert rules.by_agreement(found, LEVELS).result == result
        assert rules.by_bias(found, LEVELS).result == result


def test_unscored_and_consistency():
    assert rules.by_unscored(0, 72, LEVELS).result == "yes"
    assert rules.by_unscored(40, 100, LEVELS).result == "no"
    few = rules.by_unscored(0, 71, LEVELS)
    assert (few.result, few.missing) == ("not_shown", {"replies": 1})
    # Three replicates of an answer that are lost together are one answer.
    assert rules.by_unscored(0, 3 * 71, LEVELS, 3).result == "not_shown"

    def repeats(p_yes, p_no, n=40):
        reliability = replace(figure(0.7, n=n), p_yes=p_yes, p_no=p_no, units=30)
        unknown = {"between": None, "within": None, "curve": ()}
        split = figures.VarianceComponents(n=n, exact=0.5, reliability=reliability, **unknown)
        return figures.Consistency(answers=n, replicates=2, each=2, columns={"total": split})

    assert rules.by_consistency(repeats(0.01, 1.0), "total", LEVELS).result == "yes"
    assert rules.by_consistency(repeats(1.0, 0.005), "total", LEVELS).result == "no"
    middling = rules.by_consistency(repeats(0.1, 0.9), "total", LEVELS)
    assert (middling.result, list(middling.missing)) == ("not_shown", ["repeated"])
    assert rules.by_consistency(repeats(0.01, 1.0, 8), "total", LEVELS).missing == {"repeated": 22}


@pytest.mark.long
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
    assert {"total", "quality"} <= named
    assert "guessing gives an alpha of 0" in chance_of(found, "id-dice")
    assert chance_of(found, "id-good") == ""
    context = verdict_context(found, AgreementSelection(judge="id-dice"))
    sure = context["finding"].sure
    assert "do not show that it scores better than chance" in sure
    assert "3 people scored 480 answers, all of them by two or more people." in sure
    assert "comes closer on up to 15 % more of the answers (epsilon 0.15)" in sure
    # With two people the test says little, and the headline has to carry that.
    two = agreement(together(*people[:2], *random), BRIEF, FEW_PAIRS)
    said = verdict_context(two, AgreementSelection(judge="id-dice"))["finding"].sure
    assert "With two people, the test only shows" in said


def test_one_no_is_enough_yes_needs_all_and_levels_are_corrected():
    yes = {name: outcome("yes") for name in rules.REPLACEMENT_RULES}
    assert rules.verdict(yes).result == "yes"
    assert rules.verdict(yes | {"bias": outcome("not_shown")}).result == "not_shown"
    both = yes | {"bias": outcome("not_shown"), "unscored": outcome("no")}
    assert rules.verdict(both).result == "no"
    total, column = (rules.Levels.of(name, 19, 4) for name in ("total", "C1"))
    assert total.no == pytest.approx(0.05 / 5)
    assert column.no == pytest.approx(0.05 / (5 * 18))
    assert total.yes == column.yes == pytest.approx(0.025 / 4)


def test_a_no_that_version_2_never_tested_is_not_shown():
    points = truth(BRIEF, 40)
    people = [sheets_of(BRIEF, "Ada", points), sheets_of(BRIEF, "Bo", points)]
    judge = sheets_of(BRIEF, "good", points, kind="model")
    new = agreement(together(*people, judge), BRIEF, AgreementOptions())
    rules_of = new.verdict["id-good"]["C1"].rules | {"alternative": outcome("no")}
    old = replace(new, version=2, verdict={"id-good": {"C1": rules.verdict(rules_of)}})
    found = figures.without_untested(old).verdict["id-good"]["C1"]
    assert (old.verdict["id-good"]["C1"].result, found.result) == ("no", "not_shown")
    assert "create a new snapshot" in found.rules["alternative"].reason
    assert figures.without_untested(new) is new
