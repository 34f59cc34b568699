"""Two studies with everything in them, for every file of the folder."""

import pytest
from django.db import transaction
from django.test import override_settings

from tests.cast import sign_in

from .world import World


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def _own_files(settings, folder):
    settings.MEDIA_ROOT = folder


@pytest.fixture(scope="package")
def worlds(django_db_setup, django_db_blocker, folder):
    """Made once; each test's own changes are rolled back on top."""
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=folder), transaction.atomic():
        yield World("Own"), World("Foreign")
        transaction.set_rollback(True)


@pytest.fixture
def own(worlds):
    return worlds[0]


@pytest.fixture
def foreign(worlds):
    return worlds[1]


@pytest.fixture
def visitors(own):
    """Everybody of the own study, signed in."""
    return {letter: sign_in(person) for letter, person in own.people.items()}
