"""A person's own page: name, password, API tokens, studies."""

import uuid

from allauth.account import views as allauth_account
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from cqa_site.people.access import PersonRequest, memberships_of
from cqa_site.people.forms import KeysForm, NameForm, TokenForm
from cqa_site.people.models import User
from cqa_site.people.sign_in.second_step import may_make_tokens
from cqa_site.people.tokens import create_token, lend_token, revoke_token

# Two forms on one page have a field "name" each.
YOU_ID, TOKEN_ID = "you_%s", "token_%s"
# Where a new secret waits for the one page that shows it.
SESSION_KEY = "new_token"


@login_required
def account(request: PersonRequest) -> HttpResponse:
    """Show the account; a POST changes the name."""
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
    # Taken out before it is shown: whoever comes later, or reloads, does not see it.
    secret = request.session.pop(SESSION_KEY, "")
    return _page(request, status=422 if form.errors else 200, name_form=form, secret=secret)


@login_required
@require_POST
def account_keys(request: PersonRequest) -> HttpResponse:
    """Change how keys work on work pages; for people of a crowd link, too."""
    form = KeysForm(request.POST, instance=User.objects.get(pk=request.user.pk))
    if form.is_valid():
        form.save()
        messages.success(request, _("Keys changed."))
    return redirect("account")


@login_required
@require_POST
def token_new(request: PersonRequest) -> HttpResponse:
    """Make an API token; the next page shows its secret, once, and can be reloaded."""
    if request.user.is_participant:
        raise PermissionDenied
    if not may_make_tokens(request, request.user):
        messages.error(request, _("Sign out and in again with your second step, then make it."))
        return redirect("account")
    form = TokenForm(request.POST, auto_id=TOKEN_ID)
    if not form.is_valid():
        return _page(request, status=422, token_form=form)
    _token, request.session[SESSION_KEY] = create_token(user=request.user, **form.cleaned_data)
    return redirect("account")


@login_required
@require_POST
def token_lend(request: PersonRequest) -> HttpResponse:
    """Lend the page about the interface a token that may only read, for a quarter of an hour."""
    if request.user.is_participant or not may_make_tokens(request, request.user):
        raise PermissionDenied
    return JsonResponse({"token": lend_token(user=request.user)})


@login_required
@require_POST
def token_revoke(request: PersonRequest, token_id: uuid.UUID) -> HttpResponse:
    """Make one of the person's tokens useless."""
    token = get_object_or_404(request.user.api_tokens, public_id=token_id)
    revoke_token(token=token, actor=request.user)
    messages.success(request, _("Token revoked. Programs that use it are refused from now on."))
    return redirect("account")


@login_required
def password_change(request: PersonRequest) -> HttpResponse:
    """Change the password; people who came by a crowd link or a provider have none."""
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
