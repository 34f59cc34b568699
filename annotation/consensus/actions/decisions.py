"""Decisions on disputed labels one by one, and adoption of labels of another campaign."""

from dataclasses import dataclass
from datetime import datetime
from types import EllipsisType
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation.consensus.models import Adjudication, Adoption, FinalLabel
from annotation.consensus.reports import adjudication_table, adoptable_labels, adoption_table
from annotation.corpus.models import Argument
from annotation.labelling.models.campaigns import Campaign, Item, Slot, campaigns_of
from cqa_site.people.access import record
from cqa_site.people.models import Rater, Study, User

from .consensus import derive_labels, request_final_labels

# Experts' decisions on single arguments; earlier ones are superseded, never overwritten.


# Campaigns whose disputes are counted.
NEWEST = 6


class DecisionNotValid(Exception):
    """The label is not on the scale, or the argument is not in the campaign."""


class DecidedMeanwhile(Exception):
    """The rater's current decision differs from the displayed one; ``stored`` is it, or None."""

    def __init__(self, stored: Adjudication | None, label: int) -> None:
        self.stored = stored
        text = _("You have since undone your decision. %(label)d was not stored.")
        facts: dict[str, Any] = {"label": label}
        if stored:
            text = _(
                "You chose %(stored)d on %(at)s in another tab, on another device or through "
                "the API. Your new choice, %(label)d, was not saved."
            )
            at = date_format(timezone.localtime(stored.created_at), "Y-m-d H:i")
            facts |= {"stored": stored.label, "at": at}
        super().__init__(text % facts)


@transaction.atomic
def adjudicate(
    *,
    campaign: Campaign,
    argument: Argument,
    rater: Rater,
    label: int,
    comment: str = "",
    known: datetime | EllipsisType | None = ...,
) -> Adjudication:
    """Store the rater's decision on one argument; repeating the same decision changes nothing.

    ``known`` says when the decision was made that the rater saw, None for none. Where another
    one is in force, nothing is stored and DecidedMeanwhile is raised. Left out, it is replaced.
    The argument's final label follows at once, everything else in the background.
    """
    if label not in campaign.guideline.values:
        raise DecisionNotValid(_("Choose a label from the scale."))
    if not campaign.items.filter(argument=argument).exists():
        raise DecisionNotValid(_("This sentence is not part of the round."))
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)  # two tabs of one expert
    earlier = _decisions_in_force(campaign).filter(argument=argument, rater=rater).first()
    if earlier and (earlier.label, earlier.comment) == (label, comment):
        return earlier
    if known is not ... and known != (earlier.created_at if earlier else None):
        raise DecidedMeanwhile(earlier, label)
    if earlier:
        earlier.superseded_at = timezone.now()
        earlier.save(update_fields=["superseded_at"])
    decision = Adjudication.objects.create(
        campaign=campaign, argument=argument, rater=rater, label=label, comment=comment
    )
    _show_at_once(campaign, argument)
    request_final_labels(campaign=campaign, actor=rater.user)
    return decision


@transaction.atomic
def undo_last(
    *, campaign: Campaign, rater: Rater, known: datetime | None = None
) -> Adjudication | None:
    """Undo the rater's last decision in the queue; the decision it replaced counts again.

    ``known`` says when the decision was made that is meant, so that a request sent twice takes
    back one. The row stays, marked, and the study's history says who took what back; None where
    nothing is in force.
    """
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)  # two tabs of one expert
    own = Adjudication.objects.filter(rater=rater, source=Adjudication.Source.QUEUE)
    last = own.filter(campaign=campaign, superseded_at__isnull=True).order_by("pk").last()
    if known:
        last = own.filter(campaign=campaign, created_at=known).first()
    if last is None or last.superseded_at:
        return last if last and last.is_undone else None
    last.superseded_at, last.is_undone = timezone.now(), True
    last.save(update_fields=["superseded_at", "is_undone"])
    same = own.filter(campaign=campaign, argument=last.argument_id, is_undone=False)
    before = same.filter(pk__lt=last.pk).order_by("pk").last()
    if before is not None:
        before.superseded_at = None
        before.save(update_fields=["superseded_at"])
    record(
        study=campaign.study,
        actor=rater.user,
        verb="decision_undone",
        subject=last.argument.text,
        campaign=str(campaign.public_id),
        label=last.label,
        again=before.label if before else None,
    )
    if _decisions_in_force(campaign).filter(argument=last.argument_id).exists():
        _show_at_once(campaign, last.argument)
    request_final_labels(campaign=campaign, actor=rater.user)
    return last


def disputed(campaign: Campaign) -> QuerySet[FinalLabel]:
    """Return arguments whose votes tie or lie at both ends of the scale, largest distance first.

    Left out: what the votes do not decide anyway (control items unless tied,
    expert overrides), and in a running round whatever still waits for votes.
    """
    values = campaign.guideline.values
    # One list for all arguments, and slots found by argument: SQLite looked through the whole
    # round for each argument, which took 17 s with 100,000 votes.
    controls = Item.objects.filter(campaign=campaign, control_label__isnull=False)
    is_control = Q(argument__in=controls.values("argument"))
    far_apart = Q(spread__gte=values[-1] - values[0]) & ~is_control
    rows = FinalLabel.objects.filter(Q(is_tied=True) | far_apart, campaign=campaign)
    rows = rows.filter(expert_label__isnull=True)
    if campaign.is_live and campaign.state != Campaign.State.CLOSED:
        unfinished = (Slot.State.OPEN, Slot.State.LEASED)
        waiting = Slot.objects.filter(
            item__argument=OuterRef("argument"), item__campaign=campaign, state__in=unfinished
        )
        rows = rows.filter(~Exists(waiting))
    return rows.order_by("-spread", "-is_tied", "pk")


def queue(
    campaign: Campaign, *, rater: Rater | None, undecided_only: bool = True
) -> QuerySet[FinalLabel]:
    """Return the rater's remaining arguments.

    ``undecided_only`` omits decided and adopted ones.
    """
    decided = _decisions_in_force(campaign).filter(argument=OuterRef("argument"))
    if undecided_only:
        return disputed(campaign).filter(~Exists(decided), adopted_label__isnull=True)
    return disputed(campaign).filter(~Exists(decided.filter(rater=rater)))


def disputed_campaigns(study: Study) -> list[Campaign]:
    """Return those of newest campaigns that have undecided disputes, each with ``disputes``."""
    settled = FinalLabel.objects.filter(campaign=OuterRef("pk"))
    campaigns = campaigns_of(study).filter(Exists(settled)).select_related("guideline")
    rounds = []
    for campaign in campaigns[:NEWEST]:
        if disputes := queue(campaign, rater=None).count():
            vars(campaign).update(disputes=disputes)
            rounds.append(campaign)
    return rounds


def disputes_in(study: Study) -> int:
    """Return the number of undecided disputes in the newest campaigns."""
    return sum(vars(campaign)["disputes"] for campaign in disputed_campaigns(study))


def next_in_queue(
    campaign: Campaign,
    *,
    rater: Rater | None,
    undecided_only: bool = True,
    skipped: list[int] | None = None,
) -> FinalLabel | None:
    """Return the next argument to decide; skipped ones come last, oldest skip first."""
    places = {pk: place for place, pk in enumerate(skipped or [], 1)}
    later = Case(
        *(When(argument=pk, then=Value(place)) for pk, place in places.items()),
        default=Value(0),
        output_field=IntegerField(),
    )
    rows = queue(campaign, rater=rater, undecided_only=undecided_only)
    if places:
        rows = rows.order_by(later, *rows.query.order_by)
    return rows.select_related("argument__comparison").first()


def _decisions_in_force(campaign: Campaign) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(campaign=campaign, superseded_at__isnull=True)


def _show_at_once(campaign: Campaign, argument: Argument) -> None:
    """Write the decision to the argument's final label without waiting for the worker."""
    from annotation.consensus.methods import label_votes

    decisions = adjudication_table(campaign, argument=argument)
    label = int(label_votes(decisions, "majority").iloc[0])
    FinalLabel.objects.filter(campaign=campaign, argument=argument).update(
        label=label, adjudicated_label=label, provenance=FinalLabel.Provenance.ADJUDICATED
    )


# Adopting labels of another campaign as decisions: looking first, doing it, taking it back.


class AdoptionNotPossible(Exception):
    """The labels are not from another campaign of the study, or are already adopted."""


class LabelChange(NamedTuple):
    """Number of sentences with a label now, and after the adoption."""

    label: int
    now: int
    then: int


@dataclass(frozen=True)
class AdoptionPreview:
    """Effect of adopting the labels of a rater.

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
    """Compare the labels with and without the adoption, without storing anything."""
    import pandas as pd

    _check_source(campaign, source)
    rules = adoption_table(campaign)
    present = _adoptions_in_force(campaign, source, rater).values_list("pk", flat=True).first()
    labels = adoptable_labels(campaign, source.pk, rater.pk)
    rows = [(unit, present or 0, label, only_tied) for unit, label in labels]
    additions = pd.DataFrame(rows, columns=list(rules.columns))
    then = pd.concat([rules[rules["rater"] != (present or 0)], additions])
    before, after = derive_labels(campaign), derive_labels(campaign, adopted=then)
    is_other = before["label"].fillna(-1) != after["label"].fillna(-1)
    is_new = (after["provenance"] == "adopted") & (before["provenance"] != "adopted")
    counts = [table["label"].value_counts() for table in (before, after)]
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
    """Adopt one rater's labels from another campaign as decisions; repeating changes nothing.

    The same labels under the other rule replace the adoption there was. Final labels follow
    in the background.
    """
    _check_source(campaign, source)
    Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    present = _adoptions_in_force(campaign, source, rater)
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
    """Withdraw an adoption and reopen what it decided; return False if already withdrawn."""
    rows = Adoption.objects.filter(pk=adoption.pk, withdrawn_at__isnull=True)
    if not rows.update(withdrawn_at=timezone.now()):
        return False
    _log(adoption, "adoption_withdrawn", actor)
    return True


def _adoptions_in_force(campaign: Campaign, source: Campaign, rater: Rater):
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
