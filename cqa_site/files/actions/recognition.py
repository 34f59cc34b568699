"""Recognition of a file: its format, its sheets and the proposed reading."""

import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from cqa_site.files.format_parts import Look
from cqa_site.files.formats import FORMATS, Format, format_of
from cqa_site.files.models import ImportFile
from cqa_site.tabular import (
    DEFAULT_LIMITS,
    FilePreview,
    ReadingLog,
    Table,
    UnreadableFile,
    beginning,
    open_table,
    open_table_or_lines,
)
from cqa_site.tabular.binary_formats import place_in, unpacked
from cqa_site.tabular.cells import StrictJsonError, loads
from .files import FITS, INSIDE, PROPOSED, TROUBLE, stored_path
from .imports import chosen_reading

# Preview of a table before a person has chosen its sheet or encoding

MOST_SHEETS = 12
Opened = Callable[..., Table]


def table_look(
    path: Path, name: str, formats: Iterable[Format], opened: Opened = open_table_or_lines
) -> Look:
    """Return the first rows of a table, from the sheet that fits a format.

    A file that is not in UTF-8 is shown in a likely encoding, with a note.
    """
    try:
        return _look(path, name, formats, opened)
    except UnreadableFile as error:
        trouble = str(error)
        if not error.encoding:
            return Look(trouble=trouble)
        reading = {"encoding": error.encoding}
    try:
        return _look(path, name, formats, opened, trouble=trouble, reading=reading)
    except UnreadableFile:
        return Look(trouble=trouble)


def fitting_sheet(path: Path, name: str, formats: Iterable[Format]) -> str:
    """Return the sheet to read, or "" if it is the first sheet."""
    if not zipfile.is_zipfile(path):
        return ""
    try:
        return str(_look(path, name, formats, open_table).reading.get("sheet", ""))
    except UnreadableFile:
        return ""


def _look(path: Path, name: str, formats: Iterable[Format], opened: Opened, **more: Any) -> Look:
    trouble: UnreadableFile | None = None
    try:
        first, sheets = _shown(path, name, opened, **more)
    except UnreadableFile as error:
        if not error.sheets:
            raise
        trouble, first, sheets = error, Look(), error.sheets
    looks, formats = [first], list(formats)
    for sheet in sheets[1:MOST_SHEETS]:
        if all(_fitness(looks[-1], formats)):
            break
        try:
            looks.append(_shown(path, name, opened, reading={"sheet": sheet})[0])
        except UnreadableFile:
            continue
    best = max(looks, key=lambda look: _fitness(look, formats))
    if trouble and not best.columns:
        raise trouble
    return best


def _shown(path: Path, name: str, opened: Opened, **more: Any) -> tuple[Look, list[str]]:
    """Return only the first rows; errors further down do not matter here."""
    with opened(path, name=name, log=ReadingLog(), **more.get("reading", {})) as table:
        preview = beginning(table)
    look = Look(preview.kind, tuple(preview.columns), preview.rows, titles=preview.titles, **more)
    return look, preview.sheets


def _fitness(look: Look, formats: Iterable[Format]) -> tuple[bool, bool]:
    return any(format.fits(look) for format in formats), len(look.columns) > 1


# Recognition of a file's kind by its content; every format is tested, and none takes precedence
#
# Only a format with ``gives_way`` is left out if any other format fits.

# Workbooks are also archives.
_OF_A_WORKBOOK = {"[Content_Types].xml", "mimetype"}
_MOST_MEMBERS = 2_000
_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".ods", ".xls")


def look_at(path: Path, *, name: str, may_be_lines: bool = True) -> Look:
    """Return the beginning of a file, or the reason why it cannot be shown.

    With ``may_be_lines``, plain text is shown as its first lines, with the kind ``lines``.
    """
    opened = open_table_or_lines if may_be_lines else open_table
    if members := _members(path):
        if not _OF_A_WORKBOOK & set(members):
            return Look("zip", members=members)
    elif keys := _keys(path, name):
        return Look("json", keys=keys)
    return table_look(path, name, FORMATS.values(), opened)


def recognised(look: Look) -> dict[str, str]:
    """Return the kinds that fit, each with the reason."""
    reasons = {name: str(format.fits(look)) for name, format in FORMATS.items()}
    fits = {name: reason for name, reason in reasons.items() if reason}
    firm = {name: reason for name, reason in fits.items() if not FORMATS[name].gives_way}
    return firm or fits


def found_in(upload: UploadedFile) -> dict[str, Any]:
    """Return options of an upload: the fitting kinds and, for an archive, its contents."""
    name = upload.name or ""
    with copied(upload) as path:
        look = look_at(path, name=name)
        options: dict[str, Any] = {FITS: recognised(look)}
        if look.trouble:
            # A person has to choose a different encoding; a different sheet is only mentioned.
            options |= {TROUBLE: look.trouble} | ({PROPOSED: look.reading} if look.reading else {})
        else:
            options |= look.reading
        if not options[FITS] and look.kind == "zip":
            options[INSIDE] = _inside(path, name)
        return options


def _inside(path: Path, name: str) -> dict[str, Any]:
    """Return the groups of files in an archive, in import order.

    A group contains the files of one kind in one folder, or a single file if its kind has
    questions for each file. Also return the files with no kind or several kinds, and the reason if
    extraction fails.
    """
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    unknown = []
    try:
        with unpacked(path, name=name, is_wanted=is_file, called=place_in) as members:
            for place, member in members.items():
                # A plain text file in an archive is probably a description of it.
                look = look_at(member, name=place, may_be_lines=False)
                fits = recognised(look)
                if len(fits) != 1:
                    is_table = place.lower().endswith(_TABLES)
                    unknown.append((is_table and look.trouble) or place)
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
    """Return whether an archive member may be a file to import rather than a system file."""
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in place.split("/"))
    return not is_hidden and not place.lower().endswith(".zip")


def _turn(key: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    """Return a sort key that puts kinds with fewer prerequisites first, then uses page order."""
    kind, depth = key[0], 0
    while kind and (sample := FORMATS[kind].sample):
        kind, depth = sample.after, depth + 1
    return depth, list(FORMATS).index(key[0]), key[1:]


@contextmanager
def copied(upload: UploadedFile) -> Iterator[Path]:
    """Copy an upload to a temporary file that is deleted after the ``with`` block."""
    with tempfile.NamedTemporaryFile() as copy:
        for chunk in upload.chunks():
            copy.write(chunk)
        copy.flush()
        yield Path(copy.name)


def unclear(import_file: ImportFile) -> bool:
    """Return whether a person has to choose the kind of the file or how to open it.

    This is the case if no kind or more than one kind fits, or if another encoding is proposed.
    """
    fits = import_file.options.get(FITS)
    is_open = fits is not None and (len(fits) != 1 or PROPOSED in import_file.options)
    return is_open and import_file.state == ImportFile.State.UPLOADED


def of_one_kind(uploads: Iterable[UploadedFile]) -> tuple[str, str]:
    """Return the single kind that fits all files, or an empty string and the problem."""
    kinds: dict[str, list[str]] = {}
    for upload in uploads:
        options = found_in(upload)
        kind = next(iter(options[FITS])) if len(options[FITS]) == 1 else ""
        named = options.get(TROUBLE) if not kind else None
        kinds.setdefault(kind, []).append(named or upload.name or "")
    if len(kinds) == 1 and "" not in kinds:
        return next(iter(kinds)), ""
    if unknown := kinds.get(""):
        text = _("Choose the kind of these files, because their content does not show it: %s.")
        return "", text % ", ".join(unknown[:5])
    titles = ", ".join(f"{FORMATS[kind].title} ({len(names)})" for kind, names in kinds.items())
    return "", _("These files are of several kinds. Upload each kind separately: %s.") % titles


def _members(path: Path) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(archive.namelist()[:_MOST_MEMBERS])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ()


def _keys(path: Path, name: str) -> tuple[str, ...]:
    """Return the keys of a file that is a single JSON object rather than a list of objects."""
    with path.open("rb") as file:
        begins = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if not begins or name.lower().endswith((".jsonl", ".ndjson")):
        return ()
    try:
        document = loads(path.read_bytes(), max_bytes=DEFAULT_LIMITS.text_bytes)
    except StrictJsonError:
        return ()
    return tuple(document) if isinstance(document, dict) else ()


# Probable options for reading a table, proposed on its page and used directly in batches


def preview_of(import_file: ImportFile, seen: Mapping[str, Any]) -> FilePreview:
    """Return the columns and first rows of a stored file; raises UnreadableFile."""
    return previewed(stored_path(import_file), import_file.name, import_file.kind, seen)


def previewed(path: Path, name: str, kind: str, seen: Mapping[str, Any]) -> FilePreview:
    """Return the columns and first rows of a file, given its kind; raises UnreadableFile."""
    opened = open_table_or_lines if format_of(kind).takes_lines else open_table
    with opened(path, name=name, **chosen_reading(seen), log=ReadingLog()) as table:
        return beginning(table)


def guess(
    import_file: ImportFile, preview: FilePreview, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the likely options for reading a table, in addition to the chosen options."""
    format = format_of(import_file.kind)
    is_safe = format.is_own(preview) and preview.kind == "csv" and _has_mark(import_file)
    columns = format.guess_columns(import_file.study, preview, options)
    return {"mapping": columns, "undo_spreadsheet_marks": is_safe}


def _has_mark(import_file: ImportFile) -> bool:
    """Return whether the file starts with a byte order mark, like our spreadsheet-safe CSV."""
    with stored_path(import_file).open("rb") as file:
        return file.read(3) == b"\xef\xbb\xbf"


def guess_options(import_file: ImportFile) -> None:
    """Store the probable options for reading a file, unless a person has chosen them."""
    format, options = format_of(import_file.kind), import_file.options
    path, guesses = stored_path(import_file), {}
    if not options.get("sheet") and (sheet := fitting_sheet(path, import_file.name, [format])):
        guesses["sheet"] = sheet
    if format.is_mapped and not options.get("mapping"):
        # The reader will report the same error.
        with suppress(UnreadableFile):
            chosen = options | guesses
            guesses |= guess(import_file, preview_of(import_file, chosen), chosen)
    if guesses:
        import_file.options |= guesses
        import_file.save(update_fields=["options"])
