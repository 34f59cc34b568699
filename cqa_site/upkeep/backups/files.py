"""Files of a site that a backup holds, and how they come into an empty installation."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from .archive import Archive, Part, Say
from .refusals import BackupRefused

# Uploads, exports and trained weights, and models that somebody put there. What else lies in the
# data folder can be computed again, or belongs to this machine.
FOLDERS = ("files", "scorers", "models")
# Stands in the data folder while files of a restore lie there without their rows.
MARK = "restoring"


def files_in(folder: Path) -> list[Path]:
    """Every file to be kept, in order; a folder that vanishes meanwhile has none."""
    found = (
        Path(where, name)
        for each in FOLDERS
        for where, _folders, names in os.walk(folder / each)
        for name in names
    )
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def size_of(paths: list[Path]) -> int:
    """Bytes of files; one that vanished has none."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


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
        path.unlink()
