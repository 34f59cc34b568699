"""What the commands that import score sheets share: the rubric, and the study it belongs to."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._importing import ORIGIN, ImportCommand
from cqa_site.files.actions import Outcome
from cqa_site.people.models import Study


class ScoreImportCommand(ImportCommand):
    """As `ImportCommand`, with a version of a rubric."""

    has_campaign = False
    study: Study

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the version of the rubric."""
        super().add_arguments(parser)
        parser.add_argument(
            "--rubric", default="", help="id of the version; default: the newest of CompQA"
        )

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The rubric, and of files with answers who wrote them."""
        chosen = {"rubric": options["rubric"]}
        return chosen | {name: options[name] for name in ORIGIN if self.has_answers}

    def _run(self, study: Study, path: Path, options: dict[str, Any]) -> Outcome:
        self.study = study
        return super()._run(study, path, options)
