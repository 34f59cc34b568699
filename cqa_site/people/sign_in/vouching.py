"""Whether a provider says that somebody took a second step there."""

from typing import Any

from django.conf import settings


def vouches(sociallogin: Any) -> bool:
    """What the signed token says in `amr`, as far as the site's setting believes it."""
    claims = getattr(sociallogin, "claims", None)
    if claims is None:
        return False
    trusted = settings.OIDC_PROVIDERS[sociallogin.account.provider].second_step
    if isinstance(trusted, bool):
        return trusted
    said = claims.get("amr")
    return isinstance(said, list) and any(each in trusted for each in said)
