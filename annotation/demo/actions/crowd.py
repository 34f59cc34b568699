"""A crowd link of the demo into a platform on this machine."""

from datetime import timedelta
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from annotation.labelling.models.rounds import LabelRound
from cqa_site.pay.stand_in import HOOK_SECRET, STUDY, TOKEN, PlatformStandIn
from cqa_site.people.models import Role, Study
from cqa_site.rounds.crowd.participants import close_link, create_link
from cqa_site.rounds.crowd.platform import connect_link
from cqa_site.rounds.models import ParticipantLink

CODES = {
    "completed_code": "DEMO-DONE",
    "screened_out_code": "DEMO-SCREENED",
    "no_work_code": "DEMO-FULL",
    "fault_code": "DEMO-FAULT",
}
PARTICIPANTS, ITEMS, DAYS = 12, 5, 30


def connect_stand_in(platform: PlatformStandIn, site: str) -> ParticipantLink | None:
    """Create a link to the demo's first open label round, and let the platform's people enter.

    Links of earlier starts are closed: their secrets are not stored. Nobody takes part twice.
    Without an open round there is no link.
    """
    study = Study.objects.get(is_demo=True)
    actor = study.memberships.filter(role=Role.RESEARCHER).select_related("user")[0].user
    earlier = list(ParticipantLink.objects.filter(platform_study=STUDY, study=study))
    for old_link in earlier:
        close_link(link=old_link, actor=actor)
    rounds = LabelRound.objects.filter(study=study, state=LabelRound.State.OPEN)
    label_round = rounds.order_by("pk").first()
    if label_round is None:
        return None
    link, secret = create_link(
        round_=label_round,
        actor=actor,
        entry=ParticipantLink.Entry.SIGNED,
        required_items=ITEMS,
        max_participants=PARTICIPANTS,
        expires_at=timezone.now() + timedelta(days=DAYS),
        return_url=f"{platform.address}/complete?cc={{code}}&participant={{participant}}",
        reward=Decimal("1.50"),
        item_bonus=Decimal("0.05"),
        hourly_floor=Decimal("9.00"),
        outcome_pay={"screened_out": "0.40", "failed_check": "0.40"},
        **CODES,
    )
    connect_link(
        link=link, actor=actor, platform_study=STUDY, hook_secret=HOOK_SECRET, api_token=TOKEN
    )
    platform.invent(PARTICIPANTS, first=PARTICIPANTS * len(earlier))
    platform.entry = site + reverse("join", args=[secret])
    platform.hook = site + reverse("platform_hook", args=[link.public_id])
    return link
