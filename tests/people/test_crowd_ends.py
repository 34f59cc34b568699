"""How people of a crowd stop: too many skips, full rounds, signing out, stopping, withdrawing."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.labelling.actions.serving import next_work
from annotation.labelling.actions.votes import SubmittedLabel, answer
from annotation.labelling.models import Assignment, VoteEvent
from annotation.quality.reports.quality import HASTY_SHARE
from cqa_site.people.access import create_token
from cqa_site.people.actions import rater_for
from cqa_site.people.models import AuditEvent, Membership
from cqa_site.rounds.lifecycle import close_round, find_violations
from cqa_site.rounds.models import Participant, ParticipantLink, Place
from cqa_site.rounds.queue import place_for
from tests.benchmark.made_rounds import full_form
from tests.cast import sign_in
from tests.flat import flat
from tests.lengths import first, mostly, of_kinds
from tests.rounds.made_work import JSON, SERVED, World
from tests.worlds import built_of, built_once
from .crowd import DONE, IDS, codes_in, come_in, create_link, finish, open_link
from .works import sheet_at, work_page

OTHERS = IDS | {"PROLIFIC_PID": "PID-2", "SESSION_ID": "SESSION-2"}
BACK = "https://app.prolific.com/submissions/complete?cc="
STOP = "/join/stop/"
MORE = {"skips_code": "CODE-SKIPS", "stopped_code": "CODE-STOPPED"}


built, world = built_of(World, ["label", *SERVED], "label", "score")
SOME_KINDS = of_kinds(["label", *SERVED], "label", "score")


labels = built_once(lambda: World("label", raters=3))


def enter(world, ids=IDS, **fields):
    """Somebody's browser in the round of the world."""
    usual = MORE | {"required_items": 6}
    return come_in(create_link(world.round, world.researcher, **(usual | fields))[1], ids)[0]


def sheet_form(world, sheet, answers=None):
    return (answers or world.work.full_form) | {"base_version": "0", "client_key": f"k{sheet.pk}"}


def program_of(world):
    """What a program gets at an address below the study's."""
    secret = create_token(user=world.researcher, name="test", scope="read")[1]
    client = Client(headers={"authorization": f"Bearer {secret}"})
    base = f"/api/v1/studies/{world.study.public_id}"
    return lambda address: client.get(f"{base}/{address}").json()["results"]


def person_of(ids=IDS):
    found = Participant.objects.select_related("link__round", "study", "user")
    return found.get(participant_id=ids["PROLIFIC_PID"])


def place_of(person):
    rater = rater_for(membership=Membership.objects.get(user=person.user))
    return place_for(round_=person.link.round.labelround, rater=rater)


def say(person, labels):
    """Answer items with these labels; None skips."""
    place = place_of(person)
    for label in labels:
        row = next_work(label_round=place.round, place=place).assignments[0]
        reason = "" if label is not None else "unclear"
        given = SubmittedLabel(f"key {row.pk}", label, skip_reason=reason, active_ms=500)
        answer(rater=place.rater, assignment=row, given=given)


def submit(client, world, answers=None):
    sheet = sheet_at(world.round, client.get(world.address("")))
    sent = sheet_form(world, sheet, answers)
    assert client.post(world.address("_submit", sheet), sent, **JSON).status_code == 200


def do_one(client, world):
    if world.name == "label":
        return say(person_of(), [1])
    return submit(client, world)


# -- skips ----------------------------------------------------------------------------------


def limit(world, share):
    type(world.round).objects.filter(pk=world.round.pk).update(skip_share=share)


@pytest.mark.parametrize(
    ("share", "allowed"), first(3, [(None, 5), (0, 1), (0.34, 2), (1, 5), (0.2, 1), (0.5, 3)])
)
def test_more_skips_than_allowed_end_with_a_code_of_their_own(labels, share, allowed):
    limit(labels, share)
    client = enter(labels)
    say(person_of(), [None] * allowed + [1] * (6 - allowed))
    assert finish(client) == ["CODE-COMPLETED"]
    client = enter(labels, OTHERS)
    say(person_of(OTHERS), [None] * (allowed + 1))
    page = client.get(work_page(labels.round)).text
    assert "You skipped more than the study allows" in page
    assert "Your answers" in page
    assert f"Allowed: at most {allowed}." in client.get(DONE).text
    text = client.post(DONE, follow=True).text
    assert not codes_in(text)
    assert "CODE-SKIPS" in text
    assert person_of(OTHERS).outcome == "too_many_skips"


def test_skips_are_told_before_the_start_and_can_be_answered_after_all(labels):
    limit(labels, 0.2)
    secret = create_link(labels.round, labels.researcher, **MORE, required_items=6)[1]
    client = Client()
    open_link(client, secret)
    assert "You may skip at most 1 item." in client.get("/join/start/").text
    client.post("/join/start/")
    say(person_of(), [None, None, 1, 1, 1, 1][:2])
    rows = Assignment.objects.filter(state="skipped")
    answer(rater=rows[0].rater, assignment=rows[0], given=SubmittedLabel("again", 2))
    assert "Loading the next sentence" in client.get(work_page(labels.round)).text
    say(person_of(), [1] * 4)
    assert finish(client) == ["CODE-COMPLETED"]


def test_a_link_without_the_code_screens_out_whoever_skips_too_much(labels):
    limit(labels, 0.2)
    client = enter(labels, skips_code="")
    say(person_of(), [None] * 2)
    client.post(STOP, {"choice": "keep"})
    assert person_of().outcome == "too_many_skips", "stopping early is no way around it"
    assert finish(client) == ["CODE-SCREENED"]


def test_members_skip_without_a_limit_and_are_flagged(labels):
    limit(labels, 0.2)
    rater = labels.raters[0]
    place = place_for(round_=labels.round, rater=rater)
    for number, row in enumerate(next_work(label_round=labels.round, place=place).assignments[:4]):
        how = {"skip_reason": "unclear"} if number else {"label": 1}
        answer(rater=rater, assignment=row, given=SubmittedLabel(f"k{number}", **how))
    assert next_work(label_round=labels.round, place=place).assignments
    page = reverse("quality", args=[labels.study.public_id, labels.round.public_id])
    text = sign_in(labels.researcher).get(page).text
    assert "Many skips</span>" in text
    assert "more than 20 % of an annotator's answers are skips" in text
    assert f"below {labels.round.expected_seconds * HASTY_SHARE:.1f} s" in text
    assert "Annotators with only skips so far" not in text
    (row,) = program_of(labels)(f"label-rounds/{labels.round.public_id}/annotators/")
    assert (row["skipped"], row["skipped_share"], row["is_skipping"]) == (3, 0.75, True)
    assert row.keys() >= {"median_seconds", "is_hasty"}
    VoteEvent.objects.filter(kind="answer").delete()
    Assignment.objects.filter(state="answered").update(state="skipped", label=None)
    assert "Annotators with only skips so far" in sign_in(labels.researcher).get(page).text


SKIPS = {
    "score": full_form("x") | {f"unable-C{number}": "unclear" for number in range(1, 16)},
    "count": {"covered_unsure": "1", "unique_unsure": "1"},
}


def skip(client, world, most=2):
    """As much as there is, and not more than that."""
    place = place_of(person_of()) if world.name == "label" else None
    for _turn in range(most):
        if place:
            if next_work(label_round=place.round, place=place).assignments:
                say(person_of(), [None])
            continue
        if client.get(world.address("")).status_code != 302:
            break
        submit(client, world, SKIPS[world.name])


ENDS = ["all that was asked", "nothing left", "closed", "fault", "stop"]


@pytest.mark.parametrize("end", mostly(ENDS, "all that was asked", "closed", "stop"))
@pytest.mark.parametrize(
    "share", [None, *(pytest.param(each, marks=pytest.mark.long) for each in (0.2, 1))]
)
@SOME_KINDS
def test_who_skips_everything_gets_no_code_for_work(world, share, end):
    """Whatever the round allows, and however it ends; kinds without skips need an answer."""
    if world.kind.skipped is None:
        assert world.name in ("prefer", "audit")
        client = enter(world)
        sheet = sheet_at(world.round, client.get(world.address("")))
        sent = {"base_version": "0", "client_key": "k"}
        assert client.post(world.address("_submit", sheet), sent, **JSON).status_code == 422
        assert not world.kind.Sheet.objects.filter(state="submitted").exists()
        return
    limit(world, share)
    if end == "nothing left":
        items = world.round.items.filter(slots__isnull=False).distinct()[:2]
        rest = world.kind.Slot.objects.filter(item__in=world.round.items.all())
        rest.exclude(item__in=list(items)).update(state="done", lease_until=None)
    client = enter(world, required_items=2 if end == "all that was asked" else 20)
    skip(client, world, 10 if end == "nothing left" else 3)
    if end in ("closed", "fault"):
        close_round(round_=world.round, actor=world.researcher)
    if end == "fault":
        client.post("/join/fault/", {"comment": "It stopped"})
        assert person_of().outcome == "running"
    elif end == "stop":
        client.post(STOP, {"choice": "keep"})
        assert person_of().outcome == "stopped"
        return
    text = client.post(DONE, follow=True).text
    assert "CODE-SKIPS" in text
    assert not codes_in(text)


@pytest.mark.long
@pytest.mark.parametrize("name", mostly(["label", *SERVED], "label", "score"))
def test_pages_and_programs_say_what_limit_a_round_has_and_who_is_over_it(build_once, db, name):
    """Also before anybody has begun; the limit can be set while people work."""
    world = build_once(World, name).copy()
    client, ids = sign_in(world.researcher), [world.study.public_id, world.round.public_id]
    pages = [reverse(page, args=ids) for page in (world.kind.audit.round, "crowd_links")]
    can_skip = world.kind.skipped is not None
    limit(world, None)
    row = "Maximum share of skipped items</th><td>{}</td>"
    assert (row.format("No limit") in flat(client.get(pages[0]).text)) == can_skip
    person = enter(world)
    assert ("has no limit on skips" in client.get(pages[1]).text) == can_skip
    if can_skip:
        page = reverse(f"{world.kind.audit.round}_correct", args=ids)
        asked = client.get(page).context["form"]
        values = {field: asked[field].value() or "" for field in asked.fields}
        assert client.post(page, values | {"skip_share": "0.3"}).status_code == 302
        assert row.format("30 %") in flat(client.get(pages[0]).text)
        assert "has no limit on skips" not in client.get(pages[1]).text
    skip(person, world) if can_skip else do_one(person, world)
    rows = Assignment if name == "label" else world.kind.Sheet
    seconds = {"active_ms": 2500} if name == "label" else {"active_seconds": 2.5}
    rows.objects.filter(rater__user=person_of().user).update(**seconds)
    tail, program = f"{world.round.public_id}/", program_of(world)
    kinds = {"score": "scoring", "prefer": "preference", "count": "counting"}
    people = "raters" if name == "label" else "people"
    own = f"{kinds.get(name, name)}-rounds/{tail}{people}/"
    for address in (f"rounds/{tail}participants/", own):
        (row,) = [each for each in program(address) if each["skipped_share"] is not None]
        assert row["skipped"] == 2 * can_skip
        assert (row["skipped_share"], row["is_skipping"]) == (float(can_skip), can_skip)
        if "raters" not in address:
            assert row["seconds_each"] in (2, 2.5, 3)
            assert row["is_hasty"] == (name == "label")


def test_speed_is_shown_beside_the_mark_and_decides_nothing(labels):
    limit(labels, 0.2)
    client = enter(labels)
    say(person_of(), [None, None, 1])
    links = reverse("crowd_links", args=[labels.study.public_id, labels.round.public_id])
    text = sign_in(labels.researcher).get(links).text
    assert "0.5 s" in text
    assert "Very fast</span>" in text
    assert "Many skips</span>" in text
    assert f"below {labels.round.expected_seconds * 0.2:.1f} s per item" in text
    assert person_of().outcome == "running"
    client.get(DONE)
    assert person_of().outcome == "running"


# -- full rounds and other browsers ------------------------------------------------------------


def fill(world):
    """Others hold or have done everything."""
    world.kind.Slot.objects.update(state="leased", lease_until="2100-01-01T00:00Z")


@SOME_KINDS
def test_a_full_round_and_one_that_ended_say_so_before_anybody_starts(world):
    secret = create_link(world.round, world.researcher, required_items=3)[1]
    fill(world)
    client = Client()
    open_link(client, secret)
    for page in (client.get("/join/start/"), client.post("/join/start/")):
        assert page.status_code == 410
        assert "The study is full" in page.text
        assert codes_in(page.text) == ["CODE-NOWORK"]
        assert f'href="{BACK}CODE-NOWORK"' in page.text
        for word in ("You will", "Sign in"):
            assert word not in page.text
    assert not Participant.objects.exists()
    close_round(round_=world.round, actor=world.researcher)
    page = client.get("/join/start/")
    assert (page.status_code, codes_in(page.text)) == (410, ["CODE-NOWORK"])
    assert "is not running" in page.text


def test_a_full_link_gives_the_code_and_a_closed_one_the_way_back(labels):
    link, secret = create_link(labels.round, labels.researcher, max_participants=0)
    client = Client()
    open_link(client, secret)
    assert codes_in(client.get("/join/start/").text) == ["CODE-NOWORK"]
    ParticipantLink.objects.update(closed_at=link.created_at)
    page = client.get("/join/start/").text
    assert not codes_in(page)
    assert 'href="https://app.prolific.com/"' in page


@SOME_KINDS
def test_no_more_is_announced_than_there_is(world):
    secret = create_link(world.round, world.researcher, required_items=3)[1]
    # Other worlds of this file may have items, too.
    slots = world.kind.Slot.objects.filter(item__in=world.round.items.all())
    world.kind.Slot.objects.exclude(item=slots.first().item_id).update(
        state="leased", lease_until="2100-01-01T00:00Z"
    )
    client = Client()
    open_link(client, secret)
    page = " ".join(client.get("/join/start/").text.split())
    assert "Fewer items are left than the study requires (3)" in page
    assert "3 sheets" not in page


@pytest.mark.long
@SOME_KINDS
def test_where_all_is_held_by_others_nothing_is_to_go(world):
    client = enter(world, required_items=3)
    fill(world)
    things = "sentences" if world.name == "label" else "items"
    text = client.get(work_page(world.round), follow=True).text
    assert f"No {things} available right now" in text
    text = client.get(DONE).text
    assert "No items are left for you" in text
    assert "to go" not in text
    world.kind.Slot.objects.update(state="done", lease_until=None)
    text = client.get(work_page(world.round), follow=True).text
    assert f"No {things} left in this round" in text
    assert "You have" not in text


@SOME_KINDS
def test_work_pages_of_participants_say_how_to_go_on_and_promise_no_more(world):
    page = flat(enter(world).get(work_page(world.round), follow=True).text)
    says = r"You (are|were) signed out\. [^<]* in this browser[^<]* on the platform again"
    assert re.search(says, page)
    for word in ("Your work is saved", "Sign in again"):
        assert word not in page
    for word in ("How to continue", "open the study on the platform again"):
        assert word in page
    member = sign_in(world.people[0]).get(work_page(world.round), follow=True).text
    assert "How to continue" not in member


@pytest.mark.long
@SOME_KINDS
def test_who_comes_back_reads_what_is_done_and_what_awaits(world):
    secret = create_link(world.round, world.researcher)[1]
    client = come_in(secret)[0]
    do_one(client, world)
    later = Client()
    later.cookies["place"] = client.cookies["place"].value
    open_link(later, secret)
    page = " ".join(later.get("/join/start/").text.split())
    assert "Items done: 1 of 2." in page
    assert "Continue" in page
    assert "You will" not in page
    client.post(STOP, {"choice": "keep"})
    assert "Show your code" in later.get("/join/start/").text


# -- signing out -------------------------------------------------------------------------------


@SOME_KINDS
def test_a_participant_never_meets_the_form_of_the_lab(world):
    client = enter(world)
    pages = [work_page(world.round), DONE, STOP, "/", "/account/"]
    client.cookies.pop("sessionid")
    for page in pages:
        reply = client.get(page, follow=True)
        assert reply.redirect_chain[-1][0].startswith("/join/back/?next="), page
        assert "You are signed out" in reply.text
        assert 'name="password"' not in reply.text
    reply = client.get(work_page(world.round), follow=True)
    assert "on Prolific" in reply.text
    assert 'href="https://app.prolific.com/"' in reply.text


@pytest.mark.long
def test_who_reloads_the_first_page_later_is_led_back(labels):
    """The session forgets the link as soon as somebody has begun."""
    client, start = enter(labels), "/join/start/"
    assert client.get(start, follow=True).redirect_chain[0][0] == "/join/back/"
    assert client.get(start, follow=True).request["PATH_INFO"] != "/join/back/"
    client.cookies.pop("sessionid")
    for reply in (client.get(start, follow=True), client.post(start, follow=True)):
        assert "You are signed out" in reply.text
        assert "open the study on the platform again" in reply.text
    reply = Client().get(start)
    assert reply.status_code == 404
    assert "open it again. The link there leads to this page" in reply.text
    assert "does not exist" not in reply.text


# -- stopping ----------------------------------------------------------------------------------


@SOME_KINDS
def test_stopping_keeps_the_answers_and_gives_back_the_rest(world):
    client = enter(world)
    do_one(client, world)
    page = client.get(work_page(world.round), follow=True).text
    assert f'href="{STOP}"' in page
    text = client.get(STOP).text
    assert "Items done: 1 of" in text
    assert person_of().outcome == "running"
    text = client.post(STOP, {"choice": "keep"}, follow=True).text
    assert "You stopped early" in text
    assert "CODE-STOPPED" in text
    assert f'href="{BACK}CODE-STOPPED"' in text
    assert not world.kind.Slot.objects.filter(state="leased").exists()
    assert world.kind.Slot.objects.filter(state="done").count() <= 1
    assert world.kind.count_own([world.round], person_of().user) == {world.round.pk: 1}
    # The work is over, whatever is opened afterwards.
    assert client.get(work_page(world.round)).url == DONE
    client.post(STOP, {"choice": "withdraw"})
    assert person_of().outcome == "stopped"
    assert list(find_violations()) == []


def test_withdrawn_answers_are_void_in_the_history_and_no_more_are_taken(world):
    client = enter(world)
    do_one(client, world)
    reply = client.get(work_page(world.round))
    if world.name == "label":
        row = Assignment.objects.filter(state="served").first()
        page = reverse("label_answer", args=[world.study.public_id, world.round.public_id])
        sent = {"item": row.public_id, "client_key": "k", "label": "1"}
    else:
        sheet = sheet_at(world.round, reply)
        page, sent = world.address("_submit", sheet), sheet_form(world, sheet)
    text = client.post(STOP, {"choice": "withdraw"}, follow=True).text
    assert "Your answers are withdrawn" in text
    assert client.post(page, sent, **JSON).status_code == 404
    rows = Assignment if world.name == "label" else world.kind.Sheet
    states = set(rows.objects.filter(rater__user=person_of().user).values_list("state", flat=True))
    assert "void" in states
    assert not states & {"submitted", "answered", "skipped"}
    assert not world.kind.Slot.objects.exclude(state="open").exists()
    assert world.kind.count_own([world.round], person_of().user) == {}
    event = AuditEvent.objects.get(verb="participant_ended")
    assert (event.details["outcome"], event.details["answers"]) == ("withdrawn", 1)
    assert Place.objects.get(rater__user=person_of().user).is_excluded
    assert list(find_violations()) == []
    assert "You withdrew your answers" in client.get(reverse("home"), follow=True).text


@pytest.mark.long
@SOME_KINDS
def test_who_did_nothing_or_all_is_not_asked_what_to_keep(world):
    client = enter(world, required_items=1)
    assert "withdraw" not in client.get(STOP).text
    do_one(client, world)
    assert client.get(STOP).url == DONE


def test_without_a_code_for_it_the_study_is_returned(labels):
    client = enter(
        labels, stopped_code="", platform="Elsewhere", return_url="https://e.org/c?x={code}"
    )
    assert "There is no code for this" in client.get(STOP).text
    text = client.post(STOP, {"choice": "keep"}, follow=True).text
    assert "Please return your submission on Elsewhere" in text
    assert 'href="https://e.org/"' in text


def test_stopping_is_for_participants(labels):
    assert sign_in(labels.people[0]).get(STOP).status_code == 404
    client = Client(enforce_csrf_checks=True)
    client.cookies = enter(labels).cookies
    assert client.post(STOP, {"choice": "withdraw"}).status_code == 403


@pytest.mark.parametrize(
    ("platform", "return_url", "code", "address"),
    [
        ("prolific ", "", "A&B", f"{BACK}A%26B"),
        ("Prolific", "", "", "https://app.prolific.com/"),
        ("Own", "https://x.org/done/{code}?a=1", "C", "https://x.org/done/C?a=1"),
        ("Own", "https://x.org/done", "", "https://x.org/"),
        ("Own", "", "C", ""),
    ],
)
def test_the_way_back_of_platforms(platform, return_url, code, address):
    link = ParticipantLink(platform=platform, return_url=return_url)
    assert link.address_for(code) == address
