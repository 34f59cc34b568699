"""Charts of the leaderboard, metrics and agreement, with their main findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.leaderboard.methods import (
    LOWER_IS_BETTER,
    SystemRow,
    TopicDifference,
    best_first,
    judged_figure,
    not_below,
    topic_differences,
)
from argsum.metrics.methods import Correlations
from cqa_site.results.boards import Conclusion, after_holm, level_of, listed, why_less, would_show
from cqa_site.results.figures import Column, EstimateColumn, bounds_of, table_of
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import NO_SPREAD
from cqa_site.stats.verdicts import RULES, reliability_of
from cqa_site.web.charts import points as point_charts
from cqa_site.web.charts.bars import heatmap
from cqa_site.web.charts.dot_rows import intervals
from cqa_site.web.charts.points import MOST, Chart, distinct, of_all
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData, estimate_text, text_of
from .board import SummaryBoard
from .people_agreement import DimensionAgreement, PeopleAgreement
from .scores import MetricRow, ScoreSource, SetPoint
from .tables import DIMENSION_NAMES, FIGURE_NAMES

Rows = list[dict[str, Any]]


def weighted_rows(board: SummaryBoard) -> Rows:
    """Return the best systems with their weighted score and its interval."""
    names = distinct([row.system for row in board.rows])
    rows = [
        {
            "system": _with_cells(name, row.figures["weighted"], board),
            "series": "",
            **bounds_of(row.figures["weighted"]),
        }
        for name, row in zip(names, board.rows, strict=True)
    ]
    return [row for row in rows if row["value"] is not None][:MOST]


def weighted_spec(board: SummaryBoard, size: str) -> Spec:
    """Chart the weighted scores with their intervals."""
    return intervals(
        weighted_rows(board),
        y="system",
        series="series",
        title=of_all(_oracle(board, _("Weighted score")), len(board.rows)),
        size=size,
    )


def tradeoff_rows(board: SummaryBoard) -> Rows:
    """Return the systems that have both scores."""
    names = distinct([row.system for row in board.rows])
    rows = []
    for name, row in zip(names, board.rows, strict=True):
        coverage, redundancy = row.figures["coverage"], row.figures["redundancy"]
        if coverage.value is not None and redundancy.value is not None:
            fewer = min(coverage, redundancy, key=lambda estimate: estimate.n_values)
            rows.append(
                {
                    "system": _with_cells(name, fewer, board),
                    "redundancy": redundancy.value,
                    "coverage": coverage.value,
                    "low": coverage.low,
                    "high": coverage.high,
                    "series": "",
                }
            )
    return rows[:MOST]


def tradeoff_spec(board: SummaryBoard, size: str) -> Spec:
    """Chart coverage against redundancy; up and to the left is better."""
    return point_charts.points(
        tradeoff_rows(board),
        x="redundancy",
        y="coverage",
        series="series",
        text="system",
        titles=(
            of_all(_oracle(board, _("Redundancy (lower is better)")), len(board.rows)),
            _oracle(board, _("Coverage")),
        ),
        size=size,
    )


def weighted_alt(board: SummaryBoard) -> str:
    """Return the alternative text of the chart."""
    return "; ".join(f"{row['system']} {row['value']:.3f}" for row in weighted_rows(board))


def tradeoff_alt(board: SummaryBoard) -> str:
    """Return the alternative text of the chart."""
    return "; ".join(
        _("%(system)s coverage %(c).2f, redundancy %(r).2f")
        % {"system": row["system"], "c": row["coverage"], "r": row["redundancy"]}
        for row in tradeoff_rows(board)
    )


@dataclass(frozen=True)
class BoardChart:
    """A chart of the leaderboard: title, recipe, chart, and columns of its numbers."""

    title: Any
    recipe: Any
    chart: Chart
    columns: tuple[Column, ...]

    def table(self, board: SummaryBoard, name: str) -> TableData:
        """Return the numbers behind the chart."""
        return table_of(self.columns, self.chart.rows(board), caption=str(self.title), name=name)


BOARD_CHARTS = {
    "weighted": BoardChart(
        lazy("Weighted score"),
        lazy("Mean over cells with its 95 % interval over topics."),
        Chart(weighted_spec, weighted_alt, weighted_rows),
        (Column(lazy("System"), "system"), EstimateColumn(lazy("Weighted score"), dict)),
    ),
    "tradeoff": BoardChart(
        lazy("Coverage against redundancy"),
        lazy("Up and to the left is better. Lines show the intervals for coverage."),
        Chart(tradeoff_spec, tradeoff_alt, tradeoff_rows),
        (
            Column(lazy("System"), "system"),
            Column(lazy("Redundancy"), "redundancy"),
            EstimateColumn(lazy("Coverage"), lambda row: row | {"value": row["coverage"]}),
        ),
    ),
}


def correlation_rows(rows: Sequence[MetricRow], dimension: str) -> Rows:
    """Return a dimension's best metrics, with correlations across and within cells as series."""
    points = []
    known = [row for row in rows if row.source.dimension == dimension]
    known = [row for row in known if row.found.across is not None][:MOST]
    for name, row in zip(
        distinct([str(metric_row.source) for metric_row in known]), known, strict=True
    ):
        for series, value in (
            (_("across sets"), row.found.across),
            (_("within cells, mean"), row.found.within_mean),
        ):
            points.append(
                {"metric": name, "series": series, "value": value, "low": None, "high": None}
            )
    return points


def correlation_spec(rows: Sequence[MetricRow], dimension: str, size: str) -> Spec:
    return intervals(
        correlation_rows(rows, dimension),
        y="metric",
        series="series",
        title=_("Pearson correlation with people"),
        marks=(0.0,),
        size=size,
    )


def correlation_alt(rows: Sequence[MetricRow], dimension: str) -> str:
    """Return the alternative text of the chart."""
    return "; ".join(
        f"{row['metric']} {row['series']} {row['value']:.3f}"
        for row in correlation_rows(rows, dimension)
        if row["value"] is not None
    )


def points_spec(points: Sequence[SetPoint], source: ScoreSource, size: str) -> Spec:
    """Chart the metric and people's mean, with one dot per set."""
    rows = [{"metric": point.metric, "people": point.people} for point in points]
    return point_charts.scatter(
        rows, x="metric", y="people", titles=(str(source), _("People (mean)")), size=size
    )


def heat_rows(agreement: DimensionAgreement) -> Rows:
    """Return both halves of the matrix of raters; the diagonal is empty."""
    values = {(pair.first, pair.second): (pair.value, pair.n) for pair in agreement.pairs.pairs}
    names = dict(zip(agreement.raters, distinct(list(agreement.raters)), strict=True))
    rows = []
    for first in agreement.raters:
        for second in agreement.raters:
            value, n = values.get((first, second)) or values.get((second, first)) or (None, 0)
            text = f"{value:.2f}\nn {n}" if value is not None else ("–" if n else "")
            rows.append(
                {"down": names[first], "across": names[second], "value": value, "text": text}
            )
    return rows


def heat_spec(agreement: DimensionAgreement, size: str) -> Spec:
    """Chart the correlation between raters."""
    rows = [{**row, "value": max(0.0, row["value"] or 0.0)} for row in heat_rows(agreement)]
    return heatmap(
        rows, x="across", y="down", share="value", text="text", titles=("", ""), size=size
    )


def heat_alt(agreement: DimensionAgreement) -> str:
    """Return the alternative text of the chart."""
    return "; ".join(
        f"{pair.first} – {pair.second} {pair.value:.2f} (n {pair.n})"
        for pair in agreement.pairs.pairs
        if pair.value is not None
    )


def _oracle(board: SummaryBoard, title: str) -> str:
    """Return a title, marked "oracle" if settings were chosen by the figure that judges them."""
    return _("%s, oracle") % title if board.is_oracle else title


def _with_cells(name: str, estimate: Estimate, board: SummaryBoard) -> str:
    """Return a system's name, with its number of cells if some are missing."""
    if estimate.n_values >= len(board.cells):
        return name
    return _("%(name)s (%(n)d of %(all)d cells)") % {
        "name": name,
        "n": estimate.n_values,
        "all": len(board.cells),
    }


# Main findings in a sentence, with their certainty


def board_finding(board: SummaryBoard) -> Conclusion | None:
    """Return the leading system by the first known figure, or the system with the best mean."""
    name = judged_figure(board.rows)
    if not name:
        return None
    rows = best_first(board.rows, name)
    most, mean = _most(rows, name), _mean(rows[0], name)
    without = _without_interval(rows[:2], name)
    if board.is_oracle:
        sure = _(
            "This is an upper bound: each setting was chosen by the score shown here, which no "
            "system can know in advance."
        )
        return Conclusion(_("At best: %s") % most, sure, "warn")
    if len(rows) == 1:
        says = _("%(name)s has %(figure)s.") % {"name": rows[0].system, "figure": mean}
        return Conclusion(says, " ".join([_("It is the only system."), *without]))
    pairs = topic_differences(rows, name, board.topics)
    level = not_below(rows, pairs, name)
    sure = " ".join([*_apart(rows, pairs, level, name), *without])
    if level:
        return Conclusion(most, sure)
    says = _("%(name)s leads: %(figure)s.") % {"name": rows[0].system, "figure": mean}
    return Conclusion(says, sure, "good", ("Holm-adjusted p",))


def _mean(row: SystemRow, name: str) -> str:
    """Return a figure with its interval and its number of cells."""
    figure = row.figures[name]
    text = ngettext(
        "%(figure)s %(value)s over %(n)s cell", "%(figure)s %(value)s over %(n)s cells",
        figure.n_values,
    )  # fmt: skip
    fields = {"value": estimate_text(figure), "n": figure.n_values}
    return text % (fields | {"figure": str(FIGURE_NAMES[name]).lower()})


def _best(rows: Sequence[SystemRow], name: str) -> list[str]:
    first = rows[0].figures[name].value
    return [row.system for row in rows if row.figures[name].value == first]


def _most(rows: Sequence[SystemRow], name: str) -> str:
    """Return the systems with the best mean, without a test."""
    best = _best(rows, name)
    text = ngettext(
        "%(name)s has the %(most)s mean in these data: %(figure)s.",
        "%(name)s share the %(most)s mean in these data: %(figure)s.",
        len(best),
    )
    most = _("lowest") if name in LOWER_IS_BETTER else _("highest")
    return text % {"name": listed(best), "most": most, "figure": _mean(rows[0], name)}


def _apart(
    rows: Sequence[SystemRow], pairs: Sequence[TopicDifference], level: Sequence[str], name: str
) -> list[str]:
    """Return the first system's tests, and the number of topics needed to show a difference."""
    following, sentences = pairs[0].test, []
    if len(_best(rows, name)) == 1:
        text = _("Next: %(name)s, %(figure)s.")
        sentences.append(text % {"name": rows[1].system, "figure": _mean(rows[1], name)})
    if not level:
        text = _(
            "Paired differences over topics show that it is better than each of the others, %s."
        )
        highest = max(pair.test.p or 0.0 for pair in pairs[: len(rows) - 1])
        return [*sentences, text % after_holm(highest)]
    if sentences:
        sentences.append(_("It is not shown to be better than %s.") % listed(level))
    if following.p is None:
        text = _(
            "A test needs %(least)d topics for which both systems have a value; there are %(n)d."
        )
        sentences.append(text % {"least": RULES["difference"].least, "n": following.n})
    elif following.direction == "not_shown":
        text = _("The first two differ by %(difference)s over %(n)d topics, %(p)s.")
        of_both = {"difference": estimate_text(following), "n": following.n}
        sentences.append(text % (of_both | {"p": after_holm(following.p)}))
        sentences.append(would_show(following.enough, _("topics"), _("a difference of this size")))
    return sentences


def _without_interval(rows: Sequence[SystemRow], name: str) -> list[str]:
    """Return sentences on systems without an interval for a figure, by reason."""
    why = {row.system: why_no_interval(row.figures[name]) for row in rows}
    text = _("No interval for %(names)s: %(reason)s.")
    return [
        text
        % {"names": listed([system for system in why if why[system] == reason]), "reason": reason}
        for reason in dict.fromkeys(why.values())
        if reason
    ]


def why_no_interval(figure: Estimate) -> str:
    """Return why a figure with a value has no interval, or "" otherwise."""
    if figure.value is None or figure.low is not None:
        return ""
    reason = figure.reason or ""
    return _("all topics have the same value") if reason == NO_SPREAD else reason


def metrics_finding(rows: Sequence[MetricRow]) -> Conclusion | None:
    """Return the metric with the highest correlation in each dimension, without a test."""
    best = [
        (name, max(own, key=lambda row: row.rank), len(own))
        for dimension, name in DIMENSION_NAMES.items()
        if (own := [row for row in rows
                    if row.source.dimension == dimension and row.found.across is not None])
    ]  # fmt: skip
    if not best:
        if not rows:
            return None
        needed = _("A correlation needs sets with both values, and the values must vary.")
        return Conclusion(_("No metric correlates with people yet."), needed, "warn")
    says = "; ".join(
        ngettext(
            "%(metric)s, the only metric, correlates with people's %(dimension)s at %(r)s over "
            "%(n)s sets",
            "%(metric)s has the highest correlation of %(k)s metrics with people's %(dimension)s "
            "in these data: %(r)s over %(n)s sets",
            k,
        )
        % {
            "metric": row.source,
            "dimension": str(name).lower(),
            "r": text_of(row.found.across or 0.0, 2),
            "n": f"{row.found.n:,}",
            "k": k,
        }
        for name, row, k in best
    )
    sure = [_within(row.found, _("people's %s") % str(name).lower()) for name, row, _k in best]
    if any(k > 1 for _name, _row, k in best):
        sure.append(_("Metrics were not tested against each other."))
    return Conclusion(f"{says}.", " ".join(filter(None, sure)))


def metric_finding(correlations: Correlations, metric: str) -> Conclusion | None:
    """Return the correlation of one metric with people's scores as a sentence."""
    if correlations.across is None:
        return None
    fields = {"metric": metric, "r": text_of(correlations.across, 2)}
    return Conclusion(
        _("%(metric)s and people correlate at %(r)s.") % fields, _within(correlations)
    )


def _within(correlations: Correlations, dimension: str = "") -> str:
    """Return the mean correlation within cells as text."""
    over = "" if dimension else _("Pearson's r over %s sets.") % f"{correlations.n:,}"
    if correlations.within_mean is None:
        return over
    text = _("Within cells, the mean correlation with %(what)s is %(mean)s (sd %(sd)s).")
    fields = {
        "mean": text_of(correlations.within_mean, 2),
        "sd": text_of(correlations.within_sd or 0.0, 2),
    }
    within = text % (fields | {"what": dimension or _("people")})
    return f"{over} {within}".strip()


def people_finding(people: PeopleAgreement) -> Conclusion | None:
    """Return how well people agree on each dimension."""
    known: Mapping[str, Estimate] = {
        dimension.dimension: dimension.alpha
        for dimension in people.dimensions
        if dimension.alpha.value is not None
    }
    if not known:
        if not people.sets:
            return None
        needed = _("At least two people must judge the same sets.")
        return Conclusion(_("Agreement cannot be computed yet."), needed, "warn")
    # The finding is about the less reliable dimension; a missing interval counts as the least
    # reliable.
    lowest = min(
        known.values(), key=lambda estimate: (estimate.low is not None, estimate.low or 0.0)
    )
    words = {key: str(DIMENSION_NAMES[key]).lower() for key in known}
    least = reliability_of(lowest)
    about = [words[name] for name, alpha in known.items() if reliability_of(alpha) == least]
    agreement = _("people agree on the %s of sets of key points") % listed(about)
    says, mark = level_of(agreement, lowest)
    figures = ", ".join(f"{words[name]} {estimate_text(alpha)}" for name, alpha in known.items())
    sure = _("Interval alpha: %(figures)s.")
    text = f"{sure % {'figures': figures}} {why_less(lowest)}"
    return Conclusion(f"{says}.", text.strip(), mark)
