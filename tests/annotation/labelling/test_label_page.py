"""The label page over HTTP: who may, what is stored, and that controls look like anything else."""

import itertools
import json
import random
import re
import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.actions import rounds as label_rounds, serving
from annotation.labelling.models import Assignment, Item, LabelRound, Slot, VoteEvent
from annotation.labelling.views.label_page import item_payload
from cqa_site.people.models import Rater
from cqa_site.rounds.lifecycle import close_round, open_round, pause_round
from cqa_site.rounds.models import Participant, ParticipantLink, Place
from cqa_site.rounds.queue import place_for
from tests.annotation import voting
from tests.annotation.voting import label_all, newcomer, opened
from tests.cast import make_arguments, make_label_round, make_member, make_study, sign_in
from tests.flat import flat
from tests.worlds import built_once

KEYS = itertools.count()
JSON = {"Accept": "application/json"}


class Desk:
    """One person in front of one round."""

    def __init__(self, user, label_round, client=None):
        self.user, self.label_round = user, label_round
        self.client = client or sign_in(user)

    def url(self, name):
        return reverse(name, args=[self.label_round.study.public_id, self.label_round.public_id])

    def open(self, **query):
        return self.client.get(self.url("label"), query)

    def next(self):
        return self.client.get(self.url("label_next"), headers=JSON).json()

    def send(self, item, label=2, /, **fields):
        body = {"item": item, "client_key": f"desk-{next(KEYS)}", "label": label} | fields
        return self.client.post(self.url("label_answer"), body, headers=JSON)

    def submit(self, item="", /, **fields):
        """Without script: a browser asks for HTML."""
        body = {"item": item, "client_key": f"desk-{next(KEYS)}"} | fields
        wants = {"Accept": "text/html,*/*;q=0.8"}
        return self.client.post(self.url("label_answer"), body, headers=wants)


class Lab:
    """A round that labels twenty sentences and six control items, and somebody who may label."""

    def __init__(self):
        self.study = make_study()
        self.annotator = make_member(self.study, "annotator")
        self.label_round = opened(self.study, ordinary=20, controls=6)


lab = built_once(Lab)


@pytest.fixture
def desk(lab):
    return Desk(lab.annotator, lab.label_round)


def page_data(response):
    script = r'<script id="label-page" type="application/json">(.*?)</script>'
    return json.loads(re.search(script, response.text)[1])


def form_fields(response):
    """The hidden fields of the answer form, as a browser without script would send them."""
    form = response.text.split('id="answer"', 1)[1]
    names = ("item", "client_key")
    return {name: re.search(rf'name="{name}" value="([^"]+)"', form)[1] for name in names}


def kept(item):
    return Assignment.objects.get(public_id=item)


# Roles, other studies and the token of forms: tests/security/test_matrix.py.


NO_ANSWERS = (
    *({"label": "4"}, {"label": ""}, {"label": "two"}, {"label": "", "skip_reason": "bored"}),
    *({"client_key": "a\x00b"}, {"client_key": ""}, {"client_key": "k" * 65}, {"item": "no-id"}),
    *({"comment": "x" * 1001}, {"active_ms": "soon"}),
)


def test_a_draft_and_a_label_round_without_people_have_no_pages(desk, study):
    for fields in ({"origin": LabelRound.Origin.IMPORTED}, {"state": "draft"}):
        other = make_label_round(study, name=str(fields), **fields)
        pages = Desk(desk.user, other, desk.client)
        for name in ("label", "label_next", "label_answers"):
            assert pages.client.get(pages.url(name)).status_code == 404, (fields, name)
        for name in ("label_answer", "label_alive"):
            assert pages.client.post(pages.url(name)).status_code == 404, (fields, name)
        assert not other.places.exists()


def test_an_item_of_somebody_else_or_of_another_label_round_is_404(desk, study):
    other = Desk(make_member(study, "annotator"), desk.label_round)
    elsewhere = Desk(desk.user, opened(study, name="Round 2"), desk.client)
    for item in (other.next()["next"][0]["id"], elsewhere.next()["next"][0]["id"], uuid.uuid4()):
        assert desk.send(item).status_code == 404
        assert desk.open(item=item).status_code == 404
    assert desk.open(item="no-id").status_code == 404
    assert not VoteEvent.objects.exists()


def test_the_answer_brings_what_comes_next_and_another_one_under_its_key_is_a_conflict(desk):
    first, second = desk.next()["next"][:2]
    reply = desk.send(first["id"], 1, active_ms=1234, client_key="once").json()
    assert reply["next"][0] == second
    assert (reply["progress"], reply["state"]) == ({"answered": 1}, "")
    reply = desk.send(first["id"], 0, client_key="once")
    assert (reply.status_code, reply.json()["error"]) == (409, "key_reused")
    assert (kept(first["id"]).label, kept(first["id"]).active_ms) == (1, 1234)
    desk.send(first["id"], "", skip_reason="unclear", comment="which tea?")
    desk.send(second["id"], 1, flag="on", comment="odd", active_ms=10**9)
    row = kept(first["id"])
    assert (row.state, row.skip_reason, row.comment) == ("skipped", "unclear", "which tea?")
    flagged = kept(second["id"])
    assert (flagged.label, flagged.is_flagged, flagged.comment) == (1, True, "odd")
    # The clock of a browser is not believed beyond half an hour.
    assert flagged.active_ms == 30 * 60 * 1000
    # Given offline: three answers and a change of the first, replayed twice; each stored once.
    items = [item["id"] for item in desk.next()["next"][:3]]
    before = VoteEvent.objects.count()
    sent = [(items[0], 0, "a"), (items[1], 1, "b"), (items[2], 2, "c"), (items[0], 3, "d")]
    for item, label, key in sent + sent:
        assert desk.send(item, label, client_key=key).status_code == 200
    assert [kept(item).label for item in items] == [3, 1, 2]
    assert VoteEvent.objects.count() == before + 4


def test_what_is_no_answer_is_refused_in_both_formats(desk):
    item = desk.next()["next"][0]["id"]
    for fields in NO_ANSWERS:
        reply = desk.send(item, **fields)
        assert (reply.status_code, reply.json()["error"]) == (422, "not_valid"), fields
        page = desk.submit(item, **({"label": 2} | fields))
        assert (page.status_code, "was not stored" in page.text) == (422, True), fields
        assert kept(item).state == Assignment.State.SERVED


def test_a_late_answer_of_another_device_changes_nothing_and_both_are_named(desk):
    item = desk.next()["next"][0]["id"]
    desk.send(item, 3, client_key="phone", known="")
    late = desk.send(item, 1, client_key="laptop", known="")
    assert late.status_code == 409
    body = late.json()
    assert body["error"] == "answered_meanwhile"
    assert "another device: 3. That answer was kept; 1 was not" in body["detail"]
    assert (body["stored"]["known"], body["stored"]["answer"]["label"]) == ("phone", 3)
    assert kept(item).label == 3
    # The same again is saved, and so is a change by who knows; a skip is named in words.
    assert desk.send(item, 3, client_key="phone", known="").status_code == 200
    assert desk.send(item, 0, client_key="phone 2", known="phone").status_code == 200
    late = desk.send(item, "", skip_reason="unclear", client_key="laptop 2", known="phone")
    assert "0. That answer was kept; skipped was not" in late.json()["detail"]
    assert kept(item).label == 0
    # The same value is no contradiction; an old page that says nothing changes as ever.
    assert desk.send(item, 0, client_key="laptop 3", known="").status_code == 200
    assert desk.send(item, 2, client_key="old page").status_code == 200
    assert kept(item).label == 2
    page = desk.open().context["page"]
    assert page["earlier"][-1]["known"] == "old page"
    assert desk.open(item=item).context["page"]["change"]["known"] == "old page"


def test_a_heartbeat_prolongs_and_says_nothing(desk):
    desk.next()
    leased = Slot.objects.filter(state="leased")
    held = leased.update(lease_until=timezone.now() - timedelta(seconds=1))
    reply = desk.client.post(desk.url("label_alive"))
    assert (reply.status_code, reply.content) == (204, b"")
    assert leased.filter(lease_until__gt=timezone.now()).count() == held > 0


def test_the_whole_job_without_script(desk):
    for label in (0, 1, 2, 3):
        fields = form_fields(desk.open())
        for _click in range(2):
            reply = desk.submit(**fields, label=label)
            assert (reply.status_code, reply["Location"]) == (303, desk.url("label"))
        assert kept(fields["item"]).events.get().label == kept(fields["item"]).label == label
    # An old page with another answer shows the item for changing.
    page = desk.submit(**fields, label=1)
    assert page.status_code == 409
    again = form_fields(page)
    assert again["item"] == fields["item"]
    assert again["client_key"] != fields["client_key"]
    assert 'value="3" aria-pressed="true"' in flat(page.text)
    desk.submit(**again, label=1)
    assert kept(fields["item"]).label == 1
    fields = form_fields(desk.open())
    desk.submit(**fields, skip="1", skip_reason="broken", comment="empty")
    assert kept(fields["item"]).skip_reason == "broken"


def test_own_answers_are_listed_and_nobody_elses_and_stay_after_the_round(desk, researcher):
    item = desk.next()["next"][0]["id"]
    desk.send(item, 3, comment="mine alone")
    other = Desk(make_member(desk.label_round.study, "annotator", "OTHERNAME"), desk.label_round)
    other.send(other.next()["next"][0]["id"], 3, comment="OTHERLABEL")
    assert "mine alone" in desk.client.get(desk.url("label_answers")).text
    assert "mine alone" not in other.client.get(other.url("label_answers")).text
    page = desk.open().text
    for hidden in ("htmx-2", "OTHERNAME", "OTHERLABEL", "control_label", "is_control"):
        assert hidden not in page
    close_round(round_=desk.label_round, actor=researcher)
    assert desk.send(item, 0).json()["error"] == "round_closed"
    assert desk.submit(item, label=0).status_code == 409
    assert desk.open(item=item)["Location"] == desk.url("label_answers")
    assert "?item=" not in desk.client.get(desk.url("label_answers")).text
    assert kept(item).label == 3


def test_each_reason_has_a_page_of_its_own(study, researcher):
    alone = {"controls": 0, "controls_per_block": 0}
    label_round = opened(study, ordinary=4, votes_per_item=1, **alone)
    desk = Desk(make_member(study, "annotator"), label_round)
    desk.next()
    held = Desk(make_member(study, "annotator"), label_round).open()
    assert "No sentences available right now" in flat(held.text)
    assert 'http-equiv="refresh" content="20"' in held.text
    for item in desk.next()["next"]:
        reply = desk.send(item["id"]).json()
    assert (reply["state"], reply["next"]) == ("finished", [])
    assert "That was everything" in flat(desk.open().text)
    pause_round(round_=label_round, actor=researcher)
    assert "paused" in flat(desk.open().text)
    close_round(round_=label_round, actor=researcher)
    assert "closed" in flat(desk.open().text)
    capped = Desk(desk.user, opened(study, name="Capped", share_cap=0.25, **alone), desk.client)
    while todo := capped.next()["next"]:
        capped.send(todo[0]["id"])
    assert "done your share" in flat(capped.open().text)
    Place.objects.update(is_stopped=True)
    assert "No more sentences for you" in flat(capped.open().text)


def make_participant(study, label_round, required=7):
    user = make_member(study, "annotator")
    # Who comes by a link has none.
    user.email = None
    user.save()
    codes = ("completed_code", "screened_out_code", "no_work_code", "fault_code")
    link = ParticipantLink.objects.create(
        study=study,
        round=label_round,
        secret_hash=uuid.uuid4().hex,
        required_items=required,
        expires_at=timezone.now() + timedelta(days=1),
        created_by=make_member(study, "researcher"),
        **{code: f"CODE-{code}" for code in codes},
    )
    Participant.objects.create(study=study, link=link, user=user, participant_id=uuid.uuid4().hex)
    return user


def visible(desk):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", desk.open().text))


def far(desk):
    return page_data(desk.open())["progress"]


def test_the_page_says_how_much_is_left_and_about_how_long_it_takes(study):
    # 9 sentences in blocks of three, each with one of the 4 control items that are not retired.
    label_round = opened(study, ordinary=9, controls=5, block_size=4, expected_seconds=30)
    label_round.items.filter(control_label__isnull=False).first().delete()
    desk = Desk(make_member(study, "annotator"), label_round)
    assert far(desk) == {"answered": 0, "total": 12, "seconds": 30, "planned": 30}
    assert "0 / 12 done about 6 min left" in visible(desk)
    # Whatever is answered, known or not, is one of the same twelve.
    for number, seconds in enumerate((900, 10, None, 20, 20), 1):
        desk.send(desk.next()["next"][0]["id"], active_ms=seconds * 1000 if seconds else "")
        shown = far(desk)
        assert (shown["answered"], shown["total"]) == (number, 12)
    # The plan counts as ten answers, no time as a planned one, no answer as more than five.
    assert shown["seconds"] == (10 * 30 + 5 * 30 + 10 + 30 + 20 + 20) / 15
    assert "5 / 12 done about 5 min left" in visible(desk)


@pytest.mark.long
def test_what_others_took_and_what_a_share_or_a_link_leaves_out_is_not_left(study):
    taken = opened(study, ordinary=6, controls=0, controls_per_block=0, votes_per_item=1)
    for slot in Slot.objects.filter(round=taken)[:2]:
        Slot.objects.filter(pk=slot.pk).update(state="done")
    assert far(Desk(make_member(study, "annotator"), taken))["total"] == 4
    alone = {"controls": 0, "controls_per_block": 0}
    capped = opened(study, name="Capped", ordinary=10, share_cap=0.3, **alone)
    assert far(Desk(make_member(study, "annotator", "Capped"), capped))["total"] == 3
    asked = opened(study, name="Asked", ordinary=10)
    assert far(Desk(make_participant(study, asked, required=4), asked))["total"] == 4


def test_participants_get_what_their_link_asks_for_and_then_the_way_to_the_code(study):
    label_round = opened(study)
    desk = Desk(make_participant(study, label_round, required=3), label_round)
    for left in (3, 2, 1):
        assert len(page_data(desk.open())["items"]) == left
        assert len(desk.next()["next"]) == left
        reply = desk.send(desk.next()["next"][0]["id"]).json()
    assert (reply["next"], reply["state"]) == ([], "finished")
    assert reverse("participation_end") in desk.open().text


@pytest.mark.long
def test_many_wrong_controls_stop_a_rater_at_the_end_of_a_block_only(study):
    sizes = {"ordinary": 30, "controls": 20, "block_size": 2, "votes_per_item": 1}
    label_round = opened(study, low_accuracy=LabelRound.LowAccuracy.PAUSE, **sizes)
    desk = Desk(make_member(study, "annotator"), label_round)
    rater = Rater.objects.create(study=study, user=desk.user)
    place = place_for(round_=label_round, rater=rater)
    label_all(place, 0, at_most=20)
    for is_stopped in (False, True):
        assert not Place.objects.get(rater=rater).is_stopped
        reply = desk.send(desk.next()["next"][0]["id"], 0).json()
        assert (reply["state"] == "stopped") == is_stopped
    assert Place.objects.get(rater=rater).is_stopped
    assert desk.next() == {"next": [], "progress": {"answered": 22}, "state": "stopped"}
    answered = rater.assignments.filter(state="answered")
    # Changing answers does not tell which items are controls.
    for is_control in (True, False):
        of_kind = answered.filter(item__control_label__isnull=not is_control)
        for row in of_kind.order_by("pk")[:3]:
            assert desk.send(str(row.public_id), 3).json()["state"] == "stopped"
    assert place_for(round_=label_round, rater=rater).is_stopped


def test_a_sentence_is_never_markup(study):
    label_round = make_label_round(study, name="One", ordinary=0, controls=0, controls_per_block=0)
    text = "</script><img src=x onerror=alert(1)> <i>tea</i>"
    (argument,) = make_arguments(study, 1, pair=("<i>tea</i>", "</script><b>"))
    argument.text = text
    argument.save()
    label_rounds.add_items(label_round=label_round, argument_ids=[argument.pk])
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    page = Desk(make_member(study, "annotator"), label_round).open()
    assert "<img" not in page.text
    assert "".join(part["text"] for part in page_data(page)["items"][0]["segments"]) == text


def table_queries(context):
    """Statements about rows; transactions and savepoints come and go with the test's own."""
    return [
        query["sql"]
        for query in context.captured_queries
        if not re.match(r"SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT", query["sql"])
    ]


def measured_label(desk):
    """Serve one item and label it: what it was, and everything but texts and ids of the reply."""
    item = desk.next()["next"][0]
    with CaptureQueriesContext(connection) as context:
        reply = desk.send(item["id"], 3)
    row = kept(item["id"])
    body = reply.json()
    plain = re.sub(r'"text": "[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}|"answered": \d+', "", reply.text)
    shape = (sorted(reply.headers), sorted(body), sorted(body["next"][0]), plain)
    return row, len(table_queries(context)), shape


def test_a_label_costs_8_queries_and_the_same_for_controls(study):
    label_round = opened(study, ordinary=250, controls=20, votes_per_item=3)
    seen = {position: {True: set(), False: set()} for position in range(5)}
    # Places of controls are drawn by the keys of raters: go on until every place had both.
    for _ in range(10):
        desk = Desk(make_member(study, "annotator"), label_round)
        for _ in range(20):
            row, queries, shape = measured_label(desk)
            seen[row.position][row.item.is_control].add((queries, repr(shape)))
        if all(each for kinds in seen.values() for each in kinds.values()):
            break
    # The last two places of a block also reserve the next block and look at the rater's
    # accuracy; what that costs depends on the round, not on the item.
    for position in (0, 1, 2):
        assert seen[position][True] == seen[position][False], position
        assert {queries for queries, _shape in seen[position][False]} == {8}
    for position in (3, 4):
        shapes = [{shape for _queries, shape in kinds} for kinds in seen[position].values()]
        assert shapes[0] == shapes[1], position


def test_ids_are_random_and_making_an_item_a_control_changes_not_one_byte(desk):
    desk.next()
    assert {row.public_id.version for row in Assignment.objects.all()} == {4}
    row = Assignment.objects.filter(state="served").order_by("position").first()
    answers = []
    for label in (None, 3):
        Item.objects.filter(pk=row.item_id).update(control_label=label)
        with CaptureQueriesContext(connection) as context:
            page, reply = desk.open(), desk.client.get(desk.url("label_next"), headers=JSON)
        tokens = r'(csrfmiddlewaretoken|client_key)" value="\w+"|"X-CSRFToken": "\w+"'
        text = re.sub(tokens, "", page.text)
        heads = sorted(page.headers), sorted(reply.headers)
        answers.append((text, reply.content, heads, len(context)))
    assert answers[0] == answers[1]


def test_nothing_but_ids_differs_between_controls_and_others(study):
    """Page lengths and query counts of fifty items for each of three people."""
    # Every tenth is a control item, as a researcher would mark them.
    label_round = make_label_round(study, ordinary=120, controls=0, votes_per_item=3)
    controls = random.Random(11).sample([item.pk for item in label_round.items.all()], 11)
    Item.objects.filter(pk__in=controls).update(control_label=3)
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    label_round.refresh_from_db()
    costs, shapes = {True: Counter(), False: Counter()}, set()
    for _person in range(3):
        place = newcomer(label_round)
        row = serving.next_work(label_round=label_round, place=place).assignments[0]
        for _item in range(50):
            is_control = row.item.is_control
            shapes.add(len(json.dumps(item_payload(row))) - len(row.item.argument.text))
            # How many statements a label and reserving more take.
            with CaptureQueriesContext(connection) as storing:
                voting.label(place, row)
            with CaptureQueriesContext(connection) as reserving:
                row = serving.next_work(label_round=place.round, place=place).assignments[0]
            costs[is_control][len(table_queries(storing)), len(table_queries(reserving))] += 1
    assert (costs[True].total(), costs[False].total()) == (30, 120)
    assert len(shapes) == 1
    assert set(costs[True]) <= set(costs[False])
    # As often as chance lets: a leak moves nearly all controls to costs of their own.
    for cost, count in costs[False].items():
        assert abs(costs[True][cost] / 30 - count / 120) < 0.25, cost
