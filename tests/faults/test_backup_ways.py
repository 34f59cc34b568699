"""The demo study goes from each database into each, and every table says the same in all."""

import json
from pathlib import Path

import pytest

from benchmarks.backups import empty_site
from benchmarks.campaign_server import CampaignServer

MADE = """
import django; django.setup()
from annotation.demo.actions.demo import build_demo
build_demo()
"""
# Backs up the site it runs on and restores it into two others, one of each database.
WENT = """
import django; django.setup()
import json, sys
from pathlib import Path
from django.conf import settings
from cqa_site.upkeep.backups import sealing
from cqa_site.upkeep.backups.archive import Archive
from cqa_site.upkeep.backups.databases import from_url
from cqa_site.upkeep.backups.making import make_backup
from cqa_site.upkeep.backups.restoring import restore_backup
sealing.COST = 2**8
path, *targets = sys.argv[1:]
made = make_backup(Path(path), keys=sealing.keys_here(), passphrase="a passphrase of drills")
with Archive(Path(path)) as archive:
    for url, folder in zip(targets[::2], targets[1::2]):
        restore_backup(archive, from_url(url), Path(folder), keys=None)
print(json.dumps({part.table.name: [part.rows, part.content] for part in made.tables}))
"""


def url_of(site: CampaignServer) -> str:
    return site.database_url or f"sqlite:///{site.folder / 'site.sqlite3'}"


def went(site: CampaignServer, *targets: CampaignServer) -> dict[str, list]:
    """What each table of a site holds, which is now what they hold in its targets."""
    places = [text for each in targets for text in (url_of(each), str(each.folder))]
    return json.loads(site.python("-c", WENT, str(site.folder / "backup.zip"), *places))


@pytest.mark.postgres
def test_every_table_says_the_same_after_each_way(migrated):
    with (
        empty_site("sqlite") as first,
        empty_site("postgresql", migrated) as on_postgresql,
        empty_site("sqlite") as on_sqlite,
        empty_site("postgresql", migrated) as from_postgresql,
        empty_site("sqlite") as back,
    ):
        first.python("-c", MADE)
        upload = first.folder / "files/imports/upload"
        upload.parent.mkdir(parents=True)
        upload.write_bytes(b"tea,coffee\n" * 999)
        there = went(first, on_postgresql, on_sqlite)
        then = went(on_postgresql, from_postgresql, back)
        assert then == there
        assert there["annotation_assignment"][0] > 300
        assert sum(rows > 0 for rows, _content in there.values()) > 50
        assert (back.folder / "files/imports/upload").read_bytes() == upload.read_bytes()
        assert "Every invariant holds" in back.python("manage.py", "check_integrity")
        assert Path(first.folder / "backup.zip").stat().st_size < 2**20


@pytest.mark.again
@pytest.mark.postgres
def test_what_was_made_before_a_migration_is_restored_and_then_migrated(migrated):
    """Into a database with newer tables, and into one that has none yet."""
    with (
        empty_site("sqlite") as older,
        empty_site("postgresql", migrated) as newer,
        empty_site("sqlite") as bare,
    ):
        older.python("-c", MADE)
        older.python("manage.py", "migrate", "account", "0008", "-v0")
        (bare.folder / "site.sqlite3").unlink()
        went(older, newer, bare)
        for site in (newer, bare):
            assert "[ ]" not in site.python("manage.py", "showmigrations", "account")
            assert "Every invariant holds" in site.python("manage.py", "check_integrity")
