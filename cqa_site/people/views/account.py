"""Pages for a person's account, including the name, tokens, passkeys and providers."""

import uuid
from typing import Any

from allauth.account import views as allauth_account
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import get_next_redirect_url
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.internal import auth as passkeys
from allauth.mfa.webauthn.views import AddWebAuthnView, EditWebAuthnView, RemoveWebAuthnView
from allauth.socialaccount.adapter import get_adapter as provider_adapter
from allauth.socialaccount.internal.flows.connect import disconnect
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from cqa_site.people.access import (
    PersonRequest,
    create_token,
    lend_token,
    memberships_of,
    revoke_token,
)
from cqa_site.people.forms import KeysForm, NameForm, TokenForm
from cqa_site.people.models import User
from cqa_site.people.sign_in.openid import CheckedAdapter, CheckedCallback
from cqa_site.people.sign_in.roles import can_sign_in
from cqa_site.people.sign_in.second_step import has_second_step, is_readable, may_make_tokens
from .sign_in import fresh, knows_passkeys, own, stay_alone

# Id patterns, because two forms on the same page have a field "name".
YOU_ID, TOKEN_ID = "you_%s", "token_%s"
# Session key under which a new secret is stored until a page shows it once.
SESSION_KEY = "new_token"


@login_required
def account(request: PersonRequest) -> HttpResponse:
    """Show the account, or change the name on POST."""
    if request.user.is_participant:
        context = {"keys_form": KeysForm(instance=request.user)}
        return render(request, "people/account_participant.html", context)
    form = NameForm(
        request.POST or None, instance=User.objects.get(pk=request.user.pk), auto_id=YOU_ID
    )
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Name changed."))
        return redirect("account")
    # Removed before it is shown, so that a reload or a later visit does not show it again.
    secret = request.session.pop(SESSION_KEY, "")
    return _page(request, status=422 if form.errors else 200, name_form=form, secret=secret)


@login_required
@require_POST
def account_keys(request: PersonRequest) -> HttpResponse:
    """Change the keyboard shortcuts of work pages, for crowd participants as well."""
    form = KeysForm(request.POST, instance=User.objects.get(pk=request.user.pk))
    if form.is_valid():
        form.save()
        messages.success(request, _("Keys changed."))
    return redirect("account")


@login_required
@require_POST
def token_new(request: PersonRequest) -> HttpResponse:
    """Create an API token; the next page shows its secret only once and can be reloaded."""
    if request.user.is_participant:
        raise PermissionDenied
    if not may_make_tokens(request, request.user):
        messages.error(
            request, _("Sign out and sign in again with your second step, then create the token.")
        )
        return redirect("account")
    form = TokenForm(request.POST, auto_id=TOKEN_ID)
    if not form.is_valid():
        return _page(request, status=422, token_form=form)
    _token, request.session[SESSION_KEY] = create_token(user=request.user, **form.cleaned_data)
    return redirect("account")


@login_required
@require_POST
def token_lend(request: PersonRequest) -> HttpResponse:
    """Create a read-only token for the API page; the token is valid for 15 minutes."""
    if request.user.is_participant or not may_make_tokens(request, request.user):
        raise PermissionDenied
    return JsonResponse({"token": lend_token(user=request.user)})


@login_required
@require_POST
def token_revoke(request: PersonRequest, token_id: uuid.UUID) -> HttpResponse:
    token = get_object_or_404(request.user.api_tokens, public_id=token_id)
    revoke_token(token=token, actor=request.user)
    messages.success(request, _("Token revoked. Programs that use it no longer have access."))
    return redirect("account")


@login_required
def password_change(request: PersonRequest) -> HttpResponse:
    """Change the password, except for crowd participants and provider-only accounts."""
    if not request.user.has_usable_password():
        return redirect("account")
    return allauth_account.password_change(request)


def _page(request: PersonRequest, status: int = 200, **context: object) -> HttpResponse:
    defaults = {
        "name_form": NameForm(instance=request.user, auto_id=YOU_ID),
        "keys_form": KeysForm(instance=request.user),
        "token_form": TokenForm(auto_id=TOKEN_ID),
        "tokens": request.user.api_tokens.all()[:50],
        "memberships": memberships_of(request.user).order_by("study__name"),
    }
    return render(request, "people/account.html", defaults | context, status=status)


class AddApp(ActivateTOTPView):
    """A view that adds an authenticator app; adding it counts as passing a second step."""

    def get_form(self, form_class: Any = None) -> Any:
        form = super().get_form(form_class)
        form.fields["code"].label = _("Code from the app")
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """Store the app; if it is the first second step, end all other sessions."""
        is_first = not has_second_step(self.request.user)
        answer: HttpResponse = super().form_valid(form)
        return _added(self.request, answer, is_first, "totp")


class ShowCodes(ViewRecoveryCodesView):
    """A view that shows the recovery codes unless they can no longer be decrypted."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the codes once, or redirect to the page for new codes."""
        authenticator = Authenticator.objects.filter(
            user=request.user, type="recovery_codes"
        ).first()
        if authenticator is not None and not is_readable(authenticator):
            return redirect("mfa_generate_recovery_codes")
        answer: HttpResponse = super().get(request, *args, **kwargs)
        return answer


class AddPasskey(AddWebAuthnView):
    """A view that adds a passkey which the device can find without an e-mail address."""

    success_url = reverse_lazy("mfa_index")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context, including the browser's options for creating a passkey."""
        context = super().get_context_data(**kwargs)
        options = {"creation_options": passkeys.begin_registration(self.request.user, True)}
        return context | {"js_data": options, "has_passkeys": knows_passkeys(self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        """Store the passkey; if it is the first second step, end all other sessions."""
        is_first = not has_second_step(self.request.user)
        answer: HttpResponse = super().form_valid(form)
        return _added(self.request, answer, is_first, "webauthn")


def _added(request: Any, answer: HttpResponse, is_first: bool, kind: str) -> HttpResponse:
    record_authentication(request, request.user, "mfa", type=kind)
    if is_first:
        stay_alone(request)
    return answer


class RenamePasskey(EditWebAuthnView):
    success_url = reverse_lazy("mfa_index")


class RemovePasskey(RemoveWebAuthnView):
    """A view that removes a passkey unless the person needs it as a second step or to sign in."""

    success_url = reverse_lazy("mfa_index")

    def form_valid(self, form: Any) -> HttpResponse:
        """Refuse to remove a passkey that is needed; the library checks this only for apps."""
        if refusal := _why_it_stays(self.get_object()):
            messages.error(self.request, refusal)
            return redirect("mfa_index")
        answer: HttpResponse = super().form_valid(form)
        return answer


def _why_it_stays(passkey: Authenticator) -> str:
    if not get_adapter().can_delete_authenticator(passkey):
        return _("Your account needs a second step. Add another one first.")
    if not can_sign_in(passkey.user, without=passkey):
        return _("You have no other way to sign in. Add one first.")
    return ""


@require_POST
def provider_begin(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Send the person to a provider to sign in or connect an account."""
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
    """Return a page that leads to the provider, because the form policy would block a redirect.

    Only `next` and `again` are read from the request. The library's own view also accepts scopes
    and parameters.
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
        social = provider_adapter(adapter.request)
        social.on_authentication_error(adapter.request, adapter.get_provider(), exception=error)
    except ImmediateHttpResponse as answer:
        return answer.response
    raise error


@fresh
@reauthentication_required(app="allauth.socialaccount")
@require_POST
def provider_disconnect(request: PersonRequest, account_id: int) -> HttpResponse:
    """Disconnect a provider account unless it is the person's only way to sign in."""
    account = get_object_or_404(SocialAccount, pk=account_id, user=request.user)
    if not can_sign_in(request.user, without=account):
        messages.error(request, _("This is your only way to sign in. Add a passkey first."))
    elif account.provider not in settings.OIDC_PROVIDERS:
        account.delete()
    else:
        disconnect(request, account)
    return redirect("mfa_index")


@own
@require_safe
def provider_once_more(request: PersonRequest) -> HttpResponse:
    """Ask a user to sign in through the provider again."""
    names = SocialAccount.objects.filter(user=request.user).values_list("provider", flat=True)
    context = {
        "providers": [
            provider for provider in settings.OIDC_PROVIDERS.values() if provider.id in set(names)
        ],
        "next": get_next_redirect_url(request) or reverse("mfa_index"),
        "again": True,
    }
    return render(request, "people/sign_in/once_more.html", context)
