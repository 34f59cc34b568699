"""Adding, naming and removing passkeys and an app: the account library's views, made stricter."""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.internal import auth as passkeys
from allauth.mfa.webauthn.views import AddWebAuthnView, EditWebAuthnView, RemoveWebAuthnView
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils.translation import gettext as _

from cqa_site.people.sign_in.passkeys import is_readable
from cqa_site.people.sign_in.second_step import has_second_step
from cqa_site.people.sign_in.ways import can_sign_in

from .sign_in import knows_passkeys, stay_alone


class AddApp(ActivateTOTPView):
    """An app that shows codes; who added one took the second step."""

    def get_form(self, form_class: Any = None) -> Any:
        """Ask in plain words."""
        form = super().get_form(form_class)
        form.fields["code"].label = _("Code that the app shows")
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and end sessions that never saw a second step."""
        is_first = not has_second_step(self.request.user)
        answer: HttpResponse = super().form_valid(form)
        return _added(self.request, answer, is_first, "totp")


class ShowCodes(ViewRecoveryCodesView):
    """Recovery codes, unless they can no longer be read."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show them once, or lead to new ones."""
        kept = Authenticator.objects.filter(user=request.user, type="recovery_codes").first()
        if kept is not None and not is_readable(kept):
            return redirect("mfa_generate_recovery_codes")
        answer: HttpResponse = super().get(request, *args, **kwargs)
        return answer


class AddPasskey(AddWebAuthnView):
    """A passkey that the device finds by itself, so that no address needs to be typed."""

    success_url = reverse_lazy("mfa_index")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What the browser is asked to make."""
        context = super().get_context_data(**kwargs)
        asked = {"creation_options": passkeys.begin_registration(self.request.user, True)}
        return context | {"js_data": asked, "has_passkeys": knows_passkeys(self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and end sessions that never saw a second step."""
        is_first = not has_second_step(self.request.user)
        answer: HttpResponse = super().form_valid(form)
        return _added(self.request, answer, is_first, "webauthn")


def _added(request: Any, answer: HttpResponse, is_first: bool, kind: str) -> HttpResponse:
    record_authentication(request, request.user, "mfa", type=kind)
    if is_first:
        stay_alone(request)
    return answer


class RenamePasskey(EditWebAuthnView):
    """Another name for a passkey."""

    success_url = reverse_lazy("mfa_index")


class RemovePasskey(RemoveWebAuthnView):
    """Remove a passkey, but for the last step of somebody who needs one, and the last way in."""

    success_url = reverse_lazy("mfa_index")

    def form_valid(self, form: Any) -> HttpResponse:
        """The library asks this of apps only."""
        if refusal := _why_it_stays(self.get_object()):
            messages.error(self.request, refusal)
            return redirect("mfa_index")
        answer: HttpResponse = super().form_valid(form)
        return answer


def _why_it_stays(passkey: Authenticator) -> str:
    if not get_adapter().can_delete_authenticator(passkey):
        return _("You need a second step here. Add another one first.")
    if not can_sign_in(passkey.user, without=passkey):
        return _("You have no other way in. Add another one first.")
    return ""
