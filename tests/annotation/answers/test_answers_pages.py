"""Questions, answers side by side, systems, files: what each page shows, and to whom."""

import csv
import io
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.answers.models import used_conditions
from annotation.consensus.models import FinalLabel
from annotation.editing.models import EditingRound, EditingSheet, Revision
from annotation.faithfulness.models import FaithfulnessFigures
from cqa_site.people.actions import rater_for
from cqa_site.people.models import AuditEvent
from tests import cast
from tests.annotation.made_answers import make_answer, make_list, make_question, make_system
from tests.flat import flat

pytestmark = pytest.mark.django_db


@pytest.fixture
def expert(study):
    return cast.sign_in(cast.make_member(study, "expert"))


@pytest.fixture
def answered(study):
    """One question with a list, two models and a person."""
    question = make_question(study)
    listed = make_list(question)
    one, two = make_system(study, "GPT-SENTINEL"), make_system(study, "CAM-SENTINEL", "imported")
    human = make_system(study, "HUMAN-SENTINEL", "human")
    make_answer(question, one, "First text [1, 2].", listed=listed, source="FILE-SENTINEL.json")
    make_answer(question, one, "Second text [1, 9].", listed=listed, choice=2)
    make_answer(question, two, "Third text [3].", scenario=0)
    make_answer(question, human, "PRIVATE-TEXT of a person.", scenario=0)
    return question


def get(client, name, *args, query=""):
    response = client.get(reverse(name, args=args) + query)
    assert response.status_code == 200
    return flat(response.content.decode())


def queries_of(client, name, *args):
    get(client, name, *args)
    with CaptureQueriesContext(connection) as found:
        get(client, name, *args)
    return len(found)


def test_questions_are_found(client, expert, study):
    tea = make_question(study)
    make_question(study, aspect="price")
    train = make_question(study, ("train", "plane"), wording="An own worded question?")
    make_answer(tea, make_system(study, "GPT-SENTINEL"))
    texts = {
        "tea": ">Which is better: tea",
        "tea price": ">Which is better for price",
        "train": ">An own",
    }
    by_system = f"?system={study.systems.get().public_id}"
    for query, found in {
        "": {"tea", "tea price", "train"},
        "?q=TRAIN": {"train"},
        "?q=price": {"tea price"},
        "?q=worded": {"train"},
        "?aspect=-": {"tea", "train"},
        "?aspect=%3Dprice": {"tea price"},
        "?aspect=nonsense": {"tea", "tea price", "train"},
        by_system: {"tea"},
        f"?comparison={train.comparison.public_id}": {"train"},
        "?q=nothing": set(),
    }.items():
        page = get(client, "questions", study.public_id, query=query)
        assert {name for name, text in texts.items() if text in page} == found, query
        assert ("Nothing matches" in page) == (not found), query
    # Experts learn neither systems nor what people wrote.
    make_answer(tea, make_system(study, "HUMAN-SENTINEL", "human"), scenario=0)
    page = get(expert, "questions", study.public_id, query=by_system)
    assert "SENTINEL" not in page
    assert "Answered by" not in page
    assert re.findall(r'<td class="number[^"]*">(\d+)</td>', page) == ["1", "0", "0"]


def test_all_answers_stand_side_by_side_with_their_arguments(client, expert, study, answered):
    page = get(client, "question", study.public_id, answered.public_id)
    names = re.findall(r'id="text-\d+"><a [^>]+>([^<]+)-SENTINEL<', page)
    assert names == ["CAM", "GPT", "GPT", "HUMAN"]
    assert 'href="#argument-1-1"' in page
    assert 'id="argument-1-3"' in page
    # Cited by both texts that have this list; the number 9 stands for nothing.
    assert "cited in 2 texts" in page
    assert 'title="No argument has this number">9</span>' in page
    assert "Scenario 4 · choice 2" in page
    # The label of the newest round stands beside an argument; experts may still have to label it.
    label = {"label": 2, "provenance": "votes", "label_round": cast.make_label_round(study)}
    listed = answered.argument_lists.get().entries
    FinalLabel.objects.create(argument=listed.get(number=2).argument, **label)
    page = get(client, "question", study.public_id, answered.public_id)
    assert (page.count("Relevance 2"), page.count("not labelled")) == (1, 2)
    theirs = get(expert, "question", study.public_id, answered.public_id)
    assert "Relevance 2" not in theirs
    assert "not labelled" not in theirs


def test_a_researcher_can_hide_who_wrote_them(client, study, answered):
    ids = (study.public_id, answered.public_id)
    query = f"?blind=on&system={study.systems.get(name='GPT-SENTINEL').public_id}"
    page = get(client, "question", *ids, query=query)
    assert "SENTINEL" not in page
    assert "scenario 4" not in page.split('class="answer-columns"')[1]
    assert re.findall(r'id="text-\d+">([^<]+)<', page) == ["Text 1", "Text 2", "Text 3", "Text 4"]
    assert not re.search(r"/answers/[0-9a-f-]{36}/", page)
    # A mistake in a filter does not bring the names back.
    page = get(client, "question", *ids, query="?blind=on&choice=x&system=nobody")
    assert "SENTINEL" not in page
    assert "Text 4" in page


def test_blindness_is_forced_on_experts_whatever_they_ask(expert, study, answered):
    gpt = study.systems.get(name="GPT-SENTINEL").public_id
    for query in ("", "?blind=", f"?system={gpt}", "?scenario=4", "?choice=2"):
        page = get(expert, "question", study.public_id, answered.public_id, query=query)
        for hidden in ("SENTINEL", "PRIVATE-TEXT", "of a person"):
            assert hidden not in page, query
        assert all(f"{text} text" in page for text in ("First", "Second", "Third"))
        assert not re.search(r"/(answers|systems|arguments)/[0-9a-f-]{36}/", page)


def test_the_blind_order_is_a_person_s_own_and_stays(study):
    question = make_question(study)
    for number in range(10):
        make_answer(question, make_system(study, f"S{number}"), f"Text no. {number}")

    def order(client):
        page = get(client, "question", study.public_id, question.public_id)
        return re.findall(r"Text no\. (\d)", page)

    people = [cast.sign_in(cast.make_member(study, "expert")) for _ in range(3)]
    orders = [order(person) for person in people]
    assert orders == [order(person) for person in people]
    assert len({tuple(each) for each in [*orders, list("0123456789")]}) == 4


def test_one_answer_says_where_it_came_from_and_what_became_of_it(client, study, answered):
    answer = study.answers.get(text__startswith="First")
    ids = (study.public_id, answer.public_id)
    page = get(client, "answer", *ids)
    for words in ("FILE-SENTINEL.json, record 1", answer.text_sha256, "No expert has edited"):
        assert words in page
    assert queries_of(client, "answer", *ids) <= 12
    values = {"key": "k", "segments": 7, "precision": 0.875, "f1": 0.5}
    FaithfulnessFigures.objects.create(answer=answer, mode="sound", **values)
    revise(study, answer, comment="Shorter now.")
    page = get(client, "answer", *ids)
    assert ".875" in page
    assert "Shorter now." in page


def revise(study, answer, text="Edited [1].", comment=""):
    """One submitted revision by a new expert."""
    editor = cast.make_member(study, "expert", "Name-Sentinel")
    round_, _made = EditingRound.objects.get_or_create(study=study, name="Round")
    rater = rater_for(membership=editor.memberships.get())
    sheet = EditingSheet.objects.create(study=study, round=round_, rater=rater, answer=answer)
    content = {"text": text, "reasons": ["wording", "length"], "comment": comment}
    return Revision.objects.create(sheet=sheet, number=1, content=content, client_key="k")


def test_a_question_is_added_once(client, study):
    comparison = make_question(study).comparison
    address = reverse("question_new", args=[study.public_id])
    asked = {"comparison": comparison.public_id, "aspect": " price ", "wording": ""}
    response = client.post(address, asked)
    made = study.questions.get(aspect="price")
    assert response.url == reverse("question", args=[study.public_id, made.public_id])
    again = client.post(address, asked)
    assert (again.status_code, "already in the study" in again.text) == (422, True)
    assert AuditEvent.objects.filter(study=study, verb="question_added").count() == 1


def test_a_system_is_corrected_but_not_to_a_name_that_is_taken(client, study, answered):
    system = study.systems.get(name="GPT-SENTINEL")
    address = reverse("system", args=[study.public_id, system.public_id])
    taken = client.post(address, {"name": "CAM-SENTINEL", "kind": "model"})
    assert (taken.status_code, "Another system" in taken.text) == (422, True)
    assert client.post(address, {"name": "", "kind": "model"}).status_code == 422
    assert client.post(address, {"name": "GPT-4", "kind": "human"}).status_code == 302
    system.refresh_from_db()
    assert (system.name, system.kind, system.answers.count()) == ("GPT-4", "human", 2)
    (line,) = AuditEvent.objects.filter(study=study, verb="system_changed")
    before = {"name": "GPT-SENTINEL", "kind": "model"}
    assert (line.subject, line.details) == ("GPT-4", {"before": before})


def download(client, study, **asked):
    response = client.post(reverse("answers_file", args=[study.public_id]), asked)
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode("utf-8-sig")


def lines_of(client, study, content):
    text = download(client, study, content=content, format="jsonl")
    assert "OTHER-STUDY" not in text
    return [json.loads(line) for line in text.splitlines()]


def test_who_wrote_the_answers_is_proposed_and_corrected_before_importing(
    client, study, files_apart, inline
):
    record = {"object1": "tea", "object2": "coffee", "aspect": "", "comparison": "Tea."}
    file = SimpleUploadedFile("mixtral_scenario_3.json", json.dumps([record]).encode())
    upload = {"kind": "answers", "file": file, "label_round": "", "system": "", "scenario": ""}
    with inline():
        response = client.post(reverse("import_upload", args=[study.public_id]), upload)
    page = client.get(response.url).content.decode()
    assert 'value="mixtral"' in page
    assert '<option value="3" selected>' in page
    imported = study.import_files.get()
    args = [study.public_id, imported.public_id]
    with inline():
        client.post(reverse("import_origin", args=args), {"system": "Mixtral 8x7B", "scenario": 4})
    assert study.answers.count() == 0
    with inline():
        client.post(reverse("import_apply", args=args))
    answer = study.answers.select_related("system").get()
    assert (answer.system.name, answer.scenario) == ("Mixtral 8x7B", 4)
    page = client.get(response.url).content.decode()
    assert reverse("questions", args=[study.public_id]) in page
    assert "See who wrote the answers" not in page


@pytest.mark.long
def test_answers_are_filtered_and_come_page_by_page_at_a_constant_cost(client, study, answered):
    ids = (study.public_id, answered.public_id)
    words = {"First", "Second", "Third", "PRIVATE"}
    gpt = study.systems.get(name="GPT-SENTINEL").public_id
    for query, texts in {
        "?scenario=4": {"First", "Second"},
        "?scenario=0": {"Third", "PRIVATE"},
        "?choice=2": {"Second"},
        f"?system={gpt}&choice=1": {"First"},
        "?scenario=3": set(),
        "?choice=none": words,
        "?choice=none&scenario=4": {"First", "Second"},
    }.items():
        page = get(client, "question", *ids, query=query)
        assert {word for word in words if word in page} == texts, query
    make_answer(make_question(study, aspect="price"), make_system(study, "GPT-SENTINEL"))
    page = get(client, "systems", study.public_id)
    row = page.split("GPT-SENTINEL</a>")[1].split("</tr>")[0]
    # Questions, answers, then by condition: another system answered without a scenario.
    assert re.findall(r">(\d+)</td>", row) == ["2", "3", "0", "3"]
    names = re.findall(r'class="number scenario">([^<]+)</th>', page)
    assert names == [str(one) for one in used_conditions(study)]
    few = queries_of(client, "question", *ids), queries_of(client, "systems", study.public_id)
    for number in range(26):
        listed = make_list(answered, 2) if number % 3 else None
        make_answer(answered, make_system(study, f"S{number}"), listed=listed, choice=number)
    assert queries_of(client, "question", *ids) == few[0] <= 12
    assert queries_of(client, "systems", study.public_id) == few[1] <= 6
    assert "25–30 of 30" in get(client, "question", *ids, query="?page=3")
    assert "Text 25" in get(client, "question", *ids, query="?page=3&blind=on")
    few = queries_of(client, "questions", study.public_id)
    for number in range(58):
        make_answer(make_question(study, (f"a{number}", "b")), make_system(study, "S0"))
    assert queries_of(client, "questions", study.public_id) == few <= 13
    assert "1–50 of 60" in get(client, "questions", study.public_id)


def test_files_of_answers_have_their_origin_hide_people_and_are_logged(client, study, answered):
    make_answer(make_question(cast.make_study("B")), text="OTHER-STUDY")
    first, *others = lines_of(client, study, "answers")
    assert len(others) == 3
    assert (first["system"], first["scenario"], first["choice"]) == ("GPT-SENTINEL", 4, 1)
    assert (first["source"], first["position"], first["run"]) == ("FILE-SENTINEL.json", 1, None)
    assert first["text"] == "First text [1, 2]."
    assert first["question_id"] == str(answered.public_id)
    listed = lines_of(client, study, "arguments")
    assert {row["argument_list_id"] for row in listed} == {first["argument_list_id"]}
    assert [row["number"] for row in listed] == [1, 2, 3]
    (asked,) = lines_of(client, study, "questions")
    assert (asked["object1"], asked["aspect"], asked["wording"]) == ("tea", "", "")
    # Revisions hide names and comments.
    answer = study.answers.get(text__startswith="First")
    revise(study, answer, comment="COMMENT-SENTINEL")
    (row,) = lines_of(client, study, "revisions")
    assert row["answer_id"] == str(answer.public_id)
    assert row["editor_id"].startswith("E-")
    assert (row["number"], row["reasons"]) == (1, ["wording", "length"])
    editor = str(Revision.objects.get().sheet.rater.user.public_id)
    for hidden in ("Sentinel", "COMMENT-SENTINEL", editor):
        assert hidden not in json.dumps(row)
    with_comments = {"content": "revisions", "format": "csv", "with_comments": "on"}
    (row,) = csv.DictReader(io.StringIO(download(client, study, **with_comments)))
    assert row["comment"] == "COMMENT-SENTINEL"
    assert json.loads(row["reasons"]) == ["wording", "length"]
    lines = AuditEvent.objects.filter(study=study, verb="answers_exported")
    assert lines.count() == 5
    assert lines.first().details["content"]
