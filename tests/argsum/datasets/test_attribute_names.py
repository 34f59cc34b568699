"""Comments are filtered by columns of any name, on every database."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from argsum.datasets.models import Comment
from argsum.datasets.reports.comments import having
from tests import cast

from ..made_cells import make_comments

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return cast.make_study()


@pytest.fixture
def client(study):
    return cast.sign_in(cast.make_member(study, "researcher"))


@pytest.fixture
def program(study):
    client = APIClient()
    client.force_authenticate(cast.make_member(study, "researcher"))
    return client


HOSTILE = [
    *(
        'a"b',
        '"',
        '"]',
        'a\\"b',
        "\\",
        "a'b",
        "a''; --",
        "a%b",
        "%s",
        "%(a)s",
        "$",
        "$.site",
        "a.b",
    ),
    *(
        "[0]",
        "#-1",
        "0",
        "2024",
        "",
        "é",
        "\\u0041",
        "new\nline",
        "\x7f",
        "<b>",
        "key",
        "site\u200b",
    ),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_column_may_be_called_anything(client, program, study, name):
    beside = {name: "yes", "site": "North"}
    cell = make_comments(study, attributes=beside)
    odd = Comment.objects.get(cell=cell, position=2)
    odd.attributes = {"site": "yes"}
    odd.save()
    assert [each.name for each in having(Comment.objects.filter(cell=cell), name, "yes")] == [
        "c1",
        "c3",
    ]
    assert not having(Comment.objects.filter(cell=cell), name, "North").exists()
    assert not having(Comment.objects.filter(cell=cell), name + '"', "yes").exists()
    if name.strip() and name.isprintable():
        address = reverse("cell_comments", args=[study.public_id, cell.public_id])
        shown = client.get(address, {"attribute": name, "value": "yes"})
        assert [each.comment.name for each in shown.context["comments"]] == ["c1", "c3"]
        url = reverse(
            "api_cell_comments", kwargs={"study_id": study.public_id, "cell_id": cell.public_id}
        )
        found = program.get(url, {"attribute": name, "value": "yes"}).json()["results"]
        assert [each["name"] for each in found] == ["c1", "c3"]
