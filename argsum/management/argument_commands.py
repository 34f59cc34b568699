"""What the commands that import arguments share: the name of the dataset."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._importing import ImportCommand


class ArgumentImportCommand(ImportCommand):
    """As `ImportCommand`, with the name of a dataset."""

    has_campaign = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the dataset."""
        super().add_arguments(parser)
        parser.add_argument("--dataset", default="", help="its name; default: the file's name")

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The name of the dataset."""
        return {"dataset": options["dataset"]}
