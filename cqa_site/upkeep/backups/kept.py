"""The backups in the folder for them: which are there, which go, when the next one is due."""

import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from .archive import Archive, Manifest
from .making import UNFINISHED
from .refusals import BackupRefused

# Only what the site named itself is listed, sent or thrown away.
NAME = re.compile(r"counterpoint-(\d{8}T\d{6})Z\.zip")
STAMP = "%Y%m%dT%H%M%S"
# Nobody writes on a file for so long without adding to it.
LEFTOVER_SECONDS = 60 * 60


@dataclass(frozen=True)
class Kept:
    """A backup in the folder, which is opened when somebody asks what it is."""

    path: Path
    made_at: datetime
    bytes: int

    @cached_property
    def manifest(self) -> Manifest | None:
        """What it is; None if it cannot be opened."""
        try:
            with Archive(self.path) as archive:
                return archive.manifest
        except BackupRefused:
            return None

    @property
    def name(self) -> str:
        """Of its file."""
        return self.path.name


def folder() -> Path:
    """Where scheduled backups go."""
    return Path(settings.BACKUP_DIR)


def new_path() -> Path:
    """Where the next one goes."""
    return folder() / f"counterpoint-{timezone.now().astimezone(UTC):{STAMP}}Z.zip"


def all_kept() -> list[Kept]:
    """Every backup in the folder, newest first; none of them is opened."""
    if not folder().is_dir():
        return []
    found = filter(None, map(_kept, folder().iterdir()))
    return sorted(found, key=lambda each: each.made_at, reverse=True)


def newest(backups: Iterable[Kept] | None = None) -> datetime | None:
    """When the newest backup that is whole was made; None where there is none."""
    found = all_kept() if backups is None else backups
    return next((each.made_at for each in found if each.manifest), None)


def is_due(last: datetime | None) -> bool:
    """Whether the schedule asks for a backup now; `last` is what `newest` says."""
    every = settings.BACKUP_EVERY_HOURS
    return every > 0 and (last is None or timezone.now() - last >= timedelta(hours=every))


def throw_away_old() -> list[str]:
    """Delete what need not be kept any longer, and what a killed process left; return names."""
    _remove_leftovers()
    whole = [each for each in all_kept() if each.manifest]
    wanted = {each.name for each in to_keep(whole)}
    gone = [each for each in whole if each.name not in wanted]
    for each in gone:
        each.path.unlink(missing_ok=True)
    return [each.name for each in gone]


def to_keep(backups: Iterable[Kept]) -> list[Kept]:
    """The newest of each of the last days that have one, and of each of the last weeks."""
    newest_first = sorted(backups, key=lambda each: each.made_at, reverse=True)
    days: dict[object, Kept] = {}
    weeks: dict[object, Kept] = {}
    for each in newest_first:
        days.setdefault(each.made_at.date(), each)
        weeks.setdefault(each.made_at.isocalendar()[:2], each)
    daily = list(days.values())[: settings.BACKUP_KEEP_DAYS]
    weekly = list(weeks.values())[: settings.BACKUP_KEEP_WEEKS]
    kept = {each.name: each for each in [*newest_first[:1], *daily, *weekly]}
    return list(kept.values())


def _kept(path: Path) -> Kept | None:
    """A file of the folder; None if it is not one that the site named, or there no longer."""
    if not (found := NAME.fullmatch(path.name)) or not path.is_file():
        return None
    # A day that no calendar has; or deleted just now.
    with suppress(ValueError, FileNotFoundError):
        made_at = datetime.strptime(found[1], STAMP).replace(tzinfo=UTC)
        return Kept(path, made_at, path.stat().st_size)
    return None


def _remove_leftovers() -> None:
    for path in folder().glob(f"counterpoint-*{UNFINISHED}"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
                path.unlink()
