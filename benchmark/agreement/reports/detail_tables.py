"""One pair of raters in detail, and the rater that is code, as tables."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.agreement.methods.figures import Agreement
from cqa_site.web.tables import Cell

from .choice import Choice, pair_of
from .tables import Built, Entry, bounds, column_names, rater_names, with_bounds


def _bland_altman(figures: Agreement, choice: Choice) -> Built:
    pair = pair_of(figures, choice)
    columns = [_("Figure"), *with_bounds(_("Points")), _("Answers")]
    if pair is None:
        return columns, []
    found = pair.bland_altman
    said = {
        _("Bias, first minus second"): found.bias,
        _("Lower limit of agreement"): found.lower,
        _("Upper limit of agreement"): found.upper,
        _("Bias for a point more"): found.slope,
    }
    return columns, [[text, *bounds(each), each.n] for text, each in said.items()]


def _confusion(figures: Agreement, choice: Choice) -> Built:
    pair, names = pair_of(figures, choice), column_names(figures)
    columns = [_("Criterion"), _("Points of the first"), _("Points of the second"), _("Answers")]
    rows: list[list[Cell]] = []
    for key, found in (pair.confusion if pair else {}).items():
        for value, cells in zip(found.values, found.cells, strict=True):
            rows += [
                [names[key], value, other, n]
                for other, n in zip(found.values, cells, strict=True)
                if n
            ]
    return columns, rows


def _by_code(figures: Agreement, choice: Choice) -> Built:
    names, found = rater_names(figures), figures.by_code
    columns = [_("Rater"), "n", _("Exact"), *with_bounds(_("Interval alpha"))]
    columns += [*with_bounds(_("Leniency of the count"))]
    rows = []
    for key, own in (found.raters if found else {}).items():
        row: list[Cell] = [names[key], own.n, own.exact]
        rows.append([*row, *bounds(own.alpha_interval), *bounds(own.leniency)])
    return columns, rows


DETAIL_TABLES: dict[str, Entry] = {
    "bland-altman": Entry(
        gettext_lazy("How far apart two raters lie"),
        gettext_lazy(
            "Totals, first minus second rater. Limits: about 95 % of differences lie between "
            "them. Intervals leave out questions, 20 at least."
        ),
        _bland_altman,
    ),
    "confusion": Entry(
        gettext_lazy("Which points meet which"),
        gettext_lazy(
            "Answers by the points of both raters; means of replicates count as the nearest half "
            "point. Rows: the first rater."
        ),
        _confusion,
    ),
    "by-code": Entry(
        gettext_lazy("The criterion that code can count"),
        gettext_lazy(
            "Sentences counted by code and turned into points, compared with everybody who "
            "scored the criterion. Leniency above 0: the count gives more."
        ),
        _by_code,
    ),
}
