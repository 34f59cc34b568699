"""How people sign in, by providers, passkeys, apps and recovery codes, and where they are.

The account library's views do the work. They are opened to people with an account only, and to
those who showed a moment ago that it is them.
"""

import time
from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.account.utils import get_next_redirect_url
from allauth.account.views import LoginView
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.internal import auth as passkeys
from allauth.mfa.webauthn.views import AddWebAuthnView, EditWebAuthnView, RemoveWebAuthnView
from allauth.socialaccount.adapter import get_adapter as get_social_adapter
from allauth.socialaccount.internal.flows.connect import disconnect
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import PersonRequest, record
from cqa_site.people.models import User
from cqa_site.people.sign_in.openid import CheckedAdapter, CheckedCallback
from cqa_site.people.sign_in.second_step import STEPS, has_passed, needs_second_step
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
    that it is them by coming from there once more.
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
    records = get_authentication_records(request, request.user)
    came = [each["at"] for each in records if each.get("method") == "socialaccount"]
    return bool(came) and time.time() - came[-1] < REAUTHENTICATION_TIMEOUT


class SignIn(LoginView):
    """The sign-in page, with the other ways in."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say which there are."""
        return super().get_context_data(**kwargs) | entrances(self.request)


def entrances(request: HttpRequest) -> dict[str, Any]:
    """Ways to sign in without a password, for a page of somebody who is not signed in."""
    return {
        "providers": list(settings.OIDC_PROVIDERS.values()),
        "has_passkeys": _knows_passkeys(request),
    }


def _knows_passkeys(request: HttpRequest) -> bool:
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
    codes = next((each for each in steps if each.type == "recovery_codes"), None)
    connected = SocialAccount.objects.filter(user=request.user).order_by("pk")
    names = {each.provider for each in connected}
    context = {
        "passkeys": [each for each in steps if each.type == "webauthn"],
        "app": next((each for each in steps if each.type == "totp"), None),
        "has_codes": codes is not None,
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "connected": [(each, settings.OIDC_PROVIDERS.get(each.provider)) for each in connected],
        "offered": [each for each in settings.OIDC_PROVIDERS.values() if each.id not in names],
        "sessions": sessions_of(request),
        "has_passkeys": _knows_passkeys(request),
        "is_needed": needs_second_step(request.user) and not has_passed(request, request.user),
    }
    return render(request, "people/sign_in/ways.html", context)


@own
@require_POST
def end_other_sessions(request: PersonRequest) -> HttpResponse:
    """Sign out everywhere else."""
    _stay_alone(request)
    record(study=None, actor=request.user, verb="sessions_ended", subject=str(request.user))
    messages.success(request, _("You are signed out everywhere but here."))
    return redirect("mfa_index")


def _stay_alone(request: PersonRequest) -> None:
    """End every session of the person but this one, which gets a new key."""
    end_sessions(user=request.user)
    update_session_auth_hash(request, request.user)


# -- providers --------------------------------------------------------------------------------


@require_POST
def provider_begin(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Go to a provider, to sign in or to connect an account there."""
    adapter = _adapter(request, provider_id)
    if not ratelimit.consume(request, action="login"):
        return ratelimit.respond_429(request)
    if request.POST.get("process") == AuthProcess.CONNECT:
        return _connect(request, adapter)
    return _leave(request, adapter, AuthProcess.LOGIN)


@fresh
def _connect(request: PersonRequest, adapter: CheckedAdapter) -> HttpResponseBase:
    return _leave(request, adapter, AuthProcess.CONNECT)


def _leave(request: HttpRequest, adapter: CheckedAdapter, process: str) -> HttpResponse:
    """A page that leads on: the policy for forms would stop a redirect to another host.

    Only `next` is read from the request; the library's own view takes scopes and parameters, too.
    """
    provider = adapter.get_provider()
    try:
        answer = provider.redirect(request, process, next_url=get_next_redirect_url(request))
    except OAuth2Error as error:
        return _failed(adapter, error)
    context = {"provider": provider, "address": answer["Location"]}
    return render(request, "people/sign_in/leaving.html", context)


@require_safe
def provider_callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Take what a provider sends back."""
    adapter = _adapter(request, provider_id)
    try:
        return CheckedCallback.adapter_view(adapter)(request)
    except OAuth2Error as error:
        return _failed(adapter, error)


def _adapter(request: HttpRequest, provider_id: str) -> CheckedAdapter:
    if provider_id not in settings.OIDC_PROVIDERS:
        raise Http404
    return CheckedAdapter(request, provider_id)


def _failed(adapter: CheckedAdapter, error: OAuth2Error) -> HttpResponse:
    try:
        social = get_social_adapter(adapter.request)
        social.on_authentication_error(adapter.request, adapter.get_provider(), exception=error)
    except ImmediateHttpResponse as answer:
        return answer.response
    raise error


@fresh
@reauthentication_required(app="allauth.socialaccount")
@require_POST
def provider_disconnect(request: PersonRequest, account_id: int) -> HttpResponse:
    """Take an account at a provider away, unless it is the only way in."""
    account = get_object_or_404(SocialAccount, pk=account_id, user=request.user)
    if not _has_another_way(request.user, account):
        messages.error(request, _("This is your only way in. Add a passkey first."))
    elif account.provider not in settings.OIDC_PROVIDERS:
        account.delete()
    else:
        disconnect(request, account)
    return redirect("mfa_index")


def _has_another_way(user: User, account: SocialAccount) -> bool:
    others = SocialAccount.objects.filter(user=user).exclude(pk=account.pk)
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return user.has_usable_password() or others.exists() or passkeys.exists()


@own
@require_safe
def provider_once_more(request: PersonRequest) -> HttpResponse:
    """Ask somebody who comes by a provider to come from there once more."""
    names = SocialAccount.objects.filter(user=request.user).values_list("provider", flat=True)
    context = {
        "providers": [each for each in settings.OIDC_PROVIDERS.values() if each.id in set(names)],
        "next": get_next_redirect_url(request) or reverse("mfa_index"),
    }
    return render(request, "people/sign_in/once_more.html", context)


# -- second steps -----------------------------------------------------------------------------


class AddApp(ActivateTOTPView):
    """An app that shows codes; who added one took the second step."""

    def get_form(self, form_class: Any = None) -> Any:
        """Ask in plain words."""
        form = super().get_form(form_class)
        form.fields["code"].label = _("Code that the app shows")
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and end sessions that never saw a second step."""
        is_first = not _has_step(self.request.user)
        answer: HttpResponse = super().form_valid(form)
        return _added(self.request, answer, is_first, "totp")


class AddPasskey(AddWebAuthnView):
    """A passkey that the device finds by itself, so that no address needs to be typed."""

    success_url = reverse_lazy("mfa_index")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What the browser is asked to make."""
        context = super().get_context_data(**kwargs)
        asked = {"creation_options": passkeys.begin_registration(self.request.user, True)}
        return context | {"js_data": asked, "has_passkeys": _knows_passkeys(self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and end sessions that never saw a second step."""
        is_first = not _has_step(self.request.user)
        answer: HttpResponse = super().form_valid(form)
        return _added(self.request, answer, is_first, "webauthn")


def _has_step(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=STEPS).exists()


def _added(request: Any, answer: HttpResponse, is_first: bool, kind: str) -> HttpResponse:
    record_authentication(request, request.user, "mfa", type=kind)
    if is_first:
        _stay_alone(request)
    return answer


class RenamePasskey(EditWebAuthnView):
    """Another name for a passkey."""

    success_url = reverse_lazy("mfa_index")


class RemovePasskey(RemoveWebAuthnView):
    """Remove a passkey, but for the last step of somebody who needs one."""

    success_url = reverse_lazy("mfa_index")

    def form_valid(self, form: Any) -> HttpResponse:
        """The library asks this of apps only."""
        adapter = get_mfa_adapter()
        if not adapter.can_delete_authenticator(self.get_object()):
            messages.error(self.request, _("You need a second step here. Add another one first."))
            return redirect("mfa_index")
        answer: HttpResponse = super().form_valid(form)
        return answer
