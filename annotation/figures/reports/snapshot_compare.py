"""What moved between two snapshots of a campaign."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.figures.models import Snapshot
from cqa_site.stats.as_json import from_json
from cqa_site.web.tables import TableData

from .kept import Figures

COUNTS = ("items_voted", "votes", "control_votes", "raters", "extra", "excluded", "skipped")


def compare(earlier: Snapshot, later: Snapshot) -> TableData:
    """Counts, agreement and label shares side by side, with the difference.

    The difference of two snapshots of one campaign is not a test: most votes are in both.
    """
    before, after = (_rows(from_json(Figures, each.figures)) for each in (earlier, later))
    rows = [
        [name, before.get(name), after.get(name), _difference(before.get(name), after.get(name))]
        for name in [*before, *(name for name in after if name not in before)]
    ]
    return TableData(
        [_("Figure"), f"#{earlier.number}", f"#{later.number}", _("Difference")],
        rows,
        caption=_("Snapshots #%(a)d and #%(b)d") % {"a": earlier.number, "b": later.number},
    )


def _rows(figures: Figures) -> dict[str, float | None]:
    names = {
        "items_voted": _("Items with a counted vote"),
        "votes": _("Votes counted"),
        "control_votes": _("Votes on control items"),
        "raters": _("Annotators counted"),
        "extra": _("Extra votes"),
        "excluded": _("Votes of excluded annotators"),
        "skipped": _("Skipped"),
    }
    rows: dict[str, float | None] = {names[key]: getattr(figures.progress, key) for key in COUNTS}
    scopes = {"all": _("all items"), "ordinary": _("ordinary items")}
    for scope, where in scopes.items():
        for entry in figures.agreement[scope]:
            rows[f"{entry.statistic}, {entry.level}, {where}"] = entry.value
    total = figures.progress.votes
    for row in figures.labels:
        share = (row.ordinary + row.control) / total if total else None
        rows[_("Share of label %d") % row.label] = share
    return rows


def _difference(before: Any, after: Any) -> Any:
    return None if before is None or after is None else after - before
