"""Snapshots: the table of votes, staleness, the live one, freezing."""

import gzip
import hashlib
from datetime import UTC, datetime
from functools import partial

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotation.figures.actions import LABEL_ROUNDS
from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import (
    COLUMNS,
    build_votes_csv,
    counted,
    marker,
    read_votes,
    snapshot_votes,
)
from annotation.figures.reports.units import units
from annotation.labelling.models import Assignment, Item, VoteEvent
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from cqa_site.results.models import json_sha256, pack
from cqa_site.results.snapshots import check_snapshot
from cqa_site.rounds.models import Place
from tests.annotation import voting
from tests.annotation.voting import make_raters
from tests.cast import make_label_round

pytestmark = pytest.mark.django_db

DAY = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)


TEXTS = ["NA", "", "null", "a\rb\r\nc\n", "a\x00b", '"', " x ", "=1+1", "\ufeffé\u2028", "1"]


@pytest.fixture
def label_round(study):
    return make_label_round(study, ordinary=4, controls=1, state="open")


def vote(item, rater, label, **fields):
    row = voting.vote(item, rater, label, **{"answered_at": DAY} | fields)
    VoteEvent.objects.create(assignment=row, client_key=f"k{row.pk}", kind="answer", label=label)
    return row


refresh = partial(snapshots.refresh, LABEL_ROUNDS)


def table_of(label_round):
    return read_votes(pack(build_votes_csv(label_round))[0])


def test_the_table_holds_every_submitted_or_void_row_and_nothing_served(label_round):
    first, second = make_raters(label_round.study, 2)
    items = list(label_round.items.all())
    vote(items[1], first, 2, active_ms=1500, is_flagged=True, comment='odd, "quoted"\nline')
    for item, state in zip(items, ("skipped", "expired", "void", "served"), strict=False):
        Assignment.objects.create(round=label_round, item=item, rater=second, state=state)
    table = table_of(label_round)
    assert tuple(table.columns) == COLUMNS
    assert sorted(table["state"]) == ["answered", "expired", "skipped", "void"]
    row = table[table["state"] == "answered"].iloc[0]
    assert row["item_id"] == items[1].external_id
    assert (row["object1"], row["object2"]) == ("tea", "coffee")
    assert row["rater_id"] == str(first.public_id)
    assert (row["label"], row["active_ms"], row["answered_at"]) == (2, 1500, DAY)
    assert row["comment"] == 'odd, "quoted"\nline'
    assert bool(row["is_flagged"])
    skipped = table[table["state"] == "skipped"].iloc[0]
    assert skipped[["label", "active_ms", "answered_at"]].isna().all()
    assert skipped["control_label"] == 3


def test_texts_come_back_exactly(label_round):
    item, rater = label_round.items.last(), make_raters(label_round.study, 1)[0]
    row = vote(item, rater, 1)
    for text in TEXTS:
        # PostgreSQL stores no NUL; imports and the API refuse it on every database.
        if "\x00" in text and connection.vendor == "postgresql":
            continue
        item.argument.text = text
        item.argument.save()
        Assignment.objects.filter(pk=row.pk).update(comment=text)
        stored = table_of(label_round).iloc[0]
        assert (stored["text"], stored["comment"]) == (text, text)


def test_only_plain_answers_of_included_raters_to_items_in_use_are_counted(
    label_round, django_assert_num_queries, django_assert_max_num_queries
):
    first, second = make_raters(label_round.study, 2)
    items = list(label_round.items.all())
    kept = vote(items[1], first, 2)
    vote(items[2], first, 2, is_extra=True)
    vote(items[1], second, 0)
    Assignment.objects.create(round=label_round, item=items[3], rater=first, state="skipped")
    vote(items[0], first, 3)
    Item.objects.filter(pk=items[0].pk).update(is_retired=True)
    Place.objects.create(round=label_round, rater=second, excluded_at=timezone.now())
    rows = counted(table_of(label_round))[["item_id", "rater_id"]]
    assert rows.to_numpy().tolist() == [[kept.item.external_id, str(first.public_id)]]
    # The table takes one query and its marker few; the order of rows changes not one byte.
    with django_assert_num_queries(1):
        before, sha256 = pack(build_votes_csv(label_round))
    with django_assert_max_num_queries(5):
        marker(label_round)
    votes = list(Assignment.objects.order_by("-pk"))
    VoteEvent.objects.all().delete()
    Assignment.objects.all().delete()
    for row in votes:
        row.pk = None
        row.save(force_insert=True)
    assert pack(build_votes_csv(label_round)) == (before, sha256)
    assert hashlib.sha256(gzip.decompress(before)).hexdigest() == sha256


def test_a_machine_in_the_file_is_in_the_table_and_in_no_figure(label_round):
    for place, person in enumerate(make_raters(label_round.study, 2)):
        for number, item in enumerate(label_round.items.all()):
            vote(item, person, (number + place) % 4)
    before = refresh(label_round)
    model = Rater.objects.create(study=label_round.study, kind="model", external_id="gpt")
    for item in label_round.items.all():
        vote(item, model, 0)
    assert marker(label_round) != before.marker
    after = refresh(label_round)
    assert (snapshot_votes(after)["rater_kind"] == "model").sum() == 5
    assert counted(snapshot_votes(after))["rater_kind"].unique().tolist() == ["person"]
    assert before.figures["progress"].pop("machine_labels") == 0
    assert after.figures["progress"].pop("machine_labels") == 5
    assert after.figures == before.figures
    assert len(units(snapshot_votes(after), "alpha")) == before.figures["progress"]["votes"]


def test_the_marker_moves_with_whatever_moves_the_figures(label_round):
    first, second = make_raters(label_round.study, 2)
    items = list(label_round.items.all())
    seen = [marker(label_round)]

    def moved():
        seen.append(marker(label_round))
        return seen[-1] != seen[-2]

    row = vote(items[1], first, 2)
    assert moved()
    Assignment.objects.create(round=label_round, item=items[2], rater=second, state="served")
    assert not moved()
    Assignment.objects.filter(pk=row.pk).update(label=3)
    VoteEvent.objects.create(assignment=row, client_key="again", kind="change", label=3)
    assert moved()
    Assignment.objects.filter(pk=row.pk).update(is_extra=True)  # the place went to somebody else
    assert moved()
    place = Place.objects.create(round=label_round, rater=first)
    assert not moved()
    Place.objects.filter(pk=place.pk).update(excluded_at=timezone.now())
    assert moved()
    Item.objects.filter(control_label=3).update(control_label=2)
    assert moved()
    vote(items[0], second, 3)
    assert moved()
    Item.objects.filter(control_label=2).update(is_retired=True)
    assert moved()
    other = make_label_round(label_round.study, name="Round 2", state="open")
    vote(other.items.first(), second, 1)
    assert not moved()


def url(name, label_round, *more):
    return reverse(name, args=[label_round.study.public_id, label_round.public_id, *more])


@pytest.mark.long
def test_intervals_of_earlier_versions_are_not_computed_again(label_round):
    first, second = make_raters(label_round.study, 2)
    for at, item in enumerate(label_round.items.all()):
        vote(item, first, at % 3)
        vote(item, second, (at + at % 2) % 3)
    refresh(label_round)
    snapshot = Snapshot.objects.get()
    assert check_snapshot(LABEL_ROUNDS, snapshot) == []
    agreement = snapshot.figures["agreement"]
    for scope, found in agreement.items():
        agreement[scope] = [each for each in found if "Gwet" not in each["statistic"]]
    alpha = agreement["all"][0]
    alpha |= {"low": 0.1, "high": 0.9, "reason": None}
    snapshot.recipe |= {"version": 2, "figures_sha256": json_sha256(snapshot.figures)}
    assert check_snapshot(LABEL_ROUNDS, snapshot) == []
    # Values are computed again, whatever the version.
    alpha["value"] += 0.01
    snapshot.recipe["figures_sha256"] = json_sha256(snapshot.figures)
    (found,) = check_snapshot(LABEL_ROUNDS, snapshot)
    assert found.startswith("agreement.all[0].value")


@pytest.mark.long
def test_what_still_moves_is_not_called_a_snapshot_until_it_is_frozen(label_round, client):
    first, second = make_raters(label_round.study, 2)
    items = list(label_round.items.all())
    vote(items[1], first, 3)
    refresh(label_round)

    def shown(name, **query):
        return client.get(url(name, label_round), query)

    assert ">not frozen<" in shown("snapshots").text
    assert "not frozen: these figures change until you freeze" in shown("figures").text
    answer = client.post(url("snapshot_freeze", label_round, 1), {"note": "Submitted version"})
    assert answer.url == url("snapshot", label_round, 1)
    frozen = Snapshot.objects.get()
    assert frozen.note == "Submitted version"
    assert frozen.sha256 in client.get(answer.url).text
    assert ">not frozen<" not in shown("snapshots").text
    assert "frozen; nothing has changed since" in shown("figures").text
    # What moved between two snapshots.
    vote(items[1], second, 3)
    vote(items[2], second, 1)
    refresh(label_round)
    table = shown("snapshots", a=2, b=1).context["compared"]
    assert table.columns[1:3] == ["#1", "#2"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Votes counted"] == [1, 3, 2]
    assert rows["Share of label 3"] == [1.0, 2 / 3, 2 / 3 - 1]
    assert rows["Krippendorff's alpha, ordinal, all items"] == [None, None, None]
    for bad in ({"a": 1, "b": 9}, {"a": "x", "b": 1}, {"a": 1}):
        assert shown("snapshots", **bad).status_code == 404
