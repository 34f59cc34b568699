"""Comments are filtered by columns of any name, on every database."""

import pytest
from django.urls import reverse

from argsum.datasets.models import Comment
from argsum.datasets.reports.comments import having
from ..made_cells import make_comments

pytestmark = pytest.mark.django_db


VALUE = 'yes, "so"\\ 雨'
HOSTILE = [
    *('a"b', '"', '"]', 'a\\"b', "\\", "a'b", "a''; --", "a%b", "%s", "%(a)s", "$", "$.site"),
    *("a.b", "[0]", "#-1", "0", "2024", "", "é", "\\u0041", "new\nline", "\x7f", "<b>", "key"),
    "site\u200b",
]
# All that can be typed goes the same way.
TYPED = ('"]', "a'b", "$.site", "é")


def test_a_column_may_be_called_anything(client, program, study, alone):
    for name in HOSTILE:
        with alone(repr(name)):
            assert_comments_are_found(client, program, study, name, is_asked=name in TYPED)


def assert_comments_are_found(client, program, study, name, *, is_asked):
    """By the value of a column, by query and, of some, on page and interface."""
    cell = make_comments(study, attributes={name: VALUE, "site": "North"})
    odd = Comment.objects.get(cell=cell, position=2)
    odd.attributes = {"site": VALUE}
    odd.save()
    own = Comment.objects.filter(cell=cell)
    assert [each.name for each in having(own, name, VALUE)] == ["c1", "c3"]
    assert not having(own, name, "North").exists()
    assert not having(own, name + '"', VALUE).exists()
    if is_asked:
        asked = {"attribute": name, "value": VALUE}
        ids = {"study_id": study.public_id, "cell_id": cell.public_id}
        shown = client.get(reverse("cell_comments", args=ids.values()), asked)
        assert [each.comment.name for each in shown.context["comments"]] == ["c1", "c3"]
        found = program.get(reverse("api_cell_comments", kwargs=ids), asked).json()["results"]
        assert [each["name"] for each in found] == ["c1", "c3"]
