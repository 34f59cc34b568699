"""The desk over HTTP: with and without script, what it knows, what it must not show."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.actions import editing_drafts, editing_rounds
from annotation.methods.answer_checks import CHECKS
from annotation.models import DraftConflict, EditingTask, FinalLabel, Revision
from annotation.reports.editing_checks import TITLES
from annotation.reports.integrity import find_violations
from tests.annotation.editing_cast import make_answers, make_round, tasks_of
from tests.cast import make_campaign, make_member, make_study, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def task(study):
    make_answers(study)
    return tasks_of(make_round(study))[0]


@pytest.fixture
def client(task):
    return sign_in(task.editor)


def address(name, task, *more):
    return reverse(name, args=[task.editing_round.study.public_id, task.public_id, *more])


def page(client, task):
    reply = client.get(address("desk", task))
    assert reply.status_code == 200
    return reply.content.decode()


def send(visitor, task, text, base=0, /, *, name="desk_save", wants="application/json", **more):
    body = {"text": text, "base_version": base, "client": "tab", "sequence": 1} | more
    return visitor.post(address(name, task), body, headers={"Accept": wants})


def submit(visitor, task, text, base=0, /, **more):
    body = {"client_key": "key", "reasons": ["wording"], "name": "desk_submit"} | more
    return send(visitor, task, text, base, **body)


def close(task):
    actor = make_member(task.editing_round.study, "researcher")
    editing_rounds.close_round(editing_round=task.editing_round, actor=actor)


def text_field(html):
    return re.search(r'<textarea id="text".*?>\n(.*?)</textarea>', html, re.DOTALL)[1]


# -- what the page shows -------------------------------------------------------------------------


def test_arguments_with_label_and_citation_the_text_and_every_check(client, task, study):
    entries = task.answer.argument_list.entries.select_related("argument").order_by("number")
    campaign = make_campaign(study, ordinary=1, controls=0)
    FinalLabel.objects.create(
        campaign=campaign, argument=entries[0].argument, label=3, provenance="votes", votes=3
    )
    html = page(client, task)
    assert text_field(html) == task.answer.text
    listed = re.findall(r'<li data-argument="(\d)".*?class="(cited)?">', html)
    assert listed == [("1", "cited"), ("2", "cited"), ("3", "")]
    assert "relevance 3" in html
    assert html.count("no label") == 2
    for name in CHECKS:
        assert f'data-name="{name}"' in html


def test_every_check_has_a_title():
    assert list(TITLES) == list(CHECKS)


def test_nothing_says_which_system_wrote_the_answer_or_what_others_do(client, task):
    answer = task.answer
    answer.system.name = "SYSTEM-SENTINEL"
    answer.system.save()
    answer.source = "FILE-SENTINEL"
    answer.save()
    other = tasks_of(task.editing_round, answer=answer)[-1]
    assert other.editor != task.editor
    sign_in_other = sign_in(other.editor)
    send(sign_in_other, other, "OTHER-SENTINEL draft")
    submit(sign_in_other, other, "OTHER-SENTINEL revision", 1, sequence=2)
    for name in ("desk", "editing_history"):
        html = client.get(address(name, task)).content.decode()
        assert "SENTINEL" not in html
    assert "SENTINEL" not in client.get(reverse("editing", args=[answer.study.public_id])).text


def test_texts_are_escaped_everywhere(client, task):
    nasty = "</textarea><script>alert(1)</script>\"[1]'<b>"
    send(client, task, nasty)
    DraftConflict.objects.create(task=task, base_version=0, met_version=1, text=nasty + "x")
    submit(client, task, nasty, 1, sequence=2, comment=nasty)
    for name in ("desk", "editing_history"):
        html = client.get(address(name, task)).content.decode()
        assert "<script>alert" not in html
        assert "<b>" not in html
    reply = send(client, task, nasty + "y", 0, client="another")
    assert reply.status_code == 409
    assert "<script>" not in reply.json()["conflict"]


def test_the_page_costs_as_many_queries_for_long_lists_as_for_short_ones(client, task):
    counts = []
    for _turn in range(2):
        with CaptureQueriesContext(connection) as queries:
            page(client, task)
        counts.append(len(queries))
        for number in range(3, 40):
            save_as(task, f"text {number}", number)
    assert counts[0] == counts[1] <= 11, counts


def save_as(task, text, number):
    fresh = editing_drafts.fresh(task)
    sent = editing_drafts.Sent(text, fresh.draft_version, "tab", number)
    editing_drafts.save_draft(task=fresh, sent=sent)


def test_a_save_costs_few_queries(client, task):
    send(client, task, "first")
    with CaptureQueriesContext(connection) as queries:
        assert send(client, task, "second", 1, sequence=2).status_code == 200
    assert len(queries) <= 9, [query["sql"][:90] for query in queries]


# -- saving and submitting with script -----------------------------------------------------------


def test_a_save_answers_with_the_version_and_the_checks(client, task):
    reply = send(client, task, "Short [1].")
    body = reply.json()
    assert set(body) == {"version", "saved_at", "state", "checks"}
    assert body["version"] == 1
    assert "2 words" in body["checks"] or "1 word" in body["checks"]


def test_a_fixed_check_turns_good(client, task):
    wrong = send(client, task, task.answer.text.replace("[2]", "[7]")).json()["checks"]
    right = send(client, task, task.answer.text, 1, sequence=2).json()["checks"]
    assert 'class="check open" data-name="citations_exist"' in wrong
    assert 'class="check good" data-name="citations_exist"' in right
    places = json.loads(re.search(r'data-check="citations_exist" data-places="(.*?)"', wrong)[1])
    changed = task.answer.text.replace("[2]", "[7]")
    assert [changed[start:end] for start, end in places] == ["[7]"]


def test_a_conflict_comes_back_with_both_texts(client, task):
    send(client, task, "The stored words.", client="one")
    reply = send(client, task, "The words that arrived.", client="two")
    assert reply.status_code == 409
    html = reply.json()["conflict"]
    assert re.sub("<.*?>", "", html).count("stored words") == 1
    assert "that arrived" in re.sub("<.*?>", "", html)
    assert 'name="base_version" value="1"' in html
    assert DraftConflict.objects.get().text == "The words that arrived."


def test_submitting_stores_a_revision_with_reasons_and_checks(client, task):
    reply = submit(client, task, "New text.", reasons=["citation", "length"], comment="Why")
    assert reply.json() == {"revision": 1, "page": address("desk", task)}
    revision = Revision.objects.get()
    assert revision.reasons == ["citation", "length"]
    assert revision.comment == "Why"
    assert set(revision.checks) == set(CHECKS)
    assert revision.created_by == task.editor
    html = page(client, task)
    assert "Submitted as revision 1." in html
    assert "This answer is submitted" in html
    assert list(find_violations()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reasons": []}, "Choose at least one reason"),
        ({"reasons": ["nonsense"]}, "not one of the available choices"),
        ({"base_version": ""}, "required"),
        ({"client_key": ""}, "required"),
        ({"text": "x" * 100_001}, "at most 100000"),
        ({"text": "nul\x00"}, "Null characters"),
    ],
)
def test_what_cannot_be_stored_is_explained(client, task, change, message):
    reply = submit(client, task, change.pop("text", "Changed."), **change)
    assert reply.status_code == 422
    assert message in reply.json()["detail"]
    assert not Revision.objects.exists()


def test_a_request_without_a_text_empties_nothing(client, task):
    body = {"base_version": 0, "client": "tab", "sequence": 1}
    assert client.post(address("desk_save", task), body).status_code == 422
    assert EditingTask.objects.get(pk=task.pk).draft_version == 0


def test_after_the_round_the_text_is_kept_and_the_page_says_so(client, task):
    close(task)
    for name in ("desk_save", "desk_submit"):
        reply = submit(client, task, f"Late {name}.", name=name)
        assert reply.status_code == 409
        assert reply.json()["error"] == "closed"
    assert {row.text for row in DraftConflict.objects.all()} == {
        "Late desk_save.",
        "Late desk_submit.",
    }
    html = page(client, task)
    assert "This round is closed" in html
    assert 'id="submit"' not in html
    assert re.search(r'<textarea id="text"[^>]* readonly', html)


# -- without script ------------------------------------------------------------------------------

PLAIN = {"wants": "text/html", "client": "", "sequence": 0}


def test_a_plain_form_saves_and_submits_the_same_text(client, task):
    reply = send(client, task, "One\r\ntwo  \r\n", **PLAIN)
    assert (reply.status_code, reply["Location"]) == (303, address("desk", task))
    assert EditingTask.objects.get(pk=task.pk).draft == "One\ntwo  \n"
    html = page(client, task)
    assert text_field(html) == "One\ntwo  \n"
    assert 'name="base_version" value="1"' in html
    reply = submit(client, task, "One\r\ntwo  \r\n", 1, **PLAIN)
    assert reply.status_code == 303
    assert Revision.objects.get().text == "One\ntwo  \n"


def test_a_plain_form_with_a_mistake_brings_the_text_back(client, task):
    reply = submit(client, task, "Changed here.", reasons=[], comment="No reason", **PLAIN)
    assert reply.status_code == 422
    html = reply.content.decode()
    assert "Choose at least one reason" in html
    assert text_field(html) == "Changed here."
    assert "No reason" in html
    reply = submit(client, task, "y" * 100_001, reasons=["length"], **PLAIN)
    assert text_field(reply.content.decode()) == "y" * 100_001


def test_a_plain_conflict_is_shown_and_settled_on_the_page(client, task):
    send(client, task, "Stored words.", client="one")
    reply = send(client, task, "Arrived words.", **PLAIN)
    assert reply.status_code == 303
    html = page(client, task)
    assert "Two versions of this text" in html
    conflict = DraftConflict.objects.get()
    settle = address("desk_settle", task, conflict.public_id)
    assert settle in html
    empty = client.post(settle, {"choice": "merged", "base_version": 1, "text": "  "})
    assert empty.status_code == 422
    client.post(settle, {"choice": "merged", "base_version": 1, "text": "Both\r\nwords."})
    assert EditingTask.objects.get(pk=task.pk).draft == "Both\nwords."
    assert "Two versions" not in page(client, task)
    history = client.get(address("editing_history", task)).content.decode()
    assert "Text kept aside (1)" in history
    assert "Earlier draft, version 1" in history


def test_choosing_from_an_old_view_asks_again(client, task):
    send(client, task, "Stored words.", client="one")
    send(client, task, "Arrived words.", client="two")
    send(client, task, "Stored words, later.", 1, client="one", sequence=2)
    settle = address("desk_settle", task, DraftConflict.objects.get().public_id)
    assert client.post(settle, {"choice": "mine", "base_version": 1}).status_code == 303
    assert EditingTask.objects.get(pk=task.pk).draft == "Stored words, later."
    html = page(client, task)
    assert "The stored text changed once more" in html
    assert "Two versions of this text" in html


# -- whose desk ----------------------------------------------------------------------------------


def test_everybody_elses_tasks_do_not_exist(task, study):
    conflict = DraftConflict.objects.create(task=task, base_version=0, met_version=0, text="x")
    colleague = next(
        row.editor for row in tasks_of(task.editing_round) if row.editor != task.editor
    )
    names = ["desk", "desk_save", "desk_submit", "editing_history"]
    addresses = [address(name, task) for name in names]
    addresses.append(address("desk_settle", task, conflict.public_id))
    for here in addresses:
        method = "get" if here.endswith(("/history/", f"{task.public_id}/")) else "post"
        assert getattr(sign_in(colleague), method)(here).status_code == 404
        assert getattr(sign_in(make_member(study, "annotator")), method)(here).status_code == 403
    researcher = sign_in(make_member(study, "researcher"))
    assert researcher.get(address("editing_history", task)).status_code == 200
    assert researcher.get(address("desk", task)).status_code == 403


def test_who_left_the_study_has_no_desk(client, task):
    task.editor.memberships.update(is_active=False)
    assert client.get(address("desk", task)).status_code == 404
    assert send(client, task, "Too late.").status_code == 404


# -- history -------------------------------------------------------------------------------------


def test_any_two_versions_are_compared_word_by_word(client, task):
    first = task.answer.text.replace("calmer", "gentler")
    second = first.replace("[2]", "[2, 3]")
    submit(client, task, first)
    submit(client, task, second, 2, client_key="k2", sequence=2, reasons=["citation"])
    here = address("editing_history", task)
    html = client.get(here).content.decode()
    assert "<del>calmer</del>" in html
    assert "<ins>gentler</ins>" in html
    assert "Citation corrected" in html
    html = client.get(here + "?from=1&to=2").content.decode()
    assert "gentler</ins>" not in html
    assert re.search(r"<ins>, 3</ins>|<ins>, </ins>|<ins>,</ins>", html)
    assert client.get(here + "?from=1&to=9").status_code == 404


def test_an_old_version_is_put_on_the_desk_again(client, task):
    submit(client, task, "Revised.")
    html = client.get(address("editing_history", task)).content.decode()
    assert html.count("Put on the desk") == 1
    send(client, task, task.answer.text, 2, wants="text/html", client="", sequence=0)
    assert page(client, task).count("Two versions") == 0
    assert EditingTask.objects.get(pk=task.pk).draft == task.answer.text


def test_a_changed_revision_is_found(client, task):
    submit(client, task, "Revised.")
    Revision.objects.update(text="Forged.")
    assert any("revision" in finding for finding in find_violations())
