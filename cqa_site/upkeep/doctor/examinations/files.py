"""Is there room, may it be written to, and is what the database names still there?"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ..examining import Family, examination
from ..findings import Finding, State, look, well, wrong

MEGABYTE, GIGABYTE = 10**6, 10**9
# Below the first nothing can be imported or backed up; below the second it soon will not.
NO_ROOM, LITTLE_ROOM = 200 * MEGABYTE, 2 * GIGABYTE
NO_FILES, FEW_FILES = 1_000, 20_000
# Rows of each table whose files are looked for, newest first.
SAMPLE = 200


@examination(Family.FILES, gettext_lazy("Room"))
def room() -> Finding:
    """Bytes and files that every place still takes, on each disk once."""
    found = [_room_at(name, place) for name, place in _disks().items()]
    return min(found, key=lambda each: list(State).index(each.state))


def _places() -> Iterator[tuple[str, Path]]:
    yield _("the data folder"), settings.DATA_DIR
    yield _("uploads and exports"), settings.MEDIA_ROOT
    yield _("backups"), Path(getattr(settings, "BACKUP_DIR", settings.DATA_DIR / "backups"))
    yield _("temporary files"), Path(tempfile.gettempdir())


def _disks() -> dict[str, Path]:
    """One place for each disk, named after what lies on it."""
    disks: dict[int, tuple[list[str], Path]] = {}
    for name, place in _places():
        place = _nearest(place)
        disks.setdefault(place.stat().st_dev, ([], place))[0].append(name)
    return {", ".join(names): place for names, place in disks.values()}


def _nearest(place: Path) -> Path:
    """The folder, or the one it will be made in."""
    return next(each for each in (place, *place.parents) if each.exists())


def _room_at(name: str, place: Path) -> Finding:
    disk = os.statvfs(place)
    free, files = disk.f_bavail * disk.f_frsize, disk.f_favail
    # Some file systems make room for files as they go, and count none.
    has_files = disk.f_files > 0
    words = {"place": f"{name} ({place})", "name": name, "free": _size(free), "files": files}
    remedy = _("Make room, or give the site a larger disk. What is large tells:")
    command = f"du -xhd1 {place} | sort -h"
    if free < NO_ROOM or (has_files and files < NO_FILES):
        says = _("The disk of %(place)s is full: %(free)s, room for %(files)d more files.")
        return wrong(says % words, remedy, command)
    if free < LITTLE_ROOM or (has_files and files < FEW_FILES):
        says = _("The disk of %(place)s has %(free)s and room for %(files)d more files.")
        return look(says % words, remedy, command)
    return well(_("%(free)s free for %(name)s.") % words)


def _size(count: int) -> str:
    if count < GIGABYTE:
        return f"{count / MEGABYTE:.0f} MB"
    return f"{count / GIGABYTE:.{0 if count >= 10 * GIGABYTE else 1}f} GB"


@examination(Family.FILES, gettext_lazy("Uploads and exports"))
def media() -> Finding:
    """Write, read and delete a file where uploads and exports go."""
    folder = Path(settings.MEDIA_ROOT)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as probe:
            probe.write(b"doctor")
            probe.flush()
            os.fsync(probe.fileno())
            if Path(probe.name).read_bytes() != b"doctor":
                return wrong(_("%s gives back other bytes than were written.") % folder)
    except OSError as problem:
        says = _("Nothing can be written to %(folder)s: %(why)s.")
        remedy = _("Mount its disk for writing, or give the folder to who runs the site:")
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
    """Whether files that rows name are there, of a sample."""
    names = [name for model in _with_files() for name in _names(model)]
    if not names:
        return well(_("The database names none."))
    missing = [name for name in names if not (Path(settings.MEDIA_ROOT) / name).is_file()]
    if not missing:
        return well(_("All of %d that were looked for are there.") % len(names))
    says = ngettext(
        "%(n)d file that the database names is missing, of %(all)d that were looked for.",
        "%(n)d files that the database names are missing, of %(all)d that were looked for.",
        len(missing),
    ) % {"n": len(missing), "all": len(names)}
    remedy = _("Restore the files of the last backup. Whether they lie elsewhere tells:")
    command = f"find / -name {missing[0]} 2>/dev/null"
    return wrong(says, remedy, command)


def _with_files() -> Iterator[type[models.Model]]:
    for model in apps.get_models():
        if any(field.name == "stored_as" for field in model._meta.get_fields()):
            yield model


def _names(model: type[models.Model]) -> list[str]:
    rows = model._default_manager.exclude(stored_as="").order_by("-pk")
    return list(rows.values_list("stored_as", flat=True)[:SAMPLE])
