from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._importing import ImportCommand
from argsum.counting.imports.entries import DATASET


class Command(ImportCommand):
    help = (
        "Import people's counts: one file for each person, with topic, stance, reference, "
        "prediction, n_covered, n_unique, coverage, redundancy and file_name."
    )
    kind = "count_sheets"
    has_campaign = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("more", nargs="*", type=Path, help="files of other people")
        parser.add_argument("--dataset", default="", help=f"its name; default: {DATASET}")
        parser.add_argument("--rater", default="", help="short name; default: the file's name")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["more"] and options["rater"]:
            raise CommandError("Every file is another person's: --rater goes with one file.")
        for path in (options["file"], *options["more"]):
            if options["more"]:
                self.stdout.write(f"{path.name}:")
            super().handle(*args, **options | {"file": path})

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"dataset": options["dataset"], "rater": options["rater"]}
