"""A researcher sees every work page as people do; nothing of it is stored."""

import hashlib

import pytest
from django.apps import apps
from django.core import serializers
from django.urls import reverse

from annotation.editing.models import Revision
from benchmark.preferences.actions import Plan as PairPlan
from benchmark.preferences.actions import plan_round as plan_pairs
from cqa_site.rounds.kind import kind_of, kinds
from cqa_site.rounds.models import Round
from cqa_site.rounds.opening import close_round, open_round
from tests import cast
from tests.annotation import editing_cast
from tests.flat import flat
from tests.people.test_plans import FILLS, KINDS, address, begun
from tests.people.works import WORKS

JSON = {"HTTP_ACCEPT": "application/json"}
FORMS = {
    **{name: work.form for name, work in WORKS.items()},
    "edit": lambda: {
        "text": f"{editing_cast.TEXT} Indeed.",
        "reasons": [Revision.Reason.values[0]],
    },
}


def stored():
    """A digest of every row of every table, and how many there are of each."""
    found = {}
    for model in apps.get_models():
        rows = serializers.serialize("json", model._default_manager.order_by("pk"))
        digest = hashlib.sha256(rows.encode()).hexdigest()
        found[model._meta.label] = (model._default_manager.count(), digest)
    # Signing in and pages looked at belong to sessions, not to the study.
    return {name: each for name, each in found.items() if not name.startswith("sessions.")}


@pytest.fixture(params=sorted(FILLS))
def round_(request, study, people, researcher):
    """A draft of each kind, as its form proposes it."""
    FILLS[request.param](study)
    kind = KINDS[request.param]
    researcher.post(address(kind, "new", study), begun(researcher, kind, study))
    return Round.objects.get()


def trial(round_, end="", *ids):
    name = f"{kind_of(round_).work_page}_trial{end}"
    return reverse(name, args=[round_.study.public_id, round_.public_id, *ids])


def answers(client, round_):
    """What a person would send, with and without a script; the replies."""
    if round_.kind == "label":
        page = client.get(trial(round_, "", 1)).context["page"]
        sent = {"item": page["items"][0]["id"], "client_key": "k", "label": "2"}
        client.post(trial(round_, "_alive"))
        return [client.post(trial(round_, "_answer"), sent, **more) for more in ({}, JSON)]
    sent = FORMS[round_.kind]() | {"base_version": "0", "client_key": "k"}
    return [
        client.post(trial(round_, end, 1), sent, **more)
        for end in ("_save", "_submit")
        for more in ({}, JSON)
    ]


def test_the_page_says_that_nothing_is_stored_and_counts_nothing(round_, researcher):
    text = flat(researcher.get(trial(round_, "", 1)).content.decode())
    assert "Nothing is stored." in text
    for said in ("# / ## done", "All answers saved", "Saved # s ago", "Saved at #"):
        assert said not in text


@pytest.mark.parametrize("state", ["draft", "open", "closed"])
def test_nothing_is_stored_whatever_the_round_s_state(round_, state, researcher, people):
    if state != "draft":
        open_round(round_=round_, actor=people["researcher"])
    if state == "closed":
        close_round(round_=round_, actor=people["researcher"])
    before = stored()
    page = researcher.get(trial(round_, "", 1))
    assert page.status_code == 200
    text = page.content.decode()
    assert "Nothing is stored" in text
    assert [each.status_code for each in answers(researcher, round_)] in (
        [302, 200],
        [303, 200, 303, 200],
    )
    assert stored() == before


def test_a_submission_leads_to_the_next_item(round_, researcher, people):
    replies = answers(researcher, round_)
    if round_.kind == "label":
        assert replies[0]["Location"] == trial(round_, "", 2)
        assert len(replies[1].json()["next"]) == 5
        return
    assert replies[2]["Location"] == replies[3].json()["page"] == trial(round_, "", 2)
    assert researcher.get(trial(round_, "", 2)).status_code == 200


def test_saves_follow_each_other(round_, researcher, people):
    """A page sends the version of its last save, of which nothing was stored."""
    if round_.kind == "label":
        return
    sent = FORMS[round_.kind]() | {"base_version": "7", "client_key": "k"}
    reply = researcher.post(trial(round_, "_save", 1), sent, **JSON)
    assert (reply.status_code, reply.json()["version"]) == (200, 8)


def test_what_is_wrong_is_said_as_to_people(round_, researcher, people):
    before = stored()
    if round_.kind == "label":
        page = researcher.get(trial(round_, "", 1)).context["page"]
        sent = {"item": page["items"][0]["id"], "client_key": "k", "label": "9"}
        reply = researcher.post(trial(round_, "_answer"), sent)
    else:
        empty = {"text": " "} if round_.kind == "edit" else {}
        sent = empty | {"base_version": "0", "client_key": "k"}
        reply = researcher.post(trial(round_, "_submit", 1), sent)
    assert reply.status_code == 422
    assert stored() == before


def test_only_items_that_are_there(round_, researcher, people):
    assert researcher.get(trial(round_, "", 0)).status_code == 404
    assert researcher.get(trial(round_, "", 400)).status_code == 404


def test_nobody_else_sees_it(round_, people, stranger):
    for role in ("annotator", "expert"):
        assert cast.sign_in(people[role]).get(trial(round_, "", 1)).status_code == 403
    assert stranger.get(trial(round_, "", 1)).status_code == 404


def test_the_round_leads_there(round_, researcher, people):
    page = reverse(kind_of(round_).audit.round, args=[round_.study.public_id, round_.public_id])
    assert trial(round_, "", 1) in researcher.get(page).content.decode()
    open_round(round_=round_, actor=people["researcher"])
    assert trial(round_, "", 1) in researcher.get(page).content.decode()


def test_control_labels_are_not_in_the_page(researcher, study, people):
    campaign = cast.make_campaign(study, ordinary=3, controls=3)
    page = researcher.get(trial(campaign, "", 1))
    items = page.context["page"]["items"]
    assert len(items) == 5
    assert {tuple(each) for each in items} == {("id", "object1", "object2", "segments", "blank")}
    assert "control" not in page.content.decode().lower().replace("aria-controls", "")


def test_known_pairs_look_like_any_other(researcher, study, people):
    FILLS["prefer"](study)
    better, worse = study.questions.first().answers.values_list("public_id", flat=True)[:2]
    plan = PairPlan(name="Pairs", seed=1, size=8, controls=((better, worse),))
    round_ = plan_pairs(study=study, plan=plan, actor=people["researcher"])
    assert round_.items.exclude(known="").exists()
    pages = [researcher.get(trial(round_, "", number)) for number in range(1, 9)]
    assert len({tuple(sorted(page.context["page"])) for page in pages}) == 1
    assert not [page for page in pages if "known" in page.content.decode()]


def test_every_kind_can_be_tried():
    assert set(FILLS) == {each.name for each in kinds()}
