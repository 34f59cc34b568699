"""Which setting of an analysis was taken, why, and which ones are beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from argsum.analysis.models import Analysis

# Key of `Found.rule` → why that setting.
RULES: Mapping[str, Promise] = {
    "asked": _("somebody asked for it"),
    "usual": _(
        "it is the usual one, which did best on debates and comments with known key points"
    ),
}


@dataclass(frozen=True)
class TriedSetting:
    """A setting that was looked at; ``analysis`` has its key points if somebody asked for them."""

    setting: str
    points: int
    share: float | None
    is_taken: bool
    analysis: Analysis | None


@dataclass(frozen=True)
class Settings:
    """What was tried, in order; ``fewer`` and ``more`` are the neighbours in key points."""

    tried: Sequence[TriedSetting]
    why: str
    taken: TriedSetting | None
    fewer: TriedSetting | None
    more: TriedSetting | None


def settings_of(analysis: Analysis) -> Settings:
    """In one query, for the analyses of the same statements that are there already."""
    choice = analysis.choice
    taken = str(choice.get("setting", ""))
    others = _others(analysis)
    tried = [
        TriedSetting(
            setting=str(each.get("setting", "")),
            points=int(each.get("points", 0)),
            share=each.get("share"),
            is_taken=str(each.get("setting", "")) == taken,
            analysis=others.get(str(each.get("setting", ""))),
        )
        for each in choice.get("tried", [])
    ]
    own = next((each for each in tried if each.is_taken), None)
    rule = "asked" if analysis.options.get("setting") else str(choice.get("rule", ""))
    return Settings(
        tried=tried,
        why=str(RULES.get(rule, rule)),
        taken=own,
        fewer=_nearest(tried, own, -1),
        more=_nearest(tried, own, 1),
    )


def _nearest(
    tried: Sequence[TriedSetting], own: TriedSetting | None, way: int
) -> TriedSetting | None:
    """The setting with the next number of key points in a direction; none is no result."""
    if own is None:
        return None
    beside = [each for each in tried if way * (each.points - own.points) > 0 and each.points]
    return min(beside, key=lambda each: abs(each.points - own.points), default=None)


def _others(analysis: Analysis) -> dict[str, Any]:
    """Setting → the newest analysis of the same statements by the same scorers with it."""
    rows = Analysis.objects.filter(
        study=analysis.study_id,
        cell=analysis.cell_id,
        match_scorer=analysis.match_scorer_id,
        quality_scorer=analysis.quality_scorer_id,
        state=Analysis.State.DONE,
    ).exclude(pk=analysis.pk)
    rows = rows.only("public_id", "choice", "number").order_by("number")
    return {str(each.choice.get("setting", "")): each for each in rows}
