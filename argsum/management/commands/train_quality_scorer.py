from typing import Any

from django.core.management.base import CommandParser

from argsum.datasets.models import Dataset
from argsum.management.base_commands import TrainCommand
from argsum.scorers.actions.trainers import train_quality
from argsum.scorers.actions.training_data import rated_in, rated_of
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a quality scorer: a ridge regression on sentence vectors, fitted to imported "
        "qualities of arguments, with the penalty chosen on the dev split. --data is a table of "
        "pairs or arguments with a quality, such as that of ArgQ-30k, or a folder with one."
    )
    task, kind = Scorer.Task.QUALITY, Scorer.Kind.REGRESSOR

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--quality-column",
            default="",
            help="column, if --data has several; default: WA",
        )

    def train(
        self, scorer: Scorer, dataset: Dataset | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        rated = (
            rated_of(dataset)
            if dataset is not None
            else rated_in(options["data"], column=options["quality_column"])
        )
        return train_quality(scorer, rated, self.say)
