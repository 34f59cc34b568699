"""Excluding everybody below a control accuracy, and letting them in again, as one action.

Each annotator's exclusion stays a logged decision of its own, which can be taken back alone.
"""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import request_everywhere
from annotation.labelling.models.campaigns import Campaign, Exclusion
from annotation.quality.reports.exclusion import low_raters
from cqa_site.people.access import record
from cqa_site.people.models import Rater, User

from .quality import decide_one


@transaction.atomic
def exclude_below(
    *, campaign: Campaign, below: float, rule: str, reason: str, actor: User
) -> Exclusion | None:
    """Exclude whoever counts and is below; None, and nothing is kept, where that is nobody.

    ``below`` is a share of right answers on control items, 0 to 1; who has exactly this share
    stays. ``rule`` is one of `Exclusion.Rule`: the share itself, or its interval's upper bound.
    """
    Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    raters = Rater.objects.filter(pk__in=low_raters(campaign, below, rule)).order_by("pk")
    if not raters:
        return None
    exclusion = Exclusion.objects.create(
        campaign=campaign, below=below, rule=rule, reason=reason[:300], made_by=actor
    )
    for rater in raters:
        place = decide_one(
            campaign=campaign, rater=rater, decision="exclude", reason=reason, actor=actor
        )
        if place is not None:
            exclusion.places.add(place)
    _log(exclusion, "annotators_excluded", actor, len(raters))
    return exclusion


@transaction.atomic
def undo_exclusion(*, exclusion: Exclusion, actor: User) -> int | None:
    """Let in again whom it excluded, but nobody who was decided about since; None if undone."""
    rows = Exclusion.objects.filter(pk=exclusion.pk, undone_at__isnull=True)
    if not rows.update(undone_at=timezone.now()):
        return None
    campaign = exclusion.campaign
    raters = Rater.objects.filter(places__exclusions=exclusion).order_by("pk")
    reason = _("The exclusion of everybody below %s was undone.") % f"{exclusion.below:g}"
    count = len(raters)
    for rater in raters:
        decide_one(
            campaign=campaign, rater=rater, decision="reinstate", reason=reason, actor=actor
        )
    _log(exclusion, "exclusion_undone", actor, count)
    return count


def _log(exclusion: Exclusion, verb: str, actor: User, annotators: int) -> None:
    campaign = exclusion.campaign
    record(
        study=campaign.study,
        actor=actor,
        verb=verb,
        subject=campaign.name,
        reason=exclusion.reason,
        below=exclusion.below,
        rule=exclusion.rule,
        annotators=annotators,
    )
    request_everywhere(campaign=campaign, actor=actor)
