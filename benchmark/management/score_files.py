"""What the commands that import score sheets share: the rubric, and the study it belongs to."""

from pathlib import Path
from typing import Any

from annotation.management.commands._importing import ImportCommand
from cqa_site.files.actions.imports import ImportOutcome
from cqa_site.people.models import Study


class ScoreImportCommand(ImportCommand):
    """As `ImportCommand`, with a version of a rubric."""

    asks: tuple[str, ...] = ("rubric",)
    study: Study

    def _run(self, study: Study, path: Path, options: dict[str, Any]) -> ImportOutcome:
        self.study = study
        return super()._run(study, path, options)
