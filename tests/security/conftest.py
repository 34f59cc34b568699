"""Two studies with everything in them, for every file of the folder."""

from contextlib import contextmanager

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
def build(django_db_setup, django_db_blocker, folder):
    """Make a world for the whole folder; each test's own changes are rolled back on top."""

    @contextmanager
    def built(name):
        with override_settings(MEDIA_ROOT=folder), transaction.atomic():
            yield World(name)
            transaction.set_rollback(True)

    with django_db_blocker.unblock():
        yield built


@pytest.fixture(scope="package")
def own(build):
    with build("Own") as world:
        yield world


@pytest.fixture(scope="package")
def foreign(build, own):
    with build("Foreign") as world:
        yield world


@pytest.fixture
def visitors(own, db):
    """Everybody of the own study, signed in."""
    return {letter: sign_in(person) for letter, person in own.people.items()}
