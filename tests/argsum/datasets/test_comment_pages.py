"""Pages, files and interface of datasets of comments."""

import csv
import io

import pytest

from argsum.datasets.models import Comment
from cqa_site.files.actions.imports import import_path

from ..made_cells import make_comments, make_system_run
from ..signed_in import page_of as page
from ..signed_in import page_text as flat

pytestmark = pytest.mark.django_db


@pytest.fixture
def cell(study):
    return make_comments(study)


def test_the_dataset_shows_comments_and_statements(client, cell, django_assert_max_num_queries):
    with django_assert_max_num_queries(19):
        shown = flat(page(client, "dataset", cell.dataset))
    assert "3 comments · 2 different statements kept, out of 4 · 1 topic" in shown
    assert "That say something" in shown
    assert "Keep a statement if it" in shown
    assert "is exactly one sentence" not in shown
    make_system_run(cell.dataset)
    shown = flat(page(client, "dataset", cell.dataset))
    assert "can still add comments" in shown


def test_comments_are_listed_searched_and_filtered_in_few_queries(
    client, cell, django_assert_max_num_queries
):
    with django_assert_max_num_queries(15):
        rows = page(client, "cell_comments", cell).context["comments"]
    assert [[each.text for each in row.statements] for row in rows] == [
        ["The queue is too long.", "The food is good."],
        ["The food is good."],
        ["n/a"],
    ]
    for query, names in (
        ({"q": "QUEUE"}, ["c1"]),
        ({"show": "nothing"}, ["c3"]),
        ({"attribute": "site", "value": "North"}, ["c1", "c2", "c3"]),
        ({"attribute": "site", "value": "South"}, []),
        ({"attribute": "other", "value": "North"}, ["c1", "c2", "c3"]),
    ):
        rows = page(client, "cell_comments", cell, **query).context["comments"]
        assert [row.comment.name for row in rows] == names


def test_comments_go_out_and_come_in_again(client, study, cell, tmp_path):
    body = b"".join(page(client, "comments_export", cell.dataset).streaming_content)
    rows = list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"))))
    beside = {"topic": cell.topic, "id": "c1", "date": "2024-03-01", "site": "North"}
    assert rows[0] == beside | {
        "comment": "The queue is too long. The food is good.",
        "statements": "The queue is too long.\nThe food is good.",
        "left_out": "",
        "near_duplicates": "",
    }
    assert (rows[2]["statements"], rows[2]["left_out"]) == ("", "n/a")
    path = tmp_path / "again.csv"
    path.write_bytes(body)
    import_path(study=study, kind="comments", path=path, name="again.csv", write=True)
    fields = ("name", "text", "attributes", "written_on")
    again = Comment.objects.filter(cell__dataset__name="again").values_list(*fields)
    assert list(again) == list(cell.comments.values_list(*fields))
    assert page(client, "comments_export", cell.dataset, format="xlsx").status_code == 404
