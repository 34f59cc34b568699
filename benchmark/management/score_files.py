"""Shared parts of the commands that import score sheets: the rubric and its study."""

from pathlib import Path
from typing import Any

from annotation.management.commands._importing import ImportCommand
from cqa_site.files.actions.imports import ImportOutcome
from cqa_site.people.models import Study


class ScoreImportCommand(ImportCommand):
    """`ImportCommand` with a rubric version."""

    asks: tuple[str, ...] = ("rubric",)
    study: Study

    def _run(self, study: Study, path: Path, options: dict[str, Any]) -> ImportOutcome:
        self.study = study
        return super()._run(study, path, options)
