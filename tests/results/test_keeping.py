"""What holds for snapshots of every kind: numbers, freezing, public pages, checks."""

import gzip

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from cqa_site.people.models import AuditEvent
from cqa_site.results import snapshots
from tests.benchmark.leaderboard.conftest import none_computed
from tests.cast import make_member, make_study
from tests.worlds import built_of, parts_of
from .made_kinds import MADE

pytestmark = pytest.mark.django_db


class World:
    """A study with a live snapshot of one kind; later ones of the kind have other figures."""

    def __init__(self, kind):
        study = make_study(f"Study of a {kind}")
        self.boss = make_member(study, "researcher")
        self.made = MADE[kind](study)
        self.live = snapshots.refresh(self.made.kind, self.made.subject)


@pytest.fixture(scope="module", autouse=True)
def _without_agreement():
    """Agreement takes nine tenths of a board's time; its own tests look at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmark.agreement.reports.agreement.compute", none_computed)
        yield


built, world = built_of(World, MADE, "snapshot", "key_points")


made, boss, live = parts_of("world", "made", "boss", "live")


def freeze(made, boss, number=1, **said):
    said = {"note": "", **said}
    return snapshots.freeze(made.kind, owner=made.owner, number=number, actor=boss, **said)


def test_every_kind_is_registered_and_made_here():
    assert snapshots.KINDS.keys() == MADE.keys()


def test_the_live_one_keeps_its_number_and_the_next_gets_the_next(made, boss, live):
    assert snapshots.refresh(made.kind, made.subject).computed_at == live.computed_at
    made.move()
    again = snapshots.refresh(made.kind, made.subject)
    assert (again.pk, again.number) == (live.pk, 1)
    assert again.sha256 != live.sha256
    frozen = freeze(made, boss, note="Table 2")
    before = made.kind.Model.objects.values().get(pk=frozen.pk)
    assert (before["note"], before["frozen_by_id"]) == ("Table 2", boss.pk)
    made.move()
    assert snapshots.refresh(made.kind, made.subject).number == 2
    assert made.kind.Model.objects.values().get(pk=frozen.pk) == before


def test_only_what_was_looked_at_is_frozen_once_and_said_in_the_history(made, boss, live):
    old = live.seal
    made.move()
    live = snapshots.refresh(made.kind, made.subject)
    with pytest.raises(snapshots.SnapshotNotReady, match="have changed"):
        freeze(made, boss, seen=old)
    seen = made.kind.live(made.subject).get().seal
    assert not freeze(made, boss, seen=seen).public_token
    event = AuditEvent.objects.get(verb=f"{made.kind.name}_frozen")
    assert event.subject == f"{made.kind.about(live)} #1"
    assert event.details["sha256"] == live.sha256
    for number in (1, 2):
        with pytest.raises(snapshots.SnapshotNotReady):
            freeze(made, boss, number)


def test_a_public_address_is_only_for_frozen_ones_and_never_comes_again(made, boss, live):
    which = {"owner": made.owner, "number": 1, "actor": boss}
    with pytest.raises(snapshots.SnapshotNotReady):
        snapshots.publish(made.kind, **which)
    with pytest.raises(IntegrityError), transaction.atomic():
        made.kind.Model.objects.filter(pk=live.pk).update(public_token=live.public_id)
    freeze(made, boss)
    token = snapshots.publish(made.kind, **which).public_token
    assert snapshots.publish(made.kind, **which).public_token == token
    assert snapshots.withdraw(made.kind, **which).public_token is None
    assert snapshots.publish(made.kind, **which).public_token != token
    prefix = f"{made.kind.name}_"
    events = AuditEvent.objects.filter(verb__startswith=prefix).order_by("pk")
    verbs = [event.verb.removeprefix(prefix) for event in events]
    assert verbs == ["frozen", "published", "withdrawn", "published"]


def test_the_database_keeps_numbers_and_live_ones_apart_and_takes_json_alone(made, live):
    computed = made.kind.compute(made.subject)
    computed.figures["odd"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        snapshots.store_live(made.kind, made.subject, computed)
    assert made.kind.live(made.subject).get().sha256 == live.sha256
    row = made.kind.Model.objects.get(pk=live.pk)
    row.pk, row.public_id = None, made.owner.public_id
    for row.number in (1, 2):
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save(force_insert=True)


def test_figures_follow_from_the_rows_by_id_and_by_file(made, live, tmp_path, capsys):
    live = made.kind.Model.objects.get(pk=live.pk)
    assert made.kind.figures_of(gzip.decompress(live.rows), live.recipe)
    assert snapshots.check_snapshot(made.kind, live) == []
    call_command("verify_snapshot", str(live.public_id))
    path = tmp_path / "snapshot.zip"
    path.write_bytes(snapshots.archive_of(made.kind, live))
    assert snapshots.check_archive(path) == []
    call_command("verify_snapshot", str(path))
    assert capsys.readouterr().out.count("figures match") == 2


@pytest.mark.parametrize("what", ["rows", "figures"])
def test_what_was_tampered_with_is_found(made, boss, what):
    frozen = freeze(made, boss)
    assert not list(snapshots.find_violations())
    if what == "rows":
        frozen.rows = gzip.compress(gzip.decompress(frozen.rows) + b"\n")
    else:
        frozen.figures = dict.fromkeys(frozen.figures)
    frozen.save()
    found = snapshots.check_snapshot(made.kind, frozen)
    assert f"the {what} do not match the manifest (sha256)" in found
    assert (len(found) > 1) == (what == "figures")
    assert bool(list(snapshots.find_violations())) == (what == "rows")
    with pytest.raises(CommandError):
        call_command("verify_snapshot", str(frozen.public_id))
