"""Studies, members, invitations, crowd links and the log, by a program."""

import pytest
from django.test import Client
from django.urls import reverse

from cqa_site.people.access import record
from cqa_site.people.models import Invitation, Membership, Study
from cqa_site.rounds.models import ParticipantLink
from .conftest import client_of
from .routes import CODES
from .test_behaviour import base, patch, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(callers):
    return callers["admin"]


def verbs(world):
    return list(world.study.audit_events.order_by("pk").values_list("verb", flat=True))


def of_round(world, round_=None):
    return f"{base(world)}rounds/{(round_ or world.label_round).public_id}/"


def test_opening_a_study_makes_its_first_admin(site_admin):
    made = post(site_admin, "/api/v1/studies/", 201, name="Cities", description="Which is better?")
    study = Study.objects.get(public_id=made["id"])
    assert (study.name, study.description) == ("Cities", "Which is better?")
    membership = study.memberships.get()
    assert (membership.user, membership.role) == (site_admin.token.user, "admin")
    assert study.audit_events.get().verb == "study_created"
    answer = post(site_admin, "/api/v1/studies/", 400, name=" ")
    assert list(answer["errors"]) == ["name"]


def test_changing_a_member_but_neither_the_last_admin_nor_the_crowd(world, admin):
    url = f"{base(world)}members/{world.member.public_id}/"
    changed = patch(admin, url, 200, role="researcher", is_active=False)
    assert (changed["role"], changed["is_active"]) == ("researcher", False)
    assert verbs(world)[-2:] == ["member_role_changed", "member_deactivated"]
    assert patch(admin, url, 200, is_active=True)["is_active"] is True
    assert patch(admin, url, 200)["role"] == "researcher"
    assert verbs(world)[-1] == "member_reactivated"
    url = f"{base(world)}members/{world.people.admin.public_id}/"
    world.study.memberships.filter(role="admin").exclude(user=world.people.admin).delete()
    before = verbs(world)
    for body in ({"role": "expert"}, {"is_active": False}, {"role": "admin", "is_active": False}):
        assert "active admin" in patch(admin, url, 409, **body)["detail"]
    participant = f"{base(world)}members/{world.participant.public_id}/"
    patch(admin, participant, 404, role="researcher")
    assert verbs(world) == before
    for user, role in ((world.people.admin, "admin"), (world.participant, "annotator")):
        membership = world.study.memberships.get(user=user)
        assert (membership.role, membership.is_active) == (role, True)


def test_an_invitation_from_its_address_to_a_member(world, admin):
    url = f"{base(world)}invitations/"
    made = post(admin, url, 201, note="Student", role="expert", days=2)
    assert made["address"].startswith("http://testserver/invitations/")
    browser = Client()
    browser.get(made["address"])
    kim = {"name": "Kim", "email": "kim@site.example", "password": "four unrelated words"}
    browser.post(reverse("invitation_accept"), kim)
    joined = Membership.objects.get(study=world.study, user__email="kim@site.example")
    assert joined.role == "expert"
    told = admin.get(f"{url}{made['id']}/").json()
    assert (told["is_open"], told["used_by"]) == (False, str(joined.user.public_id))
    assert "used or revoked" in post(admin, f"{url}{made['id']}/revoke/", 409)["detail"]


def test_secrets_are_told_once_and_kept_as_a_hash(world, admin):
    invitations, links = f"{base(world)}invitations/", f"{of_round(world)}crowd-links/"
    for address, body in ((invitations, {"note": "x", "role": "annotator"}), (links, CODES)):
        made = post(admin, address, 201, **body)
        secret = made.pop("address").split("?")[0].rstrip("/").rsplit("/", 1)[1]
        assert len(secret) > 40
        assert admin.get(f"{address}{made['id']}/").json() == made
        shown = "".join(admin.get(url).text for url in (address, f"{base(world)}log/"))
        assert secret not in shown
        kept = [*Invitation.objects.values(), *ParticipantLink.objects.values()]
        assert secret not in str(kept)
        assert not [row for row in kept if row["secret_hash"] in shown]


@pytest.mark.parametrize("name", ["label_round", "open_scoring", "counting_round"])
def test_a_crowd_link_lets_people_in_until_it_is_closed(world, researcher, name):
    url = f"{of_round(world, getattr(world, name))}crowd-links/"
    made = post(researcher, url, 201, **CODES, platform="Prolific", required_items=1)
    assert made["address"].endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert (made["required_items"], made["joined"], made["is_open"]) == (1, 0, True)
    # The crowd of the world holds or did everything; a full round lets nobody new in.
    world.label_round.slots.filter(number=1).update(state="open", lease_until=None)
    enter(made["address"], "P1")
    people = researcher.get(url.replace("crowd-links", "participants")).json()["results"]
    assert made["id"] in [each["link"] for each in people]
    closed = post(researcher, f"{url}{made['id']}/close/", 200)
    assert (closed["is_open"], closed["joined"]) == (False, 1)
    enter(made["address"], "P2")
    assert researcher.get(f"{url}{made['id']}/").json()["joined"] == 1
    assert not {"completed_code", "secret_hash"} & set(closed)


def enter(address, person):
    """Come by a crowd link as the platform sends people."""
    browser = Client()
    browser.get(f"{address.split('?')[0]}?PROLIFIC_PID={person}&STUDY_ID=S&SESSION_ID=T")
    return browser.post(reverse("join_start"))


def test_platform_ids_and_completion_codes_stay_off_the_api(world, researcher):
    lists = [f"{of_round(world)}crowd-links/", f"{of_round(world)}participants/"]
    lists += [f"{base(world)}members/", f"{base(world)}log/"]
    text = "".join(researcher.get(f"{url}?page_size=200").text for url in lists)
    assert "PLATFORM-ID" not in text
    assert not [code for code in ("DONE", "OUT", "NONE", "FAULT") if f'"{code}"' in text]


def test_the_log_says_who_changed_what_and_why(world, researcher):
    boss, url = world.people.researcher, f"{base(world)}log/"
    about = {"actor": boss, "verb": "thing_done", "subject": "a thing"}
    record(study=world.study, **about, reason="because", before=1)
    record(study=None, **about)
    newest, *_rest = researcher.get(url).json()["results"]
    said = {"reason": "because", "details": {"before": 1}, "actor": str(boss.public_id)}
    said |= {"verb": "thing_done", "subject": "a thing"}
    assert newest.items() >= said.items()
    assert researcher.get(f"{url}?verb=thing_done").json()["results"] == [newest]
    rows = researcher.get(f"{url}?subject=Round 1&verb=label_round_open").json()["results"]
    assert [row["subject"] for row in rows] == ["Round 1"]


def test_a_token_makes_no_tokens(world):
    admin = client_of(world.people.admin)
    for path in ("tokens/", "me/tokens/", "account/tokens/"):
        assert admin.post(f"/api/v1/{path}", {}, format="json").status_code == 404
    assert admin.post(reverse("token_new"), {"name": "x", "scope": "write"}).status_code == 302
    assert world.people.admin.api_tokens.filter(name="x").count() == 0


def test_a_tolerance_stays_where_a_change_leaves_it_out(world, researcher):
    url = f"{of_round(world, world.open_scoring)}controls/"
    assert patch(researcher, url, 200, tolerance=2)["tolerance"] == 2
    assert patch(researcher, url, 200)["tolerance"] == 2
    assert patch(researcher, url, 200, tolerance=None)["tolerance"] is None
    preferring = f"{of_round(world, world.open_preferring)}controls/"
    assert "tolerance" in patch(researcher, preferring, 400, tolerance=1)["errors"]
