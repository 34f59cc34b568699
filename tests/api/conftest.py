"""One study with everything in it, a foreign one, and a client for every kind of caller."""

import pickle

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.faithfulness.actions import figures
from annotation.judges.actions import trained_judge
from argsum.leaderboard.actions import KEY_POINTS
from argsum.leaderboard.reports.board import board_choice
from benchmark.leaderboard.actions import BOARDS
from cqa_site.people.access import create_token
from cqa_site.people.models import AuditEvent, Role, User
from cqa_site.results import snapshots
from cqa_site.web.limits import CourtesyThrottle
from tests.cast import make_member, make_study
from tests.everything import UNDER_WAY
from tests.runs.made_runs import make_endpoint
from .routes import EVERY


@pytest.fixture(autouse=True)
def _no_throttle(monkeypatch):
    monkeypatch.setattr(CourtesyThrottle, "rate", None)


@pytest.fixture(scope="package")
def folder(shared_studies):
    return shared_studies.folder


@pytest.fixture(autouse=True)
def _own_files(settings, folder):
    settings.MEDIA_ROOT = folder


def client_of(user, scope="write", **settings):
    token, secret = create_token(user=user, name="test", scope=scope)
    client = APIClient(**settings)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    client.token, client.secret = token, secret
    return client


def freeze(world):
    """Frozen boards of both kinds, and the live ones after them."""
    actor = world.people.researcher
    usual = {"owner": world.study, "number": 1, "note": "", "actor": actor}
    world.frozen_board = snapshots.freeze(BOARDS, **usual)
    world.live_board = snapshots.store_live(BOARDS, world.rubric, BOARDS.compute(world.rubric))
    world.frozen_key_points = snapshots.freeze(KEY_POINTS, **usual)
    choice = board_choice(world.study, {})
    world.live_key_points = snapshots.store_live(KEY_POINTS, choice, KEY_POINTS.compute(choice))


def put_to_work(world):
    """Some runs and jobs are under way; making another run would carry them to their end."""
    for state in UNDER_WAY:
        rows = world.study.runs.filter(pk=getattr(world, f"{state}_run").pk)
        # Whatever is paused here can be corrected, too.
        refused = "parameter: temperature: refused" if state == "paused" else ""
        rows.update(state=state, ended_at=None, pause_reason=refused)
    trained_judge.request_training(label_round=world.training, actor=world.people.researcher)
    figures.request_figures(study=world.study, embedding="")


@pytest.fixture(scope="package")
def both(shared_studies, folder):
    """The shared studies; what is added to them is rolled back after the last test."""
    worlds = shared_studies.copies()
    with override_settings(MEDIA_ROOT=folder), transaction.atomic():
        for world in worlds:
            freeze(world)
        make_endpoint(make_study("Third"), worlds[0].boss, is_offered=True)
        for world in worlds:
            put_to_work(world)
        yield worlds
        transaction.set_rollback(True)


@pytest.fixture(scope="package")
def kept(both):
    """Both, as bytes: reading them takes a fraction of what a deep copy does."""
    return [pickle.dumps(world) for world in both]


@pytest.fixture
def world(kept, db):
    """Study A; a copy of the rows in memory, so that no test sees another one's changes."""
    return pickle.loads(kept[0])


@pytest.fixture
def foreign(kept, db):
    return pickle.loads(kept[1])


@pytest.fixture
def researcher(world):
    return client_of(world.people.researcher)


@pytest.fixture
def site_admin(world):
    return client_of(site_administrator(world))


@pytest.fixture
def callers(world):
    return callers_of(world)


def site_administrator(world):
    """Somebody who may open studies and is an admin of this one."""
    user = make_member(world.study, Role.ADMIN)
    user.is_staff = True
    user.save()
    return user


def callers_of(world, **settings):
    """Who may use an address, by the name its route gives."""
    people = {name: getattr(world.people, name) for name in ("researcher", "admin")}
    people["site_admin"] = site_administrator(world)
    return {name: client_of(user, **settings) for name, user in people.items()}


@pytest.fixture(scope="package")
def answers(both, folder):
    """What whoever may gets at every address, asked once for all tests that look at it.

    A response has its `body` and the `events` that the request wrote into the log; a view that
    raised is answered with a 500 that has `exc_info`.
    """
    with pytest.MonkeyPatch.context() as patch, override_settings(MEDIA_ROOT=folder):
        patch.setattr(CourtesyThrottle, "rate", None)
        with transaction.atomic():
            callers = callers_of(both[0], raise_request_exception=False)
            found = {route: answer_of(route, both[0], callers) for route in EVERY}
            transaction.set_rollback(True)
    return found


def answer_of(route, world, callers):
    """The answer to one request, which is undone."""
    with transaction.atomic():
        known = set(AuditEvent.objects.values_list("pk", flat=True))
        response = route.send(callers[route.caller], world)
        response.body = b"".join(response) if response.streaming else response.content
        response.events = list(AuditEvent.objects.exclude(pk__in=known).values())
        transaction.set_rollback(True)
    return response


@pytest.fixture
def clients(world, foreign):
    """Everybody who may knock at study A."""
    ended = {name: client_of(world.people.researcher) for name in ("revoked", "expired")}
    ended["revoked"].token.revoked_at = timezone.now()
    ended["expired"].token.expires_at = timezone.now()
    for client in ended.values():
        client.token.save()
    left, gone = (make_member(world.study, Role.RESEARCHER) for _each in range(2))
    left.is_active = False
    left.save()
    gone.memberships.update(is_active=False)
    boss = User.objects.create_superuser("boss@site.example", "a long password")
    people = {
        **{name: getattr(world.people, name) for name in Role.values},
        **{"outside_site_admin": boss, "foreign": foreign.people.researcher},
        **{"former_member": gone, "deactivated": left},
    }
    clients = {name: client_of(user) for name, user in people.items()}
    read_token = client_of(world.people.admin, "read")
    return clients | ended | {"anonymous": APIClient(), "read_token": read_token}
