"""Whose sheet may be opened by whom; everybody else hears that it does not exist."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from cqa_site.people.access import PersonRequest
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Rater, Role, Study

from .blind_order import LEAST_GAP
from .kind import SheetKind, TaskKind, sheet_kind_of
from .models import Participant, Round, Sheet
from .paces import skipped_by, skips_allowed
from .serving import Work, next_sheet, own_sheets

WORKERS = (Role.ANNOTATOR, Role.EXPERT)


def opened_round(
    kind: TaskKind, request: HttpRequest, study: Study, round_id: uuid.UUID, *related: str
) -> Any:
    """A round that was opened, for people of a crowd link that of the link; raises Http404."""
    rounds = kind.Round._default_manager.filter(study=study).exclude(state=Round.State.DRAFT)
    participant = participant_of(request)
    if participant is not None:
        rounds = rounds.filter(pk=participant.link.round_id)
        refuse_withdrawn(participant)
    return get_object_or_404(rounds.select_related("study", *related), public_id=round_id)


def participant_of(request: Any) -> Participant | None:
    """How the person came by a crowd link, looked up once a request."""
    if not hasattr(request, "participant"):
        people = Participant.objects.select_related("link").filter(user=request.user)
        request.participant = people.first()
    found: Participant | None = request.participant
    return found


def refuse_withdrawn(participant: Participant | None) -> None:
    """Raise Http404 for somebody who took their answers back: they send no others."""
    if participant and participant.outcome == Participant.Outcome.WITHDRAWN:
        raise Http404


def own_rater(request: Any) -> Rater:
    """The rater who stands for the person."""
    return rater_for(membership=request.membership)


def own_sheet(kind: SheetKind, request: PersonRequest, study: Study, sheet_id: uuid.UUID) -> Any:
    """A sheet of the person's own that may still be looked at; raises Http404."""
    # Two queries: to plan one with a dozen joins takes longer than to answer it.
    raters = Rater.objects.select_related("user__participant__link")
    rater = get_object_or_404(raters, study=study, user=request.user)
    rows = kind.sheets("round", "slot").filter(study=study, rater=rater, round__isnull=False)
    rows = rows.exclude(round__state=Round.State.DRAFT)
    sheet: Any = get_object_or_404(rows, public_id=sheet_id)
    sheet.rater, sheet.round.study = rater, study
    participant = getattr(rater.user, "participant", None)
    vars(request).update(participant=participant)
    refuse_withdrawn(participant)
    if participant and participant.link.round_id != sheet.round_id:
        raise Http404
    is_begun = sheet.state == Sheet.State.OPEN
    if not is_begun and not shown_sheets(sheet.round, sheet.rater).filter(pk=sheet.pk).exists():
        raise Http404
    return sheet


def next_work(request: Any, round_: Any, rater: Rater) -> Work:
    """The sheet that waits; people of a crowd link get what it asks for and no more."""
    if participant_of(request):
        reason = over_reason(request, round_, submitted_count(round_, rater))
        if reason:
            return Work(None, reason)
    return next_sheet(round_=round_, rater=rater)


def over_reason(request: Any, round_: Any, done: int) -> str:
    """Why nothing more comes to somebody of a crowd who did so many; empty for members.

    ``ended``, ``skips`` (more than the round allows) or ``finished``.
    """
    participant = participant_of(request)
    if participant is None:
        return ""
    if participant.outcome != Participant.Outcome.RUNNING:
        return "ended"
    asked = participant.link.required_items
    allowed = skips_allowed(round_, asked)
    # Without more work than skips are allowed, no more can have been skipped.
    if done > allowed and skipped_by(round_, request.user) > allowed:
        return "skips"
    return "finished" if done >= asked else ""


def shown_sheets(round_: Round, rater: Rater) -> QuerySet[Any]:
    """The person's sheets, newest first.

    While items may come a second time only the last few are there: earlier ones could be looked
    up, and the second look would not be a fresh one.
    """
    rows = own_sheets(round_=round_, rater=rater).order_by("-place")
    if round_.repeat_share > 0 and round_.state == Round.State.OPEN:
        newest = rows.values_list("pk", flat=True)[:LEAST_GAP]
        return rows.filter(pk__in=list(newest))
    return rows


def submitted_count(round_: Round, rater: Rater) -> int:
    """Sheets the person has submitted, without examples."""
    own = sheet_kind_of(round_).Sheet._default_manager.filter(round=round_.pk, rater=rater)
    return own.filter(state=Sheet.State.SUBMITTED, is_example=False).count()
