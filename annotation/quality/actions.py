"""Exclusion and reinstatement of one or more raters, and changes to control items."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import request_everywhere
from annotation.labelling.models import Exclusion, Item, LabelRound
from annotation.quality.reports.controls import low_raters
from annotation.quality.reports.quality import chart_of_round, control_record, control_records
from cqa_site.people.access import record
from cqa_site.people.models import Rater, User
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.models import Place
from cqa_site.rounds.queue import place_for
from cqa_site.rounds.rules.actions import ask_again
from cqa_site.rounds.rules.records import ControlRecord

# Exclusion and reinstatement of raters, and changes to control items
#
# Every decision is logged and can be undone; assignments and labels are never deleted. A person's
# decision about a rater remains valid until a person changes it; the automatic rule never
# overrides it.


class ControlNotValid(Exception):
    """The item is not a control item, or the label is not on the scale."""


def check_rater(*, label_round: LabelRound, place: Place) -> ControlRecord:
    """Apply the round's rule to one rater, for example after a completed block.

    The rule acts only while the answers show an accuracy below the minimum, allowing for repeated
    checks. It undoes an automatic action once the answers no longer show such an accuracy, and
    never changes a person's decision.
    """
    record = control_record(label_round, place.rater_id)
    _apply_rule(label_round, place, record)
    return record


@transaction.atomic
def exclude_rater(
    *, label_round: LabelRound, rater: Rater, reason: str, actor: User | None
) -> None:
    """Exclude the rater's labels from every figure; ``actor`` is None if the round's rule decided.

    In a running round, other raters get the rater's slots: labels become extras, and reserved
    items are released.
    """
    if decide_one(
        label_round=label_round, rater=rater, decision="exclude", reason=reason, actor=actor
    ):
        request_everywhere(label_round=label_round, actor=actor)


@transaction.atomic
def reinstate_rater(
    *, label_round: LabelRound, rater: Rater, reason: str, actor: User | None
) -> None:
    """Count the rater's labels again, and resume serving items; this also ends a pause.

    Labels whose slot is still free get it back; other labels stay extras.
    """
    if decide_one(
        label_round=label_round, rater=rater, decision="reinstate", reason=reason, actor=actor
    ):
        request_everywhere(label_round=label_round, actor=actor)


def decide_one(
    *, label_round: LabelRound, rater: Rater, decision: str, reason: str, actor: User | None
) -> Place | None:
    """Store a decision about one rater; the caller must update labels unless the result is None.

    Imported raters may not have an enrolment yet.
    """
    place = place_for(round_=label_round, rater=rater)
    decided = decide_rater(place=place, actor=actor, decision=decision, reason=reason)
    if decided is not None and decision == "reinstate":
        decided.exclusions.clear()
    return decided


@transaction.atomic
def replace_control_label(
    *, label_round: LabelRound, item: Item, label: int | None, reason: str, actor: User
) -> None:
    """Change a control item's known label, or retire it if the label is None; reapply the rule.

    The original label stays in ``imported_control_label``. A retired control item is no longer
    served, and its answers are left out everywhere; a new label restores it.
    """
    # Not a key lock: serving, which refers to the item, must not wait for us while we wait for
    # raters.
    item = Item.objects.select_for_update(no_key=True).get(pk=item.pk, round=label_round)
    if not item.is_control or (label is not None and label not in label_round.guideline.values):
        raise ControlNotValid(_("Choose a label from the scale for a control item."))
    before = {"label": item.control_label, "is_retired": item.is_retired}
    item.is_retired = label is None
    item.control_label = item.control_label if label is None else label
    item.save(update_fields=["is_retired", "control_label"])
    record(
        study=label_round.study,
        actor=actor,
        verb="control_retired" if label is None else "control_label_changed",
        subject=f"{label_round.name}: {item.external_id}",
        reason=reason,
        before=before,
        after={"label": item.control_label, "is_retired": item.is_retired},
    )
    records = control_records(label_round)
    for place in label_round.places.select_related("rater").order_by("rater"):
        _apply_rule(label_round, place, records.get(place.rater_id, ControlRecord()))
    request_everywhere(label_round=label_round, actor=actor)


def _apply_rule(label_round: LabelRound, place: Place, record: ControlRecord) -> None:
    # A stop by another rule requires a decision by a person.
    if place.is_decided_by_person or place.stopped_by:
        return
    is_acted_on, wanted = place.is_excluded or place.is_stopped, _wanted(label_round, record)
    if is_acted_on == bool(wanted):
        return
    reason = record.describe(record.fall_on(chart_of_round(label_round)))
    if wanted == LabelRound.OnFall.RECHECK:
        ask_again(label_round, place, f"{label_round.name}: {reason}")
    elif is_acted_on:
        reinstate_rater(label_round=label_round, rater=place.rater, reason=reason, actor=None)
    elif wanted == LabelRound.LowAccuracy.EXCLUDE:
        exclude_rater(label_round=label_round, rater=place.rater, reason=reason, actor=None)
    else:
        decide_one(
            label_round=label_round, rater=place.rater, decision="pause", reason=reason, actor=None
        )


def _wanted(label_round: LabelRound, record: ControlRecord) -> str:
    """Return the action that the round's two rules require for this record, or an empty text."""
    if label_round.low_accuracy != LabelRound.LowAccuracy.WARN and record.is_below_at_any_look(
        label_round.min_control_accuracy
    ):
        return label_round.low_accuracy
    acts = label_round.on_fall != LabelRound.OnFall.WARN
    return label_round.on_fall if acts and record.fall_on(chart_of_round(label_round)) else ""


# Joint exclusion of all raters below a control accuracy, and its reversal
#
# Each exclusion is also logged as a separate decision, which can be undone separately.


@transaction.atomic
def exclude_below(
    *, label_round: LabelRound, below: float, rule: str, reason: str, actor: User
) -> Exclusion | None:
    """Exclude all counted raters below a threshold; return None if there are none.

    ``below`` is a share of right answers on control items, from 0 to 1; a rater with exactly this
    share is not excluded. ``rule`` is an `Exclusion.Rule`: the share or the upper bound of its
    interval.
    """
    LabelRound.objects.select_for_update(of=("self",), no_key=True).get(pk=label_round.pk)
    raters = Rater.objects.filter(pk__in=low_raters(label_round, below, rule)).order_by("pk")
    if not raters:
        return None
    exclusion = Exclusion.objects.create(
        label_round=label_round, below=below, rule=rule, reason=reason[:300], made_by=actor
    )
    for rater in raters:
        place = decide_one(
            label_round=label_round, rater=rater, decision="exclude", reason=reason, actor=actor
        )
        if place is not None:
            exclusion.places.add(place)
    _log(exclusion, "annotators_excluded", actor, len(raters))
    return exclusion


@transaction.atomic
def undo_exclusion(*, exclusion: Exclusion, actor: User) -> int | None:
    """Reinstate the raters who have no later decision; return None if already undone."""
    rows = Exclusion.objects.filter(pk=exclusion.pk, undone_at__isnull=True)
    if not rows.update(undone_at=timezone.now()):
        return None
    label_round = exclusion.label_round
    raters = Rater.objects.filter(places__exclusions=exclusion).order_by("pk")
    reason = _("The exclusion of all annotators below %s was undone.") % f"{exclusion.below:g}"
    count = len(raters)
    for rater in raters:
        decide_one(
            label_round=label_round, rater=rater, decision="reinstate", reason=reason, actor=actor
        )
    _log(exclusion, "exclusion_undone", actor, count)
    return count


def _log(exclusion: Exclusion, verb: str, actor: User, annotators: int) -> None:
    label_round = exclusion.label_round
    record(
        study=label_round.study,
        actor=actor,
        verb=verb,
        subject=label_round.name,
        reason=exclusion.reason,
        below=exclusion.below,
        rule=exclusion.rule,
        annotators=annotators,
    )
    request_everywhere(label_round=label_round, actor=actor)
