"""Every address about people: who may use it, tokens on unsafe ones, no writing on safe ones."""

import hashlib
import uuid
from datetime import timedelta
from itertools import product

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from cqa_site.people.actions.invitations import create_invitation
from cqa_site.people.models import Role
from cqa_site.people.tokens import create_token
from cqa_site.rounds.crowd.participants import PlatformIds, create_link, take_part
from cqa_site.rounds.opening import open_round
from tests import cast

ACTORS = ("anonymous", *Role.values, "participant", "stranger", "former", "site_admin")
SIGN_IN, OK, NO, GONE = 302, 200, 403, 404


def may(*roles, otherwise=NO):
    """Status of a GET per actor for a page of the study."""
    cells = {role: OK if role in roles else otherwise for role in Role.values}
    cells["participant"] = cells["annotator"]
    return cells | {"anonymous": SIGN_IN, "stranger": GONE, "former": GONE, "site_admin": GONE}


EVERYONE = may(*Role.values)
RESEARCHERS = may("researcher", "admin")
ADMINS = may("admin")
GETS = {
    "study": EVERYONE,
    "members": RESEARCHERS,
    "audit": RESEARCHERS,
    "crowd_links": RESEARCHERS,
    "study_settings": ADMINS,
}
POSTS = {
    "invitation_new": ADMINS,
    "invitation_revoke": ADMINS,
    "member_role": ADMINS,
    "member_active": ADMINS,
    "study_settings": ADMINS,
    "crowd_links": RESEARCHERS,
    "crowd_link_close": RESEARCHERS,
    "participant_release": RESEARCHERS,
    "participant_fault": RESEARCHERS,
}


class World:
    """A study with everything in it, and one client for each actor."""

    def __init__(self, study, people, other_study, site_admin):
        self.study, self.people = study, people
        self.campaign = cast.make_campaign(study)
        open_round(round_=self.campaign, actor=people["admin"])
        self.link, self.link_secret = create_link(
            round_=self.campaign,
            actor=people["admin"],
            completed_code="A",
            screened_out_code="B",
            no_work_code="C",
            fault_code="D",
            expires_at=timezone.now() + timedelta(days=1),
        )
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

    def path(self, name, study_id=None):
        kwargs = {
            "study_id": study_id or self.study.public_id,
            "user_id": self.people["annotator"].public_id,
            "person_id": self.participant.public_id,
            "invitation_id": self.invitation.public_id,
            "any_round_id": self.campaign.public_id,
            "link_id": self.link.public_id,
        }
        wanted = {
            "study": ["study_id"],
            "members": ["study_id"],
            "audit": ["study_id"],
            "study_settings": ["study_id"],
            "crowd_links": ["study_id", "any_round_id"],
            "crowd_link_close": ["study_id", "any_round_id", "link_id"],
            "participant_release": ["study_id", "any_round_id", "person_id"],
            "participant_fault": ["study_id", "any_round_id", "person_id"],
            "invitation_new": ["study_id"],
            "invitation_revoke": ["study_id", "invitation_id"],
            "member_role": ["study_id", "user_id"],
            "member_active": ["study_id", "user_id"],
        }
        return reverse(name, args=[kwargs[key] for key in wanted[name]])


@pytest.fixture
def world(study, people, other_study, site_admin):
    return World(study, people, other_study, site_admin)


def test_pages_open_to_whom_they_should(world, alone):
    for name, actor in product(GETS, ACTORS):
        with alone(f"{name} {actor}"):
            response = world.clients[actor].get(world.path(name))
            assert response.status_code == GETS[name][actor]


def test_changes_are_refused_to_everybody_else(world, alone):
    before = fingerprint()
    for name, actor in product(POSTS, [actor for actor in ACTORS if actor != "admin"]):
        with alone(f"{name} {actor}"):
            response = world.clients[actor].post(world.path(name), {"role": "admin"})
            if POSTS[name][actor] == OK:
                assert response.status_code in (200, 302, 422)
            else:
                assert response.status_code == POSTS[name][actor]
                assert fingerprint() == before


def test_foreign_study_looks_like_one_that_does_not_exist(world, alone):
    client = world.clients["stranger"]
    for name in GETS:
        with alone(name):
            foreign = client.get(world.path(name))
            nowhere = client.get(world.path(name, study_id=uuid.uuid4()))
            assert foreign.status_code == nowhere.status_code == 404
            assert normal(foreign) == normal(nowhere)


def normal(response):
    text = response.content.decode()
    for part in text.split('csrfmiddlewaretoken" value="')[1:]:
        text = text.replace(part.split('"')[0], "")
    return text.split("hx-headers")[0] + text.split("<main")[1]


def test_rows_of_another_study_are_not_found_from_ones_own(world, other_study):
    """Someone who is admin in study B puts B in the address and A's row after it."""
    client = world.clients["stranger"]
    names = (
        "invitation_revoke",
        "member_role",
        "member_active",
        "crowd_link_close",
        "crowd_links",
        "participant_release",
        "participant_fault",
    )
    for name in names:
        path = world.path(name, study_id=other_study.public_id)
        assert client.post(path, {"role": "admin"}).status_code == 404, name


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
]


def test_people_of_a_crowd_get_no_token(world):
    fields = {"name": "x", "scope": "read"}
    for name in ("token_new", "token_lend"):
        assert world.clients["participant"].post(reverse(name), fields).status_code == 403


def test_changing_anything_needs_a_token(world, alone):
    places = [(actor, reverse(name)) for actor, name in UNSAFE]
    places += [("admin", world.path(name)) for name in POSTS]
    before = fingerprint()
    for actor, path in places:
        with alone(f"{actor} {path}"):
            client = Client(enforce_csrf_checks=True)
            client.cookies = world.clients[actor].cookies
            assert client.post(path, {"name": "x", "role": "admin"}).status_code == 403
            assert fingerprint() == before


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


def test_pages_carry_the_safe_headers(world):
    for actor in ("anonymous", "admin", "participant"):
        response = world.clients[actor].get(reverse("account"))
        assert "default-src 'none'" in response["Content-Security-Policy"]
        assert response["Cache-Control"].startswith(("no-store", "max-age=0"))
        assert response["Referrer-Policy"] == "same-origin"
        assert response["X-Frame-Options"] == "DENY"


def test_pages_have_no_inline_script_or_style(world):
    for name in GETS:
        text = world.clients["admin"].get(world.path(name)).content.decode()
        assert "<script>" not in text
        assert " style=" not in text
        assert " onclick=" not in text
