"""Files with stored scores as a kind of import; the reader loads when one is first read."""

from cqa_site.files.actions.registry import Format, register_book, register_format
from cqa_site.files.models import ImportFile

from .entries import BOOK

PAGE = "import_summary_scores"
_HERE = "argsum.imports.actions"


def register_summary_score_imports() -> None:
    """Make the reader of stored scores known to the imports."""
    register_book(BOOK, f"{_HERE}.book.StoredScoreBook")
    register_format(
        ImportFile.Kind.METRIC_SCORES, Format(f"{_HERE}.reading.read_stored", asks=PAGE)
    )
