"""Addresses about people: form tokens, and no writing by reading.

Who may what, and ids of other studies: tests/security/test_matrix.py.
"""

import hashlib

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from cqa_site.people.access import create_token
from cqa_site.people.actions import create_invitation
from cqa_site.people.models import Role
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.lifecycle import open_round
from tests import cast
from .crowd import create_link

UNSAFE = {
    "admin": "account token_new token_lend account_logout account_change_password",
    "anonymous": "account_login account_reset_password invitation_accept join_start",
    "site_admin": "study_new",
    "participant": "participation_end participation_fault participation_stop",
}


class World:
    """A study with somebody of the crowd, and one client for each actor."""

    def __init__(self, study, people, other_study, site_admin):
        self.study, admin = study, people["admin"]
        self.round = cast.make_label_round(study)
        open_round(round_=self.round, actor=admin)
        self.link, self.link_secret = create_link(self.round, admin)
        participant = take_part(link=self.link, ids=PlatformIds("PID", "S", "T"), browser="b")
        about = {"study": study, "role": "expert", "note": "x", "days": 1, "actor": admin}
        _invitation, self.invitation_secret = create_invitation(**about)
        self.token, _secret = create_token(user=admin, name="x", scope="read")
        stranger = cast.make_member(other_study, Role.ADMIN)
        users = {"participant": participant.user, "stranger": stranger, "site_admin": site_admin}
        self.clients = {name: cast.sign_in(user) for name, user in (people | users).items()}
        self.clients["anonymous"] = Client()


@pytest.fixture
def world(study, people, other_study, site_admin):
    return World(study, people, other_study, site_admin)


def test_changing_anything_needs_a_token(world, alone):
    """Addresses outside of studies; for those of studies the matrix asks the same."""
    for actor, names in UNSAFE.items():
        for name in names.split():
            with alone(f"{actor} {name}"):
                client = Client(enforce_csrf_checks=True)
                client.cookies = world.clients[actor].cookies
                sent = {"name": "x", "role": "admin"}
                assert client.post(reverse(name), sent).status_code == 403


OUTSIDE = f"""
    {UNSAFE["admin"]} {UNSAFE["anonymous"]} {UNSAFE["site_admin"]} {UNSAFE["participant"]}
    home account_inactive participation_back health
"""


@pytest.mark.long
def test_opening_pages_writes_nothing(world):
    pages = ("study", "members", "audit", "study_settings")
    paths = [reverse(name, args=[world.study.public_id]) for name in pages]
    paths += [reverse(name) for name in OUTSIDE.split()]
    ids = [world.study.public_id, world.round.public_id]
    ids_of_platform = "?PROLIFIC_PID=new&STUDY_ID=s&SESSION_ID=t"
    paths += [
        reverse("invitation", args=[world.invitation_secret]),
        reverse("join", args=[world.link_secret]) + ids_of_platform,
        reverse("crowd_links", args=ids),
        reverse("crowd_link_close", args=[*ids, world.link.public_id]),
        reverse("token_revoke", args=[world.token.public_id]),
    ]
    before = fingerprint()
    for actor, client in world.clients.items():
        for path in paths:
            assert client.get(path).status_code < 500, (actor, path)
        assert fingerprint() == before, actor


def fingerprint():
    """A digest of every table but the sessions and the cache, which hold no study data."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            if table not in ("django_session", "cache"):
                cursor.execute(f'SELECT * FROM "{table}"')
                digest.update(repr(sorted(map(repr, cursor.fetchall()))).encode())
    return digest.hexdigest()
