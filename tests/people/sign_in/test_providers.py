"""Coming in by a provider: accounts, invitations, groups, second steps that it vouches for."""

import json

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse

from cqa_site.people.access import create_token
from cqa_site.people.actions import change_role, create_invitation, deactivate_member
from cqa_site.people.models import AuditEvent, GroupRole, Membership, User
from cqa_site.people.sign_in.providers import GroupRule, read_providers
from cqa_site.upkeep.doctor.examinations import web
from cqa_site.upkeep.doctor.findings import CheckState
from tests import cast
from .flows import (
    AGAIN,
    BEGIN,
    CALLBACK,
    LOGIN,
    PASSWORD,
    WAYS,
    as_it_was,
    begin,
    come_back,
    is_in,
    sign_in_there,
    sure,
)
from .provider import SECRET

pytestmark = pytest.mark.django_db


@pytest.fixture
def invited(study, people):
    """An invitation, and a browser that followed it."""
    invitation, secret = create_invitation(
        study=study, role="expert", note="x", days=1, actor=people["admin"]
    )
    client = Client()
    page = client.get(f"/invitations/{secret}/", follow=True)
    return invitation, client, page.text


def test_buttons_stand_on_the_pages_where_people_come_in(provider, invited, settings):
    _invitation, _client, page = invited
    login = Client().get("/accounts/login/?next=/account/").text
    assert "Sign in with The University" in login
    assert login.count('name="next" value="/account/"') >= 2
    assert "Sign in with The University" in page
    assert SECRET not in login + page
    settings.OIDC_PROVIDERS = {}
    assert "/accounts/oidc/" not in Client().get("/accounts/login/").text


def test_an_invited_person_gets_account_and_membership_at_once(provider, study, invited):
    invitation, client, _page = invited
    answer = sign_in_there(client, provider, {"email": "Ada@Uni.example"}, next="/invitations/")
    assert answer.url == reverse("study", args=[study.public_id])
    ada = User.objects.get(email="ada@uni.example")
    assert (ada.name, ada.has_usable_password()) == ("Ada", False)
    assert study.memberships.get(user=ada).role == "expert"
    invitation.refresh_from_db()
    assert invitation.used_by == ada
    assert is_in(client)


def test_an_account_that_is_there_is_asked_before_it_joins(provider, study, invited):
    other = cast.make_member(cast.make_study("B"), "annotator")
    SocialAccount.objects.create(user=other, provider="uni", uid="person-1")
    _invitation, client, _page = invited
    assert sign_in_there(client, provider, next="/invitations/").url == "/invitations/"
    assert "Join the study" in client.get("/invitations/").text
    assert not study.memberships.filter(user=other).exists()


def test_anyone_of_the_domain_gets_an_account_where_the_setting_says_so_and_keeps_a_way_in(
    provider, trust
):
    trust(new_people="anyone")
    client = Client()
    assert sign_in_there(client, provider, again="yes").url == "/"
    assert is_in(client)
    assert not Membership.objects.exists()
    account = SocialAccount.objects.get()
    page = client.post(f"{WAYS}providers/{account.pk}/remove/", follow=True)
    assert "your only way to sign in" in page.text
    assert SocialAccount.objects.exists()


def test_the_account_of_a_verified_address_is_joined_and_closed_to_others(provider, trust, ada):
    """Where the provider is trusted for that: nobody proved the address before."""
    trust(joins_by_email=True)
    elsewhere = cast.sign_in(ada)
    token, _secret = create_token(user=ada, name="x", scope="read")
    client = Client()
    assert sign_in_there(client, provider).status_code == 302
    assert is_in(client)
    assert not is_in(elsewhere)
    token.refresh_from_db()
    assert not token.is_open
    ada.refresh_from_db()
    assert not ada.has_usable_password()
    assert SocialAccount.objects.get(user=ada).uid == "person-1"
    assert "connected" in mail.outbox[-1].subject


def test_an_account_is_connected_and_disconnected_by_its_owner(provider, people):
    person = people["expert"]
    client = sure(person)
    assert sign_in_there(client, provider, process="connect", next=WAYS).url == WAYS
    account = SocialAccount.objects.get(user=person)
    assert account.extra_data == {"email": "ada@uni.example"}
    other = Client()
    assert sign_in_there(other, provider).status_code == 302
    assert person.email in other.get("/account/").text
    client.post(f"{WAYS}providers/{account.pk}/remove/")
    assert not SocialAccount.objects.exists()
    assert [each.to for each in mail.outbox] == [[person.email]] * 2
    verbs = AuditEvent.objects.filter(actor=person).order_by("pk")
    assert [each.verb for each in verbs] == ["account_connected", "account_disconnected"]


def test_connecting_and_disconnecting_ask_who_it_is(provider, people, settings):
    """Even of a provider that is gone; and nobody disconnects the account of another.

    A session that somebody left open is not enough, and none at all neither.
    """
    person, client = people["expert"], cast.sign_in(people["expert"])
    before = as_it_was()
    assert Client().post(BEGIN, {"process": "connect"}).url.startswith(LOGIN)
    asked = sign_in_there(client, provider, process="connect")
    assert asked.url.startswith(AGAIN)
    assert as_it_was() == before
    assert client.post(asked.url, {"password": PASSWORD}).url == WAYS
    account = SocialAccount.objects.get(user=person)
    assert account.uid == "person-1"
    foreign = SocialAccount.objects.create(user=people["admin"], provider="uni", uid="boss")
    assert client.post(f"{WAYS}providers/{foreign.pk}/remove/").status_code == 404
    settings.OIDC_PROVIDERS = {}
    later = cast.sign_in(person)
    asked = later.post(f"{WAYS}providers/{account.pk}/remove/")
    assert asked.url.startswith(AGAIN)
    assert SocialAccount.objects.filter(user=person).exists()
    later.post(asked.url, {"password": PASSWORD})
    assert list(SocialAccount.objects.all()) == [foreign]


def test_who_comes_by_a_provider_alone_shows_there_once_more_who_they_are(provider, trust):
    """Before a way to sign in changes; the library would let an old session do it."""
    trust(new_people="anyone")
    client = Client()
    sign_in_there(client, provider)
    once_more = client.get(f"{WAYS}app/")
    assert once_more.url.startswith("/accounts/again/provider/")
    page = client.get(once_more.url).text
    assert "Sign in with The University" in page
    assert 'name="again"' in page
    query = begin(client, next=f"{WAYS}app/", again="yes")
    assert (query["prompt"], query["max_age"]) == ("login", "0")
    assert come_back(client, provider, query).url == f"{WAYS}app/"
    assert client.get(f"{WAYS}app/").status_code == 200
    # And gets no password by mail.
    mail.outbox.clear()
    Client().post("/accounts/reset/", {"email": "ada@uni.example"})
    assert mail.outbox == []


def test_a_person_who_says_no_at_the_provider_is_told_so_in_words(provider):
    client = Client()
    said = {"error": "access_denied", "error_description": "<b>x</b>"}
    answer = client.get(CALLBACK, {"state": begin(client)["state"]} | said)
    assert answer.status_code == 401
    assert "Could not sign in" in answer.text
    assert "<b>x" not in answer.text


@pytest.mark.parametrize(
    ("second_step", "amr", "is_enough"),
    [
        (("mfa",), ["pwd", "mfa"], True),
        (("mfa",), ["pwd"], False),
        (("mfa",), "mfa", False),
        (("mfa",), None, False),
        (("hwk",), ["hwk"], True),
        (True, None, True),
        (False, ["mfa"], False),
    ],
)
def test_a_second_step_at_the_provider_counts_where_it_is_believed(
    provider, trust, settings, people, second_step, amr, is_enough
):
    settings.MFA_REQUIRED = ["keys"]
    trust(second_step=second_step)
    SocialAccount.objects.create(user=people["admin"], provider="uni", uid="person-1")
    provider.claims = {"amr": amr}
    provider.userinfo = {"amr": ["mfa"]}  # nobody signed it
    client = Client()
    sign_in_there(client, provider)
    assert is_in(client) == is_enough
    made = client.post("/account/tokens/", {"name": "x", "scope": "read"})
    assert made.url == ("/account/" if is_enough else WAYS)


def test_a_second_step_here_is_asked_for_whatever_the_provider_says(provider, trust, people):
    trust(second_step=True)
    TOTP.activate(people["admin"], "JBSWY3DPEHPK3PXP")
    SocialAccount.objects.create(user=people["admin"], provider="uni", uid="person-1")
    client = Client()
    assert sign_in_there(client, provider).url == "/accounts/login/second-step/"
    assert not is_in(client)
    assert "JBSWY3DPEHPK3PXP" not in Authenticator.objects.get().data["secret"]


@pytest.fixture
def by_groups(trust, study, people):
    """A group each for annotators, researchers, admins, and for administrators of the site."""
    name = str(study.public_id)
    rules = {
        "raters": GroupRule(studies={name: "annotator"}),
        "lab": GroupRule(studies={name: "researcher"}),
        "bosses": GroupRule(studies={name: "admin"}),
        "it": GroupRule(administrator=True),
        "nowhere": GroupRule(studies={"0" * 8 + "-0000-0000-0000-" + "0" * 12: "admin"}),
    }
    trust(groups=rules)
    return study


def come_with(provider, groups):
    """Sign in as somebody in these groups; who it is, and the membership."""
    provider.claims = {"groups": groups}
    sign_in_there(Client(), provider)
    ada = User.objects.filter(email="ada@uni.example").first()
    return ada, ada and Membership.objects.filter(user=ada).first()


def standing(provider, groups):
    ada, found = come_with(provider, groups)
    return (found.role if found and found.is_active else None, bool(ada and ada.is_staff))


def test_roles_come_and_go_with_groups(provider, by_groups):
    assert come_with(provider, ["unknown"]) == (None, None), "nor an account"
    for groups, role, is_staff in [
        (["raters", "unknown"], "annotator", False),
        (["raters", "lab"], "researcher", False),
        (["bosses", "it"], "admin", True),
        ("lab", "researcher", False),
        ([], None, False),
        (["nowhere"], None, False),
        (None, None, False),
        ([["lab"], 7], None, False),
        (["lab"], "researcher", False),
    ]:
        assert standing(provider, groups) == (role, is_staff), groups
    verbs = AuditEvent.objects.filter(verb__startswith="group_role").order_by("pk")
    # Annotator, researcher, admin, administrator; then researcher instead of admin.
    told = [*["given"] * 5, "taken", "taken", "given"]
    assert [each.verb.removeprefix("group_role_") for each in verbs] == told
    assert all(each.actor is None and each.details["provider"] == "uni" for each in verbs)


def test_what_a_person_gave_or_ended_by_hand_stays(provider, by_groups, people):
    ada, member = come_with(provider, ["raters"])
    change_role(membership=member, role="expert", actor=people["admin"])
    assert standing(provider, ["bosses"])[0] == "expert"
    assert standing(provider, [])[0] == "expert"
    assert not GroupRole.objects.exists()
    deactivate_member(membership=member, actor=people["admin"])
    assert standing(provider, ["lab"])[0] is None
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    for groups in (["lab"], ["it"], []):
        assert standing(provider, groups)[1], groups


def test_groups_of_an_inactive_person_give_nothing(provider, by_groups):
    ada, _member = come_with(provider, ["raters"])
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert standing(provider, ["bosses", "it"]) == ("annotator", False)


GOOD = {
    "id": "uni",
    "name": "The University",
    "issuer": "https://login.uni.example/realms/main",
    "client_id": "counterpoint",
    "client_secret": "hush-hush",
}


def test_a_good_setting_is_read_and_never_shows_the_secret(tmp_path):
    study = "1" * 8 + "-1111-4111-8111-" + "1" * 12
    more = {"domains": ["Uni.Example"], "groups": {"lab": {"studies": {study: "admin"}}}}
    found = read_providers(json.dumps([GOOD | more]))["uni"]
    assert found.domains == ("uni.example",)
    assert found.groups["lab"].studies == {study: "admin"}
    assert "hush" not in repr(found)
    (tmp_path / "secret").write_text("hush-hush\n")
    by_file = GOOD | {"client_secret_file": str(tmp_path / "secret")}
    del by_file["client_secret"]
    found = read_providers(json.dumps([by_file]))["uni"]
    assert found.client_secret == "hush-hush"
    assert read_providers("") == {}


WRONG = [
    ({"id": "The Uni"}, "id must be lower-case letters"),
    ({"issuer": "http://login.uni.example"}, "issuer must be an https address"),
    ({"issuer": "https://a:b@login.uni.example"}, "issuer must be an https address"),
    ({"client_secret": ""}, "client_secret is missing"),
    ({"client_secret_file": "/nowhere"}, "not both"),
    ({"domain": "uni.example"}, "unknown: domain"),
    ({"domains": "uni.example"}, "domains must be a list"),
    ({"new_people": "all"}, "new_people"),
    ({"joins_by_email": "yes"}, "joins_by_email"),
    ({"second_step": "mfa"}, "second_step must be a list"),
    ({"groups": []}, "groups must be an object"),
    ({"groups": {"lab": {"admin": True}}}, "only contain administrator and studies"),
    ({"groups": {"lab": {"studies": {"My study": "admin"}}}}, "studies must map ids"),
    ({"groups": {"lab": {"administrator": "yes"}}}, "administrator must be a boolean"),
]


def test_a_wrong_setting_is_refused_in_words_without_the_secret():
    texts = [(text, "OIDC_PROVIDERS") for text in ("{", "7", '["uni"]', json.dumps([GOOD, GOOD]))]
    for text, words in [*((json.dumps([GOOD | row]), words) for row, words in WRONG), *texts]:
        with pytest.raises(ImproperlyConfigured, match=words) as refused:
            read_providers(text)
        assert "hush" not in str(refused.value), text


def test_providers_that_cannot_be_used_are_named_with_the_reason(provider, trust, settings):
    well = web.providers()
    assert well.state == CheckState.WELL
    assert "signing keys: The University" in well.says

    def wrong(words):
        found = web.providers()
        assert found.state == CheckState.WRONG
        assert words in found.says
        assert "The University" in found.says
        assert "OIDC_PROVIDERS" in found.remedy

    provider.description = {"issuer": "https://another.example"}
    wrong("as a different one")
    provider.description = {}
    provider.instead["/keys"] = lambda handler: handler.answer(200, {"keys": []})
    wrong("PyJWKSetError")
    provider.instead = {}
    for issuer in (f"{provider.issuer}/moved", "http://127.0.0.1:9"):
        trust(issuer=issuer)
        wrong("cannot be reached")
    settings.OIDC_PROVIDERS = {}
    assert web.providers().state == CheckState.WELL
