"""The figures about judges as charts, each with its numbers in words."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.figures.reports.charts import MARKS
from cqa_site.stats.estimate import Estimate
from cqa_site.web.charts import points as point_charts
from cqa_site.web.charts.chart import MOST, Chart, distinct, of_all
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.heatmap import heatmap
from cqa_site.web.charts.intervals import intervals

from .found import Confusion, Figures
from .tables import KINDS


def _names(figures: Figures) -> dict[str, str]:
    """A name for each judge: model, prompt version and run, or the name of the rater."""
    names = distinct(row.short_name for row in figures.judges)
    return {row.key: name for row, name in zip(figures.judges, names, strict=True)}


def _bounds(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _judges_rows(figures: Figures) -> list[dict[str, Any]]:
    """People first, then the best judges: their alpha with people's votes and final labels."""
    votes, final = _("with people's votes"), _("with final labels")
    rows = [{"who": _("People"), "with": votes, **_bounds(figures.people.agreement)}]
    names = _names(figures)
    for row in figures.judges[:MOST]:
        rows.append({"who": names[row.key], "with": votes, **_bounds(row.with_votes)})
        rows.append({"who": names[row.key], "with": final, **_bounds(row.ordinal)})
    return rows


def _judges(figures: Figures, size: str) -> Spec:
    return intervals(
        _judges_rows(figures),
        y="who",
        series="with",
        title=of_all(_("Ordinal alpha, 95 % interval"), len(figures.judges)),
        marks=MARKS,
        size=size,
    )


def _judges_alt(figures: Figures) -> str:
    known = [row for row in _judges_rows(figures) if row["value"] is not None]
    parts = [f"{row['who']} {row['with']}: {row['value']:.3f}" for row in known]
    return _("Ordinal alpha. %s.") % ("; ".join(parts) or _("Not defined"))


def _known(figures: Figures) -> Confusion:
    return figures.confusion or Confusion([], [], [], [])


def _confusion(figures: Figures, size: str) -> Spec:
    confusion = _known(figures)
    values = confusion.values
    rows = [
        {
            "final": str(final),
            "judge": str(judge),
            "share": confusion.shares[i][j],
            "text": str(confusion.cells[i][j]),
        }
        for i, final in enumerate(values)
        for j, judge in enumerate(values)
    ]
    titles = (_("Label of the judge"), _("Final label"))
    return heatmap(
        rows, x="judge", y="final", share="share", text="text", titles=titles, size=size
    )


def _confusion_alt(figures: Figures) -> str:
    confusion = _known(figures)
    rows = zip(confusion.values, confusion.cells, confusion.sums, strict=True)
    parts = [
        _("final label %(label)d: %(hits)d of %(sum)d the same")
        % {"label": value, "hits": cells[at], "sum": total}
        for at, (value, cells, total) in enumerate(rows)
    ]
    return _("Final labels against the judge's. %s.") % "; ".join(parts)


def _cost_rows(figures: Figures) -> list[dict[str, Any]]:
    names = _names(figures)
    return [
        {
            "cost": row.per_thousand,
            "kind": str(KINDS[row.kind]),
            "name": names[row.key],
            **_bounds(row.ordinal),
        }
        for row in figures.judges
        if row.per_thousand is not None and row.ordinal.value is not None
    ]


def _cost(figures: Figures, size: str) -> Spec:
    titles = (_("Cost per 1,000 labels"), _("Ordinal alpha with final labels"))
    return point_charts.points(
        _cost_rows(figures),
        x="cost",
        y="value",
        series="kind",
        text="name",
        titles=titles,
        size=size,
    )


def _cost_alt(figures: Figures) -> str:
    parts = [
        _("%(name)s: alpha %(alpha).3f at %(cost).4g")
        % {"name": row["name"], "alpha": row["value"], "cost": row["cost"]}
        for row in _cost_rows(figures)
    ]
    return _("Agreement against cost per 1,000 labels. %s.") % "; ".join(parts)


def _prompt_rows(figures: Figures) -> list[dict[str, Any]]:
    known = [row for row in figures.judges if row.run and row.ordinal.value is not None]
    return [
        {
            # Without a zone Vega reads a local time, so the picture shows UTC wherever drawn.
            "at": row.at[:19],
            "model": row.model,
            "name": row.short_name,
            **_bounds(row.ordinal),
        }
        for row in sorted(known, key=lambda row: row.at)
    ]


def _prompts(figures: Figures, size: str) -> Spec:
    titles = ("", _("Ordinal alpha with final labels"))
    return point_charts.points(
        _prompt_rows(figures),
        x="at",
        y="value",
        series="model",
        text="name",
        titles=titles,
        is_time=True,
        size=size,
    )


def _prompts_alt(figures: Figures) -> str:
    parts = [f"{row['model']}, {row['name']}: {row['value']:.3f}" for row in _prompt_rows(figures)]
    return _("Ordinal alpha of each run in the order they were made. %s.") % "; ".join(parts)


# How to draw it, what it says in words, and what it is made of.
CHARTS = {
    "judges": Chart(_judges, _judges_alt, lambda figures: figures.judges),
    "confusion": Chart(_confusion, _confusion_alt, lambda figures: figures.confusion),
    "cost": Chart(_cost, _cost_alt, _cost_rows),
    "prompts": Chart(_prompts, _prompts_alt, _prompt_rows),
}
