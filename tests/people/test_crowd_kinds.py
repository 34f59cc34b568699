"""Crowd links of scoring, counting and preference rounds: one way in, one round, one code."""

import re
from unittest import mock

import pytest
from django.test import Client
from django.urls import reverse

from cqa_site.rounds.kind import kind_of, kinds
from cqa_site.rounds.lifecycle import find_violations
from cqa_site.rounds.models import Participant, Place, Sheet
from cqa_site.rounds.queue import next_sheet
from tests.benchmark.made_rounds import full_form, make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_member, make_study, sign_in
from tests.rounds.made_work import JSON, SERVED, World
from tests.rounds.onboarding.made_steps import NONE, attach, make_version
from tests.worlds import built_of, parts_of
from .crowd import CODES, DONE, IDS, codes_in, come_in, create_link, finish
from .works import address, sheet_at, work_page


class Lab(World):
    """Two open rounds of a kind; a link leads into the first."""

    def __init__(self, name):
        super().__init__(name)
        self.other = self.make_round(name="Another round")


built, world = built_of(Lab, SERVED, "score")


(round_,) = parts_of("world", "round")


@pytest.fixture
def researcher(world):
    return sign_in(world.researcher)


def make_link(world, **fields):
    return create_link(world.round, world.researcher, **fields)


@pytest.fixture
def inside(world):
    """The browser of somebody who came in."""
    return come_in(make_link(world)[1])[0]


def send(client, world, sheet, end="_submit", **changed):
    """Send the full form for a sheet."""
    fields = world.work.full_form | {"base_version": "0", "client_key": f"k{sheet.pk}"} | changed
    return client.post(world.address(end, sheet), fields, **JSON)


def submit(client, world):
    """Fill in the sheet that waits; the reply of the server."""
    reply = client.get(world.address(""))
    assert reply.status_code == 302, reply.text[-2000:]
    done = send(client, world, sheet_at(world.round, reply))
    assert done.status_code == 200, done.content
    return done


def test_every_kind_for_a_crowd_is_tried_here():
    taking = {each.name for each in kinds() if each.takes_crowd}
    # Labels are tried in test_crowd.py.
    assert taking == {"label", *SERVED}


def test_from_the_platform_to_the_code(world, round_):
    client = Client()
    client.get(reverse("join", args=[make_link(world)[1]]), IDS)
    text = client.get("/join/start/").text
    assert "You will fill in 2 sheets." in text
    assert kind_of(round_).card(0).text in text
    assert client.post("/join/start/")["Location"] == work_page(round_)
    submit(client, world)
    assert "1 item to go" in client.get(DONE).text
    assert finish(client) == []
    last = submit(client, world)
    assert last.json()["page"] == work_page(round_), "two were asked for, a third waits"
    page = client.get(work_page(round_)).text
    assert "Finish and get your code" in page
    assert "2 / 2 done" in page
    assert finish(client) == ["CODE-COMPLETED"]
    assert Participant.objects.get().outcome == "completed"
    home = client.get(reverse("study", args=[world.study.public_id])).text
    assert "Show your completion code" in home


def test_a_participant_finds_no_other_round_and_no_page_but_their_own(world, round_, inside):
    other, kind_name = world.other, kind_of(round_).work_page
    for page in (kind_name, f"{kind_name}_own"):
        assert inside.get(address(page, other, other.public_id)).status_code == 404
    assert not Place.objects.filter(round=other).exists()
    waiting = inside.get(work_page(round_))["Location"]
    study = reverse("study", args=[world.study.public_id])
    texts = [inside.get(page).text for page in (waiting, DONE, study)]
    for text in texts:
        assert 'class="tabs"' not in text
        assert not codes_in(text)
        assert "Another round" not in text
    assert "First" in texts[2]
    own = {work_page(round_), f"{work_page(round_)}own/", study, waiting}
    assert set(re.findall(r'href="(/s/[^"]*)"', texts[0])) <= own
    # A sheet of it is not theirs, even if it was made.
    rater = Participant.objects.get().user.raters.get()
    sheet = next_sheet(round_=other, rater=rater).sheet
    assert inside.get(world.address("_form", sheet)).status_code == 404
    for end in ("_save", "_submit"):
        assert send(inside, world, sheet, end).status_code == 404
    sheet.refresh_from_db()
    assert (sheet.state, sheet.draft) == (Sheet.State.OPEN, None)


def test_links_and_people_of_another_round_are_not_found(world, round_, inside, researcher):
    other = world.other
    link, person = round_.links.get(), Participant.objects.get().user
    close = address("crowd_link_close", other, other.public_id, link.public_id)
    assert researcher.post(close).status_code == 404
    for name in ("participant_release", "participant_fault"):
        page = address(name, other, other.public_id, person.public_id)
        assert researcher.post(page).status_code == 404
    link.refresh_from_db()
    assert link.is_open


def test_a_researcher_makes_a_link_on_the_page_of_the_round(world, round_, researcher):
    page = address("crowd_links", round_, round_.public_id)
    shown = researcher.get(address(kind_of(round_).audit.round, round_, round_.public_id))
    assert page in shown.text
    assert "Crowd links" in researcher.get(page).text
    most = kind_of(round_).Item.objects.filter(round=round_).count()
    fields = {"platform": "P", "max_participants": "3", "days": "30", "participant_param": "ID"}
    refused = researcher.post(page, CODES | fields | {"required_items": str(most + 1)})
    assert refused.status_code == 422
    assert f"One person can get at most {most} items" in refused.text
    made = researcher.post(page, CODES | fields | {"required_items": str(most)})
    assert made.status_code == 200
    secret = re.search(r"/join/([^/]+)/\?ID=", made.text)[1]
    assert come_in(secret, {"ID": "W1"})[1]["Location"] == work_page(round_)
    # A draft gets none.
    draft = world.make_round(name="Draft", opens=False)
    page = address("crowd_links", draft, draft.public_id)
    refused = researcher.post(page, CODES | fields | {"required_items": "1"})
    assert refused.status_code == 422
    assert "or start it first" in refused.text
    shown = researcher.get(address(kind_of(draft).audit.round, draft, draft.public_id))
    assert page not in shown.text


@pytest.mark.long
def test_a_participant_costs_two_queries_more(world, django_assert_max_num_queries):
    """Their link, and how many sheets there are already."""
    world.round = world.make_round(raters=3, name="Wide")
    participant, counts = come_in(make_link(world, required_items=3)[1])[0], []
    for client in (sign_in(world.people[0]), participant):
        sheet = sheet_at(world.round, client.get(world.address("")))
        with django_assert_max_num_queries(60) as asked:
            assert send(client, world, sheet).status_code == 200
        counts.append(len(asked))
    assert counts[1] <= counts[0] + 2


def test_who_does_not_qualify_is_screened_out(db):
    study = make_study()
    researcher = make_member(study, "researcher")
    answers = make_scored_answers(study, questions=3)
    round_ = make_round(study, researcher, examples=(answers[0],))
    secret = create_link(round_, researcher)[1]
    unknown = Client()
    start = unknown.get(reverse("join", args=[secret]), IDS, follow=True).text
    start = " ".join(start.split())
    assert "You start with 1 practice sheet." in start
    assert re.search(r"If you match less than \d+ % of the known answers, your", start)
    steps = {"qualification": 1, "qualification_right": 1, "qualification_attempts": 2}
    attach(round_, make_version(study, researcher, **NONE | steps))
    start = " ".join(unknown.get(reverse("join_start")).text.split())
    assert "If you match less than 100 % of their known answers in every attempt, your" in start
    attach(round_, None)
    client = come_in(secret)[0]
    sheet = sheet_at(round_, client.get(work_page(round_)))
    assert sheet.is_example
    fields = full_form("0") | {"base_version": "0", "client_key": "k"}
    client.post(address("score_submit", round_, sheet.public_id), fields, **JSON)
    home = reverse("study", args=[study.public_id])
    # Every page leads to the code, and none back to work.
    practice = client.get(address("score_form", round_, sheet.public_id)).text
    for text in (practice, client.get(work_page(round_)).text):
        assert "participation ends here" in " ".join(text.split())
        assert "can let you continue" not in text
    assert "items to go" not in client.get(DONE).text
    first = client.get(home).text
    assert work_page(round_) not in first
    assert f'href="{DONE}"' in first
    # The platform's people wait for nobody, and nobody is asked about them.
    assert "Waiting for a researcher" not in client.get(home).text
    assert "cannot go on" not in sign_in(researcher).get(home).text
    assert finish(client) == ["CODE-SCREENED"]


def test_an_answer_the_server_lost_is_a_fault(world, inside, monkeypatch):
    sheet = sheet_at(world.round, inside.get(world.address("")))
    inside.raise_request_exception = False
    with monkeypatch.context() as patched:
        broken = mock.Mock(side_effect=RuntimeError)
        patched.setattr("cqa_site.rounds.pages.work.submit_sheet", broken)
        assert send(inside, world, sheet).status_code == 500
    inside.raise_request_exception = True
    text = inside.post("/join/fault/", {"comment": "It broke"}, follow=True).text
    assert codes_in(text) == ["CODE-FAULT"]


def test_a_link_into_a_round_of_another_study_is_found(world, other_study):
    link, _secret = make_link(world)
    assert list(find_violations()) == []
    type(link).objects.update(study=other_study)
    assert list(find_violations()) == [f"crowd link {link.pk} leads to a round of another study"]
