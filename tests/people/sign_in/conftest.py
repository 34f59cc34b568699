from dataclasses import replace

import pytest

from cqa_site.people.models import User
from cqa_site.people.sign_in.providers import OpenIDProvider
from .provider import CLIENT, SECRET, FakeProvider


@pytest.fixture(scope="session")
def server():
    made = FakeProvider()
    yield made
    made.close()


@pytest.fixture
def trust(settings, server):
    """Set what the site believes of its providers."""

    def set_to(**changed):
        known = {"issuer": server.issuer, "client_id": CLIENT, "client_secret": SECRET}
        usual = OpenIDProvider(id="uni", name="The University", domains=("uni.example",), **known)
        settings.OIDC_PROVIDERS = {"uni": replace(usual, **changed)}
        apps = [each.as_app() for each in settings.OIDC_PROVIDERS.values()]
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}

    set_to()
    return set_to


@pytest.fixture
def provider(server, trust):
    """An honest provider that the site knows."""
    server.reset()
    return server


@pytest.fixture
def ada(db):
    """Somebody who has an account with the address that the provider says."""
    return User.objects.create_user("ada@uni.example", "a long password", name="Ada")
