"""What the page says first: only what the corrected tests show."""

from types import SimpleNamespace

from benchmark.preferences.finding import finding
from benchmark.preferences.methods.ranking import rank_by_preference
from tests.benchmark.preferences.methods.made_verdicts import drawn, times, verdicts

PEOPLE = SimpleNamespace(is_judge=False)


def found_in(table):
    results = SimpleNamespace(
        ranking=rank_by_preference(table), merged=table, n_verdicts=len(table), beside=None
    )
    return finding(results, PEOPLE)


def test_who_leads_is_told_apart_from_every_other():
    rows = [*times(18, "a", "b", "first"), *times(2, "b", "a", "first")]
    found = found_in(verdicts(*rows))
    assert found.says == "a leads: it is preferred to the other system."
    assert found.sure.startswith("p < 0.001 after Holm.")
    assert (found.mark, found.terms) == ("good", ("p after Holm",))


def test_who_is_only_first_is_not_said_to_lead():
    found = found_in(drawn(n=600, n_questions=30))
    assert found.says == (
        "s0 has the highest strength of 5 systems; these data cannot tell it apart from s1."
    )
    assert "With 80 % power, these questions can detect a win rate of 68 %" in found.sure
    assert (
        "If s0 and s1 differ as much as they do here, about 89 questions would show the "
        "difference." in found.sure
    )
    assert found.mark == ""


def test_two_equal_systems_share_the_first_place():
    rows = [*times(10, "a", "b", "first"), *times(10, "a", "b", "second")]
    assert found_in(verdicts(*rows)).says == "a and b share the highest strength of 2 systems."


def test_a_system_that_was_never_beaten_is_shown_with_its_win_rate():
    rows = [*times(10, "a", "b", "first"), *times(2, "a", "b", "tie")]
    found = found_in(verdicts(*rows))
    assert found.says == "a leads: it is preferred to the other system."
    assert "a was never beaten: it won 10 of 12. b never won: it lost 10 of 12." in found.sure
    assert "Shown instead: win rates, with penalized strengths." in found.sure


def test_few_questions_have_no_verdict_and_say_how_many_are_needed():
    found = found_in(verdicts(*times(5, "a", "b", "first")))
    assert found.says == "a has the highest strength of 2 systems."
    assert "The order was not tested: verdicts on fewer than 10 questions" in found.sure
    assert found.mark == "warn"
