"""What campaigns answer about people who come by a crowd link."""

import math

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment, Campaign
from cqa_site.people.models import Membership, User
from cqa_site.rounds.crowd.work import CrowdWork
from cqa_site.rounds.models import Round

from .serving import member_place, next_work

DONE = (Assignment.State.ANSWERED, Assignment.State.SKIPPED)


class LabelWork(CrowdWork):
    """Sentences to label, in blocks with control items."""

    round_page = "campaign"
    work_page = "label"
    answer_pages = ("label_answer",)
    section = "campaigns"
    head = "annotation/_campaign_head.html"
    row = "campaign"

    def most_items(self, round_: Round) -> int:
        """See `most_items`."""
        return most_items(self.own(round_))

    def done_by(self, round_: Round, user: User) -> int:
        """Items labelled or skipped."""
        own = Assignment.objects.filter(campaign=round_.pk, rater__user=user)
        return own.filter(state__in=DONE).count()

    def reason(self, round_: Round, membership: Membership) -> str:
        """What serving says."""
        campaign = self.own(round_)
        place = member_place(campaign=campaign, membership=membership)
        return next_work(campaign=campaign, place=place).reason

    def asks(self, items: int) -> str:
        """How many sentences."""
        text = ngettext(
            "You will read %(items)s sentence and label it. Every answer is saved at once.",
            "You will read %(items)s sentences and label each one. Every answer is saved at once.",
            items,
        )
        return text % {"items": items}

    def counted(self) -> str:
        """Items."""
        return _("Labelled or skipped items, control items included.")

    def go_on(self) -> str:
        """As the first page says it."""
        return _("Continue labelling")


def most_items(campaign: Campaign) -> int:
    """How many items one person can be served in a campaign, control items included.

    Every item goes to a person once at most, ordinary ones up to the share cap; each block of
    them brings its control items along, for as long as there are any the person has not had.
    """
    items = campaign.items.aggregate(
        ordinary=Count("pk", filter=Q(control_label__isnull=True)),
        controls=Count("pk", filter=Q(control_label__isnull=False, is_retired=False)),
    )
    ordinary, controls = items["ordinary"], items["controls"]
    allowed = min(ordinary, math.ceil(ordinary * campaign.share_cap))
    blocks = math.ceil(allowed / max(1, campaign.block_size - campaign.controls_per_block))
    return allowed + min(controls, blocks * campaign.controls_per_block)
