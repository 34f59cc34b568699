"""Whose sheet may be read by whom; everybody else hears that it does not exist."""

import uuid

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404

from annotation.editing.actions.kind import EDITING
from annotation.editing.models import EditingRound, EditingSheet
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study


def readable_sheet(request: StudyRequest, study: Study, sheet_id: uuid.UUID) -> EditingSheet:
    """A sheet that the person may read; raises Http404.

    Researchers read all of them, experts their own ones, and after the round
    closed those of others about calibration answers that they edited too.
    """
    sheets = opened_sheets(study)
    if not request.membership.is_researcher:
        sheets = sheets.filter(Q(rater__user=request.user) | _shared_with(request))
    return get_object_or_404(sheets, public_id=sheet_id)


def sees_others(request: StudyRequest, editing_round: EditingRound) -> bool:
    """Whether what other experts wrote about calibration answers may be shown."""
    return request.membership.is_researcher or editing_round.state == EditingRound.State.CLOSED


def opened_sheets(study: Study) -> QuerySet[EditingSheet]:
    """Sheets of rounds that were opened."""
    sheets = EDITING.sheets().select_related("rater__user").filter(study=study)
    return sheets.exclude(round__state=EditingRound.State.DRAFT)


def _shared_with(request: StudyRequest) -> Q:
    own = EditingSheet.objects.filter(
        round=OuterRef("round"),
        answer=OuterRef("answer"),
        rater__user=request.user,
        is_calibration=True,
    )
    is_closed = Q(round__state=EditingRound.State.CLOSED)
    return Q(Exists(own), is_calibration=True) & is_closed
