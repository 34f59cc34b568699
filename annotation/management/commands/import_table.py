from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.corpus.methods.column_guess import guess_mapping
from annotation.corpus.methods.generic_table import FIELDS
from annotation.corpus.methods.table_cells import RATER_KINDS
from cqa_site.tabular import UnreadableFile, preview
from cqa_site.tabular.encodings import ACCEPTED

from ._importing import ImportCommand


class Command(ImportCommand):
    help = (
        "Import any CSV, TSV, JSON, JSONL or XLSX table. Columns are guessed from the headers "
        "unless --map FIELD=COLUMN says otherwise; fields: " + ", ".join(FIELDS)
    )
    kind = "table"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN")
        parser.add_argument("--sheet", default="", help="title of the sheet; default: the first")
        parser.add_argument("--encoding", default="", choices=["", *ACCEPTED])
        parser.add_argument("--rater-kind", default="person", choices=RATER_KINDS)
        parser.add_argument(
            "--undo-spreadsheet-marks",
            action="store_true",
            help="take off the apostrophes of a spreadsheet-safe CSV export",
        )

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        wanted = ("campaign", "sheet", "encoding", "rater_kind", "undo_spreadsheet_marks")
        return {name: options[name] for name in wanted} | {"mapping": self._mapping(options)}

    def _mapping(self, options: dict[str, Any]) -> dict[str, str]:
        if options["map"]:
            pairs = [pair.partition("=") for pair in options["map"]]
            return {field.strip(): column for field, _equals, column in pairs}
        try:
            shown = preview(
                options["file"],
                name=options["file"].name,
                sheet=options["sheet"] or None,
                encoding=options["encoding"] or None,
            )
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        mapping = guess_mapping(shown.columns)
        chosen = ", ".join(f"{field}={column}" for field, column in mapping.items())
        self.stdout.write(f"columns: {chosen}")
        return mapping
