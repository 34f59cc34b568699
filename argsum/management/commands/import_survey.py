from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._importing import ImportCommand
from argsum.surveys.methods.roles import ColumnRole


class Command(ImportCommand):
    help = (
        "Import a survey, one respondent per row, from a Qualtrics, SurveyMonkey or "
        "LimeSurvey export or any other table. Each open question becomes a dataset. Roles of "
        f"columns are proposed; --role COLUMN=ROLE changes one of them ({', '.join(ColumnRole)})."
    )
    kind = "survey"
    asks = ("survey", "unfinished")
    reads_tables = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--role", action="append", default=[], metavar="COLUMN=ROLE")

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of the reader and the chosen roles."""
        pairs = (pair.rpartition("=") for pair in options["role"])
        roles = {column: role.strip() for column, _equals, role in pairs}
        return super().file_options(options) | {"mapping": roles}
