"""How an uploaded table is probably to be read: what its page proposes, and many at once take."""

from collections.abc import Mapping
from typing import Any

from annotation.corpus.methods.column_guess import guess_mapping, is_own_export
from cqa_site.files.models import ImportFile
from cqa_site.tabular import Preview, UnreadableFile, preview

from .files import stored_path
from .registry import guesser_of


def preview_of(import_file: ImportFile, seen: Mapping[str, Any]) -> Preview:
    """Columns and first rows of a stored file; raises UnreadableFile."""
    return preview(
        stored_path(import_file),
        name=import_file.name,
        sheet=seen.get("sheet") or None,
        encoding=seen.get("encoding") or None,
    )


def has_mark(import_file: ImportFile) -> bool:
    """Only the spreadsheet-safe kind of our CSV files begins with a byte order mark."""
    with stored_path(import_file).open("rb") as file:
        return file.read(3) == b"\xef\xbb\xbf"


def table_options(import_file: ImportFile, shown: Preview) -> dict[str, Any]:
    """Which column is what in a table of sentences."""
    is_safe = is_own_export(shown.columns) and shown.kind == "csv" and has_mark(import_file)
    return {"mapping": guess_mapping(shown.columns), "undo_spreadsheet_marks": is_safe}


def guess_options(import_file: ImportFile) -> None:
    """Keep how a file is probably to be read, unless it was said; its reader refuses the rest."""
    guess = guesser_of(import_file.kind)
    if guess is None or import_file.options.get("mapping"):
        return
    try:
        found = guess(import_file, preview_of(import_file, import_file.options))
    except UnreadableFile:  # said by the reader, which meets it, too
        return
    import_file.options |= found
    import_file.save(update_fields=["options"])
