"""A backup into an empty installation: completely, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.apps import apps
from django.conf import settings
from django.db.models import Model

from .archive import Archive, Manifest, Say, quiet
from .columns import Table, Value
from .databases import Config, name_of
from .files import all_or_none, put_files
from .loading import load, migrate_on
from .sealing import Keys
from .snapshot import Migrations
from .targets import filled, refuse_full

# What is stored encrypted with SECRETS_KEYS: bytes, or texts somewhere in JSON.
SEALED = (
    ("runs.Endpoint", "key_ciphertext"),
    ("runs.Run", "webhook_ciphertext"),
    ("mfa.Authenticator", "data"),
)
# How everything begins that Fernet has encrypted in this century.
TOKEN = b"gAAAAA"


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
    known = [*settings.SECRETS_KEYS, *(keys["SECRETS_KEYS"] if keys else ())]
    box = MultiFernet([Fernet(key) for key in known]) if settings.SECRETS_KEYS else None
    unreadable = []
    for model, column in _sealed_columns():
        for row in model._default_manager.using(alias).iterator():
            try:
                setattr(row, column, _resealed(box, getattr(row, column)))
            except InvalidToken:
                unreadable.append(f"{model._meta.verbose_name} {row}")
            else:
                row.save(using=alias, update_fields=[column])
    return unreadable


def _sealed_columns() -> list[tuple[type[Model], str]]:
    """Of the apps that are here."""
    names = [(*name.split("."), column) for name, column in SEALED]
    return [
        (apps.get_model(app, model), column)
        for app, model, column in names
        if app in apps.app_configs
    ]


def _resealed(box: MultiFernet | None, value: Any) -> Any:
    """The same with every token in it encrypted anew by the first key."""
    if isinstance(value, dict):
        return {key: _resealed(box, each) for key, each in value.items()}
    if isinstance(value, list):
        return [_resealed(box, each) for each in value]
    if isinstance(value, str):
        return (
            _resealed(box, value.encode()).decode() if value.startswith(TOKEN.decode()) else value
        )
    if isinstance(value, bytes | memoryview) and bytes(value).startswith(TOKEN):
        if box is None:
            raise InvalidToken
        return box.rotate(bytes(value))
    return value
