"""Passkeys, an app and a provider in a real browser, with a device that Chromium plays."""

from dataclasses import replace

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core.cache import cache
from django.test import override_settings
from playwright.sync_api import expect

from cqa_site.people.models import User
from cqa_site.people.sign_in.providers import OpenIDProvider
from tests.people.sign_in.flows import PASSWORD
from tests.people.sign_in.provider import SECRET, FakeProvider
from .conftest import COLOURS

pytestmark = pytest.mark.browser
PHONE = {"width": 360, "height": 800}
PROVIDER = OpenIDProvider(
    id="uni",
    name="The University",
    issuer="https://login.uni.example",
    client_id="counterpoint",
    client_secret="secret",
)


@pytest.fixture
def provider():
    """A provider that nobody asks here."""
    apps = {"openid_connect": {"APPS": [PROVIDER.as_app()]}}
    with override_settings(OIDC_PROVIDERS={"uni": PROVIDER}, SOCIALACCOUNT_PROVIDERS=apps):
        cache.clear()
        yield


def device(page, **changed):
    """A device with a finger that is always right."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options | changed})
    return session, made["authenticatorId"]


def arrive(page, heading):
    """A click does not wait for its page; what comes next must not meet the old one."""
    expect(page.get_by_role("heading", level=1, name=heading, exact=True)).to_be_visible()


def look(visitor, heading):
    """Sound, quiet and accessible: as it is, dark, and on a phone."""
    page = visitor.page
    arrive(page, heading)
    faults = visitor.axe()
    page.emulate_media(color_scheme="dark")
    faults += visitor.axe(COLOURS)
    page.emulate_media(color_scheme="light")
    usual = page.viewport_size
    page.set_viewport_size(PHONE)
    assert visitor.has_no_sideways_scroll(), heading
    page.set_viewport_size(usual)
    assert not faults, (heading, faults)


def give_password(page, user):
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def show_again(page):
    arrive(page, "Confirm your identity")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def test_a_passkey_is_made_and_signs_in_by_itself_and_as_second_step(server, visit, provider):
    ada = User.objects.create_user("ada@uni.example", PASSWORD, name="Ada")
    visitor = visit(None)
    visitor.server = server.replace("127.0.0.1", "localhost")  # passkeys are for names
    page = visitor.go("account_login")
    session, name = device(page)
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    look(visitor, "Sign in")
    give_password(page, ada)
    page.get_by_role("link", name="Ada").click()
    page.get_by_role("link", name="Sign-in methods").click()
    look(visitor, "Sign-in methods")
    page.get_by_role("link", name="Add passkey").click()
    look(visitor, "Confirm your identity")
    show_again(page)
    page.get_by_label("Name").fill("My laptop")
    look(visitor, "Add passkey")
    page.get_by_role("button", name="Add passkey").click()
    look(visitor, "Recovery codes")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    codes = download.value.path().read_text().split()
    assert len(codes) == 10
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_text("My laptop")).to_be_visible()
    look(visitor, "Sign-in methods")

    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("link", name="Ada")).to_be_visible()
    page.get_by_role("button", name="Sign out", exact=True).click()
    give_password(page, ada)
    look(visitor, "Second step")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("link", name="Ada")).to_be_visible()
    page.get_by_role("button", name="Sign out", exact=True).click()
    give_password(page, ada)
    page.get_by_label("Code").fill(codes[3])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("link", name="Ada")).to_be_visible()
    # A finger that is wrong does not sign in.
    page.get_by_role("button", name="Sign out", exact=True).click()
    session.send("WebAuthn.setUserVerified", {"authenticatorId": name, "isUserVerified": False})
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("The passkey was not used")).to_be_visible()
    arrive(page, "Sign in")


def test_a_provider_is_gone_to_and_come_back_from(server, visit):
    """Past the page's own policy, which lets no form lead to another host."""
    there = FakeProvider()
    known = replace(PROVIDER, issuer=there.issuer, client_secret=SECRET, new_people="anyone")
    apps = {"openid_connect": {"APPS": [known.as_app()]}}
    with override_settings(OIDC_PROVIDERS={"uni": known}, SOCIALACCOUNT_PROVIDERS=apps):
        visitor = visit(None)
        page = visitor.go("account_login", query="?next=/account/")
        page.get_by_role("button", name="Sign in with The University").click()
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
        expect(page.get_by_role("link", name="Ada")).to_be_visible()
    there.close()
    assert {each.split("?")[0] for each in visitor.foreign} == {f"{there.issuer}/authorize"}
    visitor.foreign.clear()


@pytest.mark.long
def test_an_app_is_added_and_removed(server, visit, provider):
    ada = User.objects.create_user("ada@uni.example", PASSWORD, name="Ada")
    visitor = visit(None)
    page = visitor.go("mfa_activate_totp")
    give_password(page, ada)
    show_again(page)
    look(visitor, "Add app")
    secret = page.get_by_label("Key", exact=True).input_value()
    counter = next(iter(yield_hotp_counters_from_time()))
    page.get_by_label("Code from the app").fill(format_hotp_value(hotp_value(secret, counter)))
    page.get_by_role("button", name="Add app").click()
    page.get_by_role("link", name="I have saved them").click()
    look(visitor, "Sign-in methods")
    page.get_by_role("link", name="Create new codes").click()
    look(visitor, "Create new recovery codes")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Remove app").click()
    look(visitor, "Remove app")
    page.get_by_role("button", name="Remove app").click()
    expect(page.get_by_role("link", name="Add app")).to_be_visible()
    assert not Authenticator.objects.exists()
