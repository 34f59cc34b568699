from dataclasses import replace

import pytest
from django.core.cache import cache

from cqa_site.people.models import Role, User
from cqa_site.people.sign_in.providers import OpenIDProvider
from tests import cast

from .provider import CLIENT, SECRET, FakeProvider


@pytest.fixture(scope="session")
def server():
    made = FakeProvider()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def no_counted_tries():
    """Rate limits are counted in the cache, which outlives a test."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def trust(settings, server):
    """Set what the site believes of its providers."""

    def set_to(**changed):
        usual = OpenIDProvider(
            id="uni",
            name="The University",
            issuer=server.issuer,
            client_id=CLIENT,
            client_secret=SECRET,
            domains=("uni.example",),
        )
        settings.OIDC_PROVIDERS = {"uni": replace(usual, **changed)}
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {
                "APPS": [each.as_app() for each in settings.OIDC_PROVIDERS.values()]
            }
        }

    set_to()
    return set_to


@pytest.fixture
def provider(server, trust):
    """An honest provider that the site knows."""
    server.reset()
    return server


@pytest.fixture
def study(db):
    return cast.make_study("Study A")


@pytest.fixture
def people(study):
    """One member of each role."""
    return {role: cast.make_member(study, role, name=f"The {role}") for role in Role.values}


@pytest.fixture
def ada(db):
    """Somebody who has an account with the address that the provider says."""
    return User.objects.create_user("ada@uni.example", "a long password", name="Ada")
