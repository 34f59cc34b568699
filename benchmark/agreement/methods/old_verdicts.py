"""Verdicts of snapshots from before version 3, whose "no" was not tested."""

from dataclasses import replace

from .figures import Agreement, Outcome, Result, Verdict

TESTED = 3
# "No" was whatever did not pass, and consistency had no interval.
UNTESTED = {("alternative", "no"), ("consistency", "yes"), ("consistency", "no")}
REASON = "this snapshot was made before that was tested; make a new one"


def without_untested(figures: Agreement) -> Agreement:
    """The figures with their verdicts; outcomes that were not tested are not shown."""
    if figures.version >= TESTED:
        return figures
    verdicts = {
        judge: {column: _tested(verdict) for column, verdict in columns.items()}
        for judge, columns in figures.verdict.items()
    }
    return replace(figures, verdict=verdicts)


def _tested(verdict: Verdict) -> Verdict:
    rules = {
        name: replace(each, result="not_shown", missing={}, reason=REASON)
        if (name, each.result) in UNTESTED
        else each
        for name, each in verdict.rules.items()
    }
    return Verdict(result=joined(rules), rules=rules)


def joined(rules: dict[str, Outcome]) -> Result:
    """One no is enough, yes needs all."""
    results = {outcome.result for outcome in rules.values()}
    return "no" if "no" in results else "yes" if results == {"yes"} else "not_shown"
