from typing import Any

from django.core.management.base import CommandParser

from annotation.models import ImportFile
from benchmark.management.score_files import ScoreImportCommand
from benchmark.methods.judged_files import judge_of


class Command(ScoreImportCommand):
    help = (
        "Import released judgements (JSON): the answers of one system, each with the points of "
        "one judge. System and scenario are taken from the file's name, the judge from the name "
        "of its folder (judged_NAME), unless --system, --scenario and --judge say otherwise."
    )
    kind = ImportFile.Kind.JUDGED
    has_answers = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--judge", default="", help="who gave the points")

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        folder = options["file"].resolve().parent.name
        judge = options["judge"] or (judge_of(folder) if judge_of(folder) != folder else "")
        return super().file_options(options) | {"rater": judge}
