import pytest
from django.core.cache import cache

from cqa_site.people.models import Role, User
from tests import cast


@pytest.fixture(autouse=True)
def no_counted_tries():
    """Rate limits are counted in the cache, which outlives a test."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def study(db):
    return cast.make_study("Study A")


@pytest.fixture
def other_study(db):
    return cast.make_study("Study B")


@pytest.fixture
def people(study):
    """One member of each role."""
    return {role: cast.make_member(study, role, name=f"The {role}") for role in Role.values}


@pytest.fixture
def admin(people):
    return cast.sign_in(people["admin"])


@pytest.fixture
def researcher(people):
    return cast.sign_in(people["researcher"])


@pytest.fixture
def stranger(other_study):
    """An admin of another study."""
    return cast.sign_in(cast.make_member(other_study, Role.ADMIN))


@pytest.fixture
def site_admin(db):
    return User.objects.create_superuser("root@site.example", "a long password", name="Root")
