"""Addresses about people: nobody from outside the roles, form tokens, no writing by reading.

What the roles of a study may do, and ids of other studies: tests/security/test_matrix.py.
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
from tests.security.world import parameters

from .crowd import create_link

GETS = ("study", "members", "audit", "crowd_links", "study_settings")
POSTS = (
    "invitation_new",
    "invitation_revoke",
    "member_role",
    "member_active",
    "study_settings",
    "crowd_links",
    "crowd_link_close",
    "participant_release",
    "participant_fault",
)


class World:
    """A study with everything in it, and one client for each actor."""

    def __init__(self, study, people, other_study, site_admin):
        self.study, self.people = study, people
        self.label_round = cast.make_label_round(study)
        open_round(round_=self.label_round, actor=people["admin"])
        self.link, self.link_secret = create_link(self.label_round, people["admin"])
        self.participant = take_part(
            link=self.link, ids=PlatformIds("PID", "S", "T"), browser="browser"
        ).user
        self.invitation, self.invitation_secret = create_invitation(
            study=study, role="expert", note="x", days=1, actor=people["admin"]
        )
        self.token, _secret = create_token(user=people["admin"], name="x", scope="read")
        former = cast.make_member(study, Role.ADMIN)
        study.memberships.filter(user=former).update(is_active=False)
        stranger = cast.make_member(other_study, Role.ADMIN)
        users = people | {
            "participant": self.participant,
            "stranger": stranger,
            "former": former,
            "site_admin": site_admin,
        }
        self.clients = {name: cast.sign_in(user) for name, user in users.items()}
        self.clients["anonymous"] = Client()

    def path(self, name):
        ids = {
            "study_id": self.study.public_id,
            "user_id": self.people["annotator"].public_id,
            "person_id": self.participant.public_id,
            "invitation_id": self.invitation.public_id,
            "any_round_id": self.label_round.public_id,
            "link_id": self.link.public_id,
        }
        return reverse(name, kwargs={each: ids[each] for each in parameters(name)})


@pytest.fixture
def world(study, people, other_study, site_admin):
    return World(study, people, other_study, site_admin)


@pytest.mark.long
def test_whoever_has_no_role_here_gets_nowhere(world):
    before = fingerprint()
    for actor in ("participant", "stranger", "former", "site_admin"):
        refused = 403 if actor == "participant" else 404
        for name in GETS:
            expected = 200 if (actor, name) == ("participant", "study") else refused
            assert world.clients[actor].get(world.path(name)).status_code == expected, name
        for name in POSTS:
            reply = world.clients[actor].post(world.path(name), {"role": "admin"})
            assert reply.status_code == refused, (actor, name)
    assert fingerprint() == before


UNSAFE = [
    ("admin", "account"),
    ("admin", "token_new"),
    ("admin", "token_lend"),
    ("admin", "account_logout"),
    ("admin", "account_change_password"),
    ("anonymous", "account_login"),
    ("anonymous", "account_reset_password"),
    ("anonymous", "invitation_accept"),
    ("anonymous", "join_start"),
    ("site_admin", "study_new"),
    ("participant", "participation_end"),
    ("participant", "participation_fault"),
    ("participant", "participation_stop"),
]


def test_changing_anything_needs_a_token(world, alone):
    """Addresses outside of studies; for those of studies the matrix asks the same."""
    for actor, name in UNSAFE:
        with alone(f"{actor} {name}"):
            client = Client(enforce_csrf_checks=True)
            client.cookies = world.clients[actor].cookies
            assert client.post(reverse(name), {"name": "x", "role": "admin"}).status_code == 403


@pytest.mark.long
def test_opening_pages_writes_nothing(world):
    paths = [world.path(name) for name in GETS]
    paths += [
        reverse(name)
        for name in (
            "home",
            "account",
            "account_login",
            "account_logout",
            "account_reset_password",
            "account_change_password",
            "account_inactive",
            "token_new",
            "study_new",
            "invitation_accept",
            "join_start",
            "participation_end",
            "participation_fault",
            "participation_stop",
            "participation_back",
            "health",
        )
    ]
    paths += [
        reverse("invitation", kwargs={"secret": world.invitation_secret}),
        reverse("join", kwargs={"secret": world.link_secret})
        + "?PROLIFIC_PID=new&STUDY_ID=s&SESSION_ID=t",
        "/join/start/",
        "/invitations/",
        world.path("member_role"),
        world.path("crowd_link_close"),
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
