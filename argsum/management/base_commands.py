"""Base classes for commands that import data or train models."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from annotation.management.commands._importing import ImportCommand
from annotation.management.environment import add_study_arguments, study_of
from argsum.datasets.models import Dataset
from argsum.scorers.actions.models import ScorerRefused, checkpoint_of
from argsum.scorers.actions.scorers import keep_new
from argsum.scorers.actions.trainers import train
from argsum.scorers.actions.training import TRAINED, fail, store
from argsum.scorers.actions.training_data import data_of
from argsum.scorers.methods.training import ScorerRecipe, WritingRecipe
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable
from cqa_site.judging.training import RecipeError
from cqa_site.people.models import Study


class ArgumentImportCommand(ImportCommand):
    """An `ImportCommand` that asks for the name of a dataset."""

    asks: tuple[str, ...] = ("dataset",)


class SeveralFilesCommand(ArgumentImportCommand):
    """An import of one or more files; the option in ``of_one`` requires a single file."""

    of_one = ""
    why_one = ""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("more", nargs="*", type=Path, help="other files")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import each file separately."""
        if options["more"] and options[self.of_one]:
            raise CommandError(f"{self.why_one}. Use --{self.of_one} with one file only.")
        for path in (options["file"], *options["more"]):
            if options["more"]:
                self.stdout.write(f"{path.name}:")
            super().handle(*args, **options | {"file": path})


class TrainCommand(BaseCommand):
    """Training in this process; a repeated command continues interrupted training."""

    task = ""
    usual_model = PACKAGED_MODEL
    recipe: type[ScorerRecipe | WritingRecipe] | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the data, the model, and an option for each number in the recipe."""
        add_study_arguments(parser)
        parser.add_argument("--dataset", help="name of a dataset of the study")
        parser.add_argument(
            "--data", type=Path, help="folder with ArgKP files, instead of --dataset"
        )
        parser.add_argument("--name", required=True, help="name of the scorer")
        parser.add_argument(
            "--base-model", default=self.usual_model, help="name of the base model"
        )
        if self.recipe:
            self.recipe.add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Train the scorer and print its card."""
        if bool(options["dataset"]) == bool(options["data"]):
            raise CommandError("Give either --dataset or --data.")
        study = study_of(self, options)
        dataset = self._dataset(study, options["dataset"]) if options["dataset"] else None
        try:
            scorer = self._scorer(study, dataset, options)
        except (RecipeError, ScorerRefused) as refusal:
            raise CommandError(str(refusal)) from refusal
        column = options.get("quality_column", "")
        try:
            data = data_of(self.task, dataset or options["data"], column)
            store(scorer, train(scorer, data, self.say))
        except (ScorerRefused, EmbeddingsUnavailable) as refusal:
            fail(scorer, str(refusal))
            raise CommandError(str(refusal)) from refusal
        shutil.rmtree(checkpoint_of(scorer), ignore_errors=True)
        self.stdout.write(scorer.card)
        self.stdout.write(f"Scorer {scorer.public_id} is ready.")

    def say(self, done: int, total: int, note: str = "") -> None:
        """Print one line per step."""
        self.stdout.write(f"{done} / {total} {note}")

    def _dataset(self, study: Study, name: str) -> Dataset:
        dataset = study.argument_datasets.filter(name=name).first()
        if dataset is None:
            raise CommandError(f"{study.name} has no dataset {name!r}.")
        return dataset

    def _scorer(self, study: Study, dataset: Dataset | None, options: dict[str, Any]) -> Scorer:
        """Return a new scorer, or the one whose training is unfinished."""
        recipe = asdict(self.recipe.stored(options)) if self.recipe else {}
        values = {
            "task": self.task,
            "kind": TRAINED[Scorer.Task(self.task)],
            "base_model": options["base_model"],
            "trained_on": dataset,
            "recipe": recipe,
            "uses_topic": recipe.get("uses_topic", False),
            "state": Scorer.State.TRAINING,
        }
        unended = study.scorers.filter(~Q(state=Scorer.State.READY), name=options["name"])
        scorer = unended.first()
        if scorer is None:
            scorer = Scorer(study=study, name=options["name"], **values)
            keep_new(scorer)
            return scorer
        for name, value in values.items():
            setattr(scorer, name, value)
        scorer.save()
        return scorer
