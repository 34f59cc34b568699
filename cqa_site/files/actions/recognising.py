"""What a file is, found by its content: every format is asked, and none wins over another.

Only a format that says so of itself gives way where any other one fits.
"""

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from cqa_site.files.formats import FORMATS
from cqa_site.files.looking import Look
from cqa_site.files.models import ImportFile
from cqa_site.tabular import DEFAULT_LIMITS, UnreadableFile, open_table, open_table_or_lines
from cqa_site.tabular.archives import place_in, unpacked
from cqa_site.tabular.strict_json import StrictJsonError, loads

from .files import FITS, INSIDE

# A workbook is an archive, too.
_OF_A_WORKBOOK = "[Content_Types].xml"
_MOST_MEMBERS = 2_000


def look_at(path: Path, *, name: str, may_be_lines: bool = True) -> Look:
    """See what the beginning of a file shows; a file that shows nothing says why.

    With ``may_be_lines`` plain text shows its first lines, of the kind ``lines``.
    """
    opened = open_table_or_lines if may_be_lines else open_table
    if members := _members(path):
        if _OF_A_WORKBOOK not in members:
            return Look("zip", members=members)
    elif keys := _keys(path, name):
        return Look("json", keys=keys)
    try:
        # No more than it takes: a row below that cannot be read is none of this question.
        with opened(path, name=name) as table:
            row = next(table.rows, None)
    except UnreadableFile as error:
        return Look(trouble=str(error))
    return Look(table.kind, tuple(table.columns), row.values if row else {})


def recognised(look: Look) -> dict[str, str]:
    """Kinds that fit, each with the reason."""
    found = {name: str(format.fits(look)) for name, format in FORMATS.items()}
    fits = {name: reason for name, reason in found.items() if reason}
    firm = {name: reason for name, reason in fits.items() if not FORMATS[name].gives_way}
    return firm or fits


def recognised_upload(upload: UploadedFile) -> dict[str, str]:
    """As `recognised`, of a file that is not stored yet."""
    with _copied(upload) as path:
        return recognised(look_at(path, name=upload.name or ""))


def found_in(upload: UploadedFile) -> dict[str, Any]:
    """Options of an upload: the kinds that fit, and of an archive of files what these are."""
    name = upload.name or ""
    with _copied(upload) as path:
        look = look_at(path, name=name)
        fits = recognised(look)
        if fits or look.kind != "zip":
            return {FITS: fits}
        return {FITS: fits, INSIDE: _inside(path, name)}


def _inside(path: Path, name: str) -> dict[str, Any]:
    """Groups of files in an archive, in the order in which they have to be imported.

    A group has the files of one folder and one kind, or a single one of a kind that asks something
    of each. Beside them the files of no kind, or of several; or why nothing can be taken out.
    """
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    unknown = []
    try:
        with unpacked(path, name=name, is_wanted=is_file, called=place_in) as members:
            for place, member in members.items():
                # Texts in an archive are rather what somebody says about it.
                fits = recognised(look_at(member, name=place, may_be_lines=False))
                if len(fits) != 1:
                    unknown.append(place)
                    continue
                ((kind, reason),) = fits.items()
                folder = place.rpartition("/")[0]
                key = (kind, folder) if FORMATS[kind].is_many else (kind, folder, place)
                group = {"kind": kind, "folder": folder, "reason": reason, "files": []}
                groups.setdefault(key, group)["files"].append(place)
    except UnreadableFile as error:
        return {"groups": [], "unknown": [], "trouble": str(error)}
    return {"groups": [groups[key] for key in sorted(groups, key=_turn)], "unknown": unknown}


def is_file(place: str) -> bool:
    """Whether a member of an archive may be a file to import, and not what a computer keeps."""
    is_hidden = any(each.startswith((".", "__MACOSX")) for each in place.split("/"))
    return not is_hidden and not place.lower().endswith(".zip")


def _turn(key: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    """What needs nothing comes first, then as pages name the kinds."""
    kind, depth = key[0], 0
    while kind and (sample := FORMATS[kind].sample):
        kind, depth = sample.after, depth + 1
    return depth, list(FORMATS).index(key[0]), key[1:]


@contextmanager
def _copied(upload: UploadedFile) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile() as copy:
        for chunk in upload.chunks():
            copy.write(chunk)
        copy.flush()
        yield Path(copy.name)


def unclear(import_file: ImportFile) -> bool:
    """Whether a person has to say what the file is: nothing fits, or several kinds do."""
    fits = import_file.options.get(FITS)
    return fits is not None and len(fits) != 1 and import_file.state == ImportFile.State.UPLOADED


def of_one_kind(uploads: Iterable[UploadedFile]) -> tuple[str, str]:
    """The kind that fits all of the files and no other does, or empty with what is wrong."""
    kinds: dict[str, list[str]] = {}
    for upload in uploads:
        found = recognised_upload(upload)
        kind = next(iter(found)) if len(found) == 1 else ""
        kinds.setdefault(kind, []).append(upload.name or "")
    if len(kinds) == 1 and "" not in kinds:
        return next(iter(kinds)), ""
    if unknown := kinds.get(""):
        text = _("Say what these files are; their content does not show it: %s.")
        return "", text % ", ".join(unknown[:5])
    titles = ", ".join(f"{FORMATS[kind].title} ({len(names)})" for kind, names in kinds.items())
    return "", _("These files are of several kinds, so upload each kind apart: %s.") % titles


def _members(path: Path) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(archive.namelist()[:_MOST_MEMBERS])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ()


def _keys(path: Path, name: str) -> tuple[str, ...]:
    """Keys of a file that is one JSON object, not a list of them."""
    with path.open("rb") as file:
        begins = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if not begins or name.lower().endswith((".jsonl", ".ndjson")):
        return ()
    try:
        found = loads(path.read_bytes(), max_bytes=DEFAULT_LIMITS.text_bytes)
    except StrictJsonError:
        return ()
    return tuple(found) if isinstance(found, dict) else ()
