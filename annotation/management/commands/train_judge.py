from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.judges.actions import trained_judge
from annotation.judges.reports.results import TrainedFigures
from annotation.labelling.models import LabelRound
from cqa_site.runs.jobs import JobRefused
from cqa_site.stats.estimate import from_json


class Command(BaseCommand):
    help = (
        "Train the next version of a round's judge on its final labels, here and now; the "
        "Trained judge page does the same in the background."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--round", dest="label_round", required=True, help="id of the round")
        parser.add_argument("--source", help="id of the round whose final labels to use")

    def handle(self, *args: Any, **options: Any) -> None:
        label_round = _label_round(options["label_round"])
        source = _label_round(options["source"]) if options["source"] else label_round
        try:
            version = trained_judge.train_now(
                label_round=label_round, source=source, say=self._say
            )
        except (JobRefused, trained_judge.TrainingNotPossible) as reason:
            raise CommandError(str(reason)) from reason
        figures = from_json(TrainedFigures, version.figures)
        self.stdout.write(f"{version}: {figures.n} final labels, {figures.pairs} pairs")
        for level, estimate in {"ordinal": figures.ordinal, "interval": figures.interval}.items():
            value = "not defined" if estimate.value is None else f"{estimate.value:.4f}"
            self.stdout.write(f"alpha, {level}: {value}  {estimate.reason or ''}".rstrip())
        if figures.exact is not None:
            self.stdout.write(f"equal labels: {figures.exact:.4f}")

    def _say(self, done: int, total: int, note: str) -> None:
        self.stderr.write(f"{note}: {done} of {total}")


def _label_round(key: str) -> LabelRound:
    try:
        return LabelRound.objects.select_related("guideline", "study").get(public_id=UUID(key))
    except (LabelRound.DoesNotExist, ValueError, ValidationError) as error:
        raise CommandError(f"There is no round {key}.") from error
