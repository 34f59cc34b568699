"""Examples with known answers: chosen, done and explained, in every kind with right answers."""

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from benchmark.scoring.actions import ScoreContent
from cqa_site.rounds.controls import (
    offered_examples,
    set_control,
    set_example,
    set_tolerance,
    take_answer,
    take_example,
)
from cqa_site.rounds.examples import known_items
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import close_round, find_violations, open_round
from cqa_site.rounds.models import COUNTED, Qualification
from cqa_site.rounds.onboarding.actions import withdraw_qualification
from cqa_site.rounds.onboarding.reports import step_counts
from tests.cast import sign_in
from tests.rounds.made_work import POINTS, SERVED, World
from tests.worlds import built_of
from .made_steps import NONE, attach, make_version

built, world = built_of(World, SERVED, "score")
STEPS = {"training": 1, "qualification": 1, "qualification_right": 1, "qualification_attempts": 2}


@pytest.fixture
def draft(world):
    """A draft with steps that train, in a study with a round of known answers."""
    world.first = world.round
    for item in world.kind.Item.objects.filter(round=world.round):
        set_control(round_=world.round, item=item, known=world.work.met, actor=world.researcher)
    # What is hidden in a running round stays hidden.
    draft = world.make_round(opens=False, name="With examples", size=3)
    assert known_items(draft) == []
    close_round(round_=world.round, actor=world.researcher)
    world.round = draft
    version = make_version(world.study, world.researcher, **NONE | STEPS, name="Examples")
    attach(world.round, version)
    return world


def opened(world):
    open_round(round_=world.round, actor=world.researcher)
    world.round.refresh_from_db()
    return world


def likes(world, rows):
    return set(rows.values_list(*world.kind.likeness))


def wrong(world):
    """A content that is no right answer, whatever the tolerance."""
    return ScoreContent(dict.fromkeys(POINTS, 0)) if world.name == "score" else world.work.changed


def ids(world, *more):
    return [world.study.public_id, world.round.public_id, *more]


def test_a_round_takes_known_answers_of_others_when_it_opens(draft):
    ordinary = likes(draft, draft.kind.Item.objects.filter(round=draft.round))
    known = likes(draft, draft.kind.Item.objects.filter(round=draft.first))
    opened(draft)
    examples = draft.kind.Item.objects.filter(round=draft.round, key_points__isnull=False)
    assert examples.count() == 2
    assert [item.key_points for item in examples] == [draft.work.met] * 2
    assert likes(draft, examples) <= known - ordinary
    # Nobody gets them again: neither as they are nor as agreed answers of another round.
    done = draft.do()
    steps = {count.step: count.passed for count in step_counts(draft.round.onboarding)}
    assert steps == {"training": 1, "qualification": 1}
    trained = {getattr(item, f"{draft.kind.subject}_id") for item in examples}
    things = [getattr(sheet, f"{draft.kind.subject}_id") for sheet in done]
    assert set(things[:2]) == trained
    assert not trained.intersection(things[2:])
    counted = draft.kind.Sheet.objects.filter(COUNTED, round=draft.round)
    assert counted.count() == len(done) - 2
    assert list(find_violations()) == []


def test_a_round_without_enough_known_answers_does_not_open(draft):
    # Of parts that this round does not ask about, as after a change of rubric, none is known.
    for known in (None, {"other": 1}):
        draft.kind.Item.objects.filter(round=draft.first).update(known=known)
        assert offered_examples(draft.round) == []
        with pytest.raises(RoundNotReady, match="work: 2, chosen: 0"):
            opened(draft)


def test_people_train_qualify_and_qualify_again(draft):
    opened(draft)
    for content in (wrong(draft), wrong(draft), draft.work.full):
        sheet = draft.take()
        assert sheet.is_example
        draft.submit(sheet, content)
    assert not draft.take().is_example
    held = Qualification.objects.get()
    draft.submit(draft.take())
    again = {"actor": draft.researcher, "reason": "Drifts", "can_repeat": True}
    withdraw_qualification(qualification=held, **again)
    assert draft.take().is_example
    draft.submit(draft.take(), draft.work.full)
    assert not draft.take().is_example
    assert list(find_violations()) == []


def test_feedback_comes_after_the_answer_and_nothing_before(draft):
    draft.round = opened(draft).round
    examples = draft.kind.Item.objects.filter(round=draft.round, key_points__isnull=False)
    part = next(iter(draft.work.met))
    examples.update(key_notes={part: "THE-REASON", "where": "THE-PLACE"})
    client = sign_in(draft.people[0])
    for number in range(2):
        sheet = draft.take()
        address = draft.address("_form", sheet)
        page = client.get(address).text
        assert "feedback-title" not in page
        assert "THE-REASON" not in page
        # The invented texts name their system themselves.
        secrets = set(draft.work.hidden(sheet)) - {"Secretive", "Other one"}
        assert not [secret for secret in secrets if secret in page]
        form = draft.work.full_form | {"base_version": "0", "client_key": f"k{sheet.pk}"}
        assert client.post(draft.address("_submit", sheet), form).status_code == 303
        after = client.get(address).text
        # The second one decides; its key would make another attempt no test.
        assert [word in after for word in ("THE-REASON", "THE-PLACE")] == [number == 0] * 2
        assert not [secret for secret in secrets if secret in after]


def test_feedback_within_the_tolerance_says_so(draft):
    opened(draft)
    # An answer of two is right or wrong, so that no tolerance changes it.
    right = "Not right" if draft.kind.tolerance is None else "Right, within the tolerance of 100"
    for person, (tolerance, shown) in enumerate(((0, "Not right"), (100, right))):
        if draft.kind.tolerance is not None:
            set_tolerance(round_=draft.round, tolerance=tolerance, actor=draft.researcher)
        sheet = draft.submit(draft.take(person), wrong(draft))
        page = sign_in(draft.people[person]).get(draft.address("_form", sheet)).text
        title = page[page.index('id="feedback-title"') :]
        title = " ".join(strip_tags(title[: title.index("</h2>")]).split())
        assert title.endswith(shown)
        is_warned = '<span class="badge warn" >Differs' in " ".join(page.split())
        assert is_warned == (shown == "Not right")


def test_practice_is_numbered_in_rounds_that_hide_earlier_sheets(draft):
    attach(draft.round, None)
    draft.kind.Round.objects.filter(pk=draft.round.pk).update(repeat_share=0.5)
    for offer in offered_examples(draft.round)[:6]:
        take_example(round_=draft.round, offer=offer, actor=draft.researcher)
    items = draft.kind.Item.objects.filter(round=draft.round)
    for item in items.filter(key_points__isnull=True)[:2]:
        thing = getattr(item, draft.kind.subject)
        about = {"known": draft.work.met, "actor": draft.researcher}
        set_example(round_=draft.round, thing=thing, **about)
    n = items.filter(key_points__isnull=False).count()
    assert n > 5
    done = opened(draft).do(at_most=n)
    page = sign_in(draft.people[0]).get(draft.address("_form", done[-1])).text
    assert f"Practice {n} of {n}" in page


def test_researchers_choose_examples_on_pages(draft, django_assert_max_num_queries):
    client = sign_in(draft.researcher)
    page = reverse("round_examples", args=ids(draft))
    with django_assert_max_num_queries(30):
        text = client.get(page).text
    offers = offered_examples(draft.round)
    assert text.count('name="id"') == len(offers) > 2
    assert "no longer offered" in client.post(page, {"id": "other"}, follow=True).text
    assert client.post(page, {"id": offers[0].id}).status_code == 302
    example = draft.kind.Item.objects.get(round=draft.round, key_points__isnull=False)
    assert example.key_points == draft.work.met
    form = reverse("round_example", args=ids(draft, example.position))
    part = next(iter(draft.work.met))
    assert client.get(form).status_code == 200
    assert client.post(form, {"where": "There"}).status_code == 422
    sent = draft.work.missed | {f"why-{part}": "Because", "where": "There"}
    # Of a page about another item, which had this position before the plan was drawn again.
    stale = client.post(form, sent | {"item": example.pk + 1}, follow=True)
    assert "drawn again" in stale.text
    example.refresh_from_db()
    assert example.key_points == draft.work.met
    assert f'name="item" value="{example.pk}"' in client.get(form).text
    assert client.post(form, sent).status_code == 302
    example.refresh_from_db()
    assert example.key_points == draft.work.missed
    assert example.key_notes == {part: "Because", "where": "There"}
    assert "Choose examples" in client.get(draft.office()).text
    # The researcher sees it as people do, and what they see after it.
    trial = reverse(f"{draft.kind.work_page}_trial", args=ids(draft, 1))
    assert "Practice." in client.get(trial).text
    tried = client.post(
        reverse(f"{draft.kind.work_page}_trial_submit", args=ids(draft, 1)),
        draft.work.full_form | {"base_version": "0"},
    )
    assert "Because" in tried.text
    assert "feedback-title" in tried.text
    assert not draft.kind.Sheet.objects.filter(round=draft.round).exists()
    assert client.post(form, {"remove": "on"}).status_code == 302
    assert not draft.kind.Item.objects.filter(round=draft.round, key_points__isnull=False).exists()
    opened(draft)
    assert client.get(page).status_code == 404


def test_what_was_drawn_is_ordinary_again_after_it_was_an_example(draft):
    items = draft.kind.Item.objects.filter(round=draft.round)
    before = list(items.values_list("position", "probability", draft.kind.subject))
    thing = getattr(items.earliest("position"), draft.kind.subject)
    page = reverse("round_example", args=ids(draft, before[0][0]))
    client = sign_in(draft.researcher)
    for known in (draft.work.met, draft.work.missed, None):
        set_example(round_=draft.round, thing=thing, known=known, actor=draft.researcher)
        assert ("Make it an ordinary item" in client.get(page).text) == (known is not None)
    assert list(items.values_list("position", "probability", draft.kind.subject)) == before
    assert not items.exclude(key_points=None, key_notes={}).exists()
    # One that the draft does not have when it is drawn again is removed.
    set_example(round_=draft.round, thing=thing, known=draft.work.met, actor=draft.researcher)
    draw_again(draft)
    set_example(round_=draft.round, thing=thing, known=None, actor=draft.researcher)
    assert not items.filter(**{draft.kind.subject: thing.pk}).exists()


def draw_again(draft):
    client, edit = sign_in(draft.researcher), draft.office("_edit")
    values = client.get(edit).context["form"]
    sent = {name: values[name].value() for name in values.fields}
    sent = {
        name: value for name, value in sent.items() if value is not None and value is not False
    }
    reply = client.post(edit, sent | {"size": 10, "then": "draft"})
    assert reply.status_code == 302, reply.context["form"].errors


def test_a_new_draw_keeps_examples_out_of_the_work(draft):
    take_example(
        round_=draft.round, offer=offered_examples(draft.round)[0], actor=draft.researcher
    )
    example = draft.kind.Item.objects.get(round=draft.round, key_points__isnull=False)
    like = likes(draft, type(example).objects.filter(pk=example.pk))
    draw_again(draft)
    items = draft.kind.Item.objects.filter(round=draft.round)
    assert items.get(key_points__isnull=False).pk == example.pk
    assert not like & likes(draft, items.filter(key_points__isnull=True))
    assert items.filter(key_points__isnull=True).exists()


def test_an_example_is_never_a_control_item(world):
    """Agreed answers of closed rounds are offered as both; the first choice stands."""
    closed = world.round = world.make_round(raters=2, name="Closed")
    for person in (0, 1):
        world.do(person)
    close_round(round_=closed, actor=world.researcher)
    world.round = world.make_round(opens=False, name="Next")
    offer = next(row for row in offered_examples(world.round) if row.people == 2)
    take_example(round_=world.round, offer=offer, actor=world.researcher)
    with pytest.raises(RoundNotReady, match="example"):
        take_answer(round_=world.round, sheet=offer.source, actor=world.researcher)
    assert known_items(world.round) == []


def test_running_rounds_keep_their_examples(draft):
    opened(draft)
    example = draft.kind.Item.objects.filter(key_points__isnull=False).first()
    about = {"thing": getattr(example, draft.kind.subject), "known": None}
    with pytest.raises(RoundNotReady):
        set_example(round_=draft.round, actor=draft.researcher, **about)


def test_an_offer_taken_by_two_or_about_an_item_of_the_draft_is_one_example(draft):
    items = draft.kind.Item.objects.filter(round=draft.round)
    offer, other = offered_examples(draft.round)[:2]
    take_example(round_=draft.round, offer=offer, actor=draft.researcher)
    (drawn,) = (row for row in offered_examples(draft.round) if row.id == other.id)
    thing = {draft.kind.subject: draft.kind.copied(draft.round, drawn.source)}
    items.create(round=draft.round, position=99, **thing)
    size = items.count()
    for row in (offer, other):
        take_example(round_=draft.round, offer=row, actor=draft.researcher)
    assert items.count() == size
    assert items.filter(key_points__isnull=False, known__isnull=True).count() == 2


def test_nothing_is_left_of_a_removed_example_or_of_one_drawn_again(draft):
    take_example(
        round_=draft.round, offer=offered_examples(draft.round)[0], actor=draft.researcher
    )
    item = draft.kind.Item.objects.get(round=draft.round, key_points__isnull=False)
    thing = getattr(item, draft.kind.subject)
    for _again in (1, 2):
        set_example(round_=draft.round, thing=thing, known=None, actor=draft.researcher)
    assert not draft.kind.Item.objects.filter(pk=item.pk).exists()
    if draft.kind.is_sample:
        assert not draft.round.pairs.filter(items=None).exists()
        with pytest.raises(RoundNotReady, match="drawn again"):
            set_example(
                round_=draft.round, thing=thing, known=draft.work.met, actor=draft.researcher
            )
