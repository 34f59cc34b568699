"""What a site holds goes from one database into the other, and every table says the same."""

import json
from pathlib import Path

import pytest

from benchmarks.backups import empty_site
from benchmarks.label_round_server import LabelRoundServer

MADE = """
import django; django.setup()
from annotation.demo.actions import build_demo
build_demo()
"""
# Restores a backup into a site, or makes one of the site it runs on; says what each table holds.
RESTORED = """
import django; django.setup()
import json, sys
from pathlib import Path
from cqa_site.upkeep.backups.archive import Archive
from cqa_site.upkeep.backups.tables import from_url
from cqa_site.upkeep.backups.backup import restore_backup
path, url, folder = sys.argv[1:]
with Archive(Path(path)) as archive:
    told = restore_backup(archive, from_url(url), Path(folder), keys=None).manifest
print(json.dumps({part.table.name: [part.rows, part.content] for part in told.tables}))
"""
BACKED_UP = """
import django; django.setup()
import json, sys
from pathlib import Path
from cqa_site.upkeep.backups.backup import make_backup
told = make_backup(Path(sys.argv[1]))
print(json.dumps({part.table.name: [part.rows, part.content] for part in told.tables}))
"""
RELEASED = Path(__file__).parents[1] / "upgrade/0.1.0.zip"


def url_of(site: LabelRoundServer) -> str:
    return site.database_url or f"sqlite:///{site.folder / 'site.sqlite3'}"


def restored(path: Path, site: LabelRoundServer) -> dict[str, list]:
    """What each table of a backup holds, which the site holds now."""
    return json.loads(site.python("-c", RESTORED, str(path), url_of(site), str(site.folder)))


def backed_up(site: LabelRoundServer) -> tuple[Path, dict[str, list]]:
    """A backup of a site, and what each table of it holds."""
    path = site.folder / "backup.zip"
    return path, json.loads(site.python("-c", BACKED_UP, str(path)))


@pytest.mark.long
@pytest.mark.postgres
def test_every_table_says_the_same_there_and_back(migrated):
    """What a released version had on SQLite; `tests/upgrade` looks what it tells there."""
    with empty_site("postgresql", migrated) as there, empty_site("sqlite") as back:
        was = restored(RELEASED, there)
        upload = there.folder / "files/imports/upload"
        upload.parent.mkdir(parents=True)
        upload.write_bytes(b"tea,coffee\n" * 999)
        path, told = backed_up(there)
        assert restored(path, back) == told
        assert was["annotation_assignment"][0] > 300
        assert sum(rows > 0 for rows, _content in was.values()) > 50
        assert (back.folder / "files/imports/upload").read_bytes() == upload.read_bytes()
        assert "Every invariant holds" in back.python("manage.py", "check_integrity")


@pytest.mark.long
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
        path, _told = backed_up(older)
        for site in (newer, bare):
            restored(path, site)
            assert "[ ]" not in site.python("manage.py", "showmigrations", "account")
            assert "Every invariant holds" in site.python("manage.py", "check_integrity")
