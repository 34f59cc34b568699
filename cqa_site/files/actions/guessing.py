"""How an uploaded table is probably to be read: what its page proposes, and many at once take."""

from collections.abc import Mapping
from typing import Any

from cqa_site.files.formats import format_of
from cqa_site.files.models import ImportFile
from cqa_site.tabular import (
    Preview,
    UnreadableFile,
    beginning,
    open_table,
    open_table_or_lines,
)

from .files import stored_path


def preview_of(import_file: ImportFile, seen: Mapping[str, Any]) -> Preview:
    """Columns and first rows of a stored file; raises UnreadableFile."""
    chosen: dict[str, Any] = {name: seen.get(name) or None for name in ("sheet", "encoding")}
    opened = open_table_or_lines if format_of(import_file.kind).takes_lines else open_table
    with opened(stored_path(import_file), name=import_file.name, **chosen) as table:
        return beginning(table)


def guessed(
    import_file: ImportFile, shown: Preview, mapping: Mapping[str, str], *, is_own: bool
) -> dict[str, Any]:
    """Options of a table by a guess of its columns; ``is_own`` are those of an export of ours."""
    is_safe = is_own and shown.kind == "csv" and _has_mark(import_file)
    return {"mapping": mapping, "undo_spreadsheet_marks": is_safe}


def _has_mark(import_file: ImportFile) -> bool:
    """Only the spreadsheet-safe kind of our CSV files begins with a byte order mark."""
    with stored_path(import_file).open("rb") as file:
        return file.read(3) == b"\xef\xbb\xbf"


def guess_options(import_file: ImportFile) -> None:
    """Keep how a file is probably to be read, unless it was said; its reader refuses the rest."""
    format = format_of(import_file.kind)
    if not format.is_mapped or import_file.options.get("mapping"):
        return
    try:
        options = import_file.options
        found = format.guess(import_file, preview_of(import_file, options), options)
    except UnreadableFile:  # said by the reader, which meets it, too
        return
    import_file.options |= found
    import_file.save(update_fields=["options"])
