"""Whose sheet may be opened by whom; everybody else hears that it does not exist."""

import uuid

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.actions.serving import rater_for
from annotation.methods.blind_order import LEAST_GAP
from annotation.models import Rater
from argsum.actions.counting_serving import NEEDED, own_sheets
from argsum.models import CountingRound, CountSheet
from cqa_site.people.models import Role, Study

COUNTERS = (Role.ANNOTATOR, Role.EXPERT)


def opened_round(request: HttpRequest, study: Study, counting_id: uuid.UUID) -> CountingRound:
    """A round that was opened; raises Http404. People of a crowd link count nothing."""
    if getattr(request.user, "participant", None) is not None:
        raise Http404
    rounds = study.counting_rounds.exclude(state=CountingRound.State.DRAFT)
    return get_object_or_404(rounds.select_related("study"), public_id=counting_id)


def own_rater(request: HttpRequest) -> Rater:
    """The rater who stands for the person."""
    return rater_for(membership=request.membership)


def own_sheet(request: HttpRequest, study: Study, count_id: uuid.UUID) -> CountSheet:
    """A sheet of the person's own that may still be looked at; raises Http404."""
    rows = CountSheet.objects.filter(
        study=study, rater__user=request.user, counting_round__isnull=False
    ).exclude(counting_round__state=CountingRound.State.DRAFT)
    sheet = get_object_or_404(rows.select_related(*NEEDED), public_id=count_id)
    if sheet.counting_round is None:
        raise Http404
    is_begun = sheet.state == CountSheet.State.OPEN
    shown = shown_sheets(sheet.counting_round, sheet.rater)
    if not is_begun and not shown.filter(pk=sheet.pk).exists():
        raise Http404
    return sheet


def shown_sheets(counting_round: CountingRound, rater: Rater) -> QuerySet[CountSheet]:
    """The person's sheets, newest first.

    While sets may come a second time only the last few are there: earlier ones could be looked
    up, and the second look would not be a fresh one.
    """
    rows = own_sheets(counting_round=counting_round, rater=rater).order_by("-place")
    has_repeats = counting_round.repeat_share > 0
    if has_repeats and counting_round.state == CountingRound.State.OPEN:
        newest = rows.values_list("pk", flat=True)[:LEAST_GAP]
        return rows.filter(pk__in=list(newest))
    return rows
