"""A new site: who may make its first administrator, and what a program may not."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from cqa_site.people import actions as people
from cqa_site.people.actions import first_key
from cqa_site.people.models import ApiToken, User, hash_secret

pytestmark = pytest.mark.django_db
WHO = {"name": "First", "email": "First@lab.example", "password": "seven unrelated quiet words"}


def opened(client, key=None):
    return client.get(f"/first/{key or first_key()}/", follow=True)


def test_a_new_site_leads_from_its_first_page_to_the_link_in_the_terminal(client):
    page = client.get("/", follow=True)
    assert page.redirect_chain[-1][0] == "/first/"
    assert page.status_code == 403
    assert "The terminal in which the site was started" in page.text


def test_whoever_has_the_link_becomes_administrator_and_makes_a_study(client):
    assert opened(client).redirect_chain == [("/first/", 302)]
    page = client.post("/first/", WHO, follow=True)
    assert page.redirect_chain[-1][0] == "/studies/new/"
    person = User.objects.get()
    assert (person.email, person.is_superuser) == ("first@lab.example", True)
    assert person.is_staff
    assert person.check_password(WHO["password"])


def test_a_guessed_link_makes_nobody_and_one_works_for_a_week(client, monkeypatch):
    for key in ("first", "first~1abc~forged", "x" * 90):
        assert opened(client, key).status_code == 403
        assert client.post("/first/", WHO).status_code == 403
    key = first_key()
    assert timedelta(days=7) == people.LIFETIME
    monkeypatch.setattr(people, "LIFETIME", timedelta(seconds=-1))
    assert opened(client, key).status_code == 403
    assert not User.objects.exists()


def test_once_there_is_an_administrator_the_link_leads_to_sign_in(client):
    key = first_key()
    opened(client, key)
    User.objects.create_superuser("root@lab.example", WHO["password"])
    assert client.post("/first/", WHO).headers["Location"] == "/accounts/login/"
    assert client.get(f"/first/{key}/").headers["Location"] == "/accounts/login/"
    assert User.objects.count() == 1
    assert client.get("/accounts/login/").status_code == 200


def test_people_can_sign_in_where_the_only_administrator_left(client):
    User.objects.create_user("member@lab.example", WHO["password"])
    assert client.get("/accounts/login/").status_code == 200
    assert opened(client).status_code == 200


def test_a_weak_password_is_refused_by_the_page_and_by_every_command(client, monkeypatch):
    opened(client)
    assert client.post("/first/", WHO | {"password": "short"}).status_code == 422
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "short")
    with pytest.raises(CommandError, match="at least 12 characters"):
        call_command("createsuperuser", interactive=False, email="root@lab.example")
    assert not User.objects.exists()


def test_a_command_makes_a_token_under_the_rules_of_the_page(capsys, settings):
    User.objects.create_superuser("root@lab.example", WHO["password"])
    call_command("token", "Root@lab.example", name="Install", scope="write")
    secret = capsys.readouterr().out.strip()
    token = ApiToken.objects.get(secret_hash=hash_secret(secret))
    assert (token.name, token.scope) == ("Install", "write")
    settings.MFA_REQUIRED = ["administrators"]
    with pytest.raises(CommandError, match="needs a second step"):
        call_command("token", "root@lab.example")
    with pytest.raises(CommandError, match="No active account"):
        call_command("token", "nobody@lab.example")
    settings.MFA_REQUIRED = []
    with pytest.raises(CommandError, match="60"):
        call_command("token", "root@lab.example", name="x" * 61)
