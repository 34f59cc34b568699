"""Files of a site that a backup holds, and how they come into an empty installation."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from .archive import Archive, Part, Say
from .refusals import BackupRefused

# Uploads, exports and trained weights, and models that somebody put there. What else lies in the
# data folder can be computed again, or belongs to this machine.
FOLDERS = ("files", "scorers", "models")
# Stands in the data folder while files of a restore lie there without their rows.
MARK = "restoring"
ROOM_TO_SPARE = 16 * 2**20


def files_in(folder: Path) -> list[Path]:
    """Every file to be kept, in order; what a link leads to has both names."""
    return files_and_links(folder)[0]


def files_and_links(folder: Path) -> tuple[list[Path], list[Path]]:
    """Those files, and links that lead out of their folder, round, on from a link, or nowhere."""
    kept: list[Path] = []
    left_out: list[Path] = []
    for each in FOLDERS:
        for path, is_kept in _walk(folder / each, (folder / each).resolve(), frozenset(), False):
            (kept if is_kept else left_out).append(path)
    return sorted(kept), sorted(left_out)


def _walk(
    where: Path, root: Path, above: frozenset[Path], is_linked: bool
) -> Iterator[tuple[Path, bool]]:
    """Files and links below, and whether each is kept; a folder that vanished has none.

    What a linked folder links to is reached by its own name: each such step could double the rest.
    """
    above |= {where.resolve()}
    for path in _entries(where):
        leads_on = path.is_symlink()
        goes_far = is_linked and path.is_dir()
        if leads_on and (goes_far or not _stays_within(path, root, above)):
            yield path, False
        elif path.is_dir():
            yield from _walk(path, root, above, is_linked or leads_on)
        elif path.is_file():
            yield path, True


def _entries(where: Path) -> list[Path]:
    found: list[Path] = []
    with suppress(FileNotFoundError):
        found += where.iterdir()
    for path in found:
        name = os.fsencode(path)
        try:
            name.decode()
        except UnicodeDecodeError as problem:
            raise BackupRefused(
                f"The name of a file is not UTF-8, and no backup can hold it: {name!r}. Rename it."
            ) from problem
    return found


def _stays_within(link: Path, root: Path, above: frozenset[Path]) -> bool:
    if not link.exists():
        return False
    real = link.resolve()
    return real.is_relative_to(root) and real not in above


def size_of(paths: list[Path]) -> int:
    """Bytes of files; one that vanished has none."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def refuse_small(needs: Iterable[tuple[Path, int]], what: str) -> None:
    """Refuse before the first byte where a disk has less left than its folders may need."""
    disks: dict[int, tuple[Path, int]] = {}
    for folder, needed in needs:
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        disk = there.stat().st_dev
        place, before = disks.get(disk, (there, ROOM_TO_SPARE))
        disks[disk] = (place, before + needed)
    for place, needed in disks.values():
        free = shutil.disk_usage(place).free
        if free < needed:
            raise BackupRefused(
                f"{what} may need {needed / 2**20:,.0f} MiB, and {place} has "
                f"{free / 2**20:,.0f} MiB left. Make room, or use another disk."
            )


@contextmanager
def all_or_none(folder: Path, *, whose: str) -> Iterator[None]:
    """Files put below the folder stay only if nothing is raised; call for an empty database.

    A process that is killed leaves a mark with the name of its database, by which the next one
    knows that no row of this database knows the files.
    """
    mark = folder / MARK
    if mark.exists() and mark.read_text() == whose:
        _remove_files(folder)
    if there := files_in(folder):
        raise BackupRefused(
            f"There are files in {folder} ({len(there)}, the first is {there[0].name}). "
            "A backup is restored into an empty installation only."
        )
    mark.write_text(whose)
    try:
        yield
    except BaseException:
        _remove_files(folder)
        mark.unlink()
        raise
    mark.unlink()


def put_files(archive: Archive, folder: Path, say: Say) -> None:
    """Write every file of a backup to its place."""
    files = archive.manifest.files
    for done, part in enumerate(files):
        say(done, len(files), part.name)
        path = _place(part, folder)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            archive.copy(part, target)
            target.flush()
            os.fsync(target.fileno())


def _place(part: Part, folder: Path) -> Path:
    """Where a file lies; a name from a backup leads nowhere else."""
    inside = PurePosixPath(part.name).relative_to("files")
    if inside.parts[0] not in FOLDERS or ".." in inside.parts:
        raise BackupRefused(f"The backup names a file that a site does not keep: {part.name}")
    return folder / inside


def _remove_files(folder: Path) -> None:
    for path in files_in(folder):
        # A link within its folder may have led to one that went before it.
        path.unlink(missing_ok=True)
