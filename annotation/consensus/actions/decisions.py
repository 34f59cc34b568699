"""Decide disputed labels one by one, and adopt labels from another round."""

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
from annotation.labelling.models import Item, LabelRound, Slot, label_rounds_of
from cqa_site.people.access import record
from cqa_site.people.models import Rater, Study, User
from .consensus import derive_labels, request_final_labels

# Experts' decisions on single arguments; new decisions supersede earlier rows

# Number of rounds whose disputes are counted.
NEWEST = 6


class DecisionNotValid(Exception):
    """The label is not on the scale, or the argument is not in the round."""


class DecidedMeanwhile(Exception):
    """The rater's current decision, ``stored`` (or None), differs from the displayed decision."""

    def __init__(self, stored: Adjudication | None, label: int) -> None:
        self.stored = stored
        text = _("You have since undone your decision. The label %(label)d was not stored.")
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
    label_round: LabelRound,
    argument: Argument,
    rater: Rater,
    label: int,
    comment: str = "",
    known: datetime | EllipsisType | None = ...,
) -> Adjudication:
    """Store the rater's decision on one argument; repeating the same decision changes nothing.

    ``known`` is the time of the decision that the rater saw, or None if there was no decision. If
    another decision is current, nothing is stored and DecidedMeanwhile is raised. Without
    ``known``, the current decision is replaced. The argument's final label is updated at once,
    everything else in the background.
    """
    if label not in label_round.guideline.values:
        raise DecisionNotValid(_("Choose a label from the scale."))
    if not label_round.items.filter(argument=argument).exists():
        raise DecisionNotValid(_("This sentence is not part of the round."))
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)  # two tabs of one expert
    earlier = _decisions_in_force(label_round).filter(argument=argument, rater=rater).first()
    if earlier and (earlier.label, earlier.comment) == (label, comment):
        return earlier
    if known is not ... and known != (earlier.created_at if earlier else None):
        raise DecidedMeanwhile(earlier, label)
    if earlier:
        earlier.superseded_at = timezone.now()
        earlier.save(update_fields=["superseded_at"])
    decision = Adjudication.objects.create(
        label_round=label_round, argument=argument, rater=rater, label=label, comment=comment
    )
    _show_at_once(label_round, argument)
    request_final_labels(label_round=label_round, actor=rater.user)
    return decision


@transaction.atomic
def undo_last(
    *, label_round: LabelRound, rater: Rater, known: datetime | None = None
) -> Adjudication | None:
    """Undo the rater's last decision in the queue; the decision it replaced counts again.

    ``known`` is the time of the decision to undo, so that a request sent twice undoes only one
    decision. The row is kept and marked, and the study's history records who undid it. Return
    None if there is no current decision.
    """
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)  # two tabs of one expert
    own = Adjudication.objects.filter(rater=rater, source=Adjudication.Source.QUEUE)
    last = own.filter(label_round=label_round, superseded_at__isnull=True).order_by("pk").last()
    if known:
        last = own.filter(label_round=label_round, created_at=known).first()
    if last is None or last.superseded_at:
        return last if last and last.is_undone else None
    last.superseded_at, last.is_undone = timezone.now(), True
    last.save(update_fields=["superseded_at", "is_undone"])
    same = own.filter(label_round=label_round, argument=last.argument_id, is_undone=False)
    before = same.filter(pk__lt=last.pk).order_by("pk").last()
    if before is not None:
        before.superseded_at = None
        before.save(update_fields=["superseded_at"])
    record(
        study=label_round.study,
        actor=rater.user,
        verb="decision_undone",
        subject=last.argument.text,
        label_round=str(label_round.public_id),
        label=last.label,
        again=before.label if before else None,
    )
    if _decisions_in_force(label_round).filter(argument=last.argument_id).exists():
        _show_at_once(label_round, last.argument)
    request_final_labels(label_round=label_round, actor=rater.user)
    return last


def disputed(label_round: LabelRound) -> QuerySet[FinalLabel]:
    """Return arguments with tied votes or votes at both ends of the scale, widest spread first.

    This excludes items that votes do not decide (control items unless tied, expert overrides)
    and, in a running round, all items that still need votes.
    """
    values = label_round.guideline.values
    # The query lists controls once and finds slots by argument, because SQLite otherwise searched
    # the whole round for each argument, which took 17 s with 100,000 votes.
    controls = Item.objects.filter(round=label_round, control_label__isnull=False)
    is_control = Q(argument__in=controls.values("argument"))
    far_apart = Q(spread__gte=values[-1] - values[0]) & ~is_control
    rows = FinalLabel.objects.filter(Q(is_tied=True) | far_apart, label_round=label_round)
    rows = rows.filter(expert_label__isnull=True)
    if label_round.is_live and label_round.state != LabelRound.State.CLOSED:
        unfinished = (Slot.State.OPEN, Slot.State.LEASED)
        waiting = Slot.objects.filter(
            item__argument=OuterRef("argument"), item__round=label_round, state__in=unfinished
        )
        rows = rows.filter(~Exists(waiting))
    return rows.order_by("-spread", "-is_tied", "pk")


def queue(
    label_round: LabelRound, *, rater: Rater | None, undecided_only: bool = True
) -> QuerySet[FinalLabel]:
    """Return the rater's remaining disputes; ``undecided_only`` leaves out resolved disputes."""
    decided = _decisions_in_force(label_round).filter(argument=OuterRef("argument"))
    if undecided_only:
        return disputed(label_round).filter(~Exists(decided), adopted_label__isnull=True)
    return disputed(label_round).filter(~Exists(decided.filter(rater=rater)))


def disputed_rounds(study: Study) -> list[LabelRound]:
    """Return the newest rounds with undecided disputes, each with the count in ``disputes``."""
    settled = FinalLabel.objects.filter(label_round=OuterRef("pk"))
    label_rounds = label_rounds_of(study).filter(Exists(settled)).select_related("guideline")
    rounds = []
    for label_round in label_rounds[:NEWEST]:
        if disputes := queue(label_round, rater=None).count():
            vars(label_round).update(disputes=disputes)
            rounds.append(label_round)
    return rounds


def disputes_in(study: Study) -> int:
    """Return the number of undecided disputes in the newest rounds."""
    return sum(vars(label_round)["disputes"] for label_round in disputed_rounds(study))


def next_in_queue(
    label_round: LabelRound,
    *,
    rater: Rater | None,
    undecided_only: bool = True,
    skipped: list[int] | None = None,
) -> FinalLabel | None:
    """Return the next argument to decide; skipped arguments are last, oldest skip first."""
    places = {pk: place for place, pk in enumerate(skipped or [], 1)}
    later = Case(
        *(When(argument=pk, then=Value(place)) for pk, place in places.items()),
        default=Value(0),
        output_field=IntegerField(),
    )
    rows = queue(label_round, rater=rater, undecided_only=undecided_only)
    if places:
        rows = rows.order_by(later, *rows.query.order_by)
    return rows.select_related("argument__comparison").first()


def _decisions_in_force(label_round: LabelRound) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(label_round=label_round, superseded_at__isnull=True)


def _show_at_once(label_round: LabelRound, argument: Argument) -> None:
    """Write the decision to the argument's final label without waiting for the worker."""
    from annotation.consensus.methods import label_votes

    decisions = adjudication_table(label_round, argument=argument)
    label = int(label_votes(decisions, "majority").iloc[0])
    FinalLabel.objects.filter(label_round=label_round, argument=argument).update(
        label=label, adjudicated_label=label, provenance=FinalLabel.Provenance.ADJUDICATED
    )


# Adoption of labels from another round as decisions: preview, adoption, withdrawal


class AdoptionNotPossible(Exception):
    """The labels are not from another round of the study."""


class LabelChange(NamedTuple):
    """Number of sentences with a label before and after the adoption."""

    label: int
    now: int
    then: int


@dataclass(frozen=True)
class AdoptionPreview:
    """The effect of adopting the labels of a rater.

    Attributes
    ----------
    labelled
        Number of sentences in the round that the rater labelled.
    decided
        Number of sentences whose final label would come from this adoption.
    changed
        Number of sentences whose final label would change.
    counts
        One entry for each label of the scale.
    """

    labelled: int
    decided: int
    changed: int
    counts: list[LabelChange]


def preview_adoption(
    *, label_round: LabelRound, source: LabelRound, rater: Rater, only_tied: bool
) -> AdoptionPreview:
    """Compare the labels with and without the adoption, without storing anything."""
    import pandas as pd

    _check_source(label_round, source)
    rules = adoption_table(label_round)
    present = _adoptions_in_force(label_round, source, rater).values_list("pk", flat=True).first()
    labels = adoptable_labels(label_round, source.pk, rater.pk)
    rows = [(unit, present or 0, label, only_tied) for unit, label in labels]
    additions = pd.DataFrame(rows, columns=list(rules.columns))
    then = pd.concat([rules[rules["rater"] != (present or 0)], additions])
    before, after = derive_labels(label_round), derive_labels(label_round, adopted=then)
    is_other = before["label"].fillna(-1) != after["label"].fillna(-1)
    is_new = (after["provenance"] == "adopted") & (before["provenance"] != "adopted")
    counts = [table["label"].value_counts() for table in (before, after)]
    return AdoptionPreview(
        labelled=len({unit for unit, _label in labels}),
        decided=int(is_new.sum()),
        changed=int(is_other.sum()),
        counts=[
            LabelChange(value, *(int(count.get(value, 0)) for count in counts))
            for value in label_round.guideline.values
        ],
    )


@transaction.atomic
def adopt_labels(
    *,
    label_round: LabelRound,
    source: LabelRound,
    rater: Rater,
    only_tied: bool = True,
    actor: User,
) -> Adoption:
    """Adopt one rater's labels from another round as decisions; a repeated call changes nothing.

    Adopting the same labels with another ``only_tied`` replaces the existing adoption. Final
    labels are updated in the background.
    """
    _check_source(label_round, source)
    LabelRound.objects.select_for_update(of=("self",), no_key=True).get(pk=label_round.pk)
    present = _adoptions_in_force(label_round, source, rater)
    earlier = present.first()
    if earlier and earlier.only_tied == only_tied:
        return earlier
    present.update(withdrawn_at=timezone.now())
    adoption = Adoption.objects.create(
        label_round=label_round, source=source, rater=rater, only_tied=only_tied, created_by=actor
    )
    _log(adoption, "labels_adopted", actor)
    return adoption


@transaction.atomic
def withdraw_adoption(*, adoption: Adoption, actor: User) -> bool:
    """Withdraw an adoption and reopen its disputes; return False if it was already withdrawn."""
    rows = Adoption.objects.filter(pk=adoption.pk, withdrawn_at__isnull=True)
    if not rows.update(withdrawn_at=timezone.now()):
        return False
    _log(adoption, "adoption_withdrawn", actor)
    return True


def _adoptions_in_force(label_round: LabelRound, source: LabelRound, rater: Rater):
    return label_round.adoptions.filter(source=source, rater=rater, withdrawn_at__isnull=True)


def _check_source(label_round: LabelRound, source: LabelRound) -> None:
    if source.study_id != label_round.study_id or source == label_round:
        raise AdoptionNotPossible(_("Choose another round of the same study."))


def _log(adoption: Adoption, verb: str, actor: User) -> None:
    label_round = adoption.label_round
    record(
        study=label_round.study,
        actor=actor,
        verb=verb,
        subject=label_round.name,
        source=str(adoption.source.public_id),
        rater=adoption.rater.described,
        only_tied=adoption.only_tied,
    )
    request_final_labels(label_round=label_round, actor=actor)
