"""View for signing off the key points of an analysis."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.themes import sign_off
from argsum.analysis.models import Analysis
from cqa_site.people.access import StudyRequest
from .analyses import ONE, analysis_page


@analysis_page
@require_POST
def analysis_sign_off(request: StudyRequest, analysis: Analysis) -> HttpResponse:
    """Sign off the key points shown, at the revision that the page showed."""
    seen = request.POST.get("seen", "")
    try:
        if not seen.isdecimal():
            raise EditRefused(_("Reload the page, then sign off."))
        sign_off(analysis=analysis, actor=request.user, seen=int(seen))
    except EditRefused as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, _("The key points are signed off."))
    return redirect("analysis", analysis.study.public_id, analysis.public_id)


urlpatterns = [path(f"{ONE}/sign-off/", analysis_sign_off, name="analysis_sign_off")]
