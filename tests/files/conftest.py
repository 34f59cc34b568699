"""A study whose researcher brings files in, on pages and by a program; files lie apart."""

import pytest

from tests import cast
from tests.api.conftest import client_of


@pytest.fixture(autouse=True)
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def study(db):
    return cast.make_study()


@pytest.fixture
def researcher(study):
    return cast.make_member(study, "researcher")


@pytest.fixture
def client(researcher):
    return cast.sign_in(researcher)


@pytest.fixture
def api(researcher):
    return client_of(researcher)


@pytest.fixture
def inline(django_capture_on_commit_callbacks):
    """Background work runs when the block ends, as it would after the commit."""
    return lambda: django_capture_on_commit_callbacks(execute=True)
