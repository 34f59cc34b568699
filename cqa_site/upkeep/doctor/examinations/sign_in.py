"""Do the providers through which people sign in answer, as those that the settings name?"""

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cqa_site.people.sign_in.openid import CheckedAdapter
from cqa_site.people.sign_in.providers import OpenIDProvider

from ..examining import Family, examination
from ..findings import Finding, well, wrong


@examination(Family.WEB, gettext_lazy("Sign-in providers"))
def providers() -> Finding:
    """Read what each says of itself and its keys, as a sign-in would."""
    for provider in settings.OIDC_PROVIDERS.values():
        if why := _what_is_wrong(provider):
            says = _("Nobody can sign in with %(name)s (%(issuer)s): %(why)s")
            words = {"name": provider.name, "issuer": provider.issuer, "why": why}
            remedy = _("Compare the issuer in OIDC_PROVIDERS with what the provider calls itself.")
            return wrong(says % words, remedy)
    if not settings.OIDC_PROVIDERS:
        return well(_("None; people sign in with passwords and passkeys."))
    names = ", ".join(each.name for each in settings.OIDC_PROVIDERS.values())
    return well(_("%s: answers, and publishes the keys it signs with.") % names)


def _what_is_wrong(provider: OpenIDProvider) -> str:
    adapter = CheckedAdapter(HttpRequest(), provider.id)
    try:
        return "" if adapter.signing_keys() else _("It publishes no key to sign with.")
    except OAuth2Error as error:
        return str(error)
