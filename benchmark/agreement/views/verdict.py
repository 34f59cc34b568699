"""What the page about replacing people shows of one judge."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

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
    chance_of,
    headline,
    missing_of,
    numbers_of,
    reasons_of,
)
from cqa_site.results.finding import Finding


def verdict_context(figures: Agreement, choice: Choice) -> dict[str, Any]:
    """The answer in words, each column's results with their numbers, and the rules."""
    verdicts, names = figures.verdict[choice.judge], column_names(figures)
    name = rater_names(figures)[choice.judge]
    return {
        "finding": Finding(
            headline(figures, choice.judge, name),
            f"{chance_of(figures, choice.judge)} {_ground(figures)}".strip(),
            BADGES[verdicts["total"].result],
        ),
        "reasons": reasons_of(verdicts["total"]),
        "lines": answer_of(figures, choice.judge),
        "rows": [_row(column, names, verdicts[column.key]) for column in figures.columns],
        "rules": [
            {"title": RULES[key], "text": RULE_TEXTS[key], "source": SOURCES[key]} for key in RULES
        ],
        "cautions": cautions_of(verdicts),
    }


def _ground(figures: Agreement) -> str:
    """Which people the verdict rests on, and how much is allowed for."""
    people, said = figures.people, []
    if people.raters:
        text = ngettext(
            "%(n)s person scored %(answers)s answers, %(shared)s of them by two or more people.",
            "%(n)s people scored %(answers)s answers, %(shared)s of them by two or more people.",
            people.raters,
        )
        counts = {"n": people.raters, "answers": people.answers, "shared": people.shared}
        said.append(text % {name: f"{n:,}" for name, n in counts.items()})
    if people.consolidated:
        text = ngettext(
            "%(n)s answer has a consolidated sheet, which is a mean of people and no person.",
            "%(n)s answers have consolidated sheets, which are means of people and no persons.",
            people.consolidated,
        )
        said.append(text % {"n": f"{people.consolidated:,}"})
    allowed = _("A person's edge may be %s (epsilon).") % f"{figures.options.epsilon:.2f}"
    return " ".join([*said, allowed])


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
