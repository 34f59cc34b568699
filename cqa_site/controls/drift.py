"""Charts of the drift in people's control accuracy while they work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from django.utils.translation import gettext as _, gettext_lazy

from cqa_site.people.models import Rater
from cqa_site.results.figures import Column, Figure, Files, table_of
from cqa_site.rounds.rules.records import ControlRecord
from cqa_site.web.charts import vega
from cqa_site.web.charts.points import MOST, lines, of_all
from cqa_site.web.tables import TableData, one_line

if TYPE_CHECKING:
    from cqa_site.stats.drift import AccuracyChart, AccuracyFall

DRIFT_TITLE = gettext_lazy("Drift of control accuracy")
DRIFT_RECIPE = gettext_lazy(
    "Bernoulli CUSUM (Reynolds and Stoumbos 1999) over each annotator's answers to control "
    "items in the order served: a right answer lowers the sum by 1, never below 0; a wrong "
    "answer raises it. At the limit, a fall in accuracy is signalled. The limit is the lowest "
    "value at which an annotator with the usual accuracy gives on average 1,000 or more "
    "control answers between false signals."
)
# Number of control answers for which the page states how often a fall is signalled.
SOON = 60


class ControlledPerson(Protocol):
    """A person's record on control items, and any fall in accuracy that a chart signals."""

    @property
    def rater(self) -> Rater: ...

    @property
    def controls(self) -> ControlRecord: ...

    @property
    def fall(self) -> AccuracyFall | None: ...


@dataclass(frozen=True)
class DriftCurve:
    """One person's sum after each control answer, and their accuracy before and after a fall."""

    person: ControlledPerson
    sums: list[int]

    @property
    def highest(self) -> int:
        """Highest sum so far."""
        return max(self.sums, default=0)

    @property
    def signal(self) -> int | None:
        """Number of the control answer that signalled a fall; None if no fall was signalled."""
        return self.person.fall.signal if self.person.fall else None

    @property
    def before(self) -> str:
        """Right answers out of all answers before the estimated start of a fall.

        Empty if there is no fall.
        """
        fall = self.person.fall
        return self._right(0, fall.start - 1) if fall else ""

    @property
    def since(self) -> str:
        """Right answers out of all answers since the estimated start of a fall.

        Empty if there is no fall.
        """
        fall = self.person.fall
        return self._right(fall.start - 1, None) if fall else ""

    def _right(self, first: int, end: int | None) -> str:
        return ControlRecord(self.person.controls.answers[first:end]).right_of_n


def drift_curves(chart: AccuracyChart, people: Iterable[ControlledPerson]) -> list[DriftCurve]:
    """Return the curves of all people with a control answer, highest sums first."""
    curves = [
        DriftCurve(person, _sums(chart, person.controls)) for person in people if person.controls.n
    ]
    return sorted(curves, key=lambda curve: (-curve.highest, curve.person.rater.pseudonym))


def _sums(chart: AccuracyChart, record: ControlRecord) -> list[int]:
    """Return the sums, which restart after the steps are passed again."""
    before, after = record.answers[: record.start], record.answers[record.start :]
    return [*chart.sums(before), *chart.sums(after)]


def drift_power(chart: AccuracyChart) -> dict[str, str]:
    """Return the exact percentages of annotators with a signal within ``n`` answers."""
    shares = {
        "usual": chart.usual,
        "fallen": chart.fallen,
        "false": chart.signal_share(chart.usual, SOON),
        "true": chart.signal_share(chart.fallen, SOON, before=SOON),
    }
    return {"n": str(SOON)} | {name: f"{100 * share:.0f}" for name, share in shares.items()}


def drift_table(chart: AccuracyChart, curves: Sequence[DriftCurve], name: str) -> TableData:
    """Return one row per annotator, with accuracy before and after a signalled fall."""
    columns = (
        Column(_("Annotator"), "person.rater.pseudonym"),
        Column(_("Control answers"), "person.controls.n"),
        Column(_("Control accuracy"), "person.controls.accuracy"),
        Column(_("Highest sum (limit %d)") % chart.limit, "highest"),
        Column(_("Signalled at control answer"), "signal"),
        Column(_("Correct before the fall"), "before"),
        Column(_("Correct since the fall"), "since"),
    )
    return table_of(
        columns,
        curves,
        caption=_("Drift in round “%s”.") % name,
        note=one_line(DRIFT_RECIPE),
        name="drift",
    )


def drift_chart(chart: AccuracyChart, curves: Sequence[DriftCurve], size: str) -> vega.Spec:
    """Draw the limit and all annotators' sums, or only the highest sums of many annotators."""
    names = {True: _("Fall signalled"), False: _("No fall signalled")}
    rows = [
        {"number": number, "sum": total, "name": names[curve.signal is not None], "who": who}
        for who, curve in enumerate(curves[:MOST])
        for number, total in enumerate([0, *curve.sums])
    ]
    last = max((len(curve.sums) for curve in curves[:MOST]), default=1)
    limit = {"sum": chart.limit, "name": _("Limit"), "who": -1}
    rows += [limit | {"number": number} for number in (0, last)]
    titles = (of_all(_("Control answer"), len(curves)), _("CUSUM"))
    return lines(rows, x="number", y="sum", series="name", line="who", titles=titles, size=size)


def drift_alt(chart: AccuracyChart, curves: Sequence[DriftCurve]) -> str:
    """Return a text alternative for the chart."""
    signalled = [curve for curve in curves if curve.signal is not None]
    names = ", ".join(curve.person.rater.pseudonym for curve in signalled[:10])
    return _("%(n)d annotators, limit %(limit)d. Falls signalled: %(signalled)d%(names)s.") % {
        "n": len(curves),
        "limit": chart.limit,
        "signalled": len(signalled),
        "names": f" ({names})" if names else "",
    }


def drift_figure(
    chart: AccuracyChart, people: Iterable[ControlledPerson], name: str, files: Files
) -> Figure:
    """Return the figure with all curves; ``name`` is the name of the round."""
    curves = drift_curves(chart, people)
    return Figure(
        slug="drift",
        title=DRIFT_TITLE,
        recipe=DRIFT_RECIPE,
        table=drift_table(chart, curves, name),
        alt=drift_alt(chart, curves) if curves else "",
        draw=partial(drift_chart, chart, curves),
        files=files,
        is_wide=True,
        needed=_("Nobody has answered a control item yet."),
    )
