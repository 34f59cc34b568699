"""Sign-offs: who approved the key points shown, and whether these are still the same."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, SignOff
from cqa_site.judging.chat import digest

State = FoundPoint.State


@dataclass(frozen=True)
class SignOffState:
    """The newest sign-off of an analysis and whether it holds.

    ``shown`` and ``proposed`` are numbers of key points now.
    """

    newest: SignOff | None
    is_valid: bool
    shown: int
    proposed: int

    @property
    def is_due(self) -> bool:
        """Whether a person can sign off now."""
        return not self.is_valid and bool(self.shown) and not self.proposed


def shown_points(analysis: Analysis) -> list[list[Any]]:
    """Return the content of a sign-off: primary key, text and theme of each key point shown."""
    rows = analysis.points.filter(state=State.SHOWN).order_by("position")
    return [list(row) for row in rows.values_list("pk", "text", "theme")]


def digest_of(points: list[list[Any]]) -> str:
    """Return the hexadecimal SHA-256 of key points as `shown_points` returns them."""
    return digest({"points": points})


def sign_off_of(analysis: Analysis) -> SignOffState:
    """Return the state of the sign-off; three queries."""
    newest = analysis.sign_offs.select_related("actor").first()
    rows = analysis.points.filter(state__in=[State.SHOWN, State.PROPOSED]).order_by()
    numbers = dict(rows.values_list("state").annotate(n=Count("pk")))
    is_valid = newest is not None and newest.digest == digest_of(shown_points(analysis))
    shown, proposed = numbers.get(State.SHOWN, 0), numbers.get(State.PROPOSED, 0)
    return SignOffState(newest, is_valid, shown, proposed)


def sign_off_in_words(state: SignOffState) -> str:
    """Return who signed off and when, and whether key points have changed; empty without one."""
    if state.newest is None:
        return ""
    values = {
        "name": state.newest.actor,
        "day": date_format(state.newest.at, "Y-m-d H:i"),
    }
    if state.is_valid:
        return _("Signed off by %(name)s on %(day)s UTC") % values
    return _("Changed since sign-off by %(name)s on %(day)s UTC: sign off again") % values
