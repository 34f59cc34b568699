"""Coming in by an invitation.

The link holds the secret only until its first answer: it moves into the
session, and the page that asks for a name and a password has a clean address.
"""

from allauth.core import ratelimit
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from cqa_site.people.actions.invitations import (
    AlreadyMember,
    EmailTaken,
    InvitationSpent,
    accept_as_new_person,
    accept_invitation,
    find_invitation,
)
from cqa_site.people.forms import NewPersonForm
from cqa_site.people.models import Invitation, Membership, User

from .pages import closed_door
from .sign_in import entrances

SESSION_KEY = "invitation"
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@require_safe
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Move the secret into the session and go to the clean address."""
    if find_invitation(secret) is None:  # guessed addresses leave no session rows behind
        return _spent(request, None)
    request.session[SESSION_KEY] = secret
    return redirect("invitation_accept")


@sensitive_post_parameters("password")
def invitation_accept(request: HttpRequest) -> HttpResponse:
    """Show what the invitation offers; a POST accepts it."""
    found = find_invitation(request.session.get(SESSION_KEY, ""))
    if found is None or not found.is_open:
        return _spent(request, found)
    if request.user.is_authenticated:
        return _accept_signed_in(request, request.user, found)
    return _accept_new(request, found)


def _accept_signed_in(request: HttpRequest, user: User, found: Invitation) -> HttpResponse:
    member = Membership.objects.filter(study=found.study, user=user).first()
    if member is not None:
        return _already_member(request, member)
    if user.is_participant:
        return _other_account_needed(request)
    if request.method != "POST":
        return render(request, "people/invitation.html", {"invitation": found})
    try:
        accept_invitation(invitation=found, user=user)
    except InvitationSpent:
        return _spent(request, find_invitation(request.session.get(SESSION_KEY, "")))
    except AlreadyMember:
        return redirect("invitation_accept")
    request.session.cycle_key()
    return _enter(request, found)


def _accept_new(request: HttpRequest, found: Invitation) -> HttpResponse:
    form = NewPersonForm(request.POST or None)
    # Addresses of others must not be tried out here, so tries are counted like sign-ups.
    if request.method == "POST" and not ratelimit.consume(request, action="signup"):
        return ratelimit.respond_429(request)
    if request.method == "POST" and form.is_valid():
        try:
            user = accept_as_new_person(invitation=found, **form.cleaned_data).user
        except EmailTaken:
            form.refuse_email()
        except InvitationSpent:
            return _spent(request, find_invitation(request.session.get(SESSION_KEY, "")))
        else:
            return _enter_as(request, user, found)
    context = {"invitation": found, "form": form} | entrances(request)
    status = 422 if form.errors else 200
    return render(request, "people/invitation_new.html", context, status=status)


def _enter_as(request: HttpRequest, user: User, found: Invitation) -> HttpResponse:
    login(request, user, backend=BACKEND)  # gives the session a new key
    return _enter(request, found)


def _enter(request: HttpRequest, found: Invitation) -> HttpResponse:
    request.session.pop(SESSION_KEY, None)
    return redirect(found.leads_to or reverse("study", args=[found.study.public_id]))


def _spent(request: HttpRequest, found: Invitation | None) -> HttpResponse:
    if found is None:
        return closed_door(
            request,
            status=404,
            title=_("This invitation does not exist"),
            text=_("Check that the link is complete, or ask for a new one."),
        )
    if found.used_at:
        text = _("It was used before, and each link works once.")
    elif found.revoked_at:
        text = _("The study withdrew it.")
    else:
        text = _("It was not used in time.")
    return closed_door(
        request,
        status=410,
        title=_("This invitation no longer works"),
        text=text,
        advice=_("Ask the person who sent it for a new one. If you have an account, sign in."),
    )


def _already_member(request: HttpRequest, member: Membership) -> HttpResponse:
    if member.is_active:
        return render(request, "people/invitation_member.html", {"membership": member})
    return closed_door(
        request,
        status=403,
        title=_("Your membership of this study was ended"),
        text=_("An invitation cannot bring it back. An admin of the study can."),
    )


def _other_account_needed(request: HttpRequest) -> HttpResponse:
    return closed_door(
        request,
        status=409,
        title=_("You are signed in as a crowd participant"),
        text=_("Sign out, then open the invitation again to make an account."),
        sign_out=True,
    )
