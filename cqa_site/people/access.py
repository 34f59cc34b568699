"""Access to studies for people and their API tokens, and the audit log."""

import re
import uuid
from collections.abc import Callable, Collection
from datetime import timedelta
from functools import partial, wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.middleware import HtmxDetails
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.request import Request

from cqa_site.web.logging import security
from cqa_site.web.pages import wants_json
from .models import ApiToken, AuditEvent, Membership, Role, Study, User, hash_secret, new_secret

# Access control for the pages of a study.
#
# Non-members get 404, as if the study did not exist. Members with another role get 403. Views get
# the study and the membership, and look up all other rows within ``study``, never by id alone.

RESEARCHERS = (Role.RESEARCHER, Role.ADMIN)
EXPERTS = (Role.EXPERT, *RESEARCHERS)
EVERYONE = tuple(Role)
# Details copied to the security log: values defined by the site, never text that a user entered.
LOGGED_DETAILS = ("role", "scope", "fields", "cap")
RUN_NUMBER = re.compile(r"#\d+")
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


class StudyArchived(Exception):
    """Raised for changes to an archived study."""

    def __str__(self) -> str:
        return _("The study is archived, so nothing was changed. An admin can restore it.")


class PersonRequest(HttpRequest):
    """Type annotation for a request from a signed-in user."""

    user: User
    htmx: HtmxDetails


class StudyRequest(PersonRequest):
    """Type annotation for a study member's request, which `study_page` passes to a view."""

    membership: Membership


def memberships_of(user: User | int) -> QuerySet[Membership]:
    """Return the active memberships of an active user in studies that are not deleted."""
    return Membership.objects.filter(
        user=user, is_active=True, user__is_active=True, study__deleted_at__isnull=True
    ).select_related("study")


def may_open_studies(user: User) -> bool:
    """Return whether the user may create studies.

    Site administrators may, and so may researchers if `RESEARCHERS_OPEN_STUDIES` is set.
    """
    if is_administrator(user):
        return True
    runs_one = memberships_of(user).filter(role__in=RESEARCHERS)
    return bool(settings.RESEARCHERS_OPEN_STUDIES) and runs_one.exists()


def membership_or_404(user: User, study_id: uuid.UUID) -> Membership:
    """Return the person's membership in the study, or raise Http404."""
    membership = memberships_of(user).filter(study__public_id=study_id).first()
    if membership is None:
        raise Http404
    return membership


def refuse_change(study: Study, method: str | None) -> None:
    """Raise StudyArchived for a request that would change an archived study."""
    if study.is_archived and method not in SAFE_METHODS:
        raise StudyArchived


def is_administrator(user: User) -> bool:
    return user.is_staff or user.is_superuser


def administrator_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate ``view(request, …)`` to require sign-in and return 403 to non-administrators."""

    @login_required
    @wraps(view)
    def page(request: PersonRequest, *args, **kwargs) -> HttpResponseBase:
        if not is_administrator(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return page


ONLY: dict[str, Any] = {"GET": require_safe, "POST": require_POST}


def study_page(
    *roles: Role, only: str = "", in_archive: bool = False, asks_itself: bool = False
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Decorate ``view(request, study, …)`` to require sign-in, membership and a role.

    The decorated view takes ``study_id`` from the URL. Templates and querysets find the membership
    in ``request.membership``. If ``only`` is "GET" or "POST", other methods are refused (405).
    ``in_archive`` accepts forms in an archived study: exports, and work submitted late from a
    browser, which a closed round stores separately. A view with ``in_archive`` may
    set ``asks_itself``: it then receives the id, filters its first query by ``working(…)``, and
    calls ``admit`` in all other cases.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        view = ONLY[only](view) if only else view

        @login_required
        @wraps(view)
        def page(request: StudyRequest, study_id: uuid.UUID, **kwargs) -> HttpResponseBase:
            if asks_itself:
                response = view(request, study_id, **kwargs)
            else:
                study = admit(request, study_id, roles)
                if not in_archive:
                    try:
                        refuse_change(study, request.method)
                    except StudyArchived as refusal:
                        return _archived(request, study, str(refusal))
                response = view(request, study, **kwargs)
            return _only_a_form(request, response) if response.status_code == 405 else response

        return page

    return decorate


def admit(request: Any, study_id: uuid.UUID, roles: Collection[Role]) -> Study:
    """Return the study and set the request's membership; raise Http404 or PermissionDenied."""
    membership = membership_or_404(request.user, study_id)
    if membership.role not in roles:
        raise PermissionDenied
    membership.user = request.user
    request.membership = membership
    return membership.study


def working(user: User | int, study_id: uuid.UUID, roles: Collection[Role]) -> Q:
    """Return a filter for a study's rounds; it matches nothing if the person lacks the roles."""
    memberships = memberships_of(user).filter(role__in=roles, study__public_id=study_id)
    return Q(round__study__in=memberships.values("study"))


def _only_a_form(request: HttpRequest, refused: HttpResponseBase) -> HttpResponse:
    """Return the page for a user who opened or reloaded a URL that only accepts forms."""
    page = render(request, "405.html", status=405)
    page["Allow"] = refused["Allow"]
    return page


def _archived(request: HttpRequest, study: Study, detail: str) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": "archived", "detail": detail}, status=409)
    context = {"study": study, "detail": detail}
    return render(request, "people/archived.html", context, status=409)


def record(
    *,
    study: Study | None,
    actor: User | None,
    verb: str,
    subject: str,
    reason: str = "",
    **details: Any,
) -> AuditEvent:
    """Write one line to the study's audit log and, once it is stored, to the security log."""
    values = {name: details[name] for name in LOGGED_DETAILS if name in details} | {
        "study": study and study.public_id,
        "person": actor and actor.public_id,
        "subject": subject if RUN_NUMBER.fullmatch(subject) else None,
    }
    values = {name: value for name, value in values.items() if value is not None}
    transaction.on_commit(partial(security, verb, **values))
    return AuditEvent.objects.create(
        study=study, actor=actor, verb=verb, subject=subject[:200], reason=reason, details=details
    )


TOKEN_LIFETIME = timedelta(days=180)
# The token that the API page uses to call the API, one per person.
LENT_NAME, LENT_LIFETIME = "API page", timedelta(minutes=15)


@transaction.atomic
def create_token(
    *, user: User, name: str, scope: str, lifetime: timedelta = TOKEN_LIFETIME
) -> tuple[ApiToken, str]:
    """Create a token and return it with its secret, which is not stored."""
    secret = ApiToken.PREFIX + new_secret()
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        secret_hash=hash_secret(secret),
        last_four=secret[-4:],
        expires_at=timezone.now() + lifetime,
    )
    record(study=None, actor=user, verb="token_created", subject=name, scope=scope)
    return token, secret


@transaction.atomic
def lend_token(*, user: User) -> str:
    """Create the read-only token for trying API requests on a page; delete the previous token."""
    fields = {"name": LENT_NAME, "scope": ApiToken.Scope.READ}
    user.api_tokens.filter(**fields, expires_at__lte=timezone.now() + LENT_LIFETIME).delete()
    _token, secret = create_token(user=user, **fields, lifetime=LENT_LIFETIME)
    return secret


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User) -> None:
    """Revoke a token immediately and permanently."""
    revoked = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if revoked:
        record(study=None, actor=actor, verb="token_revoked", subject=token.name)


class TokenAuthentication(BaseAuthentication):
    """Authentication with bearer tokens; read-only tokens cannot write."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the user and token, or None if there is no header; the view then returns 401."""
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        if len(parts) != 2:
            raise exceptions.AuthenticationFailed(
                "The header must be: Authorization: Bearer <token>."
            )
        token = (
            ApiToken.objects.select_related("user")
            .filter(secret_hash=hash_secret(parts[1].decode("latin-1")))
            .first()
        )
        if token is None or not token.is_open or not token.user.is_active:
            raise exceptions.AuthenticationFailed("This token is not valid.")
        if token.scope == ApiToken.Scope.READ and request.method not in SAFE_METHODS:
            raise exceptions.PermissionDenied("This token is read-only.")
        self._note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the scheme, so that a missing token results in 401 rather than 403."""
        return "Bearer"

    @staticmethod
    def _note_use(token: ApiToken) -> None:
        """Store the time of the last use, at most once a minute."""
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
            security("token_used", token=token.public_id, person=token.user.public_id)
