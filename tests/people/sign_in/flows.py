"""Steps of signing in that tests take, and what has to be as it was when one is refused."""

import json
import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from cqa_site.people.models import ApiToken, GroupRole, Invitation, Membership, User
from .authenticator import Passkey

BEGIN, CALLBACK = "/accounts/oidc/uni/", "/accounts/oidc/uni/login/callback/"
LOGIN, PASSWORD = "/accounts/login/", "a long password"
AGAIN = "/accounts/again/"
WAYS, PASSKEY_LOGIN = "/account/sign-in/", "/accounts/login/passkey/"


def begin(client, path=BEGIN, **form):
    """Press the provider's button; what the browser takes there."""
    page = client.post(path, form)
    assert page.status_code == 200, page.status_code
    address = unescape(re.search(r'href="(http[^"]+/authorize[^"]*)"', page.text)[1])
    return dict(parse_qsl(urlsplit(address).query))


def come_back(client, provider, query, person=None, **changed):
    """Say yes at the provider and come back."""
    given = {"state": query["state"], "code": provider.allow(query, person)} | changed
    return client.get(CALLBACK, {name: value for name, value in given.items() if value})


def sign_in_there(client, provider, person=None, **form):
    """The whole way."""
    return come_back(client, provider, begin(client, **form), person)


def give_password(client, user, password=PASSWORD, **more):
    return client.post(LOGIN, {"login": user.email, "password": password, **more})


def signed_in(user, client=None):
    """A browser that gave the password."""
    client = client or Client()
    give_password(client, user)
    return client


def sure(user, client=None):
    """One that gave it once more, before a way to sign in changes."""
    client = signed_in(user, client)
    client.post(AGAIN, {"password": PASSWORD})
    return client


def secure(**headers):
    """A browser that came over TLS, as passkeys need."""
    return Client(headers=headers, HTTP_HOST="testserver", **{"wsgi.url_scheme": "https"})


def shown(page):
    """What the page asks of a passkey."""
    text = page.text.split('id="passkey-options"')[1].split(">", 1)[1]
    return json.loads(text.split("<")[0])


def make_passkey(client, **changed):
    """Make one on the page, as a browser does it; the passkey, and the answer."""
    page = client.get(f"{WAYS}passkeys/")
    passkey = Passkey()
    made = passkey.make(shown(page)["creation_options"], **changed)
    given = {"name": "mine", "credential": json.dumps(made)}
    return passkey, client.post(f"{WAYS}passkeys/", given)


def options_for(client):
    """What is asked of a passkey that signs in by itself."""
    answer = client.get(PASSKEY_LOGIN, headers={"accept": "application/json"})
    return answer.json()["request_options"]


def try_passkey(client, answer, **form):
    return client.post(PASSKEY_LOGIN, {"credential": json.dumps(answer), **form})


def is_in(client):
    """Whether a browser is signed in."""
    return client.get("/account/").status_code == 200


def as_it_was():
    """Everything that a hostile flow might want to change."""
    return (
        list(User.objects.order_by("pk").values_list("pk", "email", "password", "is_staff")),
        list(SocialAccount.objects.order_by("pk").values_list("user_id", "provider", "uid")),
        list(Membership.objects.order_by("pk").values_list("user_id", "role", "is_active")),
        list(Authenticator.objects.order_by("pk").values_list("user_id", "type")),
        list(Invitation.objects.order_by("pk").values_list("pk", "used_by_id")),
        ApiToken.objects.count(),
        GroupRole.objects.count(),
    )
