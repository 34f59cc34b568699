"""How texts were typed: stored only with consent to it, summed up per person, never acting."""

import pytest
from django.urls import reverse
from django.utils import timezone

from cqa_site.rounds.crowd.participation import stop_participation
from cqa_site.rounds.models import Participant, Place, TypedText
from cqa_site.rounds.onboarding.actions import take_step
from cqa_site.rounds.onboarding.forms import OnboardingForm
from cqa_site.rounds.templatetags.onboarding import typing_address
from cqa_site.rounds.typing_signals import TypingSummary, store_typing, summaries, typing_of
from tests.annotation.voting import label_all
from tests.cast import sign_in
from tests.people.crowd import create_link
from tests.rounds.made_work import World
from tests.worlds import built_of
from .made_steps import FIELDS, NONE, RIGHT, attach, make_version, place_of

KINDS = ("label", "score", "edit")
COUNTS = {"typed": 90, "pasted": 30, "inserted": 5, "pastes": 2, "typing_ms": 18_000}
built, world = built_of(World, KINDS, "score")


def record(world, client, **counts):
    address = reverse("typing_record", args=[world.study.public_id, world.round.public_id])
    return client.post(address, COUNTS | counts)


def prepare(world, **fields):
    """The round with a consent, and somebody who agreed; the version and a client."""
    version = make_version(
        world.study, world.researcher, **(NONE | {"consent": "We store answers."} | fields)
    )
    attach(world.round, version)
    place = place_of(world)
    take_step(
        round_=place.round, place=place, kind="consent", answers=RIGHT["consent"], started_at=None
    )
    client = sign_in(world.people[0])
    client.get(world.address(""))
    return version, client


@pytest.mark.parametrize("built", KINDS, indirect=True)
def test_counts_are_stored_where_the_consent_says_so(world):
    page = world.address("")
    _version, client = prepare(world)
    assert b"typing.js" not in client.get(page, follow=True).content
    assert record(world, client).status_code == 204
    assert not TypedText.objects.exists()
    _version, client = prepare(world, name="With typing", typing="on")
    assert b"typing.js" in client.get(page, follow=True).content
    assert record(world, client, filled_trap="on").status_code == 204
    assert record(world, client, typed=-1).status_code == 422
    assert record(world, client, pasted="many").status_code == 422
    row = TypedText.objects.get()
    assert (row.rater, row.typed, row.filled_trap) == (world.raters[0], 90, True)
    record(world, client, continues="on")
    row = TypedText.objects.get()
    assert (row.typed, row.typing_ms, row.filled_trap) == (180, 36_000, True)
    # Sheets that people have begun can be finished before they agree to a new version.
    assert typing_address({"user": world.people[0]}, world.round)
    Place.objects.update(prepared_for=None)
    record(world, client)
    assert TypedText.objects.count() == 1
    assert not typing_address({"user": world.people[0]}, world.round)


def participant_in(world):
    prepare(world, typing="on")
    link, _secret = create_link(world.round, world.researcher)
    about = {"user": world.people[0], "participant_id": "P1"}
    return Participant.objects.create(study=world.study, link=link, **about)


def finish_one_of_two(world):
    """One answer, and the next item is before the person."""
    if world.name == "label":
        label_all(world.place(), at_most=1)
    else:
        world.do(at_most=1)
        world.take()


def test_counts_of_an_unfinished_item_vanish_when_somebody_stops(world):
    person = participant_in(world)
    own = [
        TypedText.objects.create(round_id=world.round.pk, rater=world.raters[0], **COUNTS)
        for _text in range(2)
    ]
    finish_one_of_two(world)
    TypedText.objects.filter(pk=own[1].pk).update(at=timezone.now())
    stop_participation(participant=person, withdraws=False)
    assert list(TypedText.objects.all()) == own[:1]
    type(world.people[0]).objects.filter(pk=world.people[0].pk).update(email=None)
    world.people[0].refresh_from_db()
    assert record(world, sign_in(world.people[0])).status_code == 204
    assert TypedText.objects.count() == 1


def test_nothing_is_kept_of_somebody_who_withdraws(world):
    person = participant_in(world)
    for rater in world.raters[:2]:
        TypedText.objects.create(round_id=world.round.pk, rater=rater, **COUNTS)
    stop_participation(participant=person, withdraws=True)
    assert [row.rater for row in TypedText.objects.all()] == [world.raters[1]]
    place = place_of(world)
    assert store_typing(place.round, place.rater, COUNTS) is None


def test_the_consent_page_says_so_and_a_small_change_cannot_add_it(world):
    version, client = prepare(world)
    fields = FIELDS | {"typing": "on"}
    form = OnboardingForm(
        fields | {"keeps_qualifications": "on"},
        study=world.study,
        onboarding=version.onboarding,
    )
    assert "keeps_qualifications" in form.errors
    assert "typing" in OnboardingForm(fields | {"consent": ""}, study=world.study).errors
    attach(world.round, make_version(world.study, world.researcher, name="B", typing="on"))
    address = reverse("round_steps", args=[world.study.public_id, world.round.public_id])
    text = client.get(address).text
    assert "the time between keystrokes" in text
    assert "a program fills in the page" in text


def test_the_page_sums_up_each_person(world):
    prepare(world, typing="on")
    for counts in (COUNTS, COUNTS | {"typed": 10, "pasted": 200}, COUNTS):
        TypedText.objects.create(round_id=world.round.pk, rater=world.raters[0], **counts)
    (row,) = summaries(typing_of(world.round))
    assert (row.texts, row.typed, row.pasted, row.seconds) == (3, 190, 260, 54.0)
    assert row.signals == ["mostly pasted"]
    address = reverse("round_typing", args=[world.study.public_id, world.round.public_id])
    page = sign_in(world.researcher).get(address).text
    assert "mostly pasted" in page
    assert str(world.raters[0]) in page


@pytest.mark.parametrize(
    ("counts", "signals"),
    [
        ({"texts": 3, "typed": 60, "pasted": 60}, ["mostly pasted"]),
        ({"texts": 2, "typed": 60, "pasted": 60}, []),
        ({"texts": 3, "typed": 40, "pasted": 59}, []),
        ({"texts": 3, "typed": 61, "pasted": 59}, []),
        ({"typed": 150, "seconds": 10.0}, ["very fast typing"]),
        ({"typed": 149, "seconds": 10.0}, []),
        ({"typed": 99, "seconds": 1.0}, []),
        # Dictation is no typing.
        ({"inserted": 500, "seconds": 1.0}, []),
        ({"traps": 1}, ["filled in the hidden field"]),
    ],
)
def test_what_stands_out(counts, signals):
    names = ("texts", "typed", "pasted", "inserted", "pastes", "traps")
    none = dict.fromkeys(names, 0) | {"seconds": 0.0}
    assert TypingSummary(rater=None, **(none | counts)).signals == signals
