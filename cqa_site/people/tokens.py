"""API tokens: ``Authorization: Bearer cqa_…``."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from cqa_site.web.logging import security

from .access import record
from .models import ApiToken, User, hash_secret, new_secret

TOKEN_LIFETIME = timedelta(days=180)
# A token that a page of the site asks the interface with, one for each person.
LENT_NAME, LENT_LIFETIME = "API page", timedelta(minutes=15)
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


@transaction.atomic
def create_token(
    *, user: User, name: str, scope: str, lifetime: timedelta = TOKEN_LIFETIME
) -> tuple[ApiToken, str]:
    """Make a token; the second value is the secret, which is not kept."""
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
    """Make the token that pages try addresses with; it may only read, and the last one ends."""
    asked = {"name": LENT_NAME, "scope": ApiToken.Scope.READ}
    user.api_tokens.filter(**asked, expires_at__lte=timezone.now() + LENT_LIFETIME).delete()
    _token, secret = create_token(user=user, **asked, lifetime=LENT_LIFETIME)
    return secret


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User) -> None:
    """Make a token useless, at once and for good."""
    revoked = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if revoked:
        record(study=None, actor=actor, verb="token_revoked", subject=token.name)


class TokenAuthentication(BaseAuthentication):
    """Bearer tokens; a read token may not write."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token's user; None without the header, so the view answers 401."""
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("The header must be: Authorization: Bearer <token>.")
        token = (
            ApiToken.objects.select_related("user")
            .filter(secret_hash=hash_secret(parts[1].decode("latin-1")))
            .first()
        )
        if token is None or not token.is_open or not token.user.is_active:
            raise AuthenticationFailed("This token is not valid.")
        if token.scope == ApiToken.Scope.READ and request.method not in SAFE_METHODS:
            raise PermissionDenied("This token may only read.")
        self._note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Name the scheme, so that a missing token is 401 rather than 403."""
        return "Bearer"

    @staticmethod
    def _note_use(token: ApiToken) -> None:
        """Remember the last use, at most once a minute."""
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
            security("token_used", token=token.public_id, person=token.user.public_id)
