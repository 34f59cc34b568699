from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._importing import ImportCommand
from argsum.imports.actions.entries import ORDER_NAMES


class Command(ImportCommand):
    help = (
        "Import stored scores of sets of key points (JSON): soft scores of the sets that people "
        "counted, evaluations of runs, or clusterings."
    )
    kind = "metric_scores"
    has_campaign = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("more", nargs="*", type=Path, help="other files")
        parser.add_argument("--dataset", required=True, help="its name")
        parser.add_argument("--system", default="", help="its name; default: the file's")
        parser.add_argument(
            "--order",
            default="",
            choices=["", *ORDER_NAMES],
            help=(
                "of the arguments that cluster ids stand for; default: key_points (then text), "
                "refused unless the ids show it"
            ),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["more"] and options["system"]:
            raise CommandError("Every file is of another system: --system goes with one file.")
        for path in (options["file"], *options["more"]):
            if options["more"]:
                self.stdout.write(f"{path.name}:")
            super().handle(*args, **options | {"file": path})

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        return {name: options[name] for name in ("dataset", "system", "order")}
