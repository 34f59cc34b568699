from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.corpus.methods.table_cells import RATER_KINDS
from benchmark.imports.actions.entries import chosen_rubric
from benchmark.imports.methods.columns import FIELDS, guess_columns
from benchmark.management.score_files import ScoreImportCommand
from cqa_site.tabular import UnreadableFile, preview
from cqa_site.tabular.encodings import ACCEPTED


class Command(ScoreImportCommand):
    help = (
        "Import any CSV, TSV, JSON, JSONL or XLSX table of score sheets. Columns are guessed from "
        "the headers unless --map FIELD=COLUMN says otherwise; fields: the criteria (C1 …) and "
        + ", ".join(FIELDS)
    )
    kind = "score_sheets"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN")
        parser.add_argument("--rater", default="", help="whose sheets, if no column says")
        parser.add_argument("--rater-kind", default="person", choices=RATER_KINDS)
        parser.add_argument(
            "--near",
            default="",
            choices=("same", "other"),
            help="what rows with nearly an answer's text are about; default: they are rejected",
        )
        parser.add_argument("--sheet", default="", help="title of the sheet; default: the first")
        parser.add_argument("--encoding", default="", choices=["", *ACCEPTED])
        parser.add_argument(
            "--undo-spreadsheet-marks",
            action="store_true",
            help="take off the apostrophes of a spreadsheet-safe CSV export",
        )

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        wanted = (
            "rater",
            "rater_kind",
            "near",
            "sheet",
            "encoding",
            "undo_spreadsheet_marks",
        )
        chosen = super().file_options(options) | {name: options[name] for name in wanted}
        return chosen | {"mapping": self._mapping(options)}

    def _mapping(self, options: dict[str, Any]) -> dict[str, str]:
        """The guess, with what was chosen over it; an empty column takes a field out."""
        try:
            shown = preview(
                options["file"],
                name=options["file"].name,
                sheet=options["sheet"] or None,
                encoding=options["encoding"] or None,
            )
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        rubric = chosen_rubric(self.study, {"rubric": options["rubric"]}).rubric
        mapping = guess_columns(shown.columns, rubric)
        pairs = [pair.partition("=") for pair in options["map"]]
        asked = {field.strip(): column for field, _equals, column in pairs}
        mapping = {
            field: column for field, column in mapping.items() if column not in asked.values()
        } | asked
        mapping = {field: column for field, column in mapping.items() if column}
        chosen = ", ".join(f"{field}={column}" for field, column in mapping.items())
        self.stdout.write(f"columns: {chosen}")
        return mapping
