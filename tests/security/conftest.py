"""Two studies with everything in them, for every file of the folder."""

from contextlib import contextmanager

import pytest
from django.db import transaction
from django.test import override_settings
from django.urls import reverse

from tests.cast import sign_in

from .matrix import STUDY_ROUTES
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


def signed_in(world):
    return {letter: sign_in(person) for letter, person in world.people.items()}


@pytest.fixture
def visitors(own, db):
    """Everybody of the own study, signed in."""
    return signed_in(own)


@pytest.fixture(scope="package")
def opened(own, folder):
    """What the least who may gets at every address of the own study that is looked at.

    Each is asked once, for all tests that read it, and undone. A reply has its `body`; a view
    that raised is answered with a 500.
    """
    replies = {}
    with override_settings(MEDIA_ROOT=folder), transaction.atomic():
        clients = signed_in(own)
        for name, route in STUDY_ROUTES.items():
            if not route.post:
                client = clients[route.roles[0]]
                client.raise_request_exception = False
                with transaction.atomic():
                    reply = client.get(reverse(name, kwargs=own.kwargs(name)))
                    reply.body = b"".join(reply) if reply.streaming else reply.content
                    transaction.set_rollback(True)
                replies[name] = reply
        transaction.set_rollback(True)
    return replies
