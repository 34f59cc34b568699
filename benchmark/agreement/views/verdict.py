"""What the page about replacing people shows of one judge."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.agreement.methods.figures import Agreement, Column, People, Verdict
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
from cqa_site.web.templatetags.figures import percent


def verdict_context(figures: Agreement, choice: Choice) -> dict[str, Any]:
    """The answer in words, each column's results with their numbers, and the rules."""
    verdicts, names = figures.verdict[choice.judge], column_names(figures)
    name = rater_names(figures)[choice.judge]
    sure = chance_of(figures, choice.judge), cautions_of(verdicts), _ground(figures)
    return {
        "finding": Finding(
            headline(figures, choice.judge, name),
            " ".join(filter(None, sure)),
            BADGES[verdicts["total"].result],
        ),
        "reasons": reasons_of(verdicts["total"]),
        "lines": answer_of(figures, choice.judge),
        "rows": [_row(column, names, verdicts[column.key]) for column in figures.columns],
        "rules": [
            {"title": RULES[key], "text": RULE_TEXTS[key], "source": SOURCES[key]} for key in RULES
        ],
    }


def _ground(figures: Agreement) -> str:
    """Which people the verdict rests on, and how much is allowed for."""
    people, said = figures.people, []
    if people.raters:
        text = ngettext(
            "%(n)s person scored %(answers)s answers, %(shared)s by two or more people.",
            "%(n)s people scored %(answers)s answers, %(shared)s by two or more people.",
            people.raters,
        )
        said.append(
            text
            % {
                "n": f"{people.raters:,}",
                "answers": f"{people.answers:,}",
                "shared": _shared(people),
            }
        )
    if people.consolidated:
        text = ngettext(
            "%(n)s answer has a consolidated sheet, which is a mean of people and no person.",
            "%(n)s answers have consolidated sheets, which are means of people and no persons.",
            people.consolidated,
        )
        said.append(text % {"n": f"{people.consolidated:,}"})
    allowed = _(
        "A judge costs less, so it counts as close as a person where the person comes closer on "
        "up to %(share)s more of the answers (epsilon %(epsilon)s)."
    )
    epsilon = figures.options.epsilon
    return " ".join([*said, allowed % {"share": percent(epsilon), "epsilon": f"{epsilon:.2f}"}])


def _shared(people: People) -> str:
    if people.shared == people.answers:
        return _("all of them")
    return _("%s of them") % f"{people.shared:,}"


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
