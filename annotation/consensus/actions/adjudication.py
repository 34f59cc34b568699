"""Experts' decisions on single arguments; earlier ones are superseded, never overwritten."""

from datetime import datetime
from types import EllipsisType
from typing import Any

from django.db import transaction
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation.consensus.models import Adjudication, FinalLabel
from annotation.consensus.reports import adjudication_table
from annotation.corpus.models.questions import Argument
from annotation.labelling.models.campaigns import Campaign, Item, Slot, campaigns_of
from cqa_site.people.access import record
from cqa_site.people.models import Rater, Study

from .consensus import request_final_labels

# Campaigns whose disputes are counted.
NEWEST = 6


class DecisionNotValid(Exception):
    """The label is not on the scale, or the argument is not in the campaign."""


class DecidedMeanwhile(Exception):
    """The rater's decision in force is not the one they saw; ``stored`` is, or None."""

    def __init__(self, stored: Adjudication | None, label: int) -> None:
        self.stored = stored
        text = _("You took your decision back meanwhile. %(label)d was not stored.")
        facts: dict[str, Any] = {"label": label}
        if stored:
            text = _(
                "You decided %(stored)d on %(at)s in another tab, on another device or through "
                "the API. %(label)d did not replace it."
            )
            at = date_format(timezone.localtime(stored.created_at), "DATETIME_FORMAT")
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
    """Store the rater's word on one argument; repeating the same word changes nothing.

    ``known`` says when the decision was made that the rater saw, None for none. Where another
    one is in force, nothing is stored and DecidedMeanwhile is raised. Left out, it is replaced.
    The argument's final label follows at once, everything else in the background.
    """
    if label not in campaign.guideline.values:
        raise DecisionNotValid(_("Choose a label of the scale."))
    if not campaign.items.filter(argument=argument).exists():
        raise DecisionNotValid(_("This sentence is not part of the round."))
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)  # two tabs of one expert
    earlier = _in_force(campaign).filter(argument=argument, rater=rater).first()
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
def undo_last(*, campaign: Campaign, rater: Rater) -> Adjudication | None:
    """Take back the rater's last decision in the queue; what it had replaced counts again.

    The row stays, marked, and the study's history says who took what back; None where nothing
    is in force.
    """
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)  # two tabs of one expert
    own = Adjudication.objects.filter(rater=rater, source=Adjudication.Source.QUEUE)
    last = own.filter(campaign=campaign, superseded_at__isnull=True).order_by("pk").last()
    if last is None:
        return None
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
    if _in_force(campaign).filter(argument=last.argument_id).exists():
        _show_at_once(campaign, last.argument)
    request_final_labels(campaign=campaign, actor=rater.user)
    return last


def disputed(campaign: Campaign) -> QuerySet[FinalLabel]:
    """Arguments whose votes are tied or lie at both ends of the scale, far-apart ones first.

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
    """What is left for this rater; with ``undecided_only`` nothing decided or adopted."""
    decided = _in_force(campaign).filter(argument=OuterRef("argument"))
    if undecided_only:
        return disputed(campaign).filter(~Exists(decided), adopted_label__isnull=True)
    return disputed(campaign).filter(~Exists(decided.filter(rater=rater)))


def disputed_campaigns(study: Study) -> list[Campaign]:
    """The newest campaigns with undecided labels in dispute; each gets ``disputes``."""
    settled = FinalLabel.objects.filter(campaign=OuterRef("pk"))
    campaigns = campaigns_of(study).filter(Exists(settled)).select_related("guideline")
    found = []
    for campaign in campaigns[:NEWEST]:
        if disputes := queue(campaign, rater=None).count():
            vars(campaign).update(disputes=disputes)
            found.append(campaign)
    return found


def disputes_in(study: Study) -> int:
    """How many labels are in dispute in them."""
    return sum(vars(campaign)["disputes"] for campaign in disputed_campaigns(study))


def next_in_queue(
    campaign: Campaign,
    *,
    rater: Rater | None,
    undecided_only: bool = True,
    skipped: list[int] | None = None,
) -> FinalLabel | None:
    """The next argument to decide; those skipped come again at the end, oldest skip first."""
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


def _in_force(campaign: Campaign) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(campaign=campaign, superseded_at__isnull=True)


def _show_at_once(campaign: Campaign, argument: Argument) -> None:
    """Write the decision into the argument's final label without waiting for the worker."""
    from annotation.consensus.methods.consensus import label_votes

    decisions = adjudication_table(campaign, argument=argument)
    label = int(label_votes(decisions, "majority").iloc[0])
    FinalLabel.objects.filter(campaign=campaign, argument=argument).update(
        label=label, adjudicated_label=label, provenance=FinalLabel.Provenance.ADJUDICATED
    )
