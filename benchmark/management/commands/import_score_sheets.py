from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._importing import TableCommand
from benchmark.imports.actions.entries import chosen_rubric
from benchmark.imports.methods.columns import FIELDS, guess_columns
from benchmark.management.score_files import ScoreImportCommand
from cqa_site.tabular import FilePreview


class Command(TableCommand, ScoreImportCommand):
    help = (
        "Import any CSV, TSV, JSON, JSONL or XLSX table of score sheets. Columns are guessed from "
        "the headers unless --map FIELD=COLUMN says otherwise; fields: the criteria (C1 …) and "
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
            help="what rows with nearly an answer's text are about; default: they are rejected",
        )

    def mapping(
        self, preview: FilePreview, choices: Mapping[str, str], options: dict[str, Any]
    ) -> Mapping[str, str]:
        """Return the guess with the chosen columns applied; an empty column removes a field."""
        rubric = chosen_rubric(self.study, {"rubric": options["rubric"]}).rubric
        guess = guess_columns(preview.columns, rubric)
        columns = {
            field: column for field, column in guess.items() if column not in choices.values()
        }
        return {field: column for field, column in {**columns, **choices}.items() if column}
