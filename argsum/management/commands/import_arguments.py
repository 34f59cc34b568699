from typing import Any

from django.core.management.base import CommandError, CommandParser

from argsum.datasets.methods.argument_cells import named_columns
from argsum.management.base_commands import ArgumentImportCommand
from cqa_site.files.actions.recognition import previewed
from cqa_site.tabular import UnreadableFile


class Command(ArgumentImportCommand):
    help = (
        "Import arguments on topics: pairs of argument and key point (topic, argument, key_point, "
        "stance, label, set, quality; without label every row is a match), or a list without key "
        "points (topic, argument, stance, quality). The format is detected from the columns."
    )

    asks = ("dataset", "recipe", "half", "seed")
    reads_tables = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--list", action="store_true", help="ignore the key points of a file")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path} is not a file.")
        try:
            seen = self.reading(options, "argument_pairs")
            columns = previewed(path, path.name, "argument_pairs", seen).columns
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        is_pairs = "key_point" in named_columns(columns) and not options["list"]
        self.kind = "argument_pairs" if is_pairs else "argument_list"
        super().handle(*args, **options)
