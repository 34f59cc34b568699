from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from argsum.scorers.actions.models import SHIPPED, ScorerRefused
from argsum.scorers.actions.shipping import ship_quality, write_difference
from argsum.scorers.actions.training_data import rated_in
from argsum.scorers.models import SHIPPED_MATCH


class Command(BaseCommand):
    help = (
        "Make the scorers that come with the site again: a line through qualities (--quality, a "
        "table of pairs or a folder with one), and the difference of a trained match scorer to "
        "the packaged model (--match, a folder of weights below “scorers” in the data folder)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quality", type=Path)
        parser.add_argument("--match", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["quality"] and not options["match"]:
            raise CommandError("Name --quality, --match, or both.")
        try:
            if options["quality"]:
                self.stdout.write(f"{ship_quality(rated_in(options['quality']), self.say)}")
            if options["match"]:
                self.stdout.write(f"{write_difference(options['match'], SHIPPED[SHIPPED_MATCH])}")
        except (ScorerRefused, OSError, ValueError) as problem:
            raise CommandError(str(problem)) from problem

    def say(self, done: int, total: int, note: str = "") -> None:
        """One line for each step."""
        self.stdout.write(f"{done} / {total} {note}")
