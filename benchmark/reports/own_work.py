"""Scoring rounds on the first page of those who score."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.people.models import Membership
from cqa_site.people.own_work import Waiting

from .scoring_rounds import open_rounds

LISTED = 50


def waiting_for(membership: Membership) -> list[Waiting]:
    """One card for every open round; nothing for people of a crowd link."""
    if getattr(membership.user, "participant", None) is not None:
        return []
    return [_card(membership, each) for each in open_rounds(membership)[:LISTED]]


def _card(membership: Membership, scoring_round) -> Waiting:
    done = scoring_round.scored
    badge = ngettext("%d scored by you", "%d scored by you", done) % done
    return Waiting(
        title=scoring_round.name,
        text=_("Score answers by a rubric, one at a time. Every point is saved as you set it."),
        button=_("Go on scoring") if done else _("Start scoring"),
        url=reverse("score", args=[membership.study.public_id, scoring_round.public_id]),
        badge=badge if done else "",
    )
