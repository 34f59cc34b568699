"""Choosing whose final labels a study uses wherever it needs one label for a sentence."""

from django.db import transaction

from annotation.consensus.models import PreferredLabels
from annotation.consensus.reports import label_source
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


class LabelsNotOfStudy(Exception):
    """The campaign belongs to another study."""


@transaction.atomic
def prefer_labels(*, study: Study, campaign: Campaign | None, actor: User) -> None:
    """Use one campaign's final labels; with None, of each sentence the newest there is."""
    if campaign is not None and campaign.study_id != study.pk:
        raise LabelsNotOfStudy
    before = label_source(study)
    if before == campaign:
        return
    PreferredLabels.objects.filter(study=study).delete()
    if campaign is not None:
        PreferredLabels.objects.create(study=study, campaign=campaign)
    record(
        study=study,
        actor=actor,
        verb="preferred_labels_chosen",
        subject=study.name,
        before=before.name if before else "",
        after=campaign.name if campaign else "",
    )
