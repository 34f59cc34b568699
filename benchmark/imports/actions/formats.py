"""Which kinds of files with score sheets there are; readers load when one is first read."""

from cqa_site.files.actions.registry import Format, register_book, register_format
from cqa_site.files.models import ImportFile

from .entries import BOOK

Kind = ImportFile.Kind
PAGE = "import_scores"
_HERE = "benchmark.imports.actions"


def register_score_imports() -> None:
    """Make the readers of score sheets known to the imports."""
    register_book(BOOK, f"{_HERE}.book.SheetBook")
    judged = Format(
        f"{_HERE}.judged.read_judged_answers", asks=PAGE, has_answers=True, is_many=True
    )
    register_format(Kind.JUDGED, judged)
    human = Format(f"{_HERE}.human.read_human_table", asks=PAGE, is_many=True)
    register_format(Kind.HUMAN_SCORES, human)
    sheets = Format(
        f"{_HERE}.tables.read_score_sheets",
        asks=PAGE,
        is_many=True,
        guess=f"{_HERE}.guessing.sheet_options",
    )
    register_format(Kind.SCORE_SHEETS, sheets)
