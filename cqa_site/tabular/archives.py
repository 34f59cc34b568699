"""The few files of an archive that are wanted, unpacked under names of our own.

An archive is somebody else's: names in it choose no place on the disk, what it unpacks to is
counted while it is read, and nothing in it is run or followed.
"""

import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .shapes import DEFAULT_LIMITS, Limits, UnreadableFile, printable_name

_PIECE = 64 * 1024
_ENCRYPTED = 0x1
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)


def folder_members(folder: Path, is_wanted: Callable[[str], bool]) -> dict[str, Path]:
    """Wanted files that lie directly in a folder, by name."""
    return {path.name: path for path in sorted(folder.iterdir()) if is_wanted(path.name)}


def packed(folder: Path, archive: Path, *, is_wanted: Callable[[str], bool]) -> int:
    """Pack the wanted files of a folder; the same files make the same bytes.

    Returns
    -------
    int
        How many there were; without any no archive is written.
    """
    members = folder_members(folder, is_wanted)
    if members:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            for name, path in members.items():
                made.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return len(members)


def place_in(path: str) -> str:
    """A member's path for people: its folders and its name, without what leads elsewhere.

    >>> place_in("../judged/./cam.json")
    'judged/cam.json'
    """
    parts = [each for each in path.replace("\\", "/").split("/") if each not in ("", ".", "..")]
    return "/".join(map(printable_name, parts))


@contextmanager
def unpacked(
    path: str | os.PathLike[str],
    *,
    name: str,
    is_wanted: Callable[[str], bool],
    called: Callable[[str], str] = printable_name,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[dict[str, Path]]:
    """Unpack the wanted members of an archive into a folder that goes away afterwards.

    Parameters
    ----------
    path, name
        Where the archive lies, and what the person calls it.
    is_wanted : callable
        Says of a member's name whether it is needed.
    called : callable
        What a member's path is called: its last name, without folders, or see `place_in`.
    limits : Limits
        ``text_bytes`` bounds the unpacked size of all wanted members together, ``xlsx_members``
        the number of members.

    Yields
    ------
    dict
        Name of each wanted member → where its bytes lie.

    Raises
    ------
    UnreadableFile
        For what is no archive, is damaged or encrypted, is too large, or has a wanted name twice.
    """
    shown = printable_name(name)
    with tempfile.TemporaryDirectory(prefix="counterpoint-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                members = _wanted_members(archive, shown, is_wanted, called, limits)
                found = _unpack(archive, members, Path(folder), shown, limits)
        except _DAMAGED as error:
            raise UnreadableFile(shown, f"is no ZIP archive that can be read ({error})") from None
        yield found


def _wanted_members(
    archive: zipfile.ZipFile,
    shown: str,
    is_wanted: Callable[[str], bool],
    called: Callable[[str], str],
    limits: Limits,
) -> dict[str, zipfile.ZipInfo]:
    listed = archive.infolist()
    if len(listed) > limits.xlsx_members:
        raise UnreadableFile(shown, f"holds more than {limits.xlsx_members} files")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in listed:
        name = called(info.filename)
        if info.is_dir() or not is_wanted(name):
            continue
        if name in members:
            raise UnreadableFile(shown, f"holds {name} twice")
        if info.flag_bits & _ENCRYPTED:
            raise UnreadableFile(shown, "is encrypted; save it without a password")
        members[name] = info
    return members


def _unpack(
    archive: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    folder: Path,
    shown: str,
    limits: Limits,
) -> dict[str, Path]:
    left = limits.text_bytes
    found = {}
    for number, (name, info) in enumerate(members.items()):
        target = folder / f"{number}{os.path.splitext(name)[1]}"
        with archive.open(info) as packed, target.open("wb") as file:
            while piece := packed.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    reason = f"unpacks to more than {limits.text_bytes // 2**20} MB"
                    raise UnreadableFile(shown, reason)
                file.write(piece)
        found[name] = target
    return found
