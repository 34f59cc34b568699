"""Tables of the pay for a crowd link: people, steps, and the median versus the floor."""

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.results.boards import PageTable, joined
from cqa_site.results.figures import Column, EstimateColumn, Figure, FigureTable, Files, TextColumn
from cqa_site.rounds.crowd.pay import START, WORK, PaySummary
from cqa_site.rounds.onboarding.steps import CONSENT, QUALIFICATION, READING, SCREENING, TRAINING
from cqa_site.web.tables import TableData, text_of

# Maximum number of table rows on a page; the files contain all rows.
LIMIT = 500
STEP_NAMES = {
    START: lazy("Before completing a step"),
    CONSENT: lazy("Consent"),
    SCREENING: lazy("Screening"),
    READING: lazy("Guideline and quiz"),
    TRAINING: lazy("Training"),
    QUALIFICATION: lazy("Qualification"),
    WORK: lazy("Items"),
}
TIME = lazy(
    "Time worked is the stored active time on everything shown, plus the time from opening a "
    "step to answering it, at most 10 minutes per step. Pay is computed from the terms of the "
    "link, whether or not it is confirmed. If pay is set, it is defined once the participation "
    "has ended; pay per hour also needs stored time."
)


def _money(amount: Any) -> float | None:
    return None if amount is None else float(amount)


def _people_columns(summary: PaySummary) -> list[Column]:
    """Return the columns for people, including the minutes spent in each timed step."""
    used = {step for earning in summary.earnings for step in earning.seconds}
    steps = [
        Column(_("%s (min)") % name, lambda row, step=step: row.seconds.get(step, 0.0) / 60)
        for step, name in STEP_NAMES.items()
        if step in used
    ]
    money = {"currency": summary.link.currency}
    return [
        Column(lazy("Account"), "participant.user"),
        Column(lazy("Outcome"), lambda row: row.participant.get_outcome_display()),
        Column(lazy("Items answered"), "items"),
        *steps,
        Column(lazy("Total (min)"), lambda row: row.worked / 60),
        Column(_("Pay (%(currency)s)") % money, lambda row: _money(row.pay)),
        Column(_("Bonus (%(currency)s)") % money, lambda row: _money(row.bonus)),
        Column(_("Per hour (%(currency)s)") % money, "hourly"),
    ]


TABLES: dict[str, FigureTable] = {
    "median": FigureTable(
        lazy("Pay per hour"),
        lazy(
            "Reward and bonus of each completed participation, per hour of stored time. Exact "
            "95 % interval between two order statistics, for 6 or more participants."
        ),
        (
            Column(lazy("Participants who completed the work"), "median.n_items"),
            EstimateColumn(lazy("Median per hour"), "median"),
            Column(lazy("Hourly floor"), lambda row: _money(row.link.hourly_floor)),
            Column(lazy("Currency"), "link.currency"),
            TextColumn(lazy("Remark"), "median.reason"),
        ),
        lambda summary: [summary] if summary.rated else [],
        lazy("No completed participation has both a reward and stored time yet."),
    ),
    "people": FigureTable(
        lazy("People"),
        TIME,
        _people_columns,
        "earnings",
        lazy("Nobody has joined through the link yet."),
    ),
    "steps": FigureTable(
        lazy("Steps"),
        TIME,
        (
            Column(lazy("Step"), lambda row: str(STEP_NAMES[row.step])),
            Column(lazy("People"), "people"),
            Column(lazy("Median minutes"), "minutes"),
            Column(lazy("Participants whose work ended here"), "ended"),
            Column(lazy("Total earned"), lambda row: _money(row.earned)),
        ),
        lambda summary: summary.by_step(),
        lazy("Nobody has joined through the link yet."),
    ),
}


def pay_figures(summary: PaySummary, ids: tuple[Any, ...]) -> list[Figure]:
    """Return the tables with their files; ``ids`` are the URL ids of study, round and link."""
    link = summary.link
    about = {"round": link.round.name, "platform": link.platform, "currency": link.currency}
    where = _("Round “%(round)s”, %(platform)s, %(currency)s.") % about
    return [
        Figure(
            slug=slug,
            title=entry.title,
            recipe=entry.recipe,
            table=(table := entry.table(summary, where=where, name=f"pay-{slug}")),
            about=_about(table),
            shown=_on_page(table),
            files=Files(view="crowd_pay_figure", ids=ids),
            is_wide=True,
            needed=entry.needed,
        )
        for slug, entry in TABLES.items()
    ]


def _about(table: TableData) -> str:
    """Return a note saying that a page shows only the first rows; empty if it shows all rows."""
    count = len(table.rows)
    about = {"n": text_of(LIMIT), "all": text_of(count)}
    return (
        _("First %(n)s of %(all)s rows. The files contain all rows.") % about
        if count > LIMIT
        else ""
    )


def _on_page(table: TableData) -> PageTable:
    """Return the first rows, with amounts and minutes to two decimal places."""
    page = joined(replace(table, rows=table.rows[:LIMIT]))
    rows = [
        [text_of(value, 2) if isinstance(value, float) else value for value in row]
        for row in page.rows
    ]
    return PageTable(page.columns, rows, page.numeric, page.caption)
