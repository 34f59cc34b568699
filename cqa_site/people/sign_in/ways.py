"""By which ways somebody comes in, and by which of them they have to."""

from datetime import timedelta

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.utils import timezone

from cqa_site.people.models import User

from .groups import orphans, roles_held, take
from .providers import OpenIDProvider


def can_sign_in(user: User, *, without: SocialAccount | Authenticator | None = None) -> bool:
    """Whether somebody has a password, a passkey or an account at a provider of the site."""
    accounts = SocialAccount.objects.filter(user=user, provider__in=list(settings.OIDC_PROVIDERS))
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    if isinstance(without, SocialAccount):
        accounts = accounts.exclude(pk=without.pk)
    elif without:
        passkeys = passkeys.exclude(pk=without.pk)
    return user.has_usable_password() or passkeys.exists() or accounts.exists()


def provider_to_ask(user: User, *, came_by_one: bool) -> OpenIDProvider | None:
    """The provider whose groups gave somebody a role: it alone knows whether they still do.

    Whoever comes by one of two such providers is led on to the other, unless it confirmed its
    roles within the length of a session. What nobody can be asked about is taken first: it locks
    nobody out.
    """
    take(orphans().filter(user=user))
    roles = roles_held().filter(user=user)
    if came_by_one:
        lately = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
        roles = roles.exclude(confirmed_at__gt=lately)
    role = roles.first()
    return settings.OIDC_PROVIDERS[role.provider] if role else None
