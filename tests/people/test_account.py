"""The account page: name, tokens, memberships."""

import pytest
from django.db import connection
from django.urls import reverse
from rest_framework.test import APIRequestFactory

from cqa_site.people.access import TokenAuthentication, create_token
from cqa_site.people.models import ApiToken, AuditEvent, Role, User, hash_secret
from tests import cast


@pytest.fixture
def person(people):
    return people["researcher"]


def make_token(client, address="token_new", /, **fields):
    return client.post(reverse(address), {"name": "notebook", "scope": "read"} | fields)


def test_name_can_be_changed_and_nothing_else(researcher, person):
    assert researcher.post("/account/", {"name": " "}).status_code == 422
    person.refresh_from_db()
    assert person.name == "The researcher"
    more = {"email": "new@site.example", "is_staff": "on", "is_superuser": "on", "is_active": ""}
    more |= {"public_id": "0" * 32, "password": "x"}
    researcher.post("/account/", {"name": "Another name"} | more)
    changed = User.objects.get(pk=person.pk)
    assert changed.name == "Another name"
    assert [getattr(changed, name) for name in more] == [getattr(person, name) for name in more]


def test_token_is_shown_once_and_kept_as_a_hash(researcher, person):
    assert make_token(researcher).url == reverse("account")
    page = researcher.get("/account/").text
    token = ApiToken.objects.get(user=person)
    secret = page.split('id="secret" value="')[1].split('"')[0]
    assert page.count(secret) == 1
    assert secret.startswith(ApiToken.PREFIX)
    assert len(secret) >= 22 + len(ApiToken.PREFIX)
    assert token.secret_hash == hash_secret(secret)
    assert secret not in researcher.get("/account/").text
    assert secret not in whole_database()
    assert "new_token" not in researcher.session


def whole_database() -> str:
    """Every value of every table, as text."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        texts = []
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}"')
            texts.append(repr(cursor.fetchall()))
    return "\n".join(texts)


def test_token_belongs_to_whoever_asked_for_what_there_is(researcher, person, people):
    for fields in ({"scope": "admin"}, {"name": ""}, {"scope": ""}):
        assert make_token(researcher, **fields).status_code == 422
    make_token(researcher, user=people["admin"].pk, expires_at="2999-01-01", secret_hash="x")
    token = ApiToken.objects.get()
    assert (token.user, len(token.secret_hash)) == (person, 64)
    assert token.expires_at.year < 2999


def test_revoked_token_stops_working_and_nobody_revokes_that_of_another(
    researcher, person, people
):
    token, secret = create_token(user=person, name="notebook", scope="read")
    theirs, _secret = create_token(user=people["admin"], name="notebook", scope="write")
    request = APIRequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"})
    assert TokenAuthentication().authenticate(request)[0] == person
    for each, status in ((token, 302), (theirs, 404)):
        reply = researcher.post(reverse("token_revoke", args=[each.public_id]))
        assert reply.status_code == status
    with pytest.raises(Exception, match="not valid"):
        TokenAuthentication().authenticate(request)
    theirs.refresh_from_db()
    assert theirs.is_open
    assert "Revoked" in researcher.get("/account/").text
    events = AuditEvent.objects.filter(actor=person).order_by("pk")
    assert [event.verb for event in events] == ["token_created", "token_revoked"]


def test_crowd_participant_gets_no_token_and_no_password(study):
    person = User.objects.create_user(None)
    study.memberships.create(user=person, role=Role.ANNOTATOR)
    client = cast.sign_in(person)
    assert make_token(client).status_code == 403
    assert make_token(client, "token_lend").status_code == 403
    assert client.get("/accounts/password/").url == "/account/"
    page = client.get("/account/").text
    assert "API" not in page
    assert "Change password" not in page


def test_page_lists_own_memberships_and_costs_few_queries(
    researcher, person, other_study, django_assert_max_num_queries
):
    for n in range(20):
        create_token(user=person, name=f"token {n}", scope="read")
    with django_assert_max_num_queries(5):
        page = researcher.get("/account/").text
    assert "Study A" in page
    assert "Study B" not in page
