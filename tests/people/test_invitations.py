"""Invitations: made by admins, used once, never a way to another role."""

from datetime import timedelta
from functools import partial

import pytest
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from cqa_site.people.actions import (
    InvitationSpent,
    accept_as_new_person,
    create_invitation,
    find_invitation,
)
from cqa_site.people.models import AuditEvent, Invitation, Membership, Role, User, hash_secret
from tests import cast
from .at_once import at_once

WORDS = "four unrelated dull words"
NEW = {"name": "New reader", "email": "New@Reader.example", "password": WORDS}
HERE = "/invitations/"


def invite(study, people, role=Role.EXPERT, days=14):
    return create_invitation(
        study=study, role=role, note="a colleague", days=days, actor=people["admin"]
    )


@pytest.fixture
def invitation(study, people):
    return invite(study, people)


def follow(client, secret):
    """Open the link, as far as the clean address."""
    response = client.get(reverse("invitation", kwargs={"secret": secret}))
    assert response.status_code == 302
    assert response.url == HERE
    return client.get(HERE)


def make(client, study, /, **fields):
    return client.post(
        reverse("invitation_new", args=[study.public_id]),
        {"role": "annotator", "note": "a colleague", "days": "7"} | fields,
        follow=True,
    )


def test_admin_makes_a_link_that_is_shown_once(admin, study, other_study, people):
    """Whatever else a form may send."""
    more = {"study": other_study.pk, "secret_hash": "x", "expires_at": "2999-01-01"}
    more |= {"used_by": people["expert"].pk, "created_by": people["expert"].pk}
    reply = make(admin, study, **more)
    assert reply.redirect_chain == [(reverse("members", args=[study.public_id]), 302)]
    text = reply.text
    secret = secret_in(text)
    assert text.count(secret) == 1
    assert len(secret) >= 22  # 128 bits in base 64
    kept = Invitation.objects.get()
    assert kept.secret_hash == hash_secret(secret)
    assert (kept.study, kept.role, kept.note) == (study, "annotator", "a colleague")
    assert (kept.created_by, kept.used_by) == (people["admin"], None)
    assert 6 < (kept.expires_at - timezone.now()).total_seconds() / 86400 < 7.01
    page = admin.get(reverse("members", args=[study.public_id])).text
    assert secret not in page
    assert "Open until" in page
    event = AuditEvent.objects.get()
    assert event.verb == "invitation_created"
    assert secret not in str(event.details)


BAD_FIELDS = [
    *({"role": "owner"}, {"role": ""}, {"days": "0"}, {"days": "91"}, {"note": ""}),
    *({"leads_to": each} for each in ("https://elsewhere.example/", "//elsewhere.example", "/")),
]


def test_bad_form_makes_no_link_and_no_link_leads_elsewhere(admin, study, other_study, subtests):
    foreign = {"leads_to": reverse("study", args=[other_study.public_id])}
    for fields in (*BAD_FIELDS, foreign):
        with subtests.test(str(fields)):
            assert make(admin, study, **fields).status_code == 422
    assert not Invitation.objects.exists()


def secret_in(text):
    link = text.split('id="new-link" value="')[1].split('"')[0]
    return link.rstrip("/").rsplit("/", 1)[1]


def test_a_link_made_at_a_round_is_shown_there_and_leads_to_it(admin, study):
    work = f"{reverse('study', args=[study.public_id])}label-rounds/"
    address = reverse("invitation_new", args=[study.public_id])
    fields = {"role": "expert", "note": "Bo", "days": "14", "leads_to": work}
    piece = admin.post(address, fields, headers={"HX-Request": "true"}).text
    assert "<h1" not in piece
    assert "Invitation for Bo (Expert)" in piece
    assert 'name="role" value="expert"' in piece
    assert piece.count('id="new-link"') == 1
    assert Invitation.objects.count() == 1
    client = Client()
    client.get(reverse("invitation", args=[secret_in(piece)]))
    reply = client.post(reverse("invitation_accept"), NEW)
    assert (reply.status_code, reply["Location"]) == (302, work)


def test_new_person_gets_account_membership_and_session(invitation, study, other_study):
    """And neither another role nor rights, whatever they send."""
    found, secret = invitation
    client = Client()
    page = follow(client, secret).text
    assert "Expert" in page
    assert secret not in page
    before = client.session.session_key
    wished = {"role": "admin", "is_staff": "on", "is_superuser": "on", "study": other_study.pk}
    response = client.post(HERE, NEW | wished)
    assert response.url == reverse("study", args=[study.public_id])
    assert client.session.session_key != before
    assert "invitation" not in client.session
    person = User.objects.get(email="new@reader.example")
    assert person.check_password(NEW["password"])
    assert (person.is_staff, person.is_superuser) == (False, False)
    assert list(person.memberships.values_list("study", "role")) == [(study.pk, "expert")]
    found.refresh_from_db()
    assert found.used_by == person
    assert AuditEvent.objects.filter(verb="member_joined", actor=person).count() == 1


def test_bad_account_uses_nothing_up(invitation):
    client = Client()
    follow(client, invitation[1])
    for fields in (
        *({"password": text} for text in ("short", "password1234", "new reader")),
        *({"email": "no address"}, {"email": ""}, {"name": ""}, {"name": "a\x00b"}),
    ):
        assert client.post(HERE, NEW | fields).status_code == 422, fields
    assert find_invitation(invitation[1]).is_open
    assert not User.objects.filter(name=NEW["name"]).exists()


def test_address_of_another_account_cannot_be_taken_nor_tried_out_for_ever(invitation, people):
    client = Client()
    follow(client, invitation[1])
    taken = NEW | {"email": people["expert"].email.upper()}
    answers = [client.post(HERE, taken).status_code for _ in range(21)]
    assert answers == [422] * 20 + [429]
    assert find_invitation(invitation[1]).is_open
    people["expert"].refresh_from_db()
    assert people["expert"].check_password("a long password")


def test_person_with_an_account_accepts_with_one_button(invitation, study, other_study):
    person = cast.make_member(other_study, Role.ADMIN)
    client = cast.sign_in(person)
    assert 'name="password"' not in follow(client, invitation[1]).text
    assert not study.memberships.filter(user=person).exists()
    before = client.session.session_key
    assert client.post(HERE).url == reverse("study", args=[study.public_id])
    assert client.session.session_key != before
    assert study.memberships.get(user=person).role == "expert"
    assert other_study.memberships.get(user=person).role == "admin"


def test_signing_in_on_the_way_keeps_the_invitation(invitation, study, other_study):
    person, client = cast.make_member(other_study, Role.ADMIN), Client()
    follow(client, invitation[1])
    given = {"login": person.email, "password": "a long password", "next": HERE}
    assert client.post("/accounts/login/", given).url == HERE
    client.post(HERE)
    assert study.memberships.get(user=person).role == "expert"


def test_invitation_never_changes_a_member_nor_brings_a_removed_one_back(study, people):
    found, secret = invite(study, people, role=Role.ADMIN)
    for role, person in people.items():
        client = cast.sign_in(person)
        assert "already" in follow(client, secret).text
        client.post(HERE)
        assert study.memberships.get(user=person).role == role
    study.memberships.filter(user=people["annotator"]).update(is_active=False)
    client = cast.sign_in(people["annotator"])
    assert follow(client, secret).status_code == 403
    client.post(HERE)
    assert not study.memberships.get(user=people["annotator"]).is_active
    found.refresh_from_db()
    assert found.is_open


def test_crowd_participant_is_asked_to_sign_out(invitation, other_study):
    person = User.objects.create_user(None)
    other_study.memberships.create(user=person, role=Role.ANNOTATOR)
    client = cast.sign_in(person)
    page = follow(client, invitation[1])
    assert (page.status_code, b"Sign out" in page.content) == (409, True)
    assert client.post(HERE).status_code == 409


def use(admin, study, invitation):
    client = Client()
    follow(client, invitation[1])
    client.post(HERE, NEW | {"name": "First", "email": "a@reader.example"})


def let_run_out(admin, study, invitation):
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def revoke(admin, study, invitation):
    path = reverse("invitation_revoke", args=[study.public_id, invitation[0].public_id])
    for _twice in range(2):
        admin.post(path)
    assert AuditEvent.objects.filter(verb="invitation_revoked").count() == 1


@pytest.mark.parametrize(
    ("end", "words"), [(use, b"already been used"), (let_run_out, b"has expired"), (revoke, b"")]
)
def test_a_link_that_is_over_says_so_and_lets_nobody_in(admin, study, invitation, end, words):
    waiting = Client()
    follow(waiting, invitation[1])
    end(admin, study, invitation)
    assert waiting.post(HERE, NEW).status_code == 410
    page = follow(Client(), invitation[1])
    assert page.status_code == 410
    assert words in page.content
    # Nor between page and button.
    with pytest.raises(InvitationSpent):
        accept_as_new_person(invitation=invitation[0], name="x", email="x@y.example", password="p")
    assert not User.objects.filter(email__in=[NEW["email"].lower(), "x@y.example"]).exists()


def test_unknown_link_says_so(db):
    client = Client()
    assert client.get(HERE).status_code == client.post(HERE, NEW).status_code == 404
    for secret in ("nonsense", "a" * 500, "é", "%00"):
        response = client.get(f"/invitations/{secret}/", follow=True)
        assert response.status_code == 404
        assert b"does not exist" in response.content
    assert not Session.objects.exists()  # strangers fill no table


def test_list_says_what_became_of_each(admin, study, people):
    now = timezone.now()
    used = {"used_at": now, "used_by": people["expert"]}
    for fields in (used, {"expires_at": now}, {"revoked_at": now}, {}):
        made, _secret = invite(study, people)
        Invitation.objects.filter(pk=made.pk).update(note="x", **fields)
    text = admin.get(reverse("members", args=[study.public_id])).text
    for words in ("Used by The expert", "Expired", "Revoked", "Open until"):
        assert words in text
    assert text.count(">Revoke<") == 1


@pytest.mark.django_db(transaction=True)
def test_of_twenty_people_with_one_link_one_gets_in(study, people):
    found, _secret = invite(study, people)
    outcomes = at_once(partial(_try_until_served, found), range(20))
    assert sorted(outcomes) == ["in"] + ["spent"] * 19
    assert Membership.objects.filter(study=study).count() == 5
    assert User.objects.filter(name="racer").count() == 1


def _try_until_served(invitation, number):
    while True:
        try:
            about = {"name": "racer", "email": f"racer-{number}@reader.example"}
            accept_as_new_person(invitation=invitation, password=WORDS, **about)
        except InvitationSpent:
            return "spent"
        except OperationalError:  # the in-memory database of the suite does not wait
            continue
        return "in"
