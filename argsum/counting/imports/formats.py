"""Files with people's counts as a kind of import; the reader loads when one is first read."""

from cqa_site.files.actions.registry import Format, register_book, register_format
from cqa_site.files.models import ImportFile

from .entries import BOOK

PAGE = "import_counts"
_HERE = "argsum.counting.imports"


def register_count_imports() -> None:
    """Make the reader of counts known to the imports."""
    register_book(BOOK, f"{_HERE}.book.CountBook")
    register_format(
        ImportFile.Kind.COUNT_SHEETS, Format(f"{_HERE}.reading.read_count_sheets", asks=PAGE)
    )
