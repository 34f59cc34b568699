"""Falls in annotators' control accuracy while they work: their charts, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.labelling.models.rounds import LabelRound
from annotation.quality.reports.quality import AnnotatorQuality, ControlRecord, chart_of_round
from cqa_site.results.tables import Column, table_of
from cqa_site.web.charts import vega as charts
from cqa_site.web.charts.points import MOST, lines, of_all
from cqa_site.web.tables import TableData, one_line

if TYPE_CHECKING:
    from cqa_site.stats.drift import AccuracyChart

DRIFT_TITLE = gettext_lazy("Drift of control accuracy")
DRIFT_RECIPE = gettext_lazy(
    "Bernoulli CUSUM (Reynolds and Stoumbos 1999) over each annotator's answers to control items "
    "in the order served: a right answer lowers the sum by 1, never below 0; a wrong one raises "
    "it. At the limit a fall is signalled. The limit is the smallest at which an annotator with "
    "the usual accuracy has 1,000 control answers or more between false signals, on average."
)
# Number of control answers for which the page states how often a fall is signalled.
SOON = 60


@dataclass(frozen=True)
class DriftCurve:
    """One annotator's sums after each control answer, and what came before and after a signal."""

    annotator: AnnotatorQuality
    sums: list[int]

    @property
    def highest(self) -> int:
        """The highest sum so far."""
        return max(self.sums, default=0)

    @property
    def signal(self) -> int | None:
        """Number of the control answer at which a fall was signalled; None without a signal."""
        return self.annotator.fall.signal if self.annotator.fall else None

    @property
    def before(self) -> str:
        """Right answers of all before the estimated start of the fall; empty without a signal."""
        fall = self.annotator.fall
        return self._right(0, fall.start - 1) if fall else ""

    @property
    def since(self) -> str:
        """Right answers of all since the estimated start of the fall; empty without a signal."""
        fall = self.annotator.fall
        return self._right(fall.start - 1, None) if fall else ""

    def _right(self, first: int, end: int | None) -> str:
        record = ControlRecord(self.annotator.controls.answers[first:end])
        return _("%(right)d of %(n)d") % {"right": record.right, "n": record.n}


def drift_curves(label_round: LabelRound, people: Sequence[AnnotatorQuality]) -> list[DriftCurve]:
    """Return the curve of everybody with a control answer, highest sums first."""
    chart = chart_of_round(label_round)
    curves = [
        DriftCurve(person, _sums(chart, person.controls)) for person in people if person.controls.n
    ]
    return sorted(curves, key=lambda curve: (-curve.highest, curve.annotator.rater.pseudonym))


def _sums(chart: AccuracyChart, record: ControlRecord) -> list[int]:
    """Return the sums, which begin anew where the steps were passed again."""
    before, after = record.answers[: record.start], record.answers[record.start :]
    return [*chart.sums(before), *chart.sums(after)]


def drift_power(chart: AccuracyChart) -> dict[str, str]:
    """Return percentages of annotators with a signal within ``n`` answers, exactly computed."""
    shares = {
        "usual": chart.usual,
        "fallen": chart.fallen,
        "false": chart.signal_share(chart.usual, SOON),
        "true": chart.signal_share(chart.fallen, SOON, before=SOON),
    }
    return {"n": str(SOON)} | {name: f"{100 * share:.0f}" for name, share in shares.items()}


def drift_table(label_round: LabelRound, curves: Sequence[DriftCurve]) -> TableData:
    """Return one row per annotator, with what stands before and after a signalled fall."""
    limit = chart_of_round(label_round).limit
    columns = (
        Column(_("Annotator"), "annotator.rater.pseudonym"),
        Column(_("Control answers"), "annotator.controls.n"),
        Column(_("Control accuracy"), "annotator.controls.accuracy"),
        Column(_("Highest sum (limit %d)") % limit, "highest"),
        Column(_("Signalled at control answer"), "signal"),
        Column(_("Right before the fall"), "before"),
        Column(_("Right since the fall"), "since"),
    )
    return table_of(
        columns,
        curves,
        caption=_("Drift in round “%s”.") % label_round.name,
        note=one_line(DRIFT_RECIPE),
        name="drift",
    )


def drift_chart(label_round: LabelRound, curves: Sequence[DriftCurve], size: str) -> charts.Spec:
    """Draw everybody's sums with the limit; of many annotators, those with the highest sums."""
    limit = chart_of_round(label_round).limit
    names = {True: _("Fall signalled"), False: _("No fall signalled")}
    rows = [
        {"number": number, "sum": total, "name": names[curve.signal is not None], "who": who}
        for who, curve in enumerate(curves[:MOST])
        for number, total in enumerate([0, *curve.sums])
    ]
    last = max((len(curve.sums) for curve in curves[:MOST]), default=1)
    rows += [
        {"number": number, "sum": limit, "name": _("Limit"), "who": -1} for number in (0, last)
    ]
    titles = (of_all(_("Control answer"), len(curves)), _("CUSUM"))
    return lines(rows, x="number", y="sum", series="name", line="who", titles=titles, size=size)


def drift_alt(label_round: LabelRound, curves: Sequence[DriftCurve]) -> str:
    """Describe the chart in words."""
    signalled = [curve for curve in curves if curve.signal is not None]
    names = ", ".join(curve.annotator.rater.pseudonym for curve in signalled[:10])
    return _("%(n)d annotators, limit %(limit)d. Falls signalled: %(signalled)d%(names)s.") % {
        "n": len(curves),
        "limit": chart_of_round(label_round).limit,
        "signalled": len(signalled),
        "names": f" ({names})" if names else "",
    }
