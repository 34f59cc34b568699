"""The pages about the REST API: every address, what it takes, and a token to try it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from cqa_site.home.interface import operations
from cqa_site.people.access import LENT_LIFETIME
from cqa_site.people.models import ApiToken
from tests.api.routes import EVERY

pytestmark = pytest.mark.django_db


def address(study, name: str) -> str:
    return reverse("study_api_address", args=[study.public_id, name])


def test_every_address_of_the_interface_is_listed_and_has_a_page(study, reader):
    text = reader.get(reverse("study_api", args=[study.public_id])).content.decode()
    assert len(operations()) == len(EVERY) > 200
    for each in operations().values():
        assert f'href="{address(study, each.name)}"' in text
        assert each.about, each.name


EVERY_EIGHTH, ALL = slice(None, None, 8), slice(None)


@pytest.mark.parametrize("part", [EVERY_EIGHTH, pytest.param(ALL, marks=pytest.mark.long)])
def test_each_page_says_what_the_address_takes_and_gives(study, reader, part):
    for each in list(operations().values())[part]:
        reply = reader.get(address(study, each.name))
        text = reply.content.decode()
        assert reply.status_code == 200
        assert each.at(study.public_id) in text
        for field in (*each.parameters, *(f for shape in each.takes for f in shape.fields)):
            assert f"<code>{field.name}</code>" in text or field.name == "study_id", each.name
        assert ('id="try"' in text) == (each.method == "GET"), each.name


def test_the_list_is_light(study, reader, django_assert_max_num_queries):
    operations()
    packed = {"Accept-Encoding": "gzip"}
    with django_assert_max_num_queries(5):
        page = reader.get(reverse("study_api", args=[study.public_id]), headers=packed)
    assert page["Content-Encoding"] == "gzip"
    assert len(page.content) < 25_000


def test_an_address_that_is_not_there_is_no_page(study, reader):
    assert reader.get(address(study, "studies_secrets_list")).status_code == 404


def test_a_shell_is_told_what_is_needed(study):
    told = operations()["studies_invitations_create"].curl("https://site", study.public_id)
    assert f"https://site/api/v1/studies/{study.public_id}/invitations/" in told
    assert '"role": ' in told
    assert "-X POST" in told
    file = operations()["studies_imports_create"].curl("https://site", study.public_id)
    assert "-F file=" in file


def test_the_page_is_lent_a_token_that_may_only_read_and_ends_soon(study, reader):
    reader.post(reverse("token_new"), {"name": "API page", "scope": "read"})
    asked = reverse("token_lend")
    first, second = (reader.post(asked).json()["token"] for _again in range(2))
    _made, token = ApiToken.objects.order_by("pk")  # those that somebody made stay
    assert token.scope == "read"
    assert token.expires_at <= timezone.now() + LENT_LIFETIME
    program = APIClient(HTTP_AUTHORIZATION=f"Bearer {second}")
    assert program.get("/api/v1/me/").status_code == 200
    assert program.post(f"/api/v1/studies/{study.public_id}/guidelines/").status_code == 403
    assert APIClient(HTTP_AUTHORIZATION=f"Bearer {first}").get("/api/v1/me/").status_code == 401
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert program.get("/api/v1/me/").status_code == 401
