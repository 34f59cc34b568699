"""The work pages of every kind of sheet over HTTP: from the first page to the end, with two tabs,
without script, and closed to everybody else."""

import re
from dataclasses import asdict
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.drafts import content_of
from cqa_site.rounds.lifecycle import close_round, find_violations
from tests.cast import make_member, make_study, sign_in
from tests.flat import flat
from tests.worlds import built_of
from .made_work import JSON, SHEETS, Sitting

built, world = built_of(Sitting, SHEETS, "score")


@pytest.fixture
def client(world):
    return sign_in(world.people[0])


def page_of(client, world, sheet=None):
    reply = client.get(world.address("_form", sheet or world.sheet))
    assert reply.status_code == 200
    return reply.text


def send(visitor, world, end, fields, /, *, base=0, headers=JSON, **page):
    body = fields | {"base_version": str(base), "client_key": "key"} | page
    return visitor.post(world.address(end, world.sheet), body, **headers)


def stored(world):
    return world.again(world.sheet)


def test_from_the_first_page_to_the_end(world, client):
    work = world.address("")
    assert work in client.get(reverse("study", args=[world.study.public_id])).text
    seen = []
    while (reply := client.get(work)).status_code == 302:
        world.sheet = world.kind.Sheet.objects.get(public_id=reply["Location"].split("/")[-2])
        assert f'name="base_version" value="{world.sheet.version}"' in page_of(client, world)
        script = {"client": "tab", "sequence": 1}
        saved = send(client, world, "_save", world.work.changed_form, **script)
        assert (saved.status_code, saved.json()["version"]) == (200, 1)
        told = send(client, world, "_submit", world.work.full_form, base=1)
        assert (told.status_code, stored(world).state) == (200, "submitted")
        seen.append(world.sheet)
    assert "That was everything" in reply.text
    assert told.json()["page"] in (work, world.address("_form", world.sheet))
    own = client.get(world.address("_own"), follow=True).text
    assert all(str(sheet.public_id) in own for sheet in seen)
    assert len(seen) == world.kind.Sheet.objects.filter(rater=world.raters[0]).count() > 1
    assert list(find_violations()) == []
    close_round(round_=world.round, actor=world.researcher)
    assert "This round is closed" in client.get(work).text
    assert "This round is closed" in page_of(client, world)
    late = send(client, world, "_save", world.work.changed_form, base=stored(world).version)
    assert (late.status_code, late.json()["error"]) == (409, "closed")
    assert stored(world).conflicts.count() == 1


def test_two_tabs_meet_on_the_page(world, client):
    one, two = ({"client": name, "sequence": 1} for name in ("one", "two"))
    assert send(client, world, "_save", world.work.full_form, **one).status_code == 200
    for end in ("_save", "_submit"):
        reply = send(client, world, end, world.work.changed_form, **two)
        assert (reply.status_code, reply.json()["error"]) == (409, "conflict")
        assert "Two versions" in reply.json()["conflict"]
    kept = stored(world).conflicts.get()
    settle = world.address("_settle", world.sheet, kept.public_id)
    assert settle in page_of(client, world)
    for unclear in ({}, {"choice": "other"}):
        assert client.post(settle, unclear).status_code == 303
        assert stored(world).conflicts.count() == 1
    mine = client.post(settle, {"choice": "mine", "base_version": 1})
    assert (mine.status_code, mine["Location"]) == (303, world.address("_form", world.sheet))
    assert content_of(stored(world)) == world.kind.Content(**kept.content)


def test_a_script_may_send_the_whole_form_as_one_text(world, client):
    if world.name == "edit":
        pytest.skip("what is edited is a text")
    text = urlencode(world.work.full_form, doseq=True)
    assert send(client, world, "_submit", {"text": text}).status_code == 200
    assert stored(world).state == "submitted"


def test_without_script_the_plain_form_works(world, client):
    plain = {"headers": {}, "client": "", "sequence": "0"}
    saved = send(client, world, "_save", world.work.unfit_form, **plain)
    assert (saved.status_code, saved["Location"]) == (303, world.address("_form", world.sheet))
    unfit = send(client, world, "_submit", world.work.unfit_form, base=1, **plain)
    assert unfit.status_code == 422
    # The page with the mistake goes on from what was stored with it.
    base = re.search(r'name="base_version" value="(\d+)"', unfit.text)[1]
    reply = send(client, world, "_submit", world.work.full_form, base=base, **plain)
    assert reply.status_code == 303
    sheet = stored(world)
    assert (sheet.state, sheet.draft, sheet.conflicts.count()) == ("submitted", None, 0)
    if not world.kind.is_assigned:
        assert reply["Location"] == client.get(world.address(""))["Location"]
        following = client.get(reply["Location"]).text
        assert world.address("_form", sheet) in following, "the way back to the one before"


def test_the_page_of_the_next_sheet_comes_with_the_reply_where_a_script_asks_for_it(world, client):
    wants = {"headers": {"Accept": "application/json", "Prefer": "return=representation"}}
    reply = send(client, world, "_submit", world.work.full_form, headers=wants)
    assert reply.headers["Content-Location"] in (
        client.get(world.address("")).headers["Location"],
        world.address("_form", world.sheet),
    )
    assert "<main" in reply.text


@pytest.mark.parametrize("built", SHEETS, indirect=True)
def test_no_work_page_says_where_the_thing_comes_from(world, client):
    page = page_of(client, world)
    own = client.get(world.address("_own"), follow=True).text
    secrets = world.work.hidden(stored(world))
    assert len(secrets) > 2
    for text in texts_of(world):
        # The invented texts name their system themselves; nothing else on a page may.
        page = flat(page).replace(flat(text), "")
    for secret in secrets:
        assert secret not in page, secret
        assert secret not in own, secret
    told = re.search(r'id="\w+-page" type="application/json">(.*?)</script>', page)[1]
    keys = {"user", "sheet", "version", "client", "saved_at", "is_draft"}
    assert set(re.findall(r'"(\w+)":', told)) == keys


def texts_of(world):
    sheet = stored(world)
    answers = {
        "score": lambda: [sheet.answer],
        "prefer": lambda: [sheet.pair.first, sheet.pair.second],
    }
    return [answer.text for answer in answers.get(world.name, list)()]


def test_nobody_else_opens_a_sheet(world, client):
    send(client, world, "_save", world.work.full_form, client="one", sequence=1)
    send(client, world, "_save", world.work.changed_form, client="two", sequence=1)
    kept = stored(world).conflicts.get()
    elsewhere = make_member(make_study("Elsewhere"), "expert")
    outsider = make_member(world.study, "expert")
    gone = sign_in(world.people[0])
    world.people[0].memberships.update(is_active=False)
    for visitor in (gone, *map(sign_in, (world.people[1], outsider, elsewhere))):
        assert visitor.get(world.address("_form", world.sheet)).status_code == 404
        for end in ("_save", "_submit"):
            assert send(visitor, world, end, world.work.full_form).status_code == 404
        settle = world.address("_settle", world.sheet, kept.public_id)
        assert visitor.post(settle, {"choice": "mine"}).status_code == 404
    researcher = sign_in(world.researcher)
    assert researcher.get(world.address("_form", world.sheet)).status_code == 403
    assert content_of(stored(world)) != world.kind.Content(**kept.content)
    assert stored(world).state == "open"


def test_a_draft_is_nobodys_page_yet(world, client):
    draft = world.make_round(name="Draft", opens=False)
    for end in ("", "_own"):
        assert client.get(world.address(end, draft)).status_code == 404
    assert not draft.places.filter(rater=world.raters[0]).exists() or world.kind.is_assigned
    assert "Draft" not in client.get(reverse("study", args=[world.study.public_id])).text


def test_the_page_says_why_nothing_comes(world, client):
    place = world.place()
    place.round = world.round
    decide_rater(place=place, actor=world.researcher, decision="exclude")
    assert "no more work for you" in client.get(world.address("")).text
    if world.name in ("score", "prefer", "count", "audit"):
        world.slots(state="open").update(state="leased", lease_until="2100-01-01T00:00Z")
        assert (
            "No items available right now" in sign_in(world.people[1]).get(world.address("")).text
        )


def test_two_versions_say_which_one_counts(world, client):
    send(client, world, "_save", world.work.full_form, client="one", sequence=1)
    send(client, world, "_save", world.work.changed_form, client="two", sequence=1)
    page = flat(page_of(client, world))
    assert "One version is stored. The other, sent at" in page
    for head in ("Set aside</", "Stored</", "Use the version set aside</", "Keep the stored"):
        assert head in page
    close_round(round_=world.round, actor=world.researcher)
    page = flat(page_of(client, world))
    assert "The round is closed, so only the stored version counts." in page
    assert "Use the version set aside</" not in page


# Queries of the form and of a submission, which prepares the next sheet.
COSTS = {
    "score": (8, 21),
    "prefer": (8, 21),
    "count": (10, 21),
    "edit": (11, 18),
    "audit": (8, 21),
}


def test_serving_and_saving_take_few_queries(world, client, django_assert_max_num_queries):
    world.do(at_most=1)
    world.sheet = world.take()
    for content in (world.work.full, world.work.changed):
        world.sheet.conflicts.create(base_version=0, content=asdict(content))
    form, submit = COSTS[world.name]
    with django_assert_max_num_queries(13):
        client.get(world.address(""))
    with django_assert_max_num_queries(form):
        page_of(client, world)
    with django_assert_max_num_queries(11):
        send(client, world, "_save", world.work.changed_form)
    with django_assert_max_num_queries(submit):
        send(client, world, "_submit", world.work.full_form, base=1)
