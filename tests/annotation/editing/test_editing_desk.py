"""The desk over HTTP: with and without script, what it knows, what it must not show."""

import re

import pytest
from django.urls import reverse

from annotation.answers.methods.checklist import CHECKS
from annotation.consensus.models import FinalLabel
from annotation.editing.models import ConflictingText, EditingSheet, Revision
from cqa_site.rounds.lifecycle import close_round, find_violations
from tests.annotation.editing_cast import first_sheet, sheets_of
from tests.cast import make_label_round, make_member, sign_in
from tests.flat import flat
from tests.worlds import built_once

sheet = built_once(first_sheet)


@pytest.fixture
def client(sheet):
    return sign_in(sheet.rater.user)


def address(name, sheet, *more):
    return reverse(name, args=[sheet.round.study.public_id, sheet.public_id, *more])


def page(client, sheet):
    reply = client.get(address("desk_form", sheet))
    assert reply.status_code == 200
    return reply.content.decode()


def send(visitor, sheet, text, base=0, /, *, name="desk_save", wants="application/json", **more):
    body = {"text": text, "base_version": base, "client": "tab", "sequence": 1} | more
    return visitor.post(address(name, sheet), body, headers={"Accept": wants})


def submit(visitor, sheet, text, base=0, /, **more):
    body = {"client_key": "key", "reasons": ["wording"], "name": "desk_submit"} | more
    return send(visitor, sheet, text, base, **body)


def text_field(html):
    return re.search(r'<textarea id="text".*?>\n(.*?)</textarea>', html, re.DOTALL)[1]


def test_arguments_with_label_and_citation_the_text_and_every_check(client, sheet):
    entries = sheet.answer.argument_list.entries.select_related("argument").order_by("number")
    label_round = make_label_round(sheet.round.study, ordinary=1, controls=0)
    label = {"label": 3, "provenance": "votes", "votes": 3, "label_round": label_round}
    FinalLabel.objects.create(argument=entries[0].argument, **label)
    html = page(client, sheet)
    assert text_field(html) == sheet.answer.text
    listed = re.findall(r'<li data-argument="(\d)".*?class="(cited)?">', flat(html))
    assert listed == [("1", "cited"), ("2", "cited"), ("3", "")]
    assert "Relevance 3" in html
    assert html.count("No label") == 2
    for name in CHECKS:
        assert f'data-name="{name}"' in html
    # After the round the text can only be read.
    close_round(round_=sheet.round, actor=make_member(sheet.round.study, "researcher"))
    html = page(client, sheet)
    assert 'id="submit"' not in html
    assert re.search(r'<textarea id="text"[^>]* readonly', html)


def test_nothing_says_which_system_wrote_the_answer_or_what_others_do(client, sheet):
    answer = sheet.answer
    answer.system.name = "SYSTEM-SENTINEL"
    answer.system.save()
    answer.source = "FILE-SENTINEL"
    answer.save()
    other = sheets_of(sheet.round, answer=answer)[-1]
    assert other.rater.user != sheet.rater.user
    visitor = sign_in(other.rater.user)
    send(visitor, other, "OTHER-SENTINEL draft")
    submit(visitor, other, "OTHER-SENTINEL revision", 1, sequence=2)
    editing = reverse("editing", args=[answer.study.public_id])
    for url in (address("desk_form", sheet), address("editing_history", sheet), editing):
        assert "SENTINEL" not in client.get(url).text


def test_submitting_stores_a_revision_with_reasons_and_checks(client, sheet):
    for change, message in (
        ({"reasons": []}, "Choose at least one reason"),
        ({"reasons": ["nonsense"]}, "not one of the available choices"),
        ({"base_version": ""}, "required"),
        ({"text": "x" * 100_001}, "at most 100000"),
        ({"text": "nul\x00"}, "Null characters"),
    ):
        reply = submit(client, sheet, change.pop("text", "Changed."), **change)
        assert reply.status_code == 422, message
        assert message in reply.json()["detail"]
    assert not Revision.objects.exists()
    base = EditingSheet.objects.get(pk=sheet.pk).version
    first = sheet.answer.text.replace("calmer", "gentler")
    fields = {"reasons": ["citation", "length"], "comment": "Why", "sequence": 2}
    reply = submit(client, sheet, first, base, **fields)
    assert reply.json() == {"page": address("desk_form", sheet)}
    revision = Revision.objects.get()
    assert (revision.reasons, revision.comment) == (["citation", "length"], "Why")
    assert (set(revision.checks), revision.sheet) == (set(CHECKS), sheet)
    html = page(client, sheet)
    assert "Submitted as revision 1." in html
    assert "This answer has been submitted" in html
    assert list(find_violations()) == []
    # Any two versions are compared word by word.
    base = EditingSheet.objects.get(pk=sheet.pk).version
    submit(client, sheet, first.replace("[2]", "[2, 3]"), base, client_key="k2", sequence=3)
    here = address("editing_history", sheet)
    html = flat(client.get(here).text)
    for shown in ("<del>calmer</del>", "<ins>gentler</ins>", "Citation corrected"):
        assert shown in html
    html = flat(client.get(here + "?from=1&to=2").text)
    assert "gentler</ins>" not in html
    assert re.search(r"<ins>, 3</ins>|<ins>, </ins>|<ins>,</ins>", html)
    assert client.get(here + "?from=1&to=9").status_code == 404


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reasons": []}, "Choose at least one reason"),
        ({"reasons": ["nonsense"]}, "not one of the available choices"),
        ({"base_version": ""}, "required"),
        ({"text": "x" * 100_001}, "at most 100000"),
        ({"text": "nul\x00"}, "Null characters"),
    ],
)
def test_what_cannot_be_stored_is_explained(client, sheet, change, message):
    reply = submit(client, sheet, change.pop("text", "Changed."), **change)
    assert reply.status_code == 422
    assert message in reply.json()["detail"]
    assert not Revision.objects.exists()


PLAIN = {"wants": "text/html", "client": "", "sequence": 0}


def test_a_plain_form_saves_and_submits_the_same_text(client, sheet):
    reply = send(client, sheet, "One\r\ntwo  \r\n", **PLAIN)
    assert (reply.status_code, reply["Location"]) == (303, address("desk_form", sheet))
    assert EditingSheet.objects.get(pk=sheet.pk).text == "One\ntwo  \n"
    html = page(client, sheet)
    assert text_field(html) == "One\ntwo  \n"
    assert 'name="base_version" value="1"' in html
    # A mistake brings the text back.
    reply = submit(client, sheet, "Changed here.", 1, reasons=[], comment="No reason", **PLAIN)
    assert (reply.status_code, text_field(reply.text)) == (422, "Changed here.")
    assert "Choose at least one reason" in reply.text
    assert "No reason" in reply.text
    reply = submit(client, sheet, "y" * 100_001, 1, reasons=["length"], **PLAIN)
    assert text_field(reply.text) == "y" * 100_001
    base = EditingSheet.objects.get(pk=sheet.pk).version
    assert submit(client, sheet, "One\r\ntwo  \r\n", base, **PLAIN).status_code == 303
    assert Revision.objects.get().text == "One\ntwo  \n"


def test_a_plain_conflict_is_shown_and_settled_on_the_page(client, sheet):
    send(client, sheet, "Stored words.", client="one")
    reply = send(client, sheet, "Arrived words.", **PLAIN)
    assert reply.status_code == 303
    html = page(client, sheet)
    assert "Two versions of this text" in html
    conflict = ConflictingText.objects.get()
    settle = address("desk_settle", sheet, conflict.public_id)
    assert settle in html
    empty = client.post(settle, {"choice": "merged", "base_version": 1, "text": "  "})
    assert empty.status_code == 303
    assert "The merged text is empty." in page(client, sheet)
    client.post(settle, {"choice": "merged", "base_version": 1, "text": "Both\r\nwords."})
    assert EditingSheet.objects.get(pk=sheet.pk).text == "Both\nwords."
    assert "Two versions" not in page(client, sheet)
    history = client.get(address("editing_history", sheet)).content.decode()
    assert "Text set aside" in history
    assert "Earlier draft, version 1" in history
