"""Signing in and out, throttling, forgotten passwords, and what does not exist."""

import re
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth import hashers
from django.core import mail
from django.test import Client
from django.urls import get_resolver, reverse

from cqa_site.people.models import User
from tests import cast

LOGIN = "/accounts/login/"
PASSWORD = "a long password"


def log_in(client, email, password=PASSWORD, headers=None, **extra):
    return client.post(LOGIN, {"login": email, "password": password, **extra}, headers=headers)


def body_without_token(response, email):
    """The page without what differs for good reason: the CSRF token and the address typed."""
    text = re.sub(r'csrfmiddlewaretoken" value="\w+"', "", response.text)
    return text.replace(email, "ADDRESS")


def test_right_password_signs_in_and_gives_the_session_a_new_key(client, people):
    client.get(LOGIN)
    session = client.session
    session["seen"] = True
    session.save()
    before = session.session_key
    # The address is found whatever its case.
    response = log_in(client, people["annotator"].email.upper())
    assert response.status_code == 302
    assert response.url == "/"
    assert client.session.session_key != before
    assert client.get("/account/").status_code == 200


def test_unknown_address_and_wrong_password_get_the_same_answer_for_as_many_hashes(
    client, people, monkeypatch
):
    hasher = hashers.MD5PasswordHasher
    calls = []
    encode = hasher.encode
    monkeypatch.setattr(
        hasher, "encode", lambda self, *args, **kw: calls.append(1) or encode(self, *args, **kw)
    )
    pages = []
    for email in (people["annotator"].email, "nobody@nowhere.example"):
        answer = log_in(client, email, "not the password")
        assert answer.status_code == 200
        pages.append(body_without_token(answer, email))
        assert len(calls) == len(pages)
    assert pages[0] == pages[1]


@pytest.mark.parametrize("known", [True, False])
def test_sixth_wrong_password_of_an_address_is_refused(client, people, known):
    email = people["annotator"].email if known else "nobody@nowhere.example"
    answers = [log_in(client, email, "wrong").status_code for _ in range(6)]
    assert answers == [200] * 5 + [429]


def test_eleventh_wrong_password_of_one_machine_is_refused_with_a_page(client, people):
    """And no forged header of a proxy widens the limit."""
    answers = []
    for n in range(11):
        forged = {"X-Forwarded-For": f"10.0.0.{n}"} if n % 2 else None
        answers.append(log_in(client, f"p{n}@nowhere.example", "wrong", headers=forged))
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert b"Too many attempts" in answers[-1].content
    assert log_in(client, people["annotator"].email).status_code == 429


def test_right_passwords_are_not_counted(client, people):
    for _ in range(12):
        assert log_in(Client(), people["annotator"].email).status_code == 302


def test_inactive_person_cannot_sign_in_and_loses_an_open_session(client, people):
    before = cast.sign_in(people["annotator"])
    User.objects.filter(pk=people["annotator"].pk).update(is_active=False)
    response = log_in(client, people["annotator"].email)
    assert response.url == reverse("account_inactive")
    assert client.get("/account/").status_code == 302
    assert client.get(response.url).status_code == 200
    assert before.get("/account/").status_code == 302


def test_signing_out_needs_a_post(people):
    client = cast.sign_in(people["annotator"])
    assert client.get("/accounts/logout/").status_code == 405
    assert client.get("/account/").status_code == 200
    assert client.post("/accounts/logout/").status_code == 302
    assert client.get("/account/").status_code == 302


FOREIGN = [
    *("https://evil.example/", "//evil.example/", "///evil.example", "http:evil.example"),
    *("/\\evil.example", "\\\\evil.example", "https:/\\evil.example", "http:///evil.example"),
    *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", " https://evil.example"),
    *("https://testserver@evil.example/", "https://testserver.evil.example/"),
    *("/\t/evil.example", "%2f%2fevil.example"),
]


def test_next_never_leads_to_another_site(people, subtests):
    client = Client()
    for target in FOREIGN:
        with subtests.test(target):
            response = log_in(client, people["annotator"].email, next=target)
            assert response.status_code == 302
            assert host_after(response) == "testserver"
            left = client.post("/accounts/logout/", {"next": target})
            assert host_after(left) == "testserver"


def host_after(response):
    """Where a browser ends up, which reads a backslash as a slash."""
    target = response.url.replace("\\", "/")
    return urlsplit(urljoin("http://testserver/accounts/login/", target)).netloc


def test_there_is_no_public_sign_up(client, db):
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert not {name for name in names if "signup" in name or "social" in name}
    rest = ("signup/", "email/", "confirm-email/", "social/signup/", "3rdparty/", "login/code/")
    for path in rest:
        for method in (client.get, client.post):
            answer = method(f"/accounts/{path}", {"email": "x@y.example", "password1": "l" * 20})
            assert answer.status_code == 404
    assert User.objects.count() == 0


def reset(client, email):
    return client.post("/accounts/reset/", {"email": email})


def test_reset_of_an_unknown_address_looks_the_same(client, people):
    known, unknown = (
        reset(client, email) for email in (people["annotator"].email, "nobody@nowhere.example")
    )
    assert len(mail.outbox) == 1
    assert (known.status_code, known.url) == (unknown.status_code, unknown.url)
    assert b"nowhere" not in client.get(unknown.url).content


WORDS = "four unrelated dull words"
NEW = {"password1": WORDS, "password2": WORDS}


def test_reset_flow_sets_a_password_once(client, people):
    person = people["annotator"]
    other_session = cast.sign_in(person)
    reset(client, person.email)
    link = re.search(r"http://testserver(\S+)", mail.outbox[0].body)[1]
    clean = client.get(link)
    assert clean.status_code == 302
    assert link.split("-", 1)[1].strip("/") not in clean.url
    assert b"New password" in client.get(clean.url).content
    weak = client.post(clean.url, {"password1": "short", "password2": "short"})
    assert b"at least 12 characters" in weak.content
    assert client.get(client.post(clean.url, NEW).url).status_code == 200
    assert other_session.get("/account/").status_code == 302
    assert log_in(Client(), person.email).status_code == 200
    assert log_in(Client(), person.email, WORDS).status_code == 302
    for spent in (link, "/accounts/reset/1-nonsense/"):
        assert b"no longer works" in Client().get(spent).content


def test_password_change_needs_the_old_one_and_ends_other_sessions(people):
    here, there = (cast.sign_in(people["researcher"]) for _each in range(2))
    for old, status in (("no", 200), (PASSWORD, 302)):
        reply = here.post("/accounts/password/", NEW | {"oldpassword": old})
        assert reply.status_code == there.get("/account/").status_code == status
        assert here.get("/account/").status_code == 200
    assert reply.url == "/account/"


@pytest.mark.long
def test_passwords_are_kept_with_argon2(db, settings):
    from cqa_site import settings as real

    settings.PASSWORD_HASHERS = real.PASSWORD_HASHERS
    person = User.objects.create_user("reader@site.example", PASSWORD)
    assert person.password.startswith("argon2$argon2id$")
    assert person.check_password(PASSWORD)
