from dataclasses import fields
from typing import Any

from django.core.management.base import CommandError, CommandParser

from argsum.datasets.models import Dataset
from argsum.management.base_commands import TrainCommand
from argsum.scorers.actions.seq2seq_training import examples_in, examples_of
from argsum.scorers.actions.trainers import train_writer
from argsum.scorers.methods.training import WRITER_MODEL, RecipeError, WritingRecipe
from argsum.scorers.models import Scorer


class Command(TrainCommand):
    help = (
        "Train a writer of key points: a sequence-to-sequence model learns to write each "
        "reference key point from the arguments that match it, best first. The epoch is chosen "
        "on the dev split. Repeat the command after an interruption."
    )
    task, kind = Scorer.Task.WRITE, Scorer.Kind.SEQ2SEQ
    usual_model = WRITER_MODEL

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        for field in fields(WritingRecipe):
            option = "--" + field.name.replace("_", "-")
            parser.add_argument(option, type=type(field.default), default=field.default)

    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"recipe": _recipe(options).as_dict()}

    def train(
        self, scorer: Scorer, dataset: Dataset | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        examples = examples_of(dataset) if dataset is not None else examples_in(options["data"])
        return train_writer(scorer, examples, _recipe(options), self.say)


def _recipe(options: dict[str, Any]) -> WritingRecipe:
    try:
        return WritingRecipe(
            **{field.name: options[field.name] for field in fields(WritingRecipe)}
        )
    except RecipeError as error:
        raise CommandError(str(error)) from error
