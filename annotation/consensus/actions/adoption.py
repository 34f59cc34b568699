"""Adopting labels of another campaign as decisions: looking first, doing it, taking it back."""

from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.consensus.models import Adoption
from annotation.consensus.reports import adoptable_labels, adoption_table
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.access import record
from cqa_site.people.models import Rater, User

from .consensus import derive_labels, request_final_labels


class AdoptionNotPossible(Exception):
    """The labels are not another campaign's of the same study, or are adopted already."""


class LabelChange(NamedTuple):
    """How many sentences have a label now, and would have it then."""

    label: int
    now: int
    then: int


@dataclass(frozen=True)
class AdoptionPreview:
    """What adopting would do.

    Attributes
    ----------
    labelled
        Sentences of the campaign that the rater labelled.
    decided
        Sentences whose final label would come from adopted labels, for this adoption's sake.
    changed
        Sentences whose final label would be another one.
    counts
        For each label of the scale.
    """

    labelled: int
    decided: int
    changed: int
    counts: list[LabelChange]


def preview_adoption(
    *, campaign: Campaign, source: Campaign, rater: Rater, only_tied: bool
) -> AdoptionPreview:
    """Derive the labels with and without the adoption; nothing is stored."""
    import pandas as pd

    _check_source(campaign, source)
    rules = adoption_table(campaign)
    present = _in_force(campaign, source, rater).values_list("pk", flat=True).first()
    labels = adoptable_labels(campaign, source.pk, rater.pk)
    rows = [(unit, present or 0, label, only_tied) for unit, label in labels]
    asked = pd.DataFrame(rows, columns=list(rules.columns))
    then = pd.concat([rules[rules["rater"] != (present or 0)], asked])
    before, after = derive_labels(campaign), derive_labels(campaign, adopted=then)
    is_other = before["label"].fillna(-1) != after["label"].fillna(-1)
    is_new = (after["provenance"] == "adopted") & (before["provenance"] != "adopted")
    counts = [each["label"].value_counts() for each in (before, after)]
    return AdoptionPreview(
        labelled=len({unit for unit, _label in labels}),
        decided=int(is_new.sum()),
        changed=int(is_other.sum()),
        counts=[
            LabelChange(value, *(int(count.get(value, 0)) for count in counts))
            for value in campaign.guideline.values
        ],
    )


@transaction.atomic
def adopt_labels(
    *, campaign: Campaign, source: Campaign, rater: Rater, only_tied: bool = True, actor: User
) -> Adoption:
    """Let another campaign's labels by one rater decide here; asking again changes nothing.

    The same labels under the other rule replace the adoption there was. Final labels follow
    in the background.
    """
    _check_source(campaign, source)
    Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    present = _in_force(campaign, source, rater)
    earlier = present.first()
    if earlier and earlier.only_tied == only_tied:
        return earlier
    present.update(withdrawn_at=timezone.now())
    adoption = Adoption.objects.create(
        campaign=campaign, source=source, rater=rater, only_tied=only_tied, created_by=actor
    )
    _log(adoption, "labels_adopted", actor)
    return adoption


@transaction.atomic
def withdraw_adoption(*, adoption: Adoption, actor: User) -> bool:
    """Take an adoption back; False if somebody did already. What it decided is open again."""
    rows = Adoption.objects.filter(pk=adoption.pk, withdrawn_at__isnull=True)
    if not rows.update(withdrawn_at=timezone.now()):
        return False
    _log(adoption, "adoption_withdrawn", actor)
    return True


def _in_force(campaign: Campaign, source: Campaign, rater: Rater):
    return campaign.adoptions.filter(source=source, rater=rater, withdrawn_at__isnull=True)


def _check_source(campaign: Campaign, source: Campaign) -> None:
    if source.study_id != campaign.study_id or source == campaign:
        raise AdoptionNotPossible(_("Choose another round of the same study."))


def _log(adoption: Adoption, verb: str, actor: User) -> None:
    campaign = adoption.campaign
    record(
        study=campaign.study,
        actor=actor,
        verb=verb,
        subject=campaign.name,
        source=str(adoption.source.public_id),
        rater=adoption.rater.described,
        only_tied=adoption.only_tied,
    )
    request_final_labels(campaign=campaign, actor=actor)
