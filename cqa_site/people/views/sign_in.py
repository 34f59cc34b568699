"""Pages for sign-in, invitations and the first administrator."""

from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.views import LoginView
from allauth.core import ratelimit
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import PersonRequest, record
from cqa_site.people.actions import (
    AlreadyMember,
    EmailTaken,
    InvitationSpent,
    NotTheFirst,
    accept_as_new_person,
    accept_invitation,
    find_invitation,
    has_no_administrator,
    is_first_key,
    is_without_accounts,
    make_first,
)
from cqa_site.people.forms import FirstAdministratorForm, NewPersonForm
from cqa_site.people.models import Invitation, Membership, User
from cqa_site.people.sign_in.second_step import (
    SHOWN_KEY,
    end_sessions,
    has_passed,
    is_readable,
    is_recent,
    needs_second_step,
    sessions_of,
)
from .studies import closed_door

# Sign-in methods (providers, passkeys, apps and recovery codes) and sessions of an account
#
# The account library's views do the work. They are open only to people with an account who
# recently confirmed their identity.

View = Callable[..., HttpResponseBase]


def own(view: View) -> View:
    """Decorate a view of the user's own account to refuse crowd participants."""

    @login_required
    @wraps(view)
    def page(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_participant:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return page


def fresh(view: View) -> View:
    """Decorate an account view that the library protects by a password or second step.

    People who sign in through a provider may have neither, and the library does not ask them. This
    decorator makes such people confirm their identity at the provider.
    """

    @own
    @wraps(view)
    def page(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # The library asks people who have a password or a second step.
        asks = get_adapter().get_reauthentication_methods(request.user)
        if asks or is_recent(request.session.get(SHOWN_KEY, 0)):
            return view(request, *args, **kwargs)
        where = request.path if request.method == "GET" else reverse("mfa_index")
        return redirect(f"{reverse('provider_once_more')}?{urlencode({'next': where})}")

    return page


class SignIn(LoginView):
    """The sign-in page, including the sign-in methods without a password."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show the page, or redirect to the creation of the first account on a new site."""
        if is_without_accounts() and not settings.OIDC_PROVIDERS:
            return redirect("first_administrator")
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | entrances(self.request)


def entrances(request: HttpRequest) -> dict[str, Any]:
    """Return the passwordless sign-in methods for pages that signed-out visitors see."""
    return {
        "providers": list(settings.OIDC_PROVIDERS.values()),
        "has_passkeys": knows_passkeys(request),
    }


def knows_passkeys(request: HttpRequest) -> bool:
    """Return whether passkeys can work: they need a host name, not an IP address."""
    host = request.get_host().rpartition(":")[0] or request.get_host()
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return True
    return False


@own
@require_safe
def ways(request: PersonRequest) -> HttpResponse:
    steps = Authenticator.objects.filter(user=request.user).order_by("created_at")
    app = next((step for step in steps if step.type == "totp"), None)
    codes = next((step for step in steps if step.type == "recovery_codes"), None)
    connected = SocialAccount.objects.filter(user=request.user).order_by("pk")
    names = {account.provider for account in connected}
    context = {
        "passkeys": [step for step in steps if step.type == "webauthn"],
        "app": app,
        "app_is_dead": app and not is_readable(app),
        "has_codes": codes is not None,
        "codes_are_dead": codes and not is_readable(codes),
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "connected": [
            (account, settings.OIDC_PROVIDERS.get(account.provider)) for account in connected
        ],
        "offered": [
            provider for provider in settings.OIDC_PROVIDERS.values() if provider.id not in names
        ],
        "sessions": sessions_of(request),
        "has_passkeys": knows_passkeys(request),
        "is_needed": needs_second_step(request.user) and not has_passed(request, request.user),
    }
    return render(request, "people/sign_in/ways.html", context)


@own
@require_POST
def end_other_sessions(request: PersonRequest) -> HttpResponse:
    stay_alone(request)
    record(study=None, actor=request.user, verb="sessions_ended", subject=str(request.user))
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("mfa_index")


def stay_alone(request: PersonRequest) -> None:
    """End every session of the person except the current session, which gets a new key."""
    end_sessions(user=request.user)
    update_session_auth_hash(request, request.user)


# Acceptance of invitations.
#
# The first request moves the secret from the link into the session, so that the
# page that asks for a name and a password has a URL without the secret.

INVITATION_KEY = "invitation"
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@require_safe
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Move the secret into the session and redirect to a URL without it."""
    if find_invitation(secret) is None:  # guessed links must not create session rows
        return _spent(request, None)
    request.session[INVITATION_KEY] = secret
    return redirect("invitation_accept")


@sensitive_post_parameters("password")
def invitation_accept(request: HttpRequest) -> HttpResponse:
    """Show the invitation, or accept it on POST."""
    invitation = find_invitation(request.session.get(INVITATION_KEY, ""))
    if invitation is None or not invitation.is_open:
        return _spent(request, invitation)
    if request.user.is_authenticated:
        return _accept_signed_in(request, request.user, invitation)
    return _accept_new(request, invitation)


def _accept_signed_in(request: HttpRequest, user: User, invitation: Invitation) -> HttpResponse:
    member = Membership.objects.filter(study=invitation.study, user=user).first()
    if member is not None:
        return _already_member(request, member)
    if user.is_participant:
        return _other_account_needed(request)
    if request.method != "POST":
        return render(request, "people/invitation.html", {"invitation": invitation})
    try:
        accept_invitation(invitation=invitation, user=user)
    except InvitationSpent:
        return _spent(request, find_invitation(request.session.get(INVITATION_KEY, "")))
    except AlreadyMember:
        return redirect("invitation_accept")
    request.session.cycle_key()
    return _enter(request, invitation)


def _accept_new(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    form = NewPersonForm(request.POST or None)
    # Attempts count as sign-ups, so that nobody can test which addresses have an account.
    if request.method == "POST" and not ratelimit.consume(request, action="signup"):
        return ratelimit.respond_429(request)
    if request.method == "POST" and form.is_valid():
        try:
            user = accept_as_new_person(invitation=invitation, **form.cleaned_data).user
        except EmailTaken:
            form.refuse_email()
        except InvitationSpent:
            return _spent(request, find_invitation(request.session.get(INVITATION_KEY, "")))
        else:
            login(request, user, backend=BACKEND)  # gives the session a new key
            return _enter(request, invitation)
    context = {"invitation": invitation, "form": form} | entrances(request)
    status = 422 if form.errors else 200
    return render(request, "people/invitation_new.html", context, status=status)


def _enter(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    request.session.pop(INVITATION_KEY, None)
    return redirect(invitation.leads_to or reverse("study", args=[invitation.study.public_id]))


def _spent(request: HttpRequest, invitation: Invitation | None) -> HttpResponse:
    if invitation is None:
        return closed_door(
            request,
            status=404,
            title=_("This invitation does not exist"),
            text=_("Check that the link is complete, or ask for a new one."),
        )
    if invitation.used_at:
        text = _("It has already been used, and each link works only once.")
    elif invitation.revoked_at:
        text = _("It was revoked.")
    else:
        text = _("It has expired.")
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
        title=_("Your membership of this study has ended"),
        text=_("An invitation cannot restore it. An admin of the study can."),
    )


def _other_account_needed(request: HttpRequest) -> HttpResponse:
    return closed_door(
        request,
        status=409,
        title=_("You are signed in as a crowd participant"),
        text=_("Sign out, then open the invitation again to create an account."),
        sign_out=True,
    )


# Creation of the first administrator of a new site, through a link shown in the terminal.

FIRST_KEY = "first_key"


@require_safe
def first_link(request: HttpRequest, key: str) -> HttpResponse:
    """Move the key into the session and redirect to a URL without it."""
    if not has_no_administrator():
        return redirect("account_login")
    if not is_first_key(key):
        return _no_key(request)
    request.session[FIRST_KEY] = key
    return redirect("first_administrator")


@sensitive_post_parameters("password")
def first_administrator(request: HttpRequest) -> HttpResponse:
    """Create the first administrator if the session has a valid key."""
    if not has_no_administrator():
        return redirect("account_login")
    if not is_first_key(request.session.get(FIRST_KEY, "")):
        return _no_key(request)
    form = FirstAdministratorForm(request.POST or None)
    if request.method == "POST" and not ratelimit.consume(request, action="signup"):
        return ratelimit.respond_429(request)
    if request.method == "POST" and form.is_valid():
        try:
            user = make_first(**form.cleaned_data)
        except NotTheFirst:
            return redirect("account_login")
        except IntegrityError:
            form.refuse_email()
        else:
            login(request, user, backend=BACKEND)  # gives the session a new key
            return redirect("study_new")
    status = 422 if form.errors else 200
    return render(request, "people/first_administrator.html", {"form": form}, status=status)


def _no_key(request: HttpRequest) -> HttpResponse:
    return closed_door(
        request,
        status=403,
        title=_("This site has no administrator yet"),
        text=_(
            "The person who started the site creates the first administrator. The terminal in "
            "which the site was started shows a link for this, valid for seven days."
        ),
        advice=_(
            "Restarting the site prints a new link. “manage.py createsuperuser” also "
            "creates an administrator."
        ),
    )
