"""What a program does with corpora and a CAM service, from the file to the argument."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.corpus.models.questions import text_key
from annotation.retrieval.actions import cam as retrieval_cam
from annotation.retrieval.models import CamRequest
from tests import cast
from tests.annotation.retrieval.made_retrieval import SENTENCES, make_cam_request, make_corpus
from tests.api.conftest import client_of
from tests.judging.json_stub import JsonStub

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files_apart(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def study():
    return cast.make_study()


@pytest.fixture
def researcher(study):
    return cast.make_member(study, "researcher")


@pytest.fixture
def client(researcher):
    return client_of(researcher)


@pytest.fixture
def comparison(study):
    (found,) = {row.comparison for row in cast.make_arguments(study, 1)}
    return found


@pytest.fixture
def inline(django_capture_on_commit_callbacks):
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def ask(client, study):
    """Send a request to an address of the study and return the decoded answer."""

    def ask(method, address, body=None, status=200, **options):
        url = f"/api/v1/studies/{study.public_id}/{address}"
        response = getattr(client, method)(url, body, **({"format": "json"} | options))
        assert response.status_code == status, response.content
        return response.json() if response.content else None

    return ask


def upload(content, name="Forum", file="forum.txt"):
    return {"name": name, "file": SimpleUploadedFile(file, content)}


def test_from_a_file_to_arguments(ask, inline):
    made = ask("post", "comparisons/", {"object1": "tea", "object2": "coffee"}, 201)
    again = ask("post", "comparisons/", {"object1": "tea", "object2": "coffee"}, 200)
    assert again["id"] == made["id"]
    with inline():
        table = b"x,y\nTea is cheaper than coffee.,https://a.example\nTea.,\n"
        corpus = ask("post", "corpora/", upload(table, file="a.csv"), 202, format="multipart")
    one = f"corpora/{corpus['id']}/"
    assert ask("get", one)["state"] == "refused"
    with inline():
        ask("post", f"{one}check/", {"text": "x", "url": "y"}, 202)
    looked = ask("get", one)
    assert (looked["state"], looked["found"]["sentences"]) == ("checked", 2)
    with inline():
        ask("post", f"{one}load/", {}, 202)
    assert ask("get", one)["sentence_count"] == 2
    ask("post", f"{one}load/", {}, 409)
    ask("post", f"{one}check/", {}, 409)
    find = f"comparisons/{made['id']}/find/"
    (hit,) = ask("get", find)
    assert hit["text"] == "Tea is cheaper than coffee."
    assert (hit["source_url"], hit["corpus"]) == ("https://a.example", corpus["id"])
    assert (hit["is_comparative"], hit["is_known"]) == (True, False)
    take = f"comparisons/{made['id']}/take/"
    assert ask("post", take, {"keys": [hit["key"]]}) == {"new": 1, "same": 0}
    assert ask("post", take, {"keys": [hit["key"], "0" * 64]}) == {"new": 0, "same": 1}
    assert ask("get", find)[0]["is_known"]
    (argument,) = ask("get", "arguments/")["results"]
    assert (argument["origin"]["kind"], argument["origin"]["source"]) == ("corpus", "Forum")
    ask("delete", one, status=204)
    ask("get", one, status=404)


def test_searches_that_are_refused(ask, study, comparison):
    foreign = make_corpus(cast.make_study("Study B"))
    make_corpus(study)
    find = f"comparisons/{comparison.public_id}/find/"
    for query in (
        "most=0",
        "most=201",
        "words=none",
        "aspect=%00",
        "aspect=***",
        f"corpus={foreign.public_id}",
        "corpus=x",
        "q=tea",
        "aspect=a&aspect=b",
        "page=1",
    ):
        ask("get", f"{find}?{query}", status=400)
    assert len(ask("get", f"{find}?most=1")) == 1


def test_keys_that_are_none(ask, comparison):
    for keys in ([], ["x"], ["\u0661" * 64], ["f" * 65], "f" * 64, [None], [1]):
        ask("post", f"comparisons/{comparison.public_id}/take/", {"keys": keys}, 400)


def test_sentences_of_another_study_are_passed_over(ask, comparison):
    make_corpus(cast.make_study("Study B"))
    body = {"keys": [text_key(SENTENCES[0])]}
    take = f"comparisons/{comparison.public_id}/take/"
    assert ask("post", take, body) == {"new": 0, "same": 0}
    assert comparison.arguments.count() == 1


def test_uploads_that_are_refused(ask, study, settings):
    make_corpus(study, name="Taken")
    ask("post", "corpora/", upload(b"Tea.", name="Taken"), 400, format="multipart")
    ask("post", "corpora/", upload(b"Tea.", name=""), 400, format="multipart")
    ask("post", "corpora/", {"name": "x"}, 400, format="multipart")
    ask("post", "corpora/", {"name": "x", "file": "text"}, 400, format="multipart")
    ask("post", "corpora/", upload(b"Tea.") | {"state": "ready"}, 400, format="multipart")
    ask("post", "corpora/", upload(b""), 400, format="multipart")
    settings.MAX_UPLOAD_BYTES = 3
    ask("post", "corpora/", upload(b"Tea."), 400, format="multipart")
    assert study.corpora.count() == 1


def test_a_cam_service_is_asked(ask, comparison, settings, inline):
    body = {"comparison": str(comparison.public_id), "aspects": ["price"], "most": 1}
    ask("post", "cam-requests/", body, 409)
    sides = {"object1": {"sentences": [[2, "A"], [1, "B"]]}, "object2": {"sentences": ["C"]}}
    with JsonStub(sides) as stub:
        settings.EGRESS_ALLOW = stub.allow
        ask("patch", "cam-service/", {"address": stub.address})
        assert ask("get", "cam-service/") == {"address": stub.address}
        with inline():
            asked = ask("post", "cam-requests/", body, 202)
        assert (asked["is_answered"], asked["found"]) == (False, None)
        assert stub.asked[0][1]["weight1"] == "3"
    one = f"cam-requests/{asked['id']}/"
    found = ask("get", one)["found"]
    assert [(each["text"], each["favours"]) for each in found] == [("A", 1), ("C", 2)]
    assert ask("post", f"{one}take/", {"places": [1, 2, 3]}) == {"new": 2, "same": 0}
    assert set(comparison.arguments.values_list("text", flat=True)) >= {"A", "C"}
    (listed,) = ask("get", f"cam-requests/?comparison={comparison.public_id}")["results"]
    assert "found" not in listed


def test_what_a_cam_service_is_not_asked(ask, study, comparison, researcher):
    retrieval_cam.set_service(study=study, address="https://cam.example", actor=researcher)
    (theirs,) = {row.comparison for row in cast.make_arguments(cast.make_study("B"), 1)}
    good = {"comparison": str(comparison.public_id)}
    for wrong in (
        {"comparison": str(theirs.public_id)},
        {"comparison": "x"},
        {"weight": 6},
        {"most": 101},
        {"aspects": ["a"] * 6},
        {"aspects": ["a,b", "c,d", "e,f"]},
        {"aspects": "price"},
        {"address": "https://other.example"},
    ):
        ask("post", "cam-requests/", good | wrong, 400)
    assert not CamRequest.objects.exists()
    for address in ("http://", "https://u:p@cam.example", "https://cam.example/{x}"):
        ask("patch", "cam-service/", {"address": address}, 400)


def test_places_that_are_none(ask, comparison, researcher):
    asked = make_cam_request(comparison, researcher)
    for places in ([], [0], [-1], ["x"], [10_000], [1.5], "1"):
        ask("post", f"cam-requests/{asked.public_id}/take/", {"places": places}, 400)
