"""Flows through a provider that must be refused, each with nothing changed.

Who attacks is somebody between browser and site, a provider gone bad or taken over, a person who
has an account at the provider, or a page that sends a victim's browser here.
"""

import json
import time
from threading import Event

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from cqa_site.people.actions import accept_invitation, create_invitation
from cqa_site.people.models import User
from cqa_site.people.sign_in import openid
from tests import cast
from .flows import BEGIN, CALLBACK, as_it_was, begin, come_back, is_in, sign_in_there, sure

pytestmark = pytest.mark.django_db

NOW = int(time.time())
# What the ID token says wrongly. With none of it the same person gets in (the last test here).
WRONG_CLAIMS = {
    "no nonce": {"nonce": None},
    "a nonce of another request": {"nonce": "x" * 32},
    "for another client": {"aud": "another-client"},
    "for two clients, without saying to whom it was given": {"aud": ["counterpoint", "other"]},
    "given to another client": {"aud": ["counterpoint", "other"], "azp": "other"},
    "by another issuer": {"iss": "https://login.evil.example"},
    "expired": {"exp": NOW - 3600},
    "not valid yet": {"nbf": NOW + 3600},
    "issued in the future": {"iat": NOW + 3600},
    "issued long ago": {"iat": NOW - 7200},
    "without an end": {"exp": None},
    "about nobody": {"sub": ""},
    "about a number": {"sub": 7},
    "about someone else than the user information": {"sub": "person-2"},
}
WRONG_SIGNATURES = (
    *("none", "cut off", "another key"),
    *("HS256 with the public key", "HS256 with the client's secret"),
)
# By the part of the provider that lies.
LIES = {
    "claims": WRONG_CLAIMS,
    "userinfo": {"about someone else": {"sub": "person-2"}},
    "signing": {each: each for each in WRONG_SIGNATURES},
    "key_id": {"a key that nobody knows": "key-2"},
}
# What the provider says about the person.
WRONG_PEOPLE = {
    "an address that is not verified": {"email_verified": False},
    "an address of which nothing is said": {"email_verified": None},
    "an address that is verified in another word": {"email_verified": "no"},
    "an address that is verified by a number": {"email_verified": 1},
    "no address": {"email": None},
    "a foreign domain": {"email": "ada@evil.example"},
    "a domain that begins with the right one": {"email": "ada@uni.example.evil.example"},
    "a domain that ends like the right one": {"email": "ada@eviluni.example"},
    "two signs @": {"email": "ada@uni.example@evil.example"},
    "a letter that some databases take for another": {"email": "ad\u0430@uni.example"},
    "a long s": {"email": "boſs@uni.example"},
}


def send(status, body):
    return lambda handler: handler.answer(status, body)


WRONG_ANSWERS = {
    "an error": send(500, b"{}"),
    "no JSON": send(200, b"<html>"),
    "a list": send(200, b"[]"),
    "nothing": send(200, b"{}"),
    "numbers": send(200, b'{"access_token": 1, "id_token": 2, "keys": 3, "sub": 4}'),
}


def assert_refused(client, answer, before):
    """An answer in words, and everything as it was."""
    assert answer.status_code in (401, 403, 409), answer.status_code
    assert b"<h1>" in answer.content
    assert not is_in(client)
    assert as_it_was() == before


@pytest.fixture
def refused(provider, alone):
    """Go the whole way by a provider that lies, which has to lead nowhere."""

    def go(name, person=None, **lies):
        with alone(name):
            before, client = as_it_was(), Client()
            provider.reset()
            for part, lie in lies.items():
                setattr(provider, part, lie)
            assert_refused(client, sign_in_there(client, provider, person), before)

    return go


@pytest.fixture
def member(provider, people):
    """Somebody who comes in by the provider when everything is right."""
    user = people["annotator"]
    SocialAccount.objects.create(user=user, provider="uni", uid="person-1")
    return user


def test_tokens_and_user_information_that_are_wrong(member, refused):
    for part, lies in LIES.items():
        for name, lie in lies.items():
            refused(f"{part}: {name}", **{part: lie})


def test_nobody_comes_without_invitation_or_with_an_address_that_was_verified_for_another(
    trust, people, refused
):
    refused("no invitation")
    trust(new_people="anyone")
    for signed, told in (
        ({"email": None}, {"email_verified": False}),
        ({"email_verified": None}, {"email": "boss@uni.example", "email_verified": False}),
        ({"email": "boss@uni.example", "email_verified": None}, {"email_verified": False}),
        ({"email": "boss@uni.example", "email_verified": False}, {}),
    ):
        refused(f"{signed} {told}", claims=signed, userinfo=told)


@pytest.mark.long
def test_coming_back_without_having_been_asked_is_no_proof(provider, trust, alone):
    """A provider where somebody is signed in lets everybody at their screen through."""
    trust(new_people="anyone")
    sign_in_there(Client(), provider)
    before = as_it_was()
    for name, said in {
        "long ago": {"auth_time": NOW - 3600},
        "nothing": {"auth_time": None},
        "in other words": {"auth_time": "just now"},
    }.items():
        with alone(name):
            provider.claims, provider.userinfo = said, {"auth_time": NOW}
            client = Client()
            sign_in_there(client, provider)
            assert client.get("/account/sign-in/app/").url.startswith("/accounts/again/")
            answer = sign_in_there(client, provider, again="yes")
            assert answer.status_code == 403
            assert "did not ask you to sign in again" in answer.text
            assert is_in(client)
            assert client.get("/account/sign-in/app/").url.startswith("/accounts/again/")
            assert as_it_was() == before


@pytest.mark.long
def test_providers_that_answer_wrongly(provider, member, alone):
    before = as_it_was()
    for place in ("/token", "/keys", "/userinfo", "/.well-known/openid-configuration"):
        for name, answer in WRONG_ANSWERS.items():
            with alone(f"{place}: {name}"):
                client = Client()
                provider.reset()
                query = begin(client)
                provider.instead[place] = answer
                assert_refused(client, come_back(client, provider, query), before)


@pytest.mark.long
def test_right_answers_that_cost_too_much_or_come_from_elsewhere(
    provider, member, alone, monkeypatch
):
    keys = json.dumps(provider.keys()).encode()

    def slowly(handler):
        handler.send_response(200)
        handler.end_headers()
        for number in range(0, len(keys), 8):
            handler.wfile.write(keys[number : number + 8])
            time.sleep(0.02)

    def slowly_before_anything(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        try:
            for _number in range(200):
                handler.wfile.write(b"x")
                time.sleep(0.02)
        except OSError:
            hung_up.set()

    def elsewhere(handler):
        provider.instead["/more"] = send(200, keys)
        handler.send_response(302)
        handler.send_header("Location", f"{provider.issuer}/more")
        handler.end_headers()

    ask = openid._ask_in_time

    def ask_for_keys_impatiently(request, held, method, url, **kwargs):
        """What is asked before may be slow: the machine is busy."""
        with monkeypatch.context() as patch:
            if url.endswith("/keys"):
                patch.setattr(openid, "WHOLE_SECONDS", 0.3)
            return ask(request, held, method, url, **kwargs)

    hung_up = Event()
    before = as_it_was()
    for name, answer in {
        "too much": send(200, keys + b" " * 600_000),
        "too slowly": slowly,
        "headers too slowly": slowly_before_anything,
        "from elsewhere": elsewhere,
    }.items():
        with alone(name):
            client = Client()
            provider.reset()
            provider.instead["/keys"] = answer
            with monkeypatch.context() as patch:
                if answer in (slowly, slowly_before_anything):
                    patch.setattr(openid, "_ask_in_time", ask_for_keys_impatiently)
                assert_refused(client, sign_in_there(client, provider), before)
    assert hung_up.wait(30)
    with alone("as it should be"):
        provider.reset()
        provider.instead["/keys"] = send(200, keys)
        assert sign_in_there(Client(), provider).status_code == 302


@pytest.mark.long
def test_providers_that_describe_themselves_wrongly(provider, member, alone):
    before = as_it_was()
    for description in (
        {"issuer": "https://login.evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://login.evil.example/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"userinfo_endpoint": 7},
    ):
        with alone(description):
            client = Client()
            provider.reset()
            provider.description = description
            assert_refused(client, client.post(BEGIN), before)


@pytest.mark.long
def test_people_who_may_not_come_in(trust, people, refused):
    """Although anyone with a right address gets an account."""
    trust(new_people="anyone", joins_by_email=True)
    User.objects.create_user("boss@uni.example", "a long password")
    for name, person in WRONG_PEOPLE.items():
        refused(name, person)


def test_states_codes_and_addresses_that_are_not_of_this_request(provider, member, alone):
    """Invented ones, used ones, and those of another browser."""
    first, theirs = Client(), begin(Client())
    used = provider.allow(query := begin(first))
    first.get(CALLBACK, {"state": query["state"], "code": used})
    stolen = provider.allow(theirs)
    before = as_it_was()
    for name, asked, changed in (
        ("no state", {}, {"state": None}),
        ("an invented state", {}, {"state": "x" * 16}),
        ("the state of another browser", {}, {"state": theirs["state"]}),
        ("a used code", {}, {"code": used}),
        ("a stolen code", {}, {"code": stolen}),
        ("an invented code", {}, {"code": "x"}),
        ("another address to return to", {"redirect_uri": "https://evil.example/"}, {}),
    ):
        with alone(name):
            client = Client()
            query = begin(client) | asked
            assert_refused(client, come_back(client, provider, query, **changed), before)


def test_a_state_serves_once_and_the_session_gets_a_new_key(provider, member):
    """Whoever planted a session in a browser does not come in with it."""
    client = Client()
    query = begin(client)
    planted = client.session.session_key
    assert come_back(client, provider, query).status_code == 302
    assert is_in(client)
    assert client.session.session_key != planted
    thief = Client()
    thief.cookies["sessionid"] = planted
    assert not is_in(thief)
    client.post("/accounts/logout/")
    before = as_it_was()
    assert_refused(client, come_back(client, provider, query), before)


def test_a_callback_of_an_attacker_does_not_sign_a_victim_in(provider, member, people):
    """Login CSRF: the attacker stops before the last step and gives its address to the victim."""
    attacker = Client()
    query = begin(attacker)
    address = {"state": query["state"], "code": provider.allow(query)}
    victim = cast.sign_in(people["researcher"])
    before = as_it_was()
    assert victim.get(CALLBACK, address).status_code == 401
    assert as_it_was() == before
    assert str(people["researcher"].email) in victim.get("/account/").text


def test_our_own_address_adds_nothing_to_the_request(provider, member):
    more = "auth_params=redirect_uri%3Dhttps%3A%2F%2Fevil.example&scope=admin&process=redirect"
    query = begin(Client(), path=f"{BEGIN}?{more}")
    assert query["redirect_uri"] == f"http://testserver{CALLBACK}"
    assert set(query["scope"].split()) == {"openid", "email", "profile"}
    assert query["code_challenge_method"] == "S256"


def test_next_leads_nowhere_else_and_only_a_form_of_ours_begins(provider, member):
    for next_page in ("//evil.example", "https://evil.example", "javascript:a()"):
        assert sign_in_there(Client(), provider, next=next_page).url == "/"
    client, other = Client(enforce_csrf_checks=True), "/accounts/oidc/other/"
    assert client.get(BEGIN).status_code == 405
    assert client.post(BEGIN).status_code == client.post(CALLBACK).status_code == 403
    assert Client().post(other).status_code == 404
    assert Client().get(f"{other}login/callback/").status_code == 404


@pytest.mark.long
def test_a_verified_address_opens_no_account_of_somebody_else(trust, ada, refused):
    """The provider is not trusted for that; whatever the case of the address."""
    trust(new_people="anyone")
    for email in ("ada@uni.example", "ADA@UNI.example"):
        refused(email, {"email": email})


def test_a_provider_trusted_for_addresses_opens_no_account_but_a_plain_one(trust, ada, refused):
    """Of a verified address. Whoever made it with somebody else's would keep their way in."""
    trust(joins_by_email=True)
    refused("not verified", {"email_verified": False})
    app = TOTP.activate(ada, "A" * 32)
    refused("with an app")
    app.instance.delete()
    SocialAccount.objects.create(user=ada, provider="uni", uid="person-666")
    refused("with another account there")


def test_an_account_at_the_provider_is_connected_to_one_person(provider, member, people):
    client = sure(people["expert"])
    before = as_it_was()
    answer = sign_in_there(client, provider, process="connect")
    assert answer.url == "/account/sign-in/"
    assert "connected to another user" in client.get(answer.url).text
    assert as_it_was() == before


def test_an_inactive_person_stays_out_and_tries_are_counted(provider, member, settings):
    User.objects.filter(pk=member.pk).update(is_active=False)
    before, client = as_it_was(), Client()
    assert sign_in_there(client, provider).url == "/accounts/inactive/"
    assert not is_in(client)
    assert as_it_was() == before
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login": "3/m/ip"}
    assert [client.post(BEGIN).status_code for _ in range(4)] == [200] * 3 + [429]


def test_an_invitation_that_was_used_meanwhile_makes_no_account(provider, study, people):
    invitation, secret = create_invitation(
        study=study, role="admin", note="x", days=1, actor=people["admin"]
    )
    client = Client()
    client.get(f"/invitations/{secret}/")
    query = begin(client)
    accept_invitation(invitation=invitation, user=cast.make_member(cast.make_study("B"), "expert"))
    before = as_it_was()
    assert_refused(client, come_back(client, provider, query), before)
