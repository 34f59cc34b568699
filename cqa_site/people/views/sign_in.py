"""How people sign in, by providers, passkeys, apps and recovery codes, and where they are.

The account library's views do the work. They are opened to people with an account only, and to
those who showed a moment ago that it is them.
"""

from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.views import LoginView
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import PersonRequest, record
from cqa_site.people.sign_in.passkeys import is_readable
from cqa_site.people.sign_in.second_step import (
    SHOWN_KEY,
    has_passed,
    is_recent,
    needs_second_step,
)
from cqa_site.people.sign_in.sessions import end_sessions, sessions_of

View = Callable[..., HttpResponseBase]


def own(view: View) -> View:
    """Decorate a view about an account of one's own; people of a crowd link have none."""

    @login_required
    @wraps(view)
    def page(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_participant:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return page


def fresh(view: View) -> View:
    """Decorate one's own view that the library guards by password or second step.

    The library lets people through who have neither, because they come by a provider. They show
    that it is them there, once more.
    """

    @own
    @wraps(view)
    def page(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if _is_fresh(request):
            return view(request, *args, **kwargs)
        where = request.path if request.method == "GET" else reverse("mfa_index")
        return redirect(f"{reverse('provider_once_more')}?{urlencode({'next': where})}")

    return page


def _is_fresh(request: PersonRequest) -> bool:
    if get_adapter().get_reauthentication_methods(request.user):
        return True  # the library asks
    return is_recent(request.session.get(SHOWN_KEY, 0))


class SignIn(LoginView):
    """The sign-in page, with the other ways in."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say which there are."""
        return super().get_context_data(**kwargs) | entrances(self.request)


def entrances(request: HttpRequest) -> dict[str, Any]:
    """Ways to sign in without a password, for a page of somebody who is not signed in."""
    return {
        "providers": list(settings.OIDC_PROVIDERS.values()),
        "has_passkeys": knows_passkeys(request),
    }


def knows_passkeys(request: HttpRequest) -> bool:
    """Browsers make passkeys for names, not for bare numbers such as 127.0.0.1."""
    host = request.get_host().rpartition(":")[0] or request.get_host()
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return True
    return False


@own
@require_safe
def ways(request: PersonRequest) -> HttpResponse:
    """All ways to sign in, and all places where the person is signed in."""
    steps = Authenticator.objects.filter(user=request.user).order_by("created_at")
    app = next((each for each in steps if each.type == "totp"), None)
    codes = next((each for each in steps if each.type == "recovery_codes"), None)
    connected = SocialAccount.objects.filter(user=request.user).order_by("pk")
    names = {each.provider for each in connected}
    context = {
        "passkeys": [each for each in steps if each.type == "webauthn"],
        "app": app,
        "app_is_dead": app and not is_readable(app),
        "has_codes": codes is not None,
        "codes_are_dead": codes and not is_readable(codes),
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "connected": [(each, settings.OIDC_PROVIDERS.get(each.provider)) for each in connected],
        "offered": [each for each in settings.OIDC_PROVIDERS.values() if each.id not in names],
        "sessions": sessions_of(request),
        "has_passkeys": knows_passkeys(request),
        "is_needed": needs_second_step(request.user) and not has_passed(request, request.user),
    }
    return render(request, "people/sign_in/ways.html", context)


@own
@require_POST
def end_other_sessions(request: PersonRequest) -> HttpResponse:
    """Sign out everywhere else."""
    stay_alone(request)
    record(study=None, actor=request.user, verb="sessions_ended", subject=str(request.user))
    messages.success(request, _("You are signed out everywhere but here."))
    return redirect("mfa_index")


def stay_alone(request: PersonRequest) -> None:
    """End every session of the person but this one, which gets a new key."""
    end_sessions(user=request.user)
    update_session_auth_hash(request, request.user)
