"""A CAM service is asked in the background; its sentences are chosen before they are kept."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.retrieval.actions import arguments as retrieval_cam
from annotation.retrieval.models import CamRequest, CamService
from cqa_site.people.models import AuditEvent
from cqa_site.runs.models import Job
from tests import cast
from tests.annotation.retrieval.made_retrieval import SENTENCES, make_cam_request, make_corpus
from tests.api.conftest import client_of
from tests.judging.json_stub import JsonStub

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files_apart")]
ASKED = {"aspects": "price,  taste of it", "weight": "5", "most": "2"}


def side(name, *sentences):
    keys = ("text", "CAM_score", "id_pair")
    return {"name": name, "sentences": [dict(zip(keys, each, strict=True)) for each in sentences]}


REPLY = {
    "winner": "tea",
    "object1": side(
        "tea",
        ("Tea is cheaper  than coffee.", 7.25, {"https://page.example/1": "4"}),
        ("Tea <b>wins</b>.", 3, {"javascript:alert(1)": "1"}),
        ("Tea is third.", 1, {}),
    ),
    "object2": side("coffee", ("Coffee is stronger.", 5, {"d": "1"})),
}


@pytest.fixture
def ask(client, study, comparison, researcher, settings, inline):
    """Ask a service that the operator has listed; return what became of it, and its page."""

    def ask(stub, allow=None, **changed):
        settings.EGRESS_ALLOW = stub.allow if allow is None else allow
        retrieval_cam.set_service(study=study, address=stub.address, actor=researcher)
        url = reverse("find_cam", args=[study.public_id, comparison.public_id])
        with inline():
            response = client.post(url, ASKED | changed)
        asked = CamRequest.objects.select_related("job").latest("pk")
        assert response.url == page_of(study, comparison, asked)
        return asked, client.get(response.url).content.decode()

    return ask


def page_of(study, comparison, asked, name="cam_request"):
    ids = [study.public_id, comparison.public_id, asked.public_id]
    return reverse(name, args=ids)


def test_sentences_are_shown_before_they_are_kept(ask, comparison):
    with JsonStub(REPLY) as stub:
        asked, page = ask(stub)
        ((path, query),) = stub.asked
    assert path == "/cam"
    assert (query["objectA"], query["aspect2"], query["weight2"]) == ("tea", "taste of it", "5")
    found = [(one["text"], one["favours"], one["score"]) for one in asked.found]
    assert found == [
        ("Tea is cheaper than coffee.", 1, 7.25),
        ("Coffee is stronger.", 2, 5.0),
        ("Tea <b>wins</b>.", 1, 3.0),
    ]
    assert "3 sentences" in page
    assert page.count("For tea") == 2
    assert "score 7.25" in page
    assert "Tea <b>" not in page
    assert 'href="javascript' not in page
    assert comparison.arguments.count() == 1
    # An address that nobody listed is not asked.
    with JsonStub(REPLY) as stub:
        asked, page = ask(stub, allow="")
        assert stub.asked == []
    assert "This site may not send requests to this address" in page
    assert "EGRESS_ALLOW" in page
    assert "127.0.0.1" not in asked.job.error


@pytest.mark.parametrize(
    ("stub", "words"),
    [
        ({"document": [], "status": 500}, "it answered 500"),
        ({"document": [], "status": 404}, "it answered 404"),
        ({"body": b"<html>"}, "its response is not JSON"),
        ({"document": {"error": "objectA is missing"}}, "it says “objectA is missing”"),
        ({"document": {}}, "no lists of sentences"),
        ({"document": [], "status": 302, "headers": {"Location": "/"}}, "redirects"),
    ],
)
def test_what_went_wrong_is_said(ask, stub, words):
    with JsonStub(**stub) as server:
        asked, page = ask(server)
    assert (asked.found, asked.job.state) == (None, "failed")
    assert words in asked.job.error
    assert "No sentences received" in page
    assert words in page


WRONG = {
    "weight": ("0", "6"),
    "most": ("0", "101", ""),
    "aspects": ("a,b,c,d,e,f", "x" * 101, "\x00"),
}


def test_chosen_sentences_become_arguments_once(client, study, comparison, researcher):
    known = comparison.arguments.get()
    asked = make_cam_request(comparison, researcher)
    url = page_of(study, comparison, asked, "cam_take")
    response = client.post(url, {"chosen": ["2", "3"]}, follow=True)
    assert "2 new arguments." in response.text
    assert response.text.count("Already an argument") == 2
    client.post(url, {"chosen": ["1", "2", "3", "4", "99", "x", "-1", "9" * 5]})
    assert comparison.arguments.count() == 1 + len(SENTENCES)
    argument = comparison.arguments.get(text=SENTENCES[1])
    origin = argument.origin
    assert argument.source_url == "https://page.example/1"
    assert (origin.kind, origin.source) == ("cam", "https://cam.example/cam")
    assert (origin.favours, origin.score, origin.added_by) == (2, 9.5, researcher)
    page = client.get(reverse("argument", args=[study.public_id, argument.public_id]))
    assert "supports coffee, according to the service" in page.text
    verbs = AuditEvent.objects.filter(verb="arguments_found").values_list("details", flat=True)
    assert sorted(one["new"] for one in verbs) == [1, 2]
    # A sentence that was imported before keeps what it has.
    asked = make_cam_request(comparison, researcher, texts=[known.text, "Tea beats all."])
    url = page_of(study, comparison, asked, "cam_take")
    response = client.post(url, {"everything": "1", "all": ["1", "2"]}, follow=True)
    assert "1 new argument. Already in the study: 1." in response.text
    known.refresh_from_db()
    assert known.source_url == ""
    assert not hasattr(known, "origin")
    # A request belongs to its comparison, and gives nothing while it waits.
    other = cast.make_arguments(study, 1, pair=("a", "b"))[0].comparison
    assert client.get(page_of(study, other, asked)).status_code == 404
    assert client.post(page_of(study, other, asked, "cam_take")).status_code == 404
    CamRequest.objects.update(found=None)
    page = client.post(url, {"chosen": ["1"]}, follow=True)
    assert "Choose at least one sentence." in page.text


ADDRESSES = ("https://cam.example/api", "http://10.0.0.7:5000/cam/{objectA}/{objectB}")


def give(client, study, address):
    url = reverse("cam_service", args=[study.public_id])
    return client.post(url, {"address": address}, follow=True)


def test_the_address_is_kept_changed_and_removed(client, study, comparison):
    # Nobody is asked without an address.
    url = reverse("find_cam", args=[study.public_id, comparison.public_id])
    assert "No CAM service yet" in client.get(url).text
    response = client.post(url, ASKED)
    assert (response.status_code, "has no CAM service" in response.text) == (422, True)
    assert not Job.objects.exists()
    for address in NO_ADDRESSES:
        assert give(client, study, address).status_code == 422, address
        assert not CamService.objects.exists()
    for address in (*ADDRESSES, ADDRESSES[1]):
        assert give(client, study, f" {address} ").status_code == 200
        assert retrieval_cam.address_of(study) == address
    assert AuditEvent.objects.filter(verb="cam_service_changed").count() == 2
    # What cannot be asked.
    for field, values in WRONG.items():
        for value in values:
            assert client.post(url, ASKED | {field: value}).status_code == 422, (field, value)
    assert not CamRequest.objects.exists()
    give(client, study, "")
    assert not CamService.objects.exists()


NO_ADDRESSES = (
    *("cam.example", "ftp://cam.example", "https://", "https://[::1"),
    *("https://me:secret@cam.example", "https://{objectA}.example/"),
    *(f"https://cam.example{rest}" for rest in ("/?objectA=x", "/#x", "/{colour}", ":99999/")),
    *(f"https://cam.example/{rest}" for rest in ("a b", "\x00", "x" * 500)),
)


@pytest.fixture
def call(researcher, study):
    """Send a request to an address of the study and return the decoded answer."""
    api = client_of(researcher)

    def call(method, address, body=None, status=200, **options):
        url = f"/api/v1/studies/{study.public_id}/{address}"
        response = getattr(api, method)(url, body, **({"format": "json"} | options))
        assert response.status_code == status, response.content
        return response.json() if response.content else None

    return call


def upload(content, name="Forum", file="forum.txt"):
    return {"name": name, "file": SimpleUploadedFile(file, content)}


@pytest.mark.long
def test_from_a_file_to_arguments(call, inline):
    made = call("post", "comparisons/", {"object1": "tea", "object2": "coffee"}, 201)
    again = call("post", "comparisons/", {"object1": "tea", "object2": "coffee"}, 200)
    assert again["id"] == made["id"]
    with inline():
        table = b"x,y\nTea is cheaper than coffee.,https://a.example\nTea.,\n"
        corpus = call("post", "corpora/", upload(table, file="a.csv"), 202, format="multipart")
    one = f"corpora/{corpus['id']}/"
    assert call("get", one)["state"] == "refused"
    with inline():
        call("post", f"{one}check/", {"text": "x", "url": "y"}, 202)
    looked = call("get", one)
    assert (looked["state"], looked["found"]["sentences"]) == ("checked", 2)
    with inline():
        call("post", f"{one}load/", {}, 202)
    assert call("get", one)["sentence_count"] == 2
    call("post", f"{one}load/", {}, 409)
    call("post", f"{one}check/", {}, 409)
    find = f"comparisons/{made['id']}/find/"
    (hit,) = call("get", find)
    assert hit["text"] == "Tea is cheaper than coffee."
    assert (hit["source_url"], hit["corpus"]) == ("https://a.example", corpus["id"])
    assert (hit["is_comparative"], hit["is_known"]) == (True, False)
    take = f"comparisons/{made['id']}/take/"
    assert call("post", take, {"keys": [hit["key"]]}) == {"new": 1, "same": 0}
    assert call("post", take, {"keys": [hit["key"], "0" * 64]}) == {"new": 0, "same": 1}
    assert call("get", find)[0]["is_known"]
    (argument,) = call("get", "arguments/")["results"]
    assert (argument["origin"]["kind"], argument["origin"]["source"]) == ("corpus", "Forum")
    call("delete", one, status=204)
    call("get", one, status=404)


def test_what_another_study_has_what_is_taken_and_what_is_too_large_is_refused(
    call, study, comparison, settings
):
    foreign = make_corpus(cast.make_study("Study B"))
    theirs = cast.make_arguments(foreign.study, 1)[0].comparison
    call("get", f"comparisons/{comparison.public_id}/find/?corpus={foreign.public_id}", status=400)
    call("post", "cam-requests/", {"comparison": str(theirs.public_id)}, 400)
    make_corpus(study, name="Taken")
    call("post", "corpora/", upload(b"Tea.", name="Taken"), 400, format="multipart")
    settings.MAX_UPLOAD_BYTES = 3
    call("post", "corpora/", upload(b"Tea."), 400, format="multipart")
    assert study.corpora.count() == 1


def test_a_cam_service_is_asked(call, comparison, settings, inline):
    body = {"comparison": str(comparison.public_id), "aspects": ["price"], "most": 1}
    call("post", "cam-requests/", body, 409)
    sides = {"object1": {"sentences": [[2, "A"], [1, "B"]]}, "object2": {"sentences": ["C"]}}
    with JsonStub(sides) as stub:
        settings.EGRESS_ALLOW = stub.allow
        call("patch", "cam-service/", {"address": stub.address})
        assert call("get", "cam-service/") == {"address": stub.address}
        with inline():
            asked = call("post", "cam-requests/", body, 202)
        assert (asked["is_answered"], asked["found"]) == (False, None)
        assert stub.asked[0][1]["weight1"] == "3"
    one = f"cam-requests/{asked['id']}/"
    found = call("get", one)["found"]
    assert [(each["text"], each["favours"]) for each in found] == [("A", 1), ("C", 2)]
    assert call("post", f"{one}take/", {"places": [1, 2, 3]}) == {"new": 2, "same": 0}
    assert set(comparison.arguments.values_list("text", flat=True)) >= {"A", "C"}
    (listed,) = call("get", f"cam-requests/?comparison={comparison.public_id}")["results"]
    assert "found" not in listed
