"""What the commands that import into datasets share."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._importing import ImportCommand


class ArgumentImportCommand(ImportCommand):
    """As `ImportCommand`, with the name of a dataset."""

    asks: tuple[str, ...] = ("dataset",)


class SeveralFilesCommand(ArgumentImportCommand):
    """Takes more files at once; what ``of_one`` names can be said of one alone."""

    of_one = ""
    why_one = ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the other files."""
        super().add_arguments(parser)
        parser.add_argument("more", nargs="*", type=Path, help="other files")

    def handle(self, *args: Any, **options: Any) -> None:
        """Each file by itself."""
        if options["more"] and options[self.of_one]:
            raise CommandError(f"{self.why_one}: --{self.of_one} goes with one file.")
        for path in (options["file"], *options["more"]):
            if options["more"]:
                self.stdout.write(f"{path.name}:")
            super().handle(*args, **options | {"file": path})
