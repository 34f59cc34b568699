"""How long files are kept: exports and uploads for some weeks, leftovers for a day.

An expired export keeps its row, with hash and counts, so that a citation can still be looked
up; the same data can be exported anew. Files of imports that were applied are kept.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from cqa_site.files.models import ImportBatch, ImportFile

from .exports import FOLDER as EXPORTS
from .exports import KINDS
from .files import FOLDER as IMPORTS
from .files import NotInThisState, discard_import

Names = Callable[[], Iterable[str]]
# Longer than anybody writes on one file.
LEFTOVER_SECONDS = 24 * 60 * 60


def _exported() -> Iterator[str]:
    for kind in KINDS:
        yield from kind.Model._default_manager.values_list("stored_as", flat=True)


def _uploaded() -> Iterable[str]:
    return ImportFile.objects.values_list("stored_as", flat=True)


# Folders in which everything belongs to some row, and the names that rows know.
FOLDERS: dict[str, Names] = {EXPORTS: _exported, IMPORTS: _uploaded}


def expire_exports() -> int:
    """Give up export files that are too old; `remove_leftovers` deletes them."""
    oldest, expired = _oldest_kept(), 0
    for kind in KINDS:
        old = kind.Model._default_manager.filter(finished_at__lt=oldest).exclude(stored_as="")
        expired += old.update(stored_as="")
    return expired


def discard_old_imports() -> int:
    """Discard uploads that nobody imported, and nobody had looked at for as long."""
    oldest = _oldest_kept()
    untouched = Q(job__isnull=True) | Q(job__finished_at__lt=oldest)
    states = (ImportFile.State.UPLOADED, ImportFile.State.CHECKED, ImportFile.State.REFUSED)
    waiting = ImportFile.objects.filter(untouched, created_at__lt=oldest, state__in=states)
    discarded = sum(_discard(file) for file in waiting.select_related("study"))
    ImportBatch.objects.filter(files__isnull=True, created_at__lt=oldest).delete()
    return discarded


def remove_leftovers() -> int:
    """Delete files that no row knows: of expired exports, and of processes that were killed."""
    return sum(_sweep(folder, names) for folder, names in FOLDERS.items())


def _oldest_kept() -> datetime:
    return timezone.now() - timedelta(days=settings.EXPORT_RETENTION_DAYS)


def _discard(file: ImportFile) -> int:
    try:
        discard_import(import_file=file, actor=None)
    except NotInThisState:  # somebody imports it after all
        return 0
    return 1


def _sweep(folder: str, names: Names) -> int:
    # The folder first: whatever is finished in between has a row by the time rows are read.
    old = list(_old_files(settings.MEDIA_ROOT / folder))
    known = set(map(_stem, names())) if old else set()
    strays = [path for path in old if _stem(path.name) not in known]
    for path in strays:
        path.unlink(missing_ok=True)
    return len(strays)


def _old_files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_file() and time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
            yield path


def _stem(name: str) -> str:
    """The random part of a name: a file, its manifest and its unfinished part share it."""
    return Path(name).name.partition(".")[0]
