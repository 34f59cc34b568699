from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._importing import ImportCommand
from argsum.datasets.methods.comment_columns import FIELDS, proposed
from cqa_site.files.actions.recognition import previewed
from cqa_site.tabular import UnreadableFile


class Command(ImportCommand):
    help = (
        "Import comments, one per row, from a CSV, TSV, JSON, JSONL or XLSX file or from plain "
        "text. One column is enough. --map assigns columns to comment, topic, id, date or "
        "group; all other columns are kept."
    )
    kind = "comments"
    reads_tables = True
    asks: tuple[str, ...] = ("dataset", "topic", "first_row", "date_order", "repeats")

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        fields = ", ".join(FIELDS)
        parser.add_argument(
            "--map", action="append", default=[], metavar="FIELD=COLUMN", help=f"of {fields}"
        )

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the column mapping and reading options; the reader reports errors."""
        seen = self.reading(options, self.kind)
        pairs = [pair.partition("=") for pair in options["map"]]
        columns = {field.strip(): column for field, _equals, column in pairs}
        mapping: Mapping[str, str] = {}
        try:
            preview = previewed(options["file"], options["file"].name, self.kind, seen)
            mapping = _with(proposed(preview.columns, preview.rows, preview.titles), columns)
        except UnreadableFile:
            pass
        assignments: Sequence[str] = [f"{field}={column}" for field, column in mapping.items()]
        self.stdout.write(f"columns: {', '.join(assignments)}")
        return super().file_options(options) | seen | {"mapping": dict(mapping)}


def _with(guess: Mapping[str, str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Combine requested and guessed columns; an empty column removes a guess."""
    columns = set(mapping.values())
    left = {field: column for field, column in guess.items() if column not in columns}
    return {field: column for field, column in (left | dict(mapping)).items() if column}
