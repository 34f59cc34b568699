"""Systems that the paper left out of released counts are left out by themselves, and shown so."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from argsum.leaderboard.actions import request_board
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.board import summary_board
from argsum.leaderboard.reports.choice import board_choice, usually_left_out
from cqa_site.people.models import Rater
from cqa_site.people.tokens import create_token
from cqa_site.runs.jobs import drain
from tests.argsum.made_cells import make_count, make_dataset, make_set
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db
OTHER, SUMMETIX = "match_barh", "sep_summetix_it_0"


def make_counted():
    """Counts of two people from files, of two systems on both sides of a topic."""
    made = make_study("Left out")
    dataset = make_dataset(made)
    raters = [
        Rater.objects.create(study=made, kind="person", external_id=name, name=name)
        for name in ("A1", "A2")
    ]
    for cell in dataset.cells.all():
        for system in (OTHER, SUMMETIX):
            counted = make_set(cell, system=system)
            for rater in raters:
                make_count(counted, rater, source=f"{rater.name}.csv")
    return made


study = built_once(make_counted)


@pytest.fixture
def client(study):
    return sign_in(make_member(study, "researcher"))


def systems(study, **query):
    return {row.system for row in summary_board(board_choice(study, query)).rows}


def test_the_board_leaves_them_out_until_somebody_counts_them(study, client):
    assert systems(study) == {OTHER}
    assert systems(study, without="") == {OTHER, SUMMETIX}
    assert systems(study, without="barh") == {SUMMETIX}
    page = reverse("key_points", args=[study.public_id])
    shown = client.get(page).content.decode()
    assert 'name="without"\n        value="summetix"' in shown
    assert "Systems called summetix are left out" in shown
    assert SUMMETIX not in shown
    all_of_them = client.get(f"{page}?without=").content.decode()
    assert SUMMETIX in all_of_them
    assert 'name="without"' in all_of_them


def test_agreement_begins_without_them(study, client):
    page = reverse("summary_people", args=[study.public_id])
    assert 'value="summetix"' in client.get(page).content.decode()
    assert client.get(page).context["found"].sets == 2
    assert client.get(f"{page}?without=").context["found"].sets == 4
    dataset = study.argument_datasets.get()
    assert client.get(f"{page}?dataset={dataset.public_id}").context["found"].sets == 2


def test_a_study_without_released_counts_leaves_out_nothing(client):
    other = make_study("Own")
    dataset = make_dataset(other)
    for cell in dataset.cells.all():
        make_set(cell, system=SUMMETIX)
    assert usually_left_out(other) == ""
    assert systems(other) == {SUMMETIX}
    member = make_member(other, "researcher")
    shown = sign_in(member).get(reverse("key_points", args=[other.public_id])).content.decode()
    assert "Leave out systems called" not in shown


def test_a_snapshot_keeps_what_was_chosen(study):
    for without, rows in (("", 2), ("summetix", 1)):
        request_board(choice=board_choice(study, {"without": without}))
        drain()
        snapshot = KeyPointSnapshot.objects.order_by("-pk").first()
        assert f"without={without}" in snapshot.recipe["query"]
        assert len(snapshot.figures["board"]["rows"]) == rows


def test_programs_get_the_same(study):
    _token, secret = create_token(user=make_member(study, "researcher"), name="t", scope="read")
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    base = f"/api/v1/studies/{study.public_id}"
    board = api.get(f"{base}/key-points/leaderboard/").json()
    assert board["without"] == "summetix"
    assert [row["system"] for row in board["system_rows"]] == [OTHER]
    assert len(api.get(f"{base}/key-points/leaderboard/?without=").json()["system_rows"]) == 2
    people = api.get(f"{base}/key-points/people/")
    assert people.json()["sets"] == 2
    assert api.get(f"{base}/key-points/people/?without=").json()["sets"] == 4
