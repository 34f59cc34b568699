from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.training import (
    RECIPE,
    ship_filler_classifier,
    ship_match,
    ship_quality,
)
from argsum.scorers.actions.training_data import cells_in, data_of
from argsum.scorers.models import Scorer
from cqa_site.judging.training import RecipeError


class Command(BaseCommand):
    help = (
        "Rebuild the scorers shipped with the site: a quality scorer (--quality, a table of "
        "pairs or a folder with one), a match scorer (--match, a folder with the three files per "
        "split of ArgKP-2021), which takes about 25 minutes on two processors, and its classifier "
        "of statements that say nothing (--filler)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quality", type=Path)
        parser.add_argument("--match", type=Path)
        parser.add_argument("--filler", action="store_true")
        parser.add_argument("--steps", type=int, default=RECIPE.steps)
        parser.add_argument("--seed", type=int, default=RECIPE.seed)

    def handle(self, *args: Any, **options: Any) -> None:
        if not any(options[name] for name in ("quality", "match", "filler")):
            raise CommandError("Give at least one of --quality, --match and --filler.")
        try:
            if options["quality"]:
                rated = data_of(Scorer.Task.QUALITY, options["quality"])
                self.stdout.write(f"{ship_quality(rated, self.say)}")
            if options["match"]:
                self.match(options["match"], options["steps"], options["seed"])
            if options["match"] or options["filler"]:
                self.stdout.write(f"{ship_filler_classifier()}")
        except (RecipeError, ScorerRefused, OSError, ValueError) as problem:
            raise CommandError(str(problem)) from problem

    def match(self, folder: Path, steps: int, seed: int) -> None:
        """Train the scorer and print the training report."""
        recipe = replace(RECIPE, steps=steps, seed=seed)
        work = Path(settings.DATA_DIR) / "scorers" / f"shipped-{steps}-{seed}"
        path, looks = ship_match(cells_in(folder), recipe, work, self.say)
        for look in looks:
            self.stdout.write(f"{look}")
        self.stdout.write(f"{path}")

    def say(self, done: int, total: int, note: str = "") -> None:
        """Print one line per step."""
        self.stdout.write(f"{done} / {total} {note}")
