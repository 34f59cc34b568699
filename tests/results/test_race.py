"""Numbers are given out and snapshots freeze one after another, whoever comes at once."""

import pytest
from django.db import connection

from cqa_site.results import snapshots
from tests.cast import make_member, make_study
from tests.people.at_once import at_once
from .made_kinds import MADE

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nobody meets"
    ),
]
AT_ONCE = 4


def do_at_once(act):
    """Do the same in several threads; return what came out, errors among it."""
    return at_once(lambda _number: act(), range(AT_ONCE))


@pytest.mark.parametrize("name", MADE)
def test_one_live_snapshot_and_one_freezing(name):
    study = make_study()
    boss = make_member(study, "researcher")
    made = MADE[name](study)
    subject = made.subject
    computed = made.kind.compute(subject)
    stored = do_at_once(lambda: snapshots.store_live(made.kind, subject, computed))
    assert [each.number for each in stored] == [1] * AT_ONCE

    said = {"owner": made.owner, "number": 1, "note": "", "actor": boss}
    frozen = do_at_once(lambda: snapshots.freeze(made.kind, **said))
    refused = [each for each in frozen if isinstance(each, snapshots.SnapshotNotReady)]
    assert len(refused) == AT_ONCE - 1
    del said["note"]
    tokens = do_at_once(lambda: snapshots.publish(made.kind, **said).public_token)
    assert len(set(tokens)) == 1
