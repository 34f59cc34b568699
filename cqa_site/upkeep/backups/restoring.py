"""A backup into an empty installation: completely, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cqa_site.runs.actions.after_restore import Held, hold_back
from cqa_site.sealing import reseal

from .archive import Archive, Manifest, Say, quiet
from .columns import Table, Value
from .databases import SQLITE, Config, name_of
from .files import all_or_none, put_files, refuse_small
from .loading import load, migrate_on
from .refusals import in_words
from .sealing import Keys
from .snapshot import Migrations
from .targets import filled, refuse_full

# Of the rows in a backup SQLite makes two files with indices, the first one beside the other.
TIMES_ROWS = 4


@dataclass(frozen=True)
class Restored:
    """What a restore did; `unreadable` names what needs its key again."""

    manifest: Manifest
    unreadable: list[str]
    held: Held


@dataclass(frozen=True)
class _FromArchive:
    archive: Archive

    @property
    def migrations(self) -> Migrations:
        return {(app, name) for app, name in self.archive.manifest.migrations}

    @property
    def tables(self) -> list[Table]:
        return [part.table for part in self.archive.manifest.tables]

    def rows(self, table: Table) -> Iterator[list[Value]]:
        return self.archive.rows(table)


def restore_backup(
    archive: Archive, config: Config, folder: Path, *, keys: Keys | None, say: Say = quiet
) -> Restored:
    """Fill the database and the folder from a backup that was checked.

    Files lie in place before the rows count; whatever fails takes both back.
    """
    with in_words("The backup could not be restored"):
        refuse_full(config)
        _check_room(archive.manifest, config, folder)
        with all_or_none(folder, whose=name_of(config)), filled(config) as alias:
            load(_FromArchive(archive), alias, say)
            migrate_on(alias)
            _count, unreadable = reseal(using=alias, older=keys["SECRETS_KEYS"] if keys else ())
            held = hold_back(alias)
            put_files(archive, folder, say)
    return Restored(archive.manifest, unreadable, held)


def _check_room(manifest: Manifest, config: Config, folder: Path) -> None:
    needs = [(folder, sum(part.bytes for part in manifest.files))]
    if config["ENGINE"] == SQLITE:
        rows = sum(part.bytes for part in manifest.tables)
        needs.append((Path(config["NAME"]).parent, TIMES_ROWS * rows))
    refuse_small(needs, "A restore")
