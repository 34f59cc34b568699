from argparse import BooleanOptionalAction
from dataclasses import fields
from typing import Any

from django.core.management.base import CommandError, CommandParser

from argsum.datasets.models import Dataset
from argsum.management.base_commands import TrainCommand
from argsum.scorers.actions.trainers import train_match
from argsum.scorers.actions.training_data import cells_in, cells_of, require_match_data
from argsum.scorers.methods.training import RecipeError, ScorerRecipe
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a match scorer on arguments with key points: batches of one cell, weights and "
        "thresholds chosen on the dev split. Repeat the command after an interruption."
    )
    task, kind = Scorer.Task.MATCH, Scorer.Kind.BI_ENCODER

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        for field in fields(ScorerRecipe):
            option = "--" + field.name.replace("_", "-")
            if field.name == "uses_topic":
                parser.add_argument(
                    option,
                    action=BooleanOptionalAction,
                    default=field.default,
                    help="prepend the topic to each text",
                )
            else:
                parser.add_argument(option, type=type(field.default), default=field.default)

    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        try:
            recipe = ScorerRecipe(
                **{field.name: options[field.name] for field in fields(ScorerRecipe)}
            )
        except RecipeError as error:
            raise CommandError(str(error)) from error
        return {"recipe": recipe.as_dict(), "uses_topic": recipe.uses_topic}

    def train(
        self, scorer: Scorer, dataset: Dataset | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        cells = cells_of(dataset) if dataset is not None else cells_in(options["data"])
        require_match_data(cells)
        recipe = ScorerRecipe(
            **{field.name: options[field.name] for field in fields(ScorerRecipe)}
        )
        return train_match(scorer, cells, recipe, self.say)
