"""A backup into an empty installation: completely, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db.models import Model

from cqa_site.runs.keys import seal
from cqa_site.runs.models import Endpoint, Run

from .archive import Archive, Manifest, Say, quiet
from .columns import Table, Value
from .databases import Config, name_of
from .files import all_or_none, put_files
from .loading import load, migrate_on
from .sealing import Keys
from .snapshot import Migrations
from .targets import filled, refuse_full

# What is stored encrypted with SECRETS_KEYS.
SEALED: tuple[tuple[type[Model], str], ...] = (
    (Endpoint, "key_ciphertext"),
    (Run, "webhook_ciphertext"),
)


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
        restored.unreadable = take_over_secrets(alias, keys)
        put_files(archive, folder, say)
    return restored


def take_over_secrets(alias: str, keys: Keys | None) -> list[str]:
    """Encrypt what is stored encrypted with the keys that count here; name what cannot be read."""
    known = [*(keys["SECRETS_KEYS"] if keys else ()), *settings.SECRETS_KEYS]
    box = MultiFernet([Fernet(key) for key in known]) if settings.SECRETS_KEYS else None
    unreadable = []
    for model, column in SEALED:
        for row in model._default_manager.using(alias).exclude(**{column: b""}):
            secret = _opened(box, getattr(row, column))
            if secret is None:
                unreadable.append(f"{model._meta.verbose_name} {row}")
                continue
            setattr(row, column, seal(secret))
            row.save(using=alias, update_fields=[column])
    return unreadable


def _opened(box: MultiFernet | None, sealed: bytes | memoryview) -> str | None:
    try:
        return box.decrypt(bytes(sealed)).decode() if box else None
    except InvalidToken:
        return None
