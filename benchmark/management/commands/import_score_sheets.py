from django.core.management.base import CommandParser

from annotation.management.commands._importing import TableCommand
from benchmark.imports.methods.columns import FIELDS


class Command(TableCommand):
    help = (
        "Import any CSV, TSV, JSON, JSONL or XLSX table of score sheets. Columns are guessed from "
        "the headers unless --map FIELD=COLUMN is given. Fields: the criteria (C1 …) and "
        + ", ".join(FIELDS)
    )
    kind = "score_sheets"

    asks = ("rubric", "rater")
    table_asks = (*TableCommand.table_asks, "near")

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--near",
            default="",
            choices=("same", "other"),
            help="whether almost equal texts are the same answer; default: reject these rows",
        )
