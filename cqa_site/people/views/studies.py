"""Pages for the settings, members, invitations and log of a study."""

import uuid
from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from cqa_site.people import actions
from cqa_site.people.access import (
    RESEARCHERS,
    PersonRequest,
    StudyRequest,
    may_open_studies,
    study_page,
)
from cqa_site.people.actions import change_study, create_study
from cqa_site.people.forms import InvitationForm, RoleForm, StudyForm
from cqa_site.people.models import Invitation, Membership, Role, Study
from cqa_site.people.sign_in.providers import OpenIDProvider


def closed_door(
    request: HttpRequest,
    *,
    status: int,
    title: str,
    text: str,
    advice: str = "",
    sign_out: bool = False,
    providers: Sequence[OpenIDProvider] = (),
    next_page: str | None = None,
) -> HttpResponse:
    """Show a page that explains why access is refused and what the person can do."""
    context = {"title": title, "text": text, "advice": advice, "sign_out": sign_out}
    context |= {"providers": providers, "next": next_page}
    return render(request, "people/closed_door.html", context, status=status)


@login_required
def study_new(request: PersonRequest) -> HttpResponse:
    if not may_open_studies(request.user):
        raise PermissionDenied
    form = StudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        study = create_study(actor=request.user, **form.cleaned_data)
        return redirect("study", study_id=study.public_id)
    status = 422 if form.errors else 200
    return render(request, "people/study_new.html", {"form": form}, status=status)


@study_page(Role.ADMIN)
def study_settings(request: StudyRequest, study: Study) -> HttpResponse:
    draft = Study.objects.get(pk=study.pk)  # the form changes it even before validation succeeds
    form = StudyForm(request.POST or None, instance=draft)
    if request.method == "POST" and form.is_valid():
        change_study(study=study, actor=request.user, **form.cleaned_data)
        messages.success(request, _("Study changed."))
        return redirect("study_settings", study_id=study.public_id)
    context = {"study": study, "form": form}
    status = 422 if form.errors else 200
    return render(request, "people/study_settings.html", context, status=status)


PAGE_SIZE = 50
# The session stores a new link for the next page, so that reloading does not create another link.
NEW_INVITATION_KEY = "new_invitation"


@study_page(*RESEARCHERS)
def members(request: StudyRequest, study: Study) -> HttpResponse:
    """List members and invitations; only admins see the controls."""
    created = request.session.get(NEW_INVITATION_KEY)
    if created is None or created["study"] != str(study.public_id):
        return _page(request, study)
    del request.session[NEW_INVITATION_KEY]
    invitation = study.invitations.filter(public_id=created["id"]).first()
    return _page(request, study, new_invitation=invitation, link=created["link"])


@study_page(Role.ADMIN, only="POST")
def invitation_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Create an invitation and show its link once, in the form or on the members page."""
    form = InvitationForm(request.POST, instance=Invitation(study=study))
    if not form.is_valid():
        return _page(request, study, status=422, form=form)
    invitation, secret = actions.create_invitation(
        study=study, actor=request.user, **form.cleaned_data
    )
    link = request.build_absolute_uri(reverse("invitation", kwargs={"secret": secret}))
    if not request.htmx:
        created = {"study": str(study.public_id), "id": str(invitation.public_id), "link": link}
        request.session[NEW_INVITATION_KEY] = created
        return redirect("members", study_id=study.public_id)
    context = {"new_invitation": invitation, "link": link, "study": study}
    context |= {"invited_role": invitation.role, "leads_to": invitation.leads_to}
    return render(request, "people/_invite_form.html", context)


@study_page(Role.ADMIN, only="POST")
def invitation_revoke(
    request: StudyRequest, study: Study, invitation_id: uuid.UUID
) -> HttpResponse:
    invitation = get_object_or_404(study.invitations, public_id=invitation_id)
    if actions.revoke_invitation(invitation=invitation, actor=request.user):
        messages.success(request, _("Invitation revoked."))
    else:
        messages.error(request, _("This invitation was already used or revoked."))
    return redirect("members", study_id=study.public_id)


@study_page(Role.ADMIN, only="POST")
def member_role(request: StudyRequest, study: Study, user_id: uuid.UUID) -> HttpResponse:
    membership = get_object_or_404(_members(study), user__public_id=user_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("This role does not exist."))
        return redirect("members", study_id=study.public_id)
    try:
        actions.change_role(
            membership=membership, role=form.cleaned_data["role"], actor=request.user
        )
    except actions.LastAdmin:
        return _refuse_last_admin(request, study)
    messages.success(
        request,
        _("%(person)s now has the role: %(role)s.")
        % {"person": membership.user, "role": membership.get_role_display()},
    )
    return _after_change(request, study, membership)


@study_page(Role.ADMIN, only="POST")
def member_active(request: StudyRequest, study: Study, user_id: uuid.UUID) -> HttpResponse:
    """Restore (``active`` is "yes") or remove ("no") a member's access."""
    membership = get_object_or_404(_members(study), user__public_id=user_id)
    wanted = request.POST.get("active") == "yes"
    act = actions.reactivate_member if wanted else actions.deactivate_member
    try:
        act(membership=membership, actor=request.user)
    except actions.LastAdmin:
        return _refuse_last_admin(request, study)
    messages.success(
        request,
        (_("%s can open the study again.") if wanted else _("%s can no longer open the study."))
        % membership.user,
    )
    return _after_change(request, study, membership)


def _members(study: Study) -> QuerySet[Membership]:
    """Return the members with an account; crowd participants have a separate page."""
    return study.memberships.filter(user__email__isnull=False).select_related("user")


def _refuse_last_admin(request: StudyRequest, study: Study) -> HttpResponse:
    messages.error(request, _("A study needs an active admin. Make someone else an admin first."))
    return redirect("members", study_id=study.public_id)


def _after_change(request: StudyRequest, study: Study, changed: Membership) -> HttpResponse:
    """Redirect to the list, or to the home page if users changed their own membership."""
    if changed.user_id == request.user.pk:
        return redirect("home")
    return redirect("members", study_id=study.public_id)


def _page(
    request: StudyRequest, study: Study, status: int = 200, **context: object
) -> HttpResponse:
    rows = _members(study).order_by("-is_active", "user__name", "user__email")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    defaults = {
        "study": study,
        "page": page,
        "roles": Role.choices,
        "is_admin": request.membership.role == Role.ADMIN,
        "invitations": study.invitations.select_related("used_by", "created_by")[:100],
        "participants": study.participants.count(),
        "form": InvitationForm(),
    }
    return render(request, "people/members.html", defaults | context, status=status)


@study_page(*RESEARCHERS)
def audit(request: StudyRequest, study: Study) -> HttpResponse:
    events = study.audit_events.select_related("actor")
    page = Paginator(events, PAGE_SIZE).get_page(request.GET.get("page"))
    for event in page:  # not in the template, because "items" may be a key of the details
        lines = [(name, _in_words(value)) for name, value in event.details.items()]
        vars(event).update(lines=lines)
    return render(request, "people/audit.html", {"study": study, "page": page})


def _in_words(value: object) -> object:
    """Format nested counts and settings on one line, without zero or empty values."""
    if isinstance(value, dict):
        parts = [(name, _in_words(part)) for name, part in value.items() if part]
        return "; ".join(f"{name} {part}" for name, part in parts if part)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return value
