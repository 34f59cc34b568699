"""Texts before and after editing as tables to take away."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from cqa_site.people.models import Study
from cqa_site.web.tables import TableData

from .edited_figures import RECIPE, Summary
from .edited_pairs import TITLES, Pair


def summary_table(study: Study, summary: Summary, mode: str) -> TableData:
    """The changes for a file."""
    columns = [_("Measure"), _("Texts n"), _("Before"), _("After"), _("Difference")]
    rows = [
        [
            change.title,
            change.n,
            change.before,
            change.after,
            *(getattr(change.difference, part) for part in ("value", "low", "high")),
        ]
        for change in [*summary.changes, *summary.checks]
    ]
    caption = _("Texts before and after editing, study “%s”.") % study.name
    columns += [_("low"), _("high")]
    return TableData(columns, rows, caption, str(RECIPE), f"before-and-after-{mode}")


def pairs_table(pairs: Sequence[Pair], mode: str) -> TableData:
    """Every pair for a file."""
    columns = [_("Answer"), _("Edited text"), _("Kind"), _("System"), _("Object 1"), _("Object 2")]
    columns += [_("Aspect"), _("Words changed"), _("Seconds")]
    for title in TITLES.values():
        columns += [_("%s before") % title, _("%s after") % title]
    rows = [[*_about(pair), *_sides(pair)] for pair in pairs]
    return TableData(columns, rows, name=f"edited-texts-{mode}")


def _about(pair: Pair) -> list[Any]:
    row = pair.edited
    after = row.revision or row.gold
    question = row.before.question
    return [
        str(row.before.public_id),
        str(after.public_id) if after else "",
        _("revision") if row.revision_id else _("gold"),
        row.before.system.name,
        question.comparison.object1,
        question.comparison.object2,
        question.aspect,
        row.edit_distance,
        pair.seconds,
    ]


def _sides(pair: Pair) -> list[Any]:
    return [side[name] for name in TITLES for side in (pair.before, pair.after)]
