"""Whose sheet may be opened by whom; everybody else hears that it does not exist."""

import uuid

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.actions.serving import rater_for
from annotation.methods.blind_order import LEAST_GAP
from annotation.models import Rater
from benchmark.actions.scoring_serving import NEEDED, own_sheets
from benchmark.models import ScoreSheet, ScoringRound
from cqa_site.people.models import Role, Study

SCORERS = (Role.ANNOTATOR, Role.EXPERT)


def opened_round(request: HttpRequest, study: Study, round_id: uuid.UUID) -> ScoringRound:
    """A round that was opened; raises Http404. People of a crowd link score nothing."""
    if getattr(request.user, "participant", None) is not None:
        raise Http404
    rounds = study.scoring_rounds.exclude(state=ScoringRound.State.DRAFT)
    return get_object_or_404(rounds.select_related("rubric", "study"), public_id=round_id)


def own_rater(request: HttpRequest) -> Rater:
    """The rater who stands for the person."""
    return rater_for(membership=request.membership)


def own_sheet(request: HttpRequest, study: Study, sheet_id: uuid.UUID) -> ScoreSheet:
    """A sheet of the person's own that may still be looked at; raises Http404."""
    rows = ScoreSheet.objects.filter(
        study=study, rater__user=request.user, scoring_round__isnull=False
    ).exclude(scoring_round__state=ScoringRound.State.DRAFT)
    sheet = get_object_or_404(rows.select_related(*NEEDED), public_id=sheet_id)
    is_begun = sheet.state == ScoreSheet.State.OPEN
    shown = shown_sheets(sheet.scoring_round, sheet.rater)
    if not is_begun and not shown.filter(pk=sheet.pk).exists():
        raise Http404
    return sheet


def shown_sheets(scoring_round: ScoringRound, rater: Rater) -> QuerySet[ScoreSheet]:
    """The person's sheets, newest first.

    While answers may come a second time only the last few are there: earlier ones could be looked
    up, and the second look would not be a fresh one.
    """
    rows = own_sheets(scoring_round=scoring_round, rater=rater).order_by("-place")
    has_repeats = scoring_round.repeat_share > 0
    if has_repeats and scoring_round.state == ScoringRound.State.OPEN:
        newest = rows.values_list("pk", flat=True)[:LEAST_GAP]
        return rows.filter(pk__in=list(newest))
    return rows
