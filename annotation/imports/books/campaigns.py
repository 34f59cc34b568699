"""Campaigns that hold imported votes: found or made by name."""

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.labelling.actions.guidelines import default_guideline
from annotation.labelling.models.campaigns import Campaign
from cqa_site.files.actions.rows import ImportRefused
from cqa_site.people.models import User

from ..actions.rows import ArgumentEntry

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation


class CampaignBook:
    """Campaigns named by the file; None while new and not written."""

    def __init__(self, work: "StudyReconciliation", actor: User | None) -> None:
        self.work = work
        self.actor = actor
        self.known: dict[str, Campaign | None] = {}

    @property
    def ids(self) -> list[int]:
        """Keys of the campaigns, in the order in which the file named them."""
        return [campaign.pk for campaign in self.known.values() if campaign is not None]

    def pk(self, name: str) -> int | None:
        """The key of a campaign, or None in a dry run before it exists."""
        campaign = self.known[name]
        return campaign.pk if campaign else None

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Find the campaigns of a piece, or make them."""
        for name in dict.fromkeys(entry.campaign for entry in entries):
            if name not in self.known:
                self.known[name] = self._find_or_make(name)

    def _find_or_make(self, name: str) -> Campaign | None:
        found = Campaign.objects.filter(study=self.work.study, name=name).first()
        if found is not None and found.is_live:
            raise ImportRefused(
                _("“%s” is a round run here. Choose another name for the imported votes.") % name
            )
        self.work.result("label_rounds", "same" if found else "new")
        if found is not None or not self.work.write:
            return found
        now = timezone.now()
        return Campaign.objects.create(
            study=self.work.study,
            name=name,
            origin=Campaign.Origin.IMPORTED,
            state=Campaign.State.CLOSED,
            guideline=default_guideline(self.work.study, actor=self.actor),
            created_by=self.actor,
            closed_at=now,
            **Campaign.USUAL,
        )
