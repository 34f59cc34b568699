"""Hidden control items: what everybody gets, what nobody can tell, and what rules do with them."""

import re
from collections import Counter
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.actions.serving import next_work
from argsum.auditing.reports.figures import audit_of
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.controls import agreed_answers, set_control, set_tolerance, take_answer
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import close_round, find_violations
from cqa_site.rounds.models import COUNTED, Place
from cqa_site.rounds.progress import how_far, progress_of
from cqa_site.rounds.queue import controls_due, place_for
from cqa_site.rounds.rules.actions import hits_of, record_of
from cqa_site.rounds.rules.measures import ControlAnswer
from tests.cast import sign_in
from tests.people.crowd import answer_item
from tests.worlds import built_of
from .made_work import ITEMS, JSON, SERVED, World

built, world = built_of(World, SERVED, "score")
N_CONTROLS = 3


@pytest.fixture
def controlled(world):
    """The same with control items that the full content misses, in a round for one or two."""
    items = list(world.kind.Item.objects.filter(round=world.round).order_by("pk"))
    for item in items[:N_CONTROLS]:
        know(world, item, world.work.missed)
    world.controls = [getattr(item, f"{world.kind.subject}_id") for item in items[:N_CONTROLS]]
    return world


def know(world, item, known):
    set_control(round_=world.round, item=item, known=known, actor=world.researcher)
    world.round.refresh_from_db()


def is_control(world, sheet):
    return getattr(sheet, f"{world.kind.subject}_id") in world.controls


def rule(world, **rules):
    type(world.round).objects.filter(pk=world.round.pk).update(rules=rules)
    world.round.refresh_from_db()


def low(action, window=3):
    return {"action": action, "window": window, "threshold": 0.8}


def state_of(world):
    return world.place().is_stopped, world.place().is_excluded


FALL = {"action": "pause", "window": 0, "threshold": 0.5, "usual": 0.7}


def test_everybody_gets_each_control_once_and_no_figure_has_them(controlled):
    firsts = controlled.do(0)
    assert len(firsts) == ITEMS
    assert sum(is_control(controlled, sheet) for sheet in firsts) == N_CONTROLS
    assert [sheet.known is not None for sheet in firsts] == [
        is_control(controlled, sheet) for sheet in firsts
    ]
    counted = controlled.kind.Sheet.objects.filter(COUNTED, round=controlled.round)
    assert counted.count() == ITEMS - N_CONTROLS
    assert progress_of(controlled.round)[0].sheets == ITEMS
    # Nothing ordinary is left for anybody else, so that no control comes either.
    assert controlled.do(1) == []
    assert controlled.ask(1).reason == "finished"
    assert list(find_violations()) == []


def test_what_is_left_counts_the_controls_that_come(controlled):
    done = 0
    while controlled.take() is not None:
        far = how_far(controlled.round, controlled.raters[0])
        assert (far.done, far.all) == (done, ITEMS)
        controlled.submit(controlled.take())
        done += 1
    assert how_far(controlled.round, controlled.raters[0]).left == 0


def test_the_page_of_a_control_is_that_of_any_item(world):
    """Byte for byte the page that the sheet had before, but for tokens that are always new."""
    client = sign_in(world.people[0])
    sheet, new = world.take(), r"csrf\w*|nonce|value|client|X-CSRFToken"

    def page():
        text = client.get(world.address("_form", sheet)).text
        return re.sub(rf"""({new})["']?[:=] ?["'][^"']*""", "", text)

    before = page()
    items = world.kind.Item.objects.filter(round=world.round)
    thing = getattr(sheet, f"{world.kind.subject}_id")
    know(world, items.get(**{world.kind.subject: thing}), world.work.missed)
    assert world.again(sheet).known
    assert page() == before
    world.submit(sheet)
    assert list(find_violations()) == []


@pytest.mark.parametrize("feature", [int, lambda place: place % 4, lambda place: place % 5])
def test_no_place_tells_a_control(feature):
    """A classifier that learned from 300 people where controls come is at chance with others."""
    rates, scores = Counter(), {True: [], False: []}
    for rater in range(600):
        met, own = 0, {"controls": 10, "items": 50, "seed": 1, "rater": rater}
        for place in range(50):
            is_known = bool(controls_due(place, met, 0, **own))
            met += is_known
            if rater < 300:
                rates[feature(place)] += is_known
            else:
                scores[is_known].append(rates[feature(place)])
        assert met == 10
    assert area(scores[True], scores[False]) == pytest.approx(0.5, abs=0.05)


def area(positive, negative):
    """The area under the curve of a score, ties counted half."""
    positives, negatives, below, total = Counter(positive), Counter(negative), 0, 0.0
    for score in sorted(positives.keys() | negatives.keys()):
        total += positives[score] * (below + negatives[score] / 2)
        below += negatives[score]
    return total / (len(positive) * len(negative))


def test_a_control_is_made_an_ordinary_item_again(controlled):
    controlled.do(0)
    items = controlled.kind.Item.objects.filter(round=controlled.round, known__isnull=False)
    for item in items:
        know(controlled, item, None)
    counted = controlled.kind.Sheet.objects.filter(COUNTED, round=controlled.round)
    assert (counted.count(), controlled.round.n_controls) == (ITEMS, 0)
    assert list(find_violations()) == []
    verbs = AuditEvent.objects.filter(verb__startswith="control_").values_list("verb", flat=True)
    assert Counter(verbs) == {"control_set": N_CONTROLS, "control_removed": N_CONTROLS}


def test_only_running_rounds_and_drafts_take_known_answers(world):
    close_round(round_=world.round, actor=world.researcher)
    item = world.kind.Item.objects.filter(round=world.round).first()
    with pytest.raises(RoundNotReady):
        know(world, item, world.work.met)


def test_two_researchers_at_once_make_one_control(world):
    """Each has read the item before the other changed it."""
    for known in (world.work.met, None):
        items = world.kind.Item.objects.filter(round=world.round, key_points__isnull=True)
        first, second = items.earliest("position"), items.earliest("position")
        know(world, first, known)
        know(world, second, known)
        assert world.round.n_controls == (known is not None)


def test_an_item_of_which_the_draft_was_drawn_again_is_refused(world):
    """The page had been read before."""
    item = world.kind.Item.objects.filter(round=world.round).first()
    world.kind.Item.objects.filter(pk=item.pk).delete()
    with pytest.raises(RoundNotReady, match="drawn again"):
        know(world, item, world.work.met)


def test_a_round_with_a_new_control_can_still_be_completed(world):
    """The slots of the item go, so that nothing waits for answers that nobody will give."""
    sheet = world.take()
    thing = {world.kind.subject: getattr(sheet, f"{world.kind.subject}_id")}
    item = world.kind.Item.objects.get(round=world.round, **thing)
    know(world, item, world.work.met)
    world.do(0)
    world.do(1)
    assert not world.slots().exclude(state="done").exists()
    assert world.kind.count_free(world.round) == 0
    know(world, item, None)
    assert world.slots(item=item).exists()
    assert list(find_violations()) == []


def test_an_answer_changed_after_a_new_start_counts_from_there(world):
    """Wherever it was served: those before it stay out."""
    now = timezone.now()
    place = Place(rules_since=now)
    times = (now + timedelta(1), now - timedelta(1), now + timedelta(2))
    controls = [ControlAnswer(at, right, 1) for at, right in zip(times, (1, 0, 1), strict=True)]
    assert record_of(place, controls).recent.answers == (1, 1)


@pytest.mark.parametrize("decision", ["pause", "exclude"])
def test_low_accuracy_acts_and_a_person_takes_it_back(controlled, decision):
    rule(controlled, controls=low(decision))
    controlled.do(0, at_most=1)
    assert state_of(controlled) == (False, False)
    # Three wrong answers are three of three; nothing more is served after the third.
    done = controlled.do(0)
    place = controlled.place()
    met = controlled.kind.Sheet.objects.filter(round=controlled.round, known__isnull=False)
    assert state_of(controlled) == (decision == "pause", decision == "exclude")
    assert met.filter(state="submitted").count() == N_CONTROLS
    assert len(done) < ITEMS
    [event] = AuditEvent.objects.filter(study=controlled.study, reason__contains="interval")
    assert event.reason == "Control accuracy 0 of 3, 95 % interval 0.00 to 0.71."
    assert list(find_violations()) == []
    place.round = controlled.round
    decide_rater(place=place, actor=controlled.researcher, decision="reinstate")
    controlled.do(0)
    assert state_of(controlled) == (False, False)
    assert hits_of(controlled.round) == []
    assert list(find_violations()) == []


def test_right_answers_trigger_nothing_and_a_fall_does(controlled):
    rule(controlled, controls=low("pause"), fall=FALL)
    assert controlled.do(0, at_most=2)
    controlled.kind.Item.objects.filter(known__isnull=False).update(known=controlled.work.met)
    controlled.kind.Sheet.objects.filter(known__isnull=False).update(known=controlled.work.met)
    controlled.do(0)
    assert hits_of(controlled.round) == []
    controlled.kind.Sheet.objects.filter(known__isnull=False).update(known=controlled.work.missed)
    rule(controlled, fall=FALL | {"usual": 0.99, "threshold": 0.1})
    [hit] = hits_of(controlled.round)
    assert "A fall in accuracy was signalled at control answer" in hit.finding.sentence


def test_an_agreed_answer_of_a_closed_round_becomes_a_control(world):
    closed = world.round = world.make_round(raters=2, name="Closed")
    for person in (0, 1):
        world.do(person)
    assert agreed_answers(world.make_round(name="Other", opens=False)) == []
    close_round(round_=closed, actor=world.researcher)
    world.round = world.make_round(name="Next")
    offers = agreed_answers(world.round)
    assert len(offers) == ITEMS
    assert {offer.people for offer in offers} == {2}
    taken_item = take_answer(round_=world.round, sheet=offers[0].source, actor=world.researcher)
    world.round.refresh_from_db()
    assert taken_item.known == world.kind.answer_of(offers[0].source)
    assert world.round.n_controls == 1
    assert len(agreed_answers(world.round)) == ITEMS - 1
    # Its first judges do not see it again; others do.
    seen = [sheet for sheet in world.do(0, at_most=2) if sheet.known]
    assert seen == []
    assert [bool(sheet.known) for sheet in world.do(2)].count(True) == 1
    assert list(find_violations()) == []
    # What was not drawn enters no sample.
    if world.kind.is_sample:
        drawn = world.kind.Item.objects.filter(
            known__isnull=True, round__state__in=("open", "closed")
        ).count()
        assert audit_of(closed.analysis).pairs == drawn
        with pytest.raises(RoundNotReady, match="bias"):
            know(world, taken_item, None)
        # One that nobody got leaves the round, as if it had never been there.
        sheet = agreed_answers(world.round)[0].source
        another = take_answer(round_=world.round, sheet=sheet, actor=world.researcher)
        know(world, another, None)
        assert world.round.n_controls == 1
        assert audit_of(closed.analysis).pairs == drawn
        assert sheet in {offer.source for offer in agreed_answers(world.round)}
        # A key point with another text is another question.
        world.round.analysis.points.update(text="Another point.")
        assert agreed_answers(world.round) == []
    else:
        know(world, taken_item, None)


def test_pages_set_take_and_show(controlled, django_assert_max_num_queries):
    client = sign_in(controlled.researcher)
    ids = [controlled.study.public_id, controlled.round.public_id]
    page = reverse("round_controls", args=ids)
    counts = []
    for person in (0, 0, 1):
        controlled.do(person, at_most=3)
        with CaptureQueriesContext(connection) as captured:
            text = client.get(page).text
        counts.append(len(captured))
    assert counts[1] == counts[2] <= 25
    assert text.count('<tr><td class="number" data-head="#">') == N_CONTROLS
    item = controlled.kind.Item.objects.filter(round=controlled.round, known__isnull=True).first()
    form = reverse("round_control", args=[*ids, item.position])
    assert client.get(form).status_code == 200
    assert client.post(form, {"sent": "1"}).status_code == 422
    assert client.post(form, controlled.work.met).status_code == 302
    item.refresh_from_db()
    assert item.known == controlled.work.met
    assert client.post(form, {"remove": "1"}).status_code == 302
    item.refresh_from_db()
    assert item.known is None
    for format in ("csv", "svg"):
        figure = reverse("round_controls_figure", args=[*ids, "drift", format])
        assert client.get(figure).status_code == 200
    has_tolerance = controlled.kind.tolerance is not None
    assert client.post(page, {"tolerance": "1"}).status_code == (302 if has_tolerance else 422)
    assert ("Tolerance" in text) == has_tolerance
    link = client.get(controlled.office()).text
    assert f'href="{page}"' in link
    assert "Controls correct" in link


def test_a_tolerance_decides_what_is_right(db):
    world = World("score")
    sheet = world.submit(world.take())
    known = dict.fromkeys(sheet.points, 0)
    assert world.kind.difference(sheet, known) == 15
    assert not world.kind.is_right(world.round, sheet, known)
    near = sheet.points | {"C1": 0, "C2": 0, "C3": 0}
    assert world.kind.is_right(world.round, sheet, near)
    assert not world.kind.is_right(world.round, sheet, near | {"C4": 0})
    set_tolerance(round_=world.round, tolerance=15, actor=world.researcher)
    assert world.kind.is_right(world.round, sheet, known)
    sheet.points = {}
    assert world.kind.difference(sheet, near) == 15


def cost_of(client, world, sheet):
    """Status, shape and database statements of what a page of work asks the server for."""
    page = {"base_version": "0", "client": "c", "client_key": f"k{sheet.pk}"}
    draft = {"text": urlencode(world.work.unfit_form), "sequence": "1"}
    last = world.work.full_form | {"base_version": "1", "sequence": "2"}
    asked = [("", None), ("_form", None), ("_save", page | draft), ("_submit", page | last)]
    for end, fields in asked:
        row = world.round if not end else sheet
        with CaptureQueriesContext(connection) as captured:
            if fields is None:
                reply = client.get(world.address(end, row))
            else:
                reply = client.post(world.address(end, row), fields, **JSON)
        is_json = "json" in reply.headers["Content-Type"]
        statements = Counter(query["sql"].split()[0] for query in captured)
        shape = sorted(reply.json()) if is_json else []
        yield end, reply.status_code, *shape, *sorted(statements.items())


@pytest.mark.parametrize("rules", [{}, {"controls": low("warn")}])
def test_no_answer_of_the_server_tells_a_control_by_its_cost(world, rules):
    """A control item, an ordinary one, and whatever comes after either, cost the same."""
    world.round = world.make_round(raters=3, name="For all")
    for item in world.kind.Item.objects.filter(round=world.round).order_by("pk")[:N_CONTROLS]:
        know(world, item, world.work.met)
    rule(world, **rules)
    costs = {True: set(), False: set()}
    for person in range(2):
        client = sign_in(world.people[person])
        # Everybody knows when the last item comes.
        for _place in range(ITEMS - 1):
            client.get(world.address(""))
            sheet = world.take(person)
            costs[sheet.known is not None].add(tuple(cost_of(client, world, sheet)))
    assert costs[True] == costs[False]
    assert len(costs[True]) == 1


def test_no_answer_to_a_label_tells_a_control_by_its_cost(db):
    """Blocks are served whole, so that only the answers can differ."""
    world = World("label")
    place = place_for(round_=world.round, rater=world.raters[0])
    costs = {True: set(), False: set()}
    while rows := next_work(label_round=world.round, place=place).assignments:
        with CaptureQueriesContext(connection) as captured:
            answer_item(rows[0], f"k{rows[0].pk}")
        statements = Counter(query["sql"].split()[0] for query in captured)
        costs[rows[0].item.is_control].add(tuple(sorted(statements.items())))
    assert costs[True] == costs[False]
    assert len(costs[True]) == 1
