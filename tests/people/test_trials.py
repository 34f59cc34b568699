"""A researcher sees every work page as people do; nothing of it is stored."""

from functools import partial

import pytest
from django.apps import apps

from benchmark.preferences.actions import PreferencePlan as PairPlan, plan_round as plan_pairs
from cqa_site.rounds.kind import kind_of, kinds
from cqa_site.rounds.lifecycle import close_round, open_round
from tests import cast
from tests.flat import flat
from tests.people.works import address, fill_answers
from tests.rounds.made_work import JSON, KINDS, World
from tests.rows import rows_of
from tests.worlds import built_of


def stored():
    """Every row of every table; signing in and pages looked at belong to sessions."""
    return rows_of(each for each in apps.get_models() if each._meta.app_label != "sessions")


# With a draft of each kind.
built, world = built_of(partial(World, opens=False), KINDS, "label", "score")


@pytest.fixture
def office(world):
    return cast.sign_in(world.researcher)


def trial(round_, end="", *ids):
    return address(f"{kind_of(round_).work_page}_trial{end}", round_, round_.public_id, *ids)


def first_label(client, round_):
    page = client.get(trial(round_, "", 1)).context["page"]
    return {"item": page["items"][0]["id"], "client_key": "k", "label": "2"}


def answers(client, world):
    """What a person would send, with and without a script; the replies."""
    if world.name == "label":
        sent = first_label(client, world.round)
        client.post(trial(world.round, "_alive"))
        return [client.post(trial(world.round, "_answer"), sent, **more) for more in ({}, JSON)]
    sent = world.work.full_form | {"base_version": "0", "client_key": "k"}
    return [
        client.post(trial(world.round, end, 1), sent, **more)
        for end in ("_save", "_submit")
        for more in ({}, JSON)
    ]


def test_nothing_is_stored_whatever_the_round_s_state(world, office):
    moves = {"draft": None, "open": open_round, "closed": close_round}
    for state, move in moves.items():
        if move is not None:
            move(round_=world.round, actor=world.researcher)
        before = stored()
        if state != "closed":
            assert trial(world.round, "", 1) in office.get(world.office()).text
        page = office.get(trial(world.round, "", 1))
        text = flat(page.text)
        assert (page.status_code, "Nothing is stored." in text) == (200, True), state
        saved = ("All answers saved", "Draft saved # s ago", "Draft saved at #", "# / ## done")
        for counted in saved:
            assert counted not in text
        statuses = [reply.status_code for reply in answers(office, world)]
        assert statuses in ([302, 200], [303, 200, 303, 200]), state
        assert stored() == before, state


def test_a_submission_leads_to_the_next_item(world, office):
    replies = answers(office, world)
    following = trial(world.round, "", 2)
    if world.name == "label":
        assert replies[0]["Location"] == following
        assert len(replies[1].json()["next"]) == 5
        return
    assert replies[2]["Location"] == replies[3].json()["page"] == following
    assert office.get(following).status_code == 200
    # A page sends the version of its last save, of which nothing was stored.
    sent = world.work.full_form | {"base_version": "7", "client_key": "k"}
    reply = office.post(trial(world.round, "_save", 1), sent, **JSON)
    assert (reply.status_code, reply.json()["version"]) == (200, 8)


def test_what_is_wrong_is_said_as_to_people_and_there_are_no_other_items(world, office):
    before = stored()
    if world.name == "label":
        wrong = first_label(office, world.round) | {"label": "9"}
        reply = office.post(trial(world.round, "_answer"), wrong)
    else:
        wrong = world.work.unfit_form | {"base_version": "0", "client_key": "k"}
        reply = office.post(trial(world.round, "_submit", 1), wrong)
    assert reply.status_code == 422
    assert stored() == before
    for number in (0, 400):
        assert office.get(trial(world.round, "", number)).status_code == 404


def test_control_labels_are_not_in_the_page(researcher, study, people):
    assert set(KINDS) == {each.name for each in kinds()}
    label_round = cast.make_label_round(study, ordinary=3, controls=3)
    page = researcher.get(trial(label_round, "", 1))
    items = page.context["page"]["items"]
    assert len(items) == 5
    assert {tuple(item) for item in items} == {("id", "object1", "object2", "segments", "blank")}
    assert "control" not in page.text.lower().replace("aria-controls", "")


def test_known_pairs_look_like_any_other(researcher, study, people):
    fill_answers(study)
    better, worse = study.questions.first().answers.values_list("public_id", flat=True)[:2]
    plan = PairPlan(name="Pairs", seed=1, size=8, controls=((better, worse),))
    round_ = plan_pairs(study=study, plan=plan, actor=people["researcher"])
    assert round_.items.filter(known__isnull=False).exists()
    pages = [researcher.get(trial(round_, "", number)) for number in range(1, 9)]
    assert len({tuple(sorted(page.context["page"])) for page in pages}) == 1
    assert not [page for page in pages if "known" in page.text]
