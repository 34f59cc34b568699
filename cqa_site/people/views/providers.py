"""Signing in by a provider, and connecting an account there."""

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal.flows.connect import disconnect
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import PersonRequest
from cqa_site.people.sign_in.openid import CheckedAdapter, CheckedCallback
from cqa_site.people.sign_in.ways import can_sign_in

from .sign_in import fresh, own


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

    Only `next` and `again` are read from the request; the library's own view takes scopes and
    parameters, too.
    """
    provider, again = adapter.get_provider(), "again" in request.POST
    try:
        next_url = get_next_redirect_url(request)
        answer = provider.redirect(request, process, next_url=next_url, again=again)
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
        social = get_adapter(adapter.request)
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
    if not can_sign_in(request.user, without=account):
        messages.error(request, _("This is your only way in. Add a passkey first."))
    elif account.provider not in settings.OIDC_PROVIDERS:
        account.delete()
    else:
        disconnect(request, account)
    return redirect("mfa_index")


@own
@require_safe
def provider_once_more(request: PersonRequest) -> HttpResponse:
    """Ask somebody who comes by a provider to come from there once more."""
    names = SocialAccount.objects.filter(user=request.user).values_list("provider", flat=True)
    context = {
        "providers": [each for each in settings.OIDC_PROVIDERS.values() if each.id in set(names)],
        "next": get_next_redirect_url(request) or reverse("mfa_index"),
        "again": True,
    }
    return render(request, "people/sign_in/once_more.html", context)
