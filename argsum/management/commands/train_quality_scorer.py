from django.core.management.base import CommandParser

from argsum.management.base_commands import TrainCommand
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a quality scorer: a ridge regression on sentence vectors, fitted to imported "
        "qualities of arguments, with the penalty chosen on the dev split. --data is a table of "
        "pairs or arguments with a quality, such as that of ArgQ-30k, or a folder with one."
    )
    task = Scorer.Task.QUALITY

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--quality-column", default="", help="column, if --data has several; default: WA"
        )
