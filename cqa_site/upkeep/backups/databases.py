"""Databases beside the one that is configured: a copy to read, a target to fill."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import dj_database_url
from django.conf import settings
from django.db import connections

from .refusals import BackupRefused

Config = dict[str, Any]
SQLITE = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"


def from_url(url: str) -> Config:
    """The settings of a database that somebody named."""
    try:
        config: Config = dict(dj_database_url.parse(url))
    except ValueError as problem:
        raise BackupRefused(f"This is no address of a database: {problem}") from problem
    if config["ENGINE"] not in (SQLITE, POSTGRESQL):
        raise BackupRefused("An address of a database begins with sqlite:// or postgres://.")
    return config


def with_file(path: Path) -> Config:
    """The settings of a SQLite file that only this process knows, and only while it lives."""
    options = {
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA synchronous=OFF;PRAGMA journal_mode=MEMORY",
    }
    return {"ENGINE": SQLITE, "NAME": str(path), "OPTIONS": options}


def configured() -> Config:
    """The settings of the database of this site, without its pool."""
    config = dict(settings.DATABASES["default"])
    return config | {"OPTIONS": {k: v for k, v in config["OPTIONS"].items() if k != "pool"}}


def name_of(config: Config) -> str:
    """What tells a database from others; no password."""
    return " ".join(str(config.get(each, "")) for each in ("ENGINE", "HOST", "PORT", "NAME"))


@contextmanager
def registered(name: str, config: Config) -> Iterator[str]:
    """Let Django know a database for a while; yields the name it goes by."""
    alias = f"{name}-{uuid4().hex}"
    filled = connections.configure_settings({"default": dict(config)})["default"]
    connections.settings[alias] = filled | {"CONN_MAX_AGE": 0}
    try:
        yield alias
    finally:
        connections[alias].close()
        del connections[alias]
        del connections.settings[alias]
