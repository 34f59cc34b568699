"""Pages, files and API of datasets: funnel, recipe, cells, comments, filters, deletion."""

import csv
import io
import json

import pytest
from django.urls import reverse

from argsum.datasets.actions import DatasetInUse, change_recipe, delete_dataset
from argsum.datasets.models import CellArgument, Comment, Dataset, KeyPointMatch
from cqa_site.files.actions.imports import import_path
from cqa_site.people.models import AuditEvent
from ..argument_files import triple, zip_of
from ..made_cells import make_comments, make_dataset, make_system_run
from ..signed_in import page_of as page, page_text as flat

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(study, tmp_path):
    """One kept, one with two key points, one without any, one of two sentences."""
    path = tmp_path / "lifts.zip"
    path.write_bytes(zip_of(triple()))
    import_path(study=study, kind="argkp", path=path, name="lifts.zip", write=True)
    return Dataset.objects.get()


def post(client, name, dataset, **data):
    url = reverse(name, args=[dataset.study.public_id, dataset.public_id])
    return client.post(url, data, follow=True)


def test_the_pages_show_it_in_few_queries(client, study, dataset, django_assert_max_num_queries):
    with django_assert_max_num_queries(18):
        shown = flat(page(client, "dataset", dataset))
    assert "Change recipe" in shown
    assert "Matches several key points: 1" in shown
    with django_assert_max_num_queries(16):
        context = page(client, "cell", dataset.cells.get()).context
    labels = [(each.matched, each.denied) for each in context["arguments"]]
    assert labels == [((1,), (2,)), ((1, 2), ()), ((), ()), ((2,), ())]
    counts = [(each.matched, each.matched_kept) for each in context["key_points"]]
    assert counts == [(2, 1), (2, 0)]
    for number in range(5):
        make_dataset(study, name=f"Set {number}")
    with django_assert_max_num_queries(16):
        shown = client.get(reverse("datasets", args=[study.public_id])).text
    assert "Set 4" in shown
    assert "Exactly one key point" in shown
    # A cell shows the arguments asked for.
    for query, names in (
        ({}, ["a1", "a2", "a3", "a4"]),
        ({"show": "kept"}, ["a1"]),
        ({"show": "left_out"}, ["a2", "a3", "a4"]),
        ({"show": "sentences"}, ["a4"]),
        ({"q": "MONEY"}, ["a2", "a4"]),
        ({"key_point": "1"}, ["a1", "a2"]),
        ({"key_point": "2", "show": "sentences"}, ["a4"]),
        ({"key_point": "99"}, ["a1", "a2", "a3", "a4"]),
    ):
        rows = page(client, "cell", dataset.cells.get(), **query).context["arguments"]
        assert [each.argument.name for each in rows] == names, query


def test_another_recipe_goes_through_the_arguments_again(client, dataset):
    post(client, "dataset_recipe", dataset, steps=["one_sentence"])
    dataset.refresh_from_db()
    assert dataset.recipe["counts"]["test"] == {"read": 4, "unique": 4, "one_sentence": 3}
    reasons = CellArgument.objects.order_by("position").values_list("left_out", flat=True)
    assert list(reasons) == ["", "", "", "sentences"]
    assert AuditEvent.objects.get(verb="dataset_prepared").subject == "lifts"
    post(client, "dataset_recipe", dataset)
    assert not CellArgument.objects.exclude(left_out="").exists()
    assert "Choose steps" in post(client, "dataset_recipe", dataset, steps=["nonsense"]).text
    # Nothing uses it, so it can be deleted.
    post(client, "dataset_delete", dataset)
    assert not KeyPointMatch.objects.exists()
    assert AuditEvent.objects.get(verb="dataset_deleted").details == {"cells": 1}


def test_a_used_dataset_keeps_recipe_and_rows(client, dataset):
    make_system_run(dataset)
    shown = page(client, "dataset", dataset).text
    assert "1 system run" in shown
    assert "Change recipe" not in shown
    assert "can no longer be changed" in post(client, "dataset_recipe", dataset, steps=[]).text
    post(client, "dataset_delete", dataset)
    assert Dataset.objects.filter(pk=dataset.pk).exists()
    for act in (delete_dataset, lambda **row: change_recipe(steps=[], **row)):
        with pytest.raises(DatasetInUse):
            act(dataset=dataset, actor=None)
    assert CellArgument.objects.filter(left_out="").count() == 1


def test_an_exported_dataset_comes_back_as_it_was(client, study, dataset, tmp_path, alone):
    CellArgument.objects.filter(name="a1").update(quality=0.25)
    for format in ("csv", "raw.csv", "jsonl"):
        with alone(format):
            body = file_of(client, dataset, format=format)
            assert_it_comes_back(study, body, tmp_path / f"again.{format}")
    rows = list(csv.DictReader(io.StringIO(file_of(client, dataset).decode("utf-8-sig"))))
    reasons = ["", "", "key_points", "key_points", "no_key_point", "sentences"]
    assert [row["left_out"] for row in rows] == reasons
    assert json.loads(file_of(client, dataset, format="jsonl").splitlines()[0])["label"] == 1
    assert page(client, "dataset_export", dataset, format="xlsx").status_code == 404


def file_of(client, dataset, **query):
    return b"".join(page(client, "dataset_export", dataset, **query).streaming_content)


def assert_it_comes_back(study, body, path):
    path.write_bytes(body)
    asked = {"kind": "argument_pairs", "options": {"dataset": "Again"}, "write": True}
    import_path(study=study, path=path, name=path.name, **asked)
    fields = ("argument__text", "argument__left_out", "key_point__text", "is_match")
    one, two = (
        set(KeyPointMatch.objects.filter(key_point__cell__dataset__name=name).values_list(*fields))
        for name in ("lifts", "Again")
    )
    assert (one, len(one)) == (two, 5)
    assert CellArgument.objects.get(cell__dataset__name="Again", name="a1").quality == 0.25


@pytest.fixture
def cell(study):
    return make_comments(study)


def test_the_dataset_shows_comments_and_statements(client, cell, django_assert_max_num_queries):
    with django_assert_max_num_queries(19):
        shown = flat(page(client, "dataset", cell.dataset))
    assert "3 comments · 2 different statements kept, out of 4 · 1 topic" in shown
    assert "With content" in shown
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
