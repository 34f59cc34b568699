"""Falls in control accuracy: the signal, what the round does about it, and the page."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.models import Assignment
from annotation.quality import actions as quality
from annotation.quality.reports.controls import quality_of
from annotation.quality.reports.quality import chart_of_round
from cqa_site.controls.drift import drift_chart, drift_curves, drift_table
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.models import Place, Qualification
from tests.annotation.voting import imported, make_raters, vote
from tests.cast import make_label_round, sign_in
from tests.rounds.onboarding.made_steps import make_version

pytestmark = pytest.mark.django_db

STEADY = [3] * 20
# One mistake that is made good, then four in a row: 24, the limit for .92 to .78.
FALLING = [0] + [3] * 15 + [0] * 4


@pytest.fixture
def label_round(study):
    steady, falling = make_raters(study, 2)
    votes = [list(pair) for pair in zip(STEADY, FALLING, strict=True)]
    keys = [(place, 3) for place in range(20)]
    label_round = imported(study, [steady, falling], votes=votes, controls=keys)
    for rater in (steady, falling):
        Place.objects.create(round=label_round, rater=rater)
    return label_round


@pytest.mark.parametrize(("on_fall", "stopped"), [("warn", []), ("pause", [FALLING])])
def test_only_a_fall_pauses_and_only_where_the_round_says_so(label_round, on_fall, stopped):
    label_round.on_fall = on_fall
    label_round.save()
    places = list(label_round.places.order_by("rater"))
    for place in places:
        quality.check_rater(label_round=label_round, place=place)
        quality.check_rater(label_round=label_round, place=place)
        place.refresh_from_db()
    steady, falling = places
    assert (steady.is_stopped, falling.is_stopped) == (False, bool(stopped))
    assert not falling.is_excluded
    reasons = [event.reason for event in AuditEvent.objects.filter(actor=None)]
    assert len(reasons) == len(stopped)
    assert all("fall" in reason and "20" in reason for reason in reasons)


def test_a_right_key_takes_the_pause_back(label_round, researcher):
    label_round.on_fall = "pause"
    label_round.save()
    place = label_round.places.order_by("rater").last()
    quality.check_rater(label_round=label_round, place=place)
    place.refresh_from_db()
    assert place.is_stopped
    last = label_round.items.order_by("pk").last()
    quality.replace_control_label(
        label_round=label_round, item=last, label=0, reason="wrong key", actor=researcher
    )
    place.refresh_from_db()
    assert not place.is_stopped


def test_the_table_says_what_came_before_and_since(label_round):
    curves = drift_curves(chart_of_round(label_round), quality_of(label_round)[0])
    falling, steady = drift_table(chart_of_round(label_round), curves, label_round.name).rows
    assert falling[1:] == [20, 0.75, 24, 20, "15 of 16", "0 of 4"]
    assert steady[1:] == [20, 1.0, 0, None, "", ""]
    assert drift_chart(chart_of_round(label_round), curves, "wide")["layer"]


def test_the_page_names_who_fell_and_its_files_open(label_round, researcher):
    client = sign_in(researcher)
    ids = [label_round.study.public_id, label_round.public_id]
    page = client.get(reverse("quality_drift", args=ids)).content.decode()
    fallen = max(quality_of(label_round)[0], key=lambda person: bool(person.fall)).rater
    assert f"Falls signalled: 1 ({fallen.pseudonym})" in page
    assert "4 % get a signal within their first 60" in " ".join(page.split())
    for format in ("csv", "svg"):
        assert (
            client.get(reverse("quality_figure", args=[*ids, "drift", format])).status_code == 200
        )
    listed = client.get(reverse("quality", args=ids), {"show": "fall"}).content.decode()
    assert listed.count("Fall signalled</span>") == 1


def test_a_fall_asks_for_the_steps_again_and_the_chart_begins_anew(label_round, researcher):
    version = make_version(label_round.study, researcher)
    label_round.on_fall = "recheck"
    label_round.onboarding = version
    label_round.save()
    falling = label_round.places.select_related("rater").order_by("rater").last()
    Assignment.objects.update(answered_at=timezone.now())
    held = Qualification.objects.create(version=version, rater=falling.rater)
    Place.objects.filter(pk=falling.pk).update(prepared_for=version)
    quality.check_rater(label_round=label_round, place=falling)
    held.refresh_from_db()
    falling.refresh_from_db()
    assert (falling.is_stopped, falling.prepared_for) == (False, None)
    assert held.expires_at <= timezone.now()
    [event] = AuditEvent.objects.filter(verb="qualification_to_repeat", actor=None)
    assert "fall in accuracy was signalled at control answer 20" in event.reason
    # The steps were passed again: nothing of before signals anything.
    Qualification.objects.create(version=version, rater=falling.rater)
    Place.objects.filter(pk=falling.pk).update(prepared_at=timezone.now(), prepared_for=version)
    falling.refresh_from_db()
    quality.check_rater(label_round=label_round, place=falling)
    assert AuditEvent.objects.filter(verb="qualification_to_repeat").count() == 1
    [curve, _steady] = sorted(
        drift_curves(chart_of_round(label_round), quality_of(label_round)[0]),
        key=lambda curve: -curve.highest,
    )
    assert (curve.highest, curve.signal) == (24, None)
    # Four more wrong answers are the next signal.
    extra = make_label_round(label_round.study, ordinary=4, controls=0, name="Other")
    for item in extra.items.all():
        item.round, item.control_label = label_round, 3
        item.external_id = f"more-{item.pk}"
        item.save()
        vote(item, falling.rater, 0, answered_at=timezone.now())
    [fallen] = [person for person in quality_of(label_round)[0] if person.fall]
    assert (fallen.rater, fallen.fall.signal, fallen.fall.start) == (falling.rater, 24, 21)
    quality.check_rater(label_round=label_round, place=falling)
    assert AuditEvent.objects.filter(verb="qualification_to_repeat").count() == 2
