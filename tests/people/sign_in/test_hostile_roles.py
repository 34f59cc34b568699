"""Roles that groups of a provider gave, and ways to keep them without that provider."""

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from cqa_site.people.models import AuditEvent, GroupRole, Membership, User
from cqa_site.people.sign_in.providers import GroupRule
from cqa_site.people.sign_in.roles import apply_groups
from cqa_site.upkeep.doctor.examinations.web import administrators
from cqa_site.upkeep.doctor.findings import CheckState
from cqa_site.web.housekeeping import CHORES
from .flows import (
    BEGIN,
    begin,
    come_back,
    give_password,
    is_in,
    make_passkey,
    options_for,
    secure,
    sign_in_there,
    try_passkey,
)

pytestmark = pytest.mark.django_db
GONE = "roles from removed provider groups"


@pytest.fixture
def groups(trust, study):
    """What the provider's groups give."""
    rules = {
        "bosses": GroupRule(studies={str(study.public_id): "admin"}),
        "it": GroupRule(administrator=True),
    }
    trust(groups=rules)


@pytest.fixture
def member(provider, groups):
    """Somebody who came by the provider, is in both groups, and made a passkey."""
    provider.claims = {"groups": ["bosses", "it"]}
    client = secure()
    sign_in_there(client, provider, again="yes")
    user = User.objects.get(email="ada@uni.example")
    user.passkey, made = make_passkey(client)
    assert made.status_code == 302
    return user


def use(user, **form):
    """A browser after the passkey alone, and the answer."""
    client = secure()
    return client, try_passkey(client, user.passkey.use(options_for(client)), **form)


def standing(user):
    user.refresh_from_db()
    found = Membership.objects.filter(user=user, is_active=True).first()
    return found and found.role, user.is_staff


def test_a_passkey_does_not_pass_the_provider_by(member, study):
    """Who left the university still has it."""
    client, answer = use(member, next="/account/")
    assert answer.status_code == 403
    page = answer.text
    assert "Your role is assigned by The University" in page
    assert f'action="{BEGIN}"' in page
    assert 'name="next" value="/account/"' in page
    assert not is_in(client)
    assert client.get(f"/s/{study.public_id}/people/").status_code == 302
    assert standing(member) == ("admin", True)


def test_a_passkey_that_led_to_the_provider_is_no_second_step_there(provider, member):
    """Somebody else may come back from there, in the same browser."""
    client, _answer = use(member)
    assert come_back(client, provider, begin(client)).url == "/accounts/login/second-step/"
    assert not is_in(client)


def test_a_password_does_not_pass_the_provider_by(provider, groups, ada):
    SocialAccount.objects.create(user=ada, provider="uni", uid="person-1")
    provider.claims = {"groups": ["bosses"]}
    sign_in_there(Client(), provider)
    client = Client()
    assert give_password(client, ada).status_code == 403
    TOTP.activate(ada, "JBSWY3DPEHPK3PXP")
    assert give_password(client, ada).status_code == 403
    assert not is_in(client)


@pytest.mark.long
def test_a_passkey_is_enough_for_what_a_person_gave_by_hand(member, study):
    """And for an account without any role."""
    GroupRole.objects.all().delete()
    client, answer = use(member)
    assert answer.url == "/"
    assert is_in(client)
    assert standing(member) == ("admin", True)


@pytest.mark.long
def test_who_is_in_no_group_any_more_needs_no_provider(provider, member):
    provider.claims = {"groups": []}
    sign_in_there(Client(), provider)
    assert standing(member) == (None, False)
    client, _answer = use(member)
    assert is_in(client)


@pytest.mark.parametrize("is_connected", [True, False])
def test_a_provider_that_is_gone_or_disconnected_locks_nobody_out_and_gives_nothing(
    member, settings, is_connected
):
    if is_connected:
        settings.OIDC_PROVIDERS = {}
    else:
        SocialAccount.objects.filter(user=member).delete()
    client, answer = use(member)
    assert answer.url == "/"
    assert is_in(client)
    assert standing(member) == (None, False)


@pytest.mark.long
def test_housekeeping_takes_roles_of_providers_that_are_gone(member, settings, people):
    User.objects.filter(pk=people["expert"].pk).update(is_staff=True)
    assert CHORES[GONE]() == 0
    assert standing(member) == ("admin", True)
    settings.OIDC_PROVIDERS = {}
    assert CHORES[GONE]() == 2
    assert standing(member) == (None, False)
    assert standing(people["expert"]) == ("expert", True)
    assert AuditEvent.objects.filter(verb="group_role_taken").count() == 2
    assert CHORES[GONE]() == 0


@pytest.mark.long
def test_unlock_takes_roles_of_groups_from_whoever_cannot_go_to_the_provider(member):
    out = StringIO()
    call_command("unlock", member.email, stdout=out)
    assert "Only through uni, whose groups gave a role" in out.getvalue()
    call_command("unlock", member.email, "--groups", stdout=out)
    assert "Roles from groups removed: 2" in out.getvalue()
    assert standing(member) == (None, False)
    client, _answer = use(member)
    assert is_in(client)
    assert AuditEvent.objects.filter(verb="unlocked").latest("pk").details["groups"]


@pytest.fixture
def both(groups, settings, ada):
    """Two providers whose groups give the same; what a sign-in by one of them leaves."""
    first = settings.OIDC_PROVIDERS["uni"]
    second = replace(first, id="lab", name="The Lab")
    settings.OIDC_PROVIDERS = {"uni": first, "lab": second}

    def sign_in(name, *groups):
        provider = settings.OIDC_PROVIDERS[name]
        apply_groups(user=ada, provider=provider, claims={"groups": list(groups)})
        return standing(ada)

    return sign_in


@pytest.mark.long
def test_one_provider_does_not_vouch_for_what_another_gave(both, provider, ada, settings):
    """Nor does going to both of them lead round in a circle."""
    apps = [each.as_app() for each in settings.OIDC_PROVIDERS.values()]
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}
    for name in ("uni", "lab"):
        SocialAccount.objects.create(user=ada, provider=name, uid="person-1")
    both("uni", "bosses")
    both("lab", "it")
    GroupRole.objects.update(confirmed_at=timezone.now() - timedelta(hours=13))

    def sign_in(name, *groups, **claims):
        provider.claims = {"groups": list(groups)} | claims
        query = begin(client, path=f"/accounts/oidc/{name}/")
        back = {"state": query["state"], "code": provider.allow(query)}
        return client.get(f"/accounts/oidc/{name}/login/callback/", back)

    client = Client()
    assert "role is assigned by The University" in sign_in("lab", "it").text
    # Nor does a visit that was refused before it said which groups there are.
    assert sign_in("uni", email_verified=False).status_code == 403
    assert "role is assigned by The University" in sign_in("lab", "it").text
    assert not is_in(client)
    assert sign_in("uni", "bosses").url == "/"
    assert is_in(client)
    assert sign_in("lab", "it").url == "/"
    assert standing(ada) == ("admin", True)


def test_what_one_provider_took_another_gives_and_what_it_gives_another_does_not_take(both):
    everything = ("bosses", "it")
    for name, groups, expected in (
        ("uni", everything, ("admin", True)),
        ("uni", (), (None, False)),
        ("lab", everything, ("admin", True)),
        ("uni", (), ("admin", True)),
        ("lab", (), (None, False)),
        ("uni", ("bosses",), ("admin", False)),
        ("uni", everything, ("admin", True)),
        ("lab", everything, ("admin", True)),
        ("lab", (), ("admin", True)),
        ("uni", (), (None, False)),
    ):
        assert both(name, *groups) == expected, (name, groups)


def test_what_a_person_ended_no_provider_gives_nor_breaks_it_the_next_sign_in(both, ada):
    both("uni", "bosses")
    GroupRole.objects.filter(user=ada).delete()
    Membership.objects.filter(user=ada).update(is_active=False)
    assert both("lab", "bosses")[0] is None
    both("uni", "it")
    User.objects.filter(pk=ada.pk).update(is_staff=False)
    ada.refresh_from_db()
    assert both("lab", "it") == (None, True)


def test_the_doctor_counts_administrators_who_can_sign_in(member, settings):
    def one(**changed):
        User.objects.all().update(**{"is_staff": False, "is_superuser": False} | changed)
        return administrators().state == CheckState.WELL

    assert one(is_staff=True)
    settings.OIDC_PROVIDERS = {}
    assert not one(is_staff=True)  # made one by a group of it
    GroupRole.objects.all().delete()
    assert one(is_staff=True)  # by the passkey
    member.authenticator_set.all().delete()
    assert not one(is_staff=True)  # an account at a provider that the site does not know
    assert not one(is_superuser=True)
