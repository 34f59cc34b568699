"""Ways around the second step and around passkeys that must be refused, with nothing changed."""

import re
import time
from json import dumps
from unittest import mock

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from allauth.socialaccount.models import SocialAccount
from cryptography.fernet import Fernet
from django.contrib.auth import HASH_SESSION_KEY
from django.core import mail
from django.test import Client, override_settings

from cqa_site.people.models import ApiToken, AuditEvent, User
from tests import cast
from .authenticator import PRESENT, VERIFIED, Passkey
from .flows import (
    AGAIN,
    LOGIN,
    PASSWORD,
    WAYS,
    as_it_was,
    give_password,
    is_in,
    make_passkey,
    options_for,
    secure,
    shown,
    signed_in,
    sure,
    try_passkey,
)

pytestmark = pytest.mark.django_db
SECRET = "JBSWY3DPEHPK3PXP"
STEP = "/accounts/login/second-step/"


def code(secret=SECRET, steps=0):
    """What the app shows now, or some steps of half a minute later."""
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 + steps))


@pytest.fixture(autouse=True)
def one_moment():
    """A code counts for half a minute; no test falls between two."""
    now = 1_800_000_000.0
    with mock.patch("time.time", return_value=now):
        yield


@pytest.fixture
def ada(ada):
    """Ada has an app."""
    totp.TOTP.activate(ada, SECRET)
    RecoveryCodes.activate(ada)
    return ada


@pytest.fixture
def half(ada):
    """A browser that gave Ada's password, and no more."""
    client = Client()
    assert give_password(client, ada).url.startswith(STEP)
    return client


def assert_still_out(client, before):
    assert not is_in(client)
    assert as_it_was() == before


def test_the_second_step_cannot_be_passed_by(half, ada, alone):
    before = as_it_was()
    for path in ("/", "/account/", WAYS, "/account/sign-in/app/", AGAIN, "/studies/new/"):
        with alone(path):
            assert half.get(path).url.startswith(LOGIN)
    for path in ("/account/tokens/", "/account/tokens/lend/", "/account/sign-in/elsewhere/"):
        with alone(path):
            assert half.post(path, {"name": "x", "scope": "write"}).url.startswith(LOGIN)
    assert_still_out(half, before)


def test_a_new_password_does_not_pass_the_second_step_by(ada):
    client = Client()
    client.post("/accounts/reset/", {"email": ada.email})
    link = re.search(r"http://testserver(\S+)", mail.outbox[0].body)[1]
    page = client.get(link, follow=True)
    words = "four unrelated dull words"
    client.post(page.redirect_chain[-1][0], {"password1": words, "password2": words})
    assert not is_in(client)
    assert give_password(client, ada, words).url.startswith(STEP)
    assert not is_in(client)


def test_wrong_codes(half, ada, people, alone):
    other = people["expert"]
    totp.TOTP.activate(other, "NBSWY3DPEHPK3PXQ")
    before = as_it_was()
    for name, given in {
        "empty": "",
        "of another person": code("NBSWY3DPEHPK3PXQ"),
        "of a minute ago": code(steps=-2),
        "of the next minute": code(steps=2),
        "very long": "1" * 5_000,
        "in other figures": "".join(chr(0x660 + int(figure)) for figure in code(steps=3)),
    }.items():
        with alone(name):
            assert half.post(STEP, {"code": given}).status_code == 200
            assert_still_out(half, before)


@pytest.mark.parametrize("is_recovery", [False, True])
def test_a_code_counts_once_and_the_session_gets_a_new_key(half, ada, is_recovery):
    given = RecoveryCodes.activate(ada).get_unused_codes()[0] if is_recovery else code()
    planted, second, thief = half.session.session_key, Client(), Client()
    assert half.post(STEP, {"code": given}).status_code == 302
    assert is_in(half)
    thief.cookies["sessionid"] = planted
    give_password(second, ada)
    before = as_it_was()
    assert second.post(STEP, {"code": given}).status_code == 200
    for client in (thief, second):
        assert_still_out(client, before)


def test_codes_cannot_be_tried_out(half, ada):
    """Not even by beginning again with the password each time: the right one comes too late."""
    before = as_it_was()
    for number in range(6):
        client = Client(REMOTE_ADDR=f"10.0.{number}.1")
        give_password(client, ada)
        client.post(STEP, {"code": f"{number:06}"})
    assert half.post(STEP, {"code": code()}).status_code == 200
    assert_still_out(half, before)


def test_a_session_left_open_changes_no_way_to_sign_in(ada, alone):
    client = signed_in(ada)
    client.post(STEP, {"code": code()})
    passkey = Authenticator.objects.create(user=ada, type="webauthn", data={"name": "x"})
    before = as_it_was()
    own = f"passkeys/{passkey.pk}/"
    for path in ("app/remove/", "codes/", "codes/new/", "passkeys/", own, f"{own}remove/"):
        for method in (client.get, client.post):
            with alone(f"{method.__name__} {path}"):
                answer = method(WAYS + path)
                assert answer.status_code == 405 or answer.url.startswith(AGAIN)
    assert as_it_was() == before


def test_nobody_touches_the_passkey_of_another_and_the_crowd_has_none(ada, study, people, alone):
    passkey = Authenticator.objects.create(user=ada, type="webauthn", data={"name": "x"})
    client = sure(people["expert"])
    for path in (f"passkeys/{passkey.pk}/", f"passkeys/{passkey.pk}/remove/"):
        with alone(path):
            assert client.post(WAYS + path, {"name": "mine"}).status_code == 404
    passkey.refresh_from_db()
    assert passkey.data["name"] == "x"
    participant = User.objects.create_user(None)
    study.memberships.create(user=participant, role="annotator")
    client = cast.sign_in(participant)
    for path in (WAYS, f"{WAYS}app/", f"{WAYS}passkeys/", f"{WAYS}codes/", AGAIN):
        with alone(path):
            assert client.get(path).status_code == 403


@pytest.fixture
def other_keys(ada, settings):
    """What seals the site's secrets is another key than it was."""
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]


@pytest.mark.long
def test_codes_that_cannot_be_read_are_wrong(half, ada, other_keys, alone):
    before = as_it_was()
    for name, given in {"right once": code(), "of an empty key": code("")}.items():
        with alone(name):
            page = half.post(STEP, {"code": given})
            assert "Incorrect code" in page.text
            assert_still_out(half, before)
    # One that can be read counts beside an app that cannot.
    Authenticator.objects.filter(user=ada, type="recovery_codes").delete()
    first = RecoveryCodes.activate(ada).get_unused_codes()[0]
    assert half.post(STEP, {"code": first}).status_code == 302
    assert is_in(half)


@pytest.mark.long
def test_whoever_has_a_passkey_gets_rid_of_what_cannot_be_read(people, settings):
    person = people["expert"]
    passkey, _made = add_passkey(person)
    totp.TOTP.activate(person, SECRET)
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
    client = secure()
    try_passkey(client, passkey.use(options_for(client)))
    page = client.get(WAYS).text
    assert "can no longer read the app" in page
    assert "can no longer read these codes" in page
    assert "codes are left" not in page
    client.post(AGAIN, {"password": PASSWORD})
    # They were never looked at, and what is shown now would not be them.
    assert client.get(f"{WAYS}codes/").url == f"{WAYS}codes/new/"
    assert client.get(f"{WAYS}codes/new/").status_code == 200
    assert client.post(f"{WAYS}codes/new/").url == f"{WAYS}codes/"
    assert client.get(f"{WAYS}codes/").content.count(b"<li><code>") == 10
    client.post(f"{WAYS}app/remove/")
    assert set(person.authenticator_set.values_list("type", flat=True)) == {
        "webauthn",
        "recovery_codes",
    }
    assert "can no longer" not in client.get(WAYS).text


@pytest.fixture
def required(settings):
    settings.MFA_REQUIRED = ["administrators", "keys"]


def test_whoever_needs_a_second_step_makes_one_before_anything_else(required, people, alone):
    asked = {"annotator": False, "expert": False, "researcher": True, "admin": True}
    for role, is_asked in asked.items():
        with alone(role):
            client = signed_in(people[role])
            assert (client.get("/account/").status_code == 302) == is_asked
            made = client.post("/account/tokens/", {"name": "x", "scope": "write"})
            assert ApiToken.objects.exists() == (not is_asked)
            assert (made.url == WAYS) == is_asked
            assert client.get(WAYS).status_code == 200


@pytest.mark.long
def test_the_administrator_is_asked_and_let_on_with_an_app(required, db):
    boss = User.objects.create_superuser("boss@uni.example", PASSWORD)
    client = signed_in(boss)
    assert client.get("/").url == WAYS
    assert "requires a second step" in client.get(WAYS).text
    client.post(AGAIN, {"password": PASSWORD})
    client.get(f"{WAYS}app/")
    made = client.post(f"{WAYS}app/", {"code": code(client.session["mfa.totp.secret"])})
    assert made.url == f"{WAYS}codes/"
    assert client.get("/account/").status_code == 200


def test_the_last_second_step_stays_where_it_is_needed(required, people, alone):
    boss = people["admin"]
    totp.TOTP.activate(boss, SECRET)
    client = signed_in(boss)
    client.post(STEP, {"code": code()})
    client.post(AGAIN, {"password": PASSWORD})
    client.post(f"{WAYS}app/remove/")
    assert Authenticator.objects.filter(user=boss, type="totp").exists()
    Authenticator.objects.filter(user=boss).delete()
    passkey = Authenticator.objects.create(user=boss, type="webauthn", data={"name": "x"})
    client.post(f"{WAYS}passkeys/{passkey.pk}/remove/")
    assert Authenticator.objects.filter(user=boss).exists()


@pytest.mark.long
def test_sessions_from_before_the_second_step_end_with_it(ada, people):
    person = people["expert"]
    thief = cast.sign_in(person)
    client = sure(person)
    client.get(f"{WAYS}app/")
    client.post(f"{WAYS}app/", {"code": code(client.session["mfa.totp.secret"])})
    assert is_in(client)
    assert not is_in(thief)


def test_a_session_without_the_second_step_makes_no_token(ada):
    """However it came about: it is not what the account has to show."""
    client = cast.sign_in(ada)
    client.post("/account/tokens/", {"name": "x", "scope": "write"})
    assert client.post("/account/tokens/lend/").status_code == 403
    assert not ApiToken.objects.exists()


def add_passkey(user, **changed):
    """A passkey of somebody who has a password."""
    return make_passkey(sure(user, secure()), **changed)


@pytest.fixture
def passkey(people):
    found, answer = add_passkey(people["expert"])
    assert answer.status_code == 302
    return found


def test_passkeys_that_must_not_sign_in(passkey, people, ada, alone):
    stranger = Passkey(passkey.handle)
    other, _made = add_passkey(people["annotator"])
    before = as_it_was()

    def wrong(**changed):
        return lambda options: passkey.use(options, **changed)

    def altered(name, value):
        return lambda options: passkey.use(options) | {name: value}

    def lacking(name, value):
        def answer(options):
            found = passkey.use(options)
            return found | {"response": found["response"] | {name: value}}

        return answer

    cases = {
        "of another site": wrong(origin="https://evil.example"),
        "of a subdomain": wrong(origin="https://evil.testserver"),
        "of another port": wrong(origin="https://testserver:8443"),
        "without TLS": wrong(origin="http://testserver"),
        "without a finger, face or PIN": wrong(flags=PRESENT),
        "with nobody there": wrong(flags=VERIFIED),
        "signed by another key": wrong(key=stranger.key),
        "in the name of another person": wrong(handle=other.handle),
        "that nobody knows": lambda options: stranger.use(options),
        "for an invented person": wrong(handle="OTk5OTk5"),
        "for no person": lacking("userHandle", None),
        "for a person who is a list": lacking("userHandle", [1]),
        "without a signature": lacking("signature", ""),
        "with a response that is text": altered("response", "text"),
        "with an id that is a number": altered("rawId", 7),
        "that is a list": lambda options: [],
        "that is a number": lambda options: 7,
        "that is empty": lambda options: {},
    }
    for name, answer in cases.items():
        with alone(name):
            client = secure()
            response = try_passkey(client, answer(options_for(client)))
            assert response.status_code in (200, 302)
            assert_still_out(client, before)


def test_an_answer_of_a_passkey_counts_once_and_none_of_a_closed_account(passkey, people):
    client = secure()
    answer = passkey.use(options_for(client))
    assert try_passkey(client, answer).url == "/"
    assert is_in(client)
    client.post("/accounts/logout/")
    before = as_it_was()
    for second in (client, secure()):
        options_for(second)
        try_passkey(second, answer)
        assert_still_out(second, before)
    User.objects.filter(pk=people["expert"].pk).update(is_active=False)
    closed = try_passkey(client, passkey.use(options_for(client)))
    assert closed.url == "/accounts/inactive/"
    assert not is_in(client)


@pytest.mark.long
def test_a_copied_passkey_gives_itself_away(passkey):
    client = secure()
    try_passkey(client, passkey.use(options_for(client)))
    passkey.count = 0
    before, thief = as_it_was(), secure()
    try_passkey(thief, passkey.use(options_for(thief)))
    assert_still_out(thief, before)
    assert AuditEvent.objects.filter(verb="passkey_copied").exists()


@pytest.mark.long
def test_the_last_way_in_stays(people):
    person = people["expert"]
    client = sure(person, secure())
    make_passkey(client)
    kept = Authenticator.objects.get(user=person, type="webauthn")
    person.set_unusable_password()
    person.save()
    session = client.session
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    remove = f"{WAYS}passkeys/{kept.pk}/remove/"
    assert "You have no other way to sign in" in client.post(remove, follow=True).text
    SocialAccount.objects.create(user=person, provider="uni", uid="1")
    client.post(remove)
    assert Authenticator.objects.filter(pk=kept.pk).exists()  # no provider of this site
    with override_settings(OIDC_PROVIDERS={"uni": None}):
        client.post(remove)
    assert not Authenticator.objects.filter(pk=kept.pk).exists()


@pytest.mark.long
def test_a_passkey_of_another_is_no_second_step(passkey, ada):
    client = signed_in(ada, secure())
    before = as_it_was()
    assert b"passkey-options" not in client.get(STEP).content
    options = {"publicKey": {"challenge": client.session["mfa.webauthn.state"]["challenge"]}}
    client.post(STEP, {"credential": dumps(passkey.use(options))})
    assert_still_out(client, before)


def test_a_passkey_is_a_second_step_only_with_a_finger_a_face_or_a_pin(passkey, people):
    client = signed_in(people["expert"], secure())
    before = as_it_was()

    def use(**changed):
        asked = shown(client.get(STEP))["request_options"]
        return client.post(STEP, {"credential": dumps(passkey.use(asked, **changed))})

    use(flags=PRESENT)
    assert_still_out(client, before)
    assert use().status_code == 302
    assert is_in(client)


@pytest.mark.long
def test_passkeys_that_must_not_be_made(people, alone):
    before = as_it_was()
    for name, changed in {
        "on another site": {"origin": "https://evil.example"},
        "on a subdomain": {"origin": "https://evil.testserver"},
        "without a finger, face or PIN": {"flags": PRESENT},
    }.items():
        with alone(name):
            _passkey, answer = add_passkey(people["annotator"], **changed)
            assert answer.status_code == 200
            assert as_it_was() == before
    client = sure(people["annotator"], secure())
    for given in ("[]", "7", "{}", '{"response": 1}', '{"rawId": "x", "response": {}}', "no"):
        with alone(given):
            client.get(f"{WAYS}passkeys/")
            assert client.post(f"{WAYS}passkeys/", {"credential": given}).status_code == 200
            assert as_it_was() == before
