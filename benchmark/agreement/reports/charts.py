"""Figures of agreement as charts, each with its numbers in words."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from benchmark.agreement.methods.figures import Agreement, Figure, Pair
from cqa_site.stats.reliability.marks import FIRM, TENTATIVE
from cqa_site.web.charts.chart import MOST, Chart, distinct, of_all
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.intervals import intervals
from cqa_site.web.charts.ranked import ranked_dots

from .choice import Choice, pair_of
from .scatter import difference_plot
from .tables import column_names

MARKS = (TENTATIVE, FIRM)
Row = dict[str, Any]


def _part(estimate: Figure) -> Row:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _ceiling_rows(figures: Agreement, choice: Choice) -> list[Row]:
    """People and the judge for each column that has one of the two figures."""
    judge = figures.with_people.get(choice.judge, {})
    rows = []
    for key, name in column_names(figures).items():
        people = figures.people.columns[key].alpha_interval
        rows.append({"column": name, "who": _("People"), **_part(people)})
        if key in judge:
            own = judge[key].alpha_interval
            rows.append({"column": name, "who": _("Judge"), **_part(own)})
    known = {row["column"] for row in rows if row["value"] is not None}
    return [row for row in rows if row["column"] in known]


def _ceiling(figures: Agreement, choice: Choice, size: str) -> Spec:
    return intervals(
        _ceiling_rows(figures, choice),
        y="column",
        series="who",
        title=_("Interval alpha, 95 % interval"),
        marks=MARKS,
        size=size,
    )


def _ceiling_alt(figures: Agreement, choice: Choice) -> str:
    known = [row for row in _ceiling_rows(figures, choice) if row["value"] is not None]
    parts = [f"{row['column']}, {row['who']}: {row['value']:.3f}" for row in known]
    return _("Interval alpha of each column. %s.") % "; ".join(parts)


def _judge_rows(figures: Agreement, choice: Choice) -> list[Row]:
    people = figures.people.columns["total"].alpha_interval
    found = [(_("People together"), people)]
    found += [(row.name, row.agreement) for row in figures.judges[:MOST]]
    names = distinct(name for name, _estimate in found)
    return [
        {"name": name, "what": _("Total"), **_part(estimate)}
        for name, (_name, estimate) in zip(names, found, strict=True)
    ]


def _judges(figures: Agreement, choice: Choice, size: str) -> Spec:
    return intervals(
        _judge_rows(figures, choice),
        y="name",
        series="what",
        title=of_all(
            _("Interval alpha of totals with people, 95 % interval"), len(figures.judges)
        ),
        marks=MARKS,
        size=size,
    )


def _judges_alt(figures: Agreement, choice: Choice) -> str:
    known = [row for row in _judge_rows(figures, choice) if row["value"] is not None]
    parts = [f"{row['name']}: {row['value']:.3f}" for row in known]
    return _("Interval alpha of totals with people. %s.") % ("; ".join(parts) or _("Not defined"))


def _difference_rows(figures: Agreement, choice: Choice) -> list[Row]:
    """Judge minus people for each column where both are known on the same answers."""
    beside, names = figures.with_people.get(choice.judge, {}), column_names(figures)
    return [
        {"name": name, "group": None, **_part(found.difference)}
        for key, name in names.items()
        if (found := beside.get(key)) and found.difference.value is not None
    ]


def _differences(figures: Agreement, choice: Choice, size: str) -> Spec:
    title = _("Judge minus people, interval alpha, 95 % interval")
    return ranked_dots(_difference_rows(figures, choice), title=title, size=size)


def _differences_alt(figures: Agreement, choice: Choice) -> str:
    rows = _difference_rows(figures, choice)
    parts = "; ".join(f"{row['name']}: {row['value']:.3f}" for row in rows)
    return _("Alpha of the judge with people minus that of people. %s.") % parts


def _points(figures: Agreement, choice: Choice) -> list[Row]:
    pair = pair_of(figures, choice)
    found = pair.bland_altman.points if pair else ()
    return [{"mean": mean, "difference": apart, "n": n} for mean, apart, n in found]


def _lines(pair: Pair) -> list[Row]:
    found = pair.bland_altman
    said = {_("lower limit"): found.lower, _("bias"): found.bias, _("upper limit"): found.upper}
    lines = ({"at": each.value, "what": text} for text, each in said.items())
    return [line for line in lines if line["at"] is not None]


def _bland_altman(figures: Agreement, choice: Choice, size: str) -> Spec:
    pair = pair_of(figures, choice)
    if pair is None:
        raise KeyError(choice.pair)
    titles = (_("Mean of the two totals"), _("First minus second, points"))
    return difference_plot(_points(figures, choice), _lines(pair), titles=titles, size=size)


def _bland_altman_alt(figures: Agreement, choice: Choice) -> str:
    pair = pair_of(figures, choice)
    lines = [f"{line['what']} {line['at']:.2f}" for line in (_lines(pair) if pair else [])]
    return _("Difference of two raters' totals against their mean. %s.") % ", ".join(lines)


CHARTS = {
    "ceiling": Chart(_ceiling, _ceiling_alt, _ceiling_rows),
    "replace": Chart(_differences, _differences_alt, _difference_rows),
    "judges": Chart(_judges, _judges_alt, lambda figures, choice: figures.judges),
    "bland-altman": Chart(_bland_altman, _bland_altman_alt, _points),
}
