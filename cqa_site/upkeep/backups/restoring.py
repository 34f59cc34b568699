"""A backup into an empty installation: completely, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cqa_site.sealing import reseal

from .archive import Archive, Manifest, Say, quiet
from .columns import Table, Value
from .databases import Config, name_of
from .files import all_or_none, put_files
from .loading import load, migrate_on
from .sealing import Keys
from .snapshot import Migrations
from .targets import filled, refuse_full


@dataclass
class Restored:
    """What a restore did; `unreadable` names what needs its key again."""

    manifest: Manifest
    unreadable: list[str] = field(default_factory=list)


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
    restored = Restored(archive.manifest)
    refuse_full(config)
    with all_or_none(folder, whose=name_of(config)), filled(config) as alias:
        load(_FromArchive(archive), alias, say)
        migrate_on(alias)
        older = keys["SECRETS_KEYS"] if keys else ()
        _count, restored.unreadable = reseal(using=alias, older=older)
        put_files(archive, folder, say)
    return restored
