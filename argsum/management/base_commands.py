"""Base classes of the commands that import data or train models."""

import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from annotation.management.commands._importing import ImportCommand
from annotation.management.environment import add_study_arguments, study_of
from argsum.datasets.models import Dataset
from argsum.scorers.actions.models import ScorerRefused, checkpoint_of
from argsum.scorers.actions.scorers import keep_new
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable
from cqa_site.people.models import Study

# What the commands that import into datasets share.


class ArgumentImportCommand(ImportCommand):
    """An `ImportCommand` with the name of a dataset."""

    asks: tuple[str, ...] = ("dataset",)


class SeveralFilesCommand(ArgumentImportCommand):
    """Accepts several files; the option in ``of_one`` requires a single file."""

    of_one = ""
    why_one = ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the other files."""
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


# What the commands that train a scorer or a writer share.


class TrainCommand(BaseCommand):
    """Trains in this process; running the command again continues an interrupted training."""

    task = ""
    kind = ""
    usual_model = PACKAGED_MODEL

    def add_arguments(self, parser: CommandParser) -> None:
        add_study_arguments(parser)
        parser.add_argument("--dataset", help="name of a dataset of the study")
        parser.add_argument("--data", type=Path, help="or a folder with ArgKP files")
        parser.add_argument("--name", required=True, help="name of the scorer")
        parser.add_argument("--base-model", default=self.usual_model, help="base model, by name")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["dataset"]) == bool(options["data"]):
            raise CommandError("Give either --dataset or --data.")
        study = study_of(self, options)
        dataset = self._dataset(study, options["dataset"]) if options["dataset"] else None
        scorer = self._scorer(study, dataset, options)
        try:
            train = self.train(scorer, dataset, options)
        except (ScorerRefused, EmbeddingsUnavailable) as refusal:
            Scorer.objects.filter(pk=scorer.pk).update(
                state=Scorer.State.FAILED, error=str(refusal)
            )
            raise CommandError(str(refusal)) from refusal
        for name, value in train.items():
            setattr(scorer, name, value)
        scorer.state, scorer.error, scorer.ready_at = Scorer.State.READY, "", timezone.now()
        scorer.save()
        shutil.rmtree(checkpoint_of(scorer), ignore_errors=True)
        self.stdout.write(scorer.card)
        self.stdout.write(f"Scorer {scorer.public_id} is ready.")

    def train(
        self, scorer: Scorer, dataset: Dataset | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        """Read the data and train; return the fields to store."""
        raise NotImplementedError

    def settings(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return additional fields of a new row."""
        return {}

    def say(self, done: int, total: int, note: str = "") -> None:
        """Print one line per step."""
        self.stdout.write(f"{done} / {total} {note}")

    def _dataset(self, study: Study, name: str) -> Dataset:
        dataset = study.argument_datasets.filter(name=name).first()
        if dataset is None:
            raise CommandError(f"{study.name} has no dataset {name!r}.")
        return dataset

    def _scorer(self, study: Study, dataset: Dataset | None, options: dict[str, Any]) -> Scorer:
        """Return a new row, or the one with an unfinished training."""
        fields = {
            "task": self.task,
            "kind": self.kind,
            "base_model": options["base_model"],
            "trained_on": dataset,
            **self.settings(options),
        }
        unended = study.scorers.filter(~Q(state=Scorer.State.READY), name=options["name"]).first()
        if unended is not None:
            for name, value in fields.items():
                setattr(unended, name, value)
            unended.state = Scorer.State.TRAINING
            unended.save()
            return unended
        scorer = Scorer(study=study, name=options["name"], state=Scorer.State.TRAINING, **fields)
        try:
            keep_new(scorer)
        except ScorerRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        return scorer
