"""What the page about replacing people shows of one judge."""

from typing import Any

from benchmark.agreement.methods.figures import Agreement, Column, Verdict
from benchmark.agreement.reports.choice import Choice
from benchmark.agreement.reports.tables import column_names, rater_names
from benchmark.agreement.reports.words import (
    BADGES,
    RESULTS,
    RULE_TEXTS,
    RULES,
    SOURCES,
    answer_of,
    cautions_of,
    headline,
    missing_of,
    numbers_of,
)


def verdict_context(figures: Agreement, choice: Choice) -> dict[str, Any]:
    """The answer in words, each column's results with their numbers, and the rules."""
    verdicts, names = figures.verdict[choice.judge], column_names(figures)
    name = rater_names(figures)[choice.judge]
    return {
        "judge_name": name,
        "headline": headline(figures, choice.judge, name),
        "total": verdicts["total"],
        "badge": BADGES[verdicts["total"].result],
        "lines": answer_of(figures, choice.judge),
        "rows": [_row(column, names, verdicts[column.key]) for column in figures.columns],
        "rules": [
            {"title": RULES[key], "text": RULE_TEXTS[key], "source": SOURCES[key]} for key in RULES
        ],
        "cautions": cautions_of(verdicts),
        "epsilon": figures.options.epsilon,
        "people": figures.people,
    }


def _row(column: Column, names: dict[str, str], verdict: Verdict) -> dict[str, Any]:
    return {
        "key": column.key,
        "kind": column.kind,
        "name": names[column.key],
        "result": RESULTS[verdict.result],
        "badge": BADGES[verdict.result],
        "missing": missing_of(verdict),
        "rules": [
            {
                "result": RESULTS[outcome.result],
                "badge": BADGES[outcome.result],
                "numbers": numbers_of(rule, outcome),
            }
            for rule in RULES
            for outcome in [verdict.rules[rule]]
        ],
    }
