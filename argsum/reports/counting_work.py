"""Counting rounds on the first page of those who judge."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.people.models import Membership
from cqa_site.people.own_work import Waiting

from .counting_rounds import open_rounds

LISTED = 50


def waiting_for(membership: Membership) -> list[Waiting]:
    """One card for every open round; nothing for people of a crowd link."""
    if getattr(membership.user, "participant", None) is not None:
        return []
    return [_card(membership, each) for each in open_rounds(membership)[:LISTED]]


def _card(membership: Membership, counting_round) -> Waiting:
    done = counting_round.judged
    badge = ngettext("%d judged by you", "%d judged by you", done) % done
    return Waiting(
        title=counting_round.name,
        text=_("Compare key points with references, one set at a time. Every mark is saved."),
        button=_("Go on judging") if done else _("Start judging"),
        url=reverse("count", args=[membership.study.public_id, counting_round.public_id]),
        badge=badge if done else "",
    )
