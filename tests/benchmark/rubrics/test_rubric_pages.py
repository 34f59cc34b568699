"""Rubrics on pages and through the API: list, one version, a new one, JSON in and out."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmark.rubrics.forms import criterion_rows, draft_of, group_rows, read_draft
from benchmark.rubrics.methods.rubric import COMPQA
from benchmark.rubrics.models import RubricVersion, default_rubric, save_rubric
from cqa_site.people.models import AuditEvent
from tests import cast
from tests.api.conftest import client_of
from ..small_rubric import SMALL

pytestmark = pytest.mark.django_db


def address(name, study, version=None):
    return reverse(name, args=[study.public_id, *([version.public_id] if version else [])])


def fields_of(rubric, **changes):
    """What a browser sends for a rubric that nobody touched, with changes over it."""
    draft = draft_of(rubric)
    data = {"name": draft.name, "groups": len(draft.groups), "criteria": len(draft.criteria)}
    for row in group_rows(draft):
        data |= {f"g{row['place']}-key": row["key"], row["name"].name: row["name"].value}
    for row in criterion_rows(draft):
        cells = [row[name] for name in ("name", "asks", "group", "maximum", "counted_by")]
        cells += [level[part] for level in row["levels"] for part in ("text", "example")]
        data |= {cell.name: cell.value for cell in cells}
    return {key: value for key, value in (data | changes).items() if value is not None}


def new_page(study, base=None):
    query = f"?from={base.public_id}" if base else ""
    return address("rubric_new", study) + query


# -- writing ----------------------------------------------------------------------------------


def test_a_form_that_nobody_touched_is_the_same_version_and_another_a_new_one(
    client, study, researcher
):
    page = client.get(new_page(study)).text
    assert "Aspects announced" in page
    assert 'name="c14-text1"' in page
    version = default_rubric(study)
    response = client.post(new_page(study, version), fields_of(COMPQA), follow=True)
    assert study.rubric_versions.count() == 1
    assert "already has the same content" in response.text
    base = default_rubric(study)
    data = fields_of(COMPQA, **{"c0-name": "Beginning", "c0-maximum": "2", "c0-text2": "Superb."})
    response = client.post(new_page(study, base), data)
    version = study.rubric_versions.get(number=2)
    assert response.url == address("rubric", study, version)
    assert (version.derived_from, version.created_by) == (base, researcher)
    first = version.rubric.criteria[0]
    assert (first.name, first.maximum, first.levels[2].text) == ("Beginning", 2, "Superb.")
    # The group's maximum follows by itself.
    assert (version.rubric.groups[0].maximum, version.rubric.maximum) == (8, 20)
    assert AuditEvent.objects.filter(verb="rubric_saved").count() == 2


def test_buttons_lose_nothing_and_errors_stand_at_their_field(client, study):
    data = fields_of(SMALL, **{"c1-name": "Unsaved words"})
    url = new_page(study)
    page = client.post(url, data | {"do": "add-criterion"})
    assert page.status_code == 200
    assert page.context["draft"].criteria[-1].name == ""
    assert "Unsaved words" in page.text
    moved = client.post(url, data | {"do": "up-1"}).context["draft"]
    assert [each.name for each in moved.criteria] == ["Unsaved words", "Title", "Length"]
    # What was moved is open and where the button's address points.
    assert [row["is_open"] for row in criterion_rows(moved)] == [True, False, False]
    moved = client.post(url, data | {"do": "down-1"}).context["draft"]
    assert [each.name for each in moved.criteria] == ["Title", "Length", "Unsaved words"]
    left = client.post(url, data | {"do": "remove-0"}).context["draft"]
    assert [each.name for each in left.criteria] == ["Unsaved words", "Length"]
    grown = client.post(url, data | {"do": "add-group"}).context["draft"]
    assert [key for key, _name in grown.groups] == ["form", "facts", "group-1"]
    assert len(client.post(url, data | {"do": "drop-1"}).context["draft"].groups) == 1
    assert not RubricVersion.objects.exists()
    for changes, field, words in WRONG:
        page = client.post(
            new_page(study), fields_of(SMALL, **changes, **{"c2-asks": "My words?"})
        )
        assert page.status_code == 422
        assert words in page.context["draft"].errors[field], changes
        assert f'href="#{field}"' in page.text
        assert all(called != name for name, called, _why in page.context["errors"] if "-" in name)
        assert "My words?" in page.text or changes.get("criteria")
    assert not RubricVersion.objects.exists()
    changes = {"c0-name": "", "c1-asks": "", "name": ""}
    page = client.post(new_page(study), fields_of(SMALL, **changes))
    assert set(page.context["draft"].errors) == {"c0-name", "c1-asks", "name"}
    for body in ({}, {"criteria": "1e9"}, {"criteria": "-1", "groups": "x"}, {"do": "save"}):
        assert client.post(new_page(study), body).status_code in (200, 422)
    assert read_draft({"criteria": "999999"}).criteria == []


WRONG = [
    ({"name": ""}, "name", "is empty"),
    ({"c1-name": " "}, "c1-name", "is empty"),
    ({"c1-asks": "x" * 1001}, "c1-asks", "is longer than 1,000"),
    ({"c1-maximum": "3"}, "c1-maximum", "is not 1 to 2"),
    ({"c1-maximum": "²"}, "c1-maximum", "is not 1 to 2"),
    ({"c1-text2": ""}, "c1-text2", "is empty"),
    ({"c1-example1": "x" * 1001}, "c1-example1", "is longer than"),
    ({"c1-group": "nowhere"}, "c1-group", "choose a group"),
    ({"g0-name": ""}, "g0-name", "is empty"),
    ({"c1-group": "form"}, "g1-name", "has no criteria"),
    ({"criteria": "0"}, "g0-name", "has no criteria"),
    ({"criteria": "0", "groups": "0"}, "rubric", "a rubric must have 1 to 40"),
    ({"g1-key": "form", "c1-group": "form"}, "rubric", "the same key"),
]


# -- JSON -------------------------------------------------------------------------------------


def upload(client, study, content):
    file = SimpleUploadedFile("rubric.json", content)
    return client.post(address("rubric_upload", study), {"file": file})


def test_a_downloaded_rubric_comes_in_again_elsewhere(client, study, researcher):
    version = save_rubric(study=study, rubric=SMALL)
    response = client.get(address("rubric_json", study, version))
    assert response["Content-Disposition"] == 'attachment; filename="small-v1.json"'
    other = cast.make_study("B")
    theirs = cast.sign_in(cast.make_member(other, "researcher"))
    upload(theirs, other, response.content)
    assert other.rubric_versions.get().sha256 == version.sha256


def test_a_wrong_file_is_explained(client, study):
    for content, words in (
        (b"{", "file"),
        (b'{"name": "x"}', "groups: is missing"),
        (b'{"name": "x", "name": "y"}', "file"),
        (b'{"name": "x", "groups": [], "criteria": [], "more": 1}', "more"),
        (b"\xff\xfe", "file"),
    ):
        response = upload(client, study, content)
        assert response.status_code == 422
        assert words in response.text
        assert "errorlist" in response.text
    assert not RubricVersion.objects.exists()


# -- API --------------------------------------------------------------------------------------


def test_a_rubric_by_the_api(study, researcher):
    api = client_of(researcher)
    base = default_rubric(study)
    url = f"/api/v1/studies/{study.public_id}/rubrics/"
    content = json.loads(json.dumps(base.content))
    content["criteria"][0]["asks"] = "Is there a start?"
    made = api.post(url, {"content": content, "derived_from": str(base.public_id)}, format="json")
    assert made.status_code == 201, made.content
    assert (made.data["number"], made.data["maximum"], made.data["criteria"]) == (2, 19, 15)
    assert made.data["content"]["criteria"][0]["asks"] == "Is there a start?"
    listed = api.get(url, {"name": "CompQA"}).data["results"]
    assert [row["number"] for row in listed] == [2, 1]
    assert "content" not in listed[0]
    del content["criteria"][0]
    refused = api.post(url, {"content": content}, format="json")
    assert refused.status_code == 400
    assert "C1" in str(refused.data["errors"]["content"])
