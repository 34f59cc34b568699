"""Snapshots of key points: what is kept, and the pages around it."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from argsum.counting.models import CountSheet
from argsum.leaderboard.actions import KEY_POINTS, request_board
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.board import board_choice, summary_board, usually_left_out
from argsum.leaderboard.reports.people_agreement import people_agreement
from argsum.leaderboard.reports.snapshot import marker
from argsum.metrics.models import MetricScore
from cqa_site.people.models import Rater
from cqa_site.results import snapshots
from cqa_site.results.models import plain
from cqa_site.runs.jobs import drain
from cqa_site.runs.models import Job
from tests.api.conftest import client_of
from tests.argsum.made_cells import make_count, make_dataset, make_set, make_system_run
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


class Lab:
    """Two settings of a system on two cells, counted by two people."""

    def __init__(self):
        self.study = make_study("Key points")
        self.boss = make_member(self.study, "researcher")
        self.raters = [
            Rater.objects.create(study=self.study, kind="person", name=name)
            for name in ("Ada Invented", "Bo Invented")
        ]
        run = make_system_run(make_dataset(self.study))
        self.sets = list(run.sets.order_by("pk"))
        self.sets += [make_set(each.cell, run=run, setting="threshold=0.91") for each in self.sets]
        for place, each in enumerate(self.sets):
            make_count(each, self.raters[0], covered=place % 3, unique=3)
            make_count(each, self.raters[1], covered=(place + 1) % 3, unique=1.5)


lab = built_once(Lab)


def url(study, name, *more):
    return reverse(name, args=[study.public_id, *more])


def test_the_rows_give_what_the_pages_say(lab):
    for selection in ("dev", "fixed", "oracle"):
        choice = board_choice(lab.study, {"selection": selection, "weight": "0.5"})
        live = snapshots.refresh(KEY_POINTS, choice)
        ((row,), (stored,)) = summary_board(choice).rows, live.figures["board"]["rows"]
        assert stored["figures"] == {name: each.as_dict() for name, each in row.figures.items()}
        assert (stored["selection"], stored["setting"]) == (row.selection, row.setting)
        ids = summary_board(choice).public_ids
        chosen = [ids[each.key] for each in row.chosen.values()]
        assert [each["summary_set"] for each in stored["cells"]] == chosen
    people, kept = people_agreement(lab.study), live.figures["agreement"]
    assert kept["sets"] == people.sets
    for found, stored in zip(people.dimensions, kept["dimensions"], strict=True):
        assert stored["alpha"]["value"] == found.alpha.value
        assert stored["mean_pearson"] == found.pairs.mean
    # People stand in rows and figures under pseudonyms.
    content = plain(live.rows).decode() + json.dumps(live.figures)
    assert "Invented" not in content
    assert lab.raters[0].pseudonym in content


def void_one():
    CountSheet.objects.filter(pk=CountSheet.objects.first().pk).update(state="void")


def control(place):
    """Make the sheet at a place the only control; the number of controls stays."""
    keys = list(CountSheet.objects.order_by("pk").values_list("pk", flat=True))
    CountSheet.objects.update(known=None)
    CountSheet.objects.filter(pk=keys[place]).update(known={"covered": 1, "unique": 1})


def test_the_marker_sees_what_moves_the_figures(lab, alone, django_assert_max_num_queries):
    each, run = lab.sets[0], lab.sets[0].system_run
    other = Rater.objects.create(study=lab.study, name="Cy")
    changes = {
        "sheet": lambda: make_count(each, other, covered=1, unique=1),
        "score": lambda: MetricScore.objects.create(
            summary_set=each, metric="llm_coverage", value=0.5
        ),
        "set": lambda: make_set(each.cell, run=run, setting="threshold=0.95"),
        "state": void_one,
    }
    choice = board_choice(lab.study, {})
    before = marker(choice)
    assert marker(board_choice(lab.study, {})) == before
    assert marker(board_choice(lab.study, {"weight": "0.25"})) != before
    for name, change in changes.items():
        with alone(name):
            change()
            assert marker(choice) != before
    markers = {before}
    for place in (0, 1):
        control(place)
        markers.add(marker(choice))
    assert len(markers) == 3
    # Queries do not grow with sets.
    for place in range(5):
        make_set(each.cell, run=run, setting=f"threshold=0.0{place}")
    with django_assert_max_num_queries(7):
        marker(choice)
    with django_assert_max_num_queries(26):
        KEY_POINTS.compute(board_choice(lab.study, {}))


def test_asking_makes_it_in_the_background(lab, django_capture_on_commit_callbacks):
    client = sign_in(lab.boss)
    choice = board_choice(lab.study, {"weight": "0.25"})
    page = client.get(url(lab.study, "key_points"), {"weight": "0.25"}).text
    assert choice.query.replace("&", "&amp;") in page
    assert not KeyPointSnapshot.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(url(lab.study, "key_point_boards_ask"), {"choice": choice.query})
    assert Job.objects.get(kind="key_point_board").state == "done"
    assert KeyPointSnapshot.objects.get().recipe["weight"] == 0.25
    assert ">#1<" in client.get(url(lab.study, "key_point_boards")).text
    # What is gone meanwhile is not kept.
    choice = board_choice(lab.study, {})
    CountSheet.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        job = request_board(choice=choice)
    job.refresh_from_db()
    assert (job.state, KeyPointSnapshot.objects.count()) == ("failed", 1)
    assert "no longer exists" in job.error


def test_frozen_on_its_page_published_and_withdrawn(lab):
    live = snapshots.refresh(KEY_POINTS, board_choice(lab.study, {}))
    client, anybody = sign_in(lab.boss), Client()
    page = url(lab.study, "key_point_board", 1)
    assert live.sha256 in client.get(page).text
    said = {"note": "Table 2", "seen": live.seal}
    assert client.post(url(lab.study, "key_point_board_freeze", 1), said).url == page
    client.post(url(lab.study, "key_point_board_publish", 1))
    public = reverse("public_key_points", args=[KeyPointSnapshot.objects.get().public_token])
    assert public in client.get(page).text
    file = f"{public}key-points.csv"
    assert anybody.get(file).content.decode("utf-8-sig").startswith("System,Setting,")
    answer = anybody.get(public)
    content = answer.text
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert "Table 2" in content
    assert "MCArgSum" in content
    assert "Each mean is over these cells" in content
    assert "Invented" not in content
    assert str(lab.study.public_id) not in content
    client.post(url(lab.study, "key_point_board_withdraw", 1))
    assert anybody.get(public).status_code == 404


@pytest.mark.long
def test_the_overview_names_what_nobody_kept_and_a_live_one_says_that_it_is_behind(lab):
    make_dataset(lab.study, name="No key points yet")
    choice = board_choice(lab.study, {})
    page = f"{url(lab.study, 'key_points')}?dataset={choice.chosen.public_id}"
    assert list(KEY_POINTS.unmade(lab.study)) == [(str(choice.chosen), page)]
    client = sign_in(lab.boss)
    text = client.get(url(lab.study, "study")).text
    assert f'href="{page}"' in text
    assert "not saved as a snapshot yet" in text
    snapshots.refresh(KEY_POINTS, choice)
    assert list(KEY_POINTS.unmade(lab.study)) == []
    page = url(lab.study, "key_point_board", 1)
    assert "Recompute" not in client.get(page).text
    void_one()
    assert "Recompute" in client.get(page).text
    # What somebody saw is frozen, and not what another weight made of it since.
    live = snapshots.refresh(KEY_POINTS, board_choice(lab.study, {}))
    other = board_choice(lab.study, {"weight": "0.25"})
    snapshots.store_live(KEY_POINTS, other, KEY_POINTS.compute(other))
    client.post(url(lab.study, "key_point_board_freeze", 1), {"note": "", "seen": live.seal})
    found = KeyPointSnapshot.objects.get()
    assert (found.sha256, found.is_frozen) == (live.sha256, False)


OTHER, SUMMETIX = "match_barh", "sep_summetix_it_0"


def make_counted():
    """Counts of two people from files, of two systems on both sides of a topic."""
    made = make_study("Left out")
    raters = [
        Rater.objects.create(study=made, kind="person", external_id=name, name=name)
        for name in ("A1", "A2")
    ]
    for cell in make_dataset(made).cells.all():
        for system in (OTHER, SUMMETIX):
            counted = make_set(cell, system=system)
            for rater in raters:
                make_count(counted, rater, source=f"{rater.name}.csv")
    return made


left_out = built_once(make_counted)


def systems(study, **query):
    return {row.system for row in summary_board(board_choice(study, query)).rows}


def test_board_and_agreement_leave_them_out_until_somebody_counts_them(left_out):
    assert systems(left_out) == {OTHER}
    assert systems(left_out, without="") == {OTHER, SUMMETIX}
    assert systems(left_out, without="barh") == {SUMMETIX}
    member = make_member(left_out, "researcher")
    client, page = sign_in(member), url(left_out, "key_points")
    shown = client.get(page).text
    assert 'name="without"\n        value="summetix"' in shown
    assert "Systems named summetix are left out" in shown
    assert SUMMETIX not in shown
    all_of_them = client.get(f"{page}?without=").text
    assert SUMMETIX in all_of_them
    assert 'name="without"' in all_of_them
    page = url(left_out, "summary_people")
    assert 'value="summetix"' in client.get(page).text
    own = f"?dataset={left_out.argument_datasets.get().public_id}"
    for query, sets in (("", 2), ("?without=", 4), (own, 2)):
        assert client.get(page + query).context["found"].sets == sets, query
    # Programs get the same.
    program, base = client_of(member), f"/api/v1/studies/{left_out.public_id}/key-points"
    board = program.get(f"{base}/leaderboard/").json()
    assert board["without"] == "summetix"
    assert [row["system"] for row in board["system_rows"]] == [OTHER]
    for query, sets in (("", 2), ("?without=", 4)):
        assert program.get(f"{base}/people/{query}").json()["sets"] == sets
    # A snapshot keeps what was chosen.
    for without, rows in (("", 2), ("summetix", 1)):
        request_board(choice=board_choice(left_out, {"without": without}))
        drain()
        snapshot = KeyPointSnapshot.objects.order_by("-pk").first()
        assert f"without={without}" in snapshot.recipe["query"]
        assert len(snapshot.figures["board"]["rows"]) == rows


def test_a_study_without_released_counts_leaves_out_nothing(study, client):
    for cell in make_dataset(study).cells.all():
        make_set(cell, system=SUMMETIX)
    assert (usually_left_out(study), systems(study)) == ("", {SUMMETIX})
    assert "Leave out systems named" not in client.get(url(study, "key_points")).text
