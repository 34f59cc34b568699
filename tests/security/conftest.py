"""Two studies with everything in them, for every file of the folder."""

import pytest
from django.db import transaction
from django.test import override_settings
from django.urls import reverse

from tests.cast import sign_in
from .matrix import STUDY_ROUTES
from .world import World


@pytest.fixture(scope="package")
def folder(shared_studies):
    return shared_studies.folder


@pytest.fixture(autouse=True)
def _own_files(settings, folder):
    settings.MEDIA_ROOT = folder


@pytest.fixture(scope="package")
def both(shared_studies, folder):
    """The shared studies; what is added to them is rolled back after the last test."""
    studies = shared_studies.copies()
    with override_settings(MEDIA_ROOT=folder), transaction.atomic():
        yield [World(rows) for rows in studies]
        transaction.set_rollback(True)


@pytest.fixture(scope="package")
def own(both):
    return both[0]


@pytest.fixture(scope="package")
def foreign(both):
    return both[1]


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
