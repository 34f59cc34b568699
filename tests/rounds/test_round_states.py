"""A round of any kind from a plan to its end: what is possible when, what is logged, pages."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from cqa_site.people.models import AuditEvent
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import (
    close_round,
    delete_round,
    open_round,
    pause_round,
    reopen_round,
)
from cqa_site.rounds.models import Round
from tests.cast import sign_in
from tests.people.test_plans import address, begun
from tests.worlds import built_of
from .made_work import KINDS, World

built, world = built_of(World, KINDS, "label", "score")


@pytest.fixture
def draft(world):
    return world.make_round(opens=False, name="Draft")


@pytest.fixture
def office(world):
    return sign_in(world.researcher)


def state_of(round_):
    return Round.objects.get(pk=round_.pk).state


def moved(world, move, round_):
    """The state after a move."""
    move(round_=round_, actor=world.researcher)
    return state_of(round_)


def verbs(world, round_):
    events = world.study.audit_events.filter(subject=round_.name).order_by("pk")
    return list(events.values_list("verb", flat=True))


def test_a_draft_that_opens_gets_the_slots_it_asks_for(world, draft):
    assert not world.kind.Slot.objects.filter(item__in=draft.items.all()).exists()
    assert moved(world, open_round, draft) == "open"
    row = world.kind.Round.objects.annotate(**world.kind.counts()).get(pk=draft.pk)
    assert row.wanted == world.kind.Slot.objects.filter(item__in=draft.items.all()).count() > 0
    assert (row.size, row.done) == (draft.items.count(), 0)
    assert row.opened_at
    assert verbs(world, draft) == [world.kind.audit.of_round("open")]


def test_a_round_is_closed_and_opened_again(world):
    assert moved(world, close_round, world.round) == "closed"
    assert world.kind.Round.objects.get(pk=world.round.pk).closed_at
    assert moved(world, reopen_round, world.round) == "open"
    assert world.kind.Round.objects.get(pk=world.round.pk).closed_at is None
    closed, opened = (world.kind.audit.of_round(state) for state in ("closed", "open"))
    assert verbs(world, world.round) == [opened, closed, opened]


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_name_and_instructions_are_corrected_while_people_work(world, is_closed):
    """Of every kind, by its page; the history keeps both."""
    if is_closed:
        moved(world, close_round, world.round)
    client = sign_in(world.researcher)
    name = world.kind.audit.round
    page = reverse(f"{name}_correct", args=[world.round.study.public_id, world.round.public_id])
    asked = client.get(page).context["form"]
    values = {each: asked[each].value() or "" for each in asked.fields} | {"name": "Second name"}
    if "instructions" in asked.fields:
        values["instructions"] = "Read it twice."
    assert client.post(page, values).status_code == 302
    row = world.kind.Round.objects.get(pk=world.round.pk)
    assert row.name == "Second name"
    assert row.instructions in ("", "Read it twice.")
    logged = AuditEvent.objects.get(verb=world.kind.audit.of_round("corrected"))
    assert logged.details["after"]["name"] == "Second name"


def test_only_labels_pause(world):
    if world.name == "label":
        assert moved(world, pause_round, world.round) == "paused"
        assert moved(world, open_round, world.round) == "open"
        return
    with pytest.raises(RoundNotReady, match="cannot be paused"):
        moved(world, pause_round, world.round)
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.filter(pk=world.round.pk).update(state="paused")


@pytest.mark.long
def test_moves_that_do_not_fit_are_refused(world, draft):
    wrong = {draft: (close_round, reopen_round, pause_round)}
    wrong |= {world.round: (open_round, reopen_round, delete_round)}
    for round_, moves in wrong.items():
        before = state_of(round_)
        for move in moves:
            with pytest.raises(RoundNotReady):
                moved(world, move, round_)
        assert state_of(round_) == before


def test_a_draft_is_deleted_with_all_that_is_in_it_and_an_open_round_is_not(world, draft, office):
    items = world.kind.Item.objects.count() - draft.items.count()
    for round_ in (draft, world.round):
        assert office.post(world.office("_delete", round_)).status_code == 302
    assert list(world.kind.Round.objects.filter(study=world.study)) == [world.round]
    assert not Round.objects.filter(pk=draft.pk).exists()
    assert world.kind.Item.objects.count() == items
    if world.name != "label":
        assert not world.kind.Sheet.objects.exclude(round=world.round).exists()
    assert verbs(world, draft) == [world.kind.audit.of_round("deleted")]


def test_two_rounds_of_a_kind_have_two_names(world, draft):
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.filter(pk=draft.pk).update(name=world.round.name)


def test_a_round_from_a_plan_to_its_end_on_pages(world, office):
    plan = begun(office, world.kind, world.study) | {"name": "By form"}
    plan.pop("leave_out_used", None)
    url = address(world.kind, "new", world.study)
    assert office.post(url, plan | {"then": "draft"}).status_code == 302
    made = world.kind.Round.objects.get(study=world.study, name="By form")
    assert made.items.exists()
    edit = world.office("_edit", made)
    assert 'value="By form"' in office.get(edit).text
    assert office.post(edit, plan | {"name": "Changed"}).status_code == 302
    made.refresh_from_db()
    assert (made.name, made.state) == ("Changed", "draft")
    taken = office.post(url, plan | {"name": "Changed", "then": "draft"})
    assert (taken.status_code, "has this name" in taken.text) == (422, True)
    ways = {"open": "open", "close": "closed", "delete": "closed"}
    ways |= {"open ": "closed"} if world.name == "label" else {"reopen": "open"}
    for move, state in ways.items():
        office.post(world.office(f"_{move.strip()}", made))
        assert state_of(made) == state
        # Only what runs asks again.
        asks = 'hx-trigger="every 10s"' in office.get(world.office("", made)).text
        assert asks == (state == "open")
    assert office.get(edit).status_code == 302, "only drafts are changed"
    office.post(edit, plan | {"name": "Too late"})
    made.refresh_from_db()
    assert made.name == "Changed"
    assert "Changed" in office.get(address_of_list(world)).text


def address_of_list(world):
    return reverse(world.kind.rounds_page, args=[world.study.public_id])


# Queries of the page of a round.
COSTS = {"label": 7, "score": 10, "prefer": 10, "count": 10, "edit": 13, "audit": 10}


@pytest.mark.long
def test_pages_cost_as_much_for_many_rounds_and_people_as_for_few(
    world, office, django_assert_max_num_queries
):
    for number in range(4):
        world.make_round(name=f"Round {number}", opens=False)
    if world.name != "label":
        for person in range(3):
            world.take(person)
    with django_assert_max_num_queries(6):
        assert world.round.name in office.get(address_of_list(world)).text
    with django_assert_max_num_queries(COSTS[world.name]):
        assert office.get(world.office()).status_code == 200
