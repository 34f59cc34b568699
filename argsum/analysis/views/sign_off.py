"""Signing off the key points of an analysis."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.sign_off import sign_off
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

from .analyses import ONE, analysis_or_404


@study_page(*RESEARCHERS)
@require_POST
def analysis_sign_off(request: StudyRequest, study: Study, analysis_id: uuid.UUID) -> HttpResponse:
    """Sign off the key points shown, at the revision that the page showed."""
    analysis = analysis_or_404(study, analysis_id)
    seen = request.POST.get("seen", "")
    try:
        if not seen.isdecimal():
            raise EditRefused(_("Open the page again and sign off there."))
        sign_off(analysis=analysis, actor=request.user, seen=int(seen))
    except EditRefused as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("The key points are signed off."))
    return redirect("analysis", study.public_id, analysis.public_id)


urlpatterns = [path(f"{ONE}/sign-off/", analysis_sign_off, name="analysis_sign_off")]
