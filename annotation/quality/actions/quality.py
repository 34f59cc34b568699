"""Acting on quality: excluding and reinstating raters, changing control items.

Every decision is logged and can be taken back; assignments and labels are
never deleted. A person's decision about a rater stands until a person changes
it: the automatic rule leaves it alone.
"""

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import request_everywhere
from annotation.labelling.models.campaigns import Campaign, Item
from annotation.quality.reports.quality import ControlRecord, control_record, control_records
from cqa_site.people.access import record
from cqa_site.people.models import Rater, User
from cqa_site.rounds.models import Place
from cqa_site.rounds.qualifying import decide_rater
from cqa_site.rounds.serving import place_for


class ControlNotValid(Exception):
    """The item is no control item, or the label is not on the scale."""


def check_rater(*, campaign: Campaign, place: Place) -> ControlRecord:
    """Apply the campaign's rule to one rater, say after each block they finish.

    Acts only while the answers show an accuracy below the mark, however often
    the rule has looked; takes an automatic step back once they no longer do,
    and never touches what a person decided.
    """
    found = control_record(campaign, place.rater_id)
    _apply_rule(campaign, place, found)
    return found


@transaction.atomic
def exclude_rater(*, campaign: Campaign, rater: Rater, reason: str, actor: User | None) -> None:
    """Leave the rater's labels out of every figure; without an actor it is the rule's decision.

    In a round that still runs, others get the rater's places: the labels stay
    as extras, items merely reserved go back.
    """
    if decide_one(campaign=campaign, rater=rater, decision="exclude", reason=reason, actor=actor):
        request_everywhere(campaign=campaign, actor=actor)


@transaction.atomic
def reinstate_rater(*, campaign: Campaign, rater: Rater, reason: str, actor: User | None) -> None:
    """Count the rater's labels again and serve them items; also ends a pause.

    Labels whose place nobody took in the meantime hold one again, the others
    stay extras.
    """
    if decide_one(
        campaign=campaign, rater=rater, decision="reinstate", reason=reason, actor=actor
    ):
        request_everywhere(campaign=campaign, actor=actor)


def decide_one(
    *, campaign: Campaign, rater: Rater, decision: str, reason: str, actor: User | None
) -> Place | None:
    """Decide about one rater; the caller has the labels recomputed unless it is None.

    Imported raters may not have a place yet.
    """
    place = place_for(round_=campaign, rater=rater)
    decided = decide_rater(place=place, actor=actor, decision=decision, reason=reason)
    if decided is not None and decision == "reinstate":
        decided.exclusions.clear()
    return decided


@transaction.atomic
def replace_control_label(
    *, campaign: Campaign, item: Item, label: int | None, reason: str, actor: User
) -> None:
    """Give a control item another known label, or retire it with None; then apply the rule anew.

    The label it came with stays in ``imported_control_label``. A retired
    control is served no more and its answers count nowhere; giving it a label
    brings it back.
    """
    # Not its key: serving it, which refers to it, must not wait for us while we wait for raters.
    item = Item.objects.select_for_update(no_key=True).get(pk=item.pk, campaign=campaign)
    if not item.is_control or (label is not None and label not in campaign.guideline.values):
        raise ControlNotValid(_("Choose a label of the scale for a control item."))
    before = {"label": item.control_label, "is_retired": item.is_retired}
    item.is_retired = label is None
    item.control_label = item.control_label if label is None else label
    item.save(update_fields=["is_retired", "control_label"])
    record(
        study=campaign.study,
        actor=actor,
        verb="control_retired" if label is None else "control_label_changed",
        subject=f"{campaign.name}: {item.external_id}",
        reason=reason,
        before=before,
        after={"label": item.control_label, "is_retired": item.is_retired},
    )
    _recheck_everybody(campaign)
    request_everywhere(campaign=campaign, actor=actor)


def _recheck_everybody(campaign: Campaign) -> None:
    records = control_records(campaign)
    for place in campaign.places.select_related("rater").order_by("rater"):
        _apply_rule(campaign, place, records.get(place.rater_id, ControlRecord()))


def _apply_rule(campaign: Campaign, place: Place, found: ControlRecord) -> None:
    if place.is_decided_by_person:
        return
    is_acted_on = place.is_excluded or place.is_stopped
    is_low = found.is_below_at_any_look(campaign.min_control_accuracy)
    if is_acted_on == (is_low and campaign.low_accuracy != Campaign.LowAccuracy.WARN):
        return
    reason = _describe(found)
    if is_acted_on:
        reinstate_rater(campaign=campaign, rater=place.rater, reason=reason, actor=None)
    elif campaign.low_accuracy == Campaign.LowAccuracy.EXCLUDE:
        exclude_rater(campaign=campaign, rater=place.rater, reason=reason, actor=None)
    else:
        decide_one(
            campaign=campaign, rater=place.rater, decision="pause", reason=reason, actor=None
        )


def _describe(found: ControlRecord) -> str:
    if found.interval is None:
        return _("No control item answered.")
    low, high = found.interval
    return _("Control accuracy %(right)d of %(n)d, 95%% interval %(low).2f to %(high).2f.") % {
        "right": found.right,
        "n": found.n,
        "low": low,
        "high": high,
    }
