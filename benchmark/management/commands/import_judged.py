from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.imports.actions.entries import origin_of
from annotation.management.commands._importing import ImportCommand
from annotation.management.environment import opened_study
from benchmark.imports.actions.entries import SCORE_SHEETS, UNSCORED_SHEETS
from benchmark.imports.actions.reconciliation import boards_once
from benchmark.imports.methods.score_files import judge_of
from cqa_site.files.actions.imports import ImportOutcome, ImportRefused
from cqa_site.people.models import Study


class Command(ImportCommand):
    help = (
        "Import released judgements (JSON): the answers of one system, each with the points of "
        "one judge. System and scenario are taken from the file name, and the judge from the "
        "folder name (judged_NAME), unless --system, --scenario or --judge are given. Every file "
        "in a folder is imported, either completely or not at all, and listed in a table."
    )
    kind = "judged"
    asks = ("rubric", "system", "scenario")

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--judge", default="", help="rater who gave the points")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["file"]
        if not folder.is_dir():
            return super().handle(*args, **options)
        if options["system"] or options["scenario"] is not None:
            raise CommandError("Each file is for a different system. Name a single file instead.")
        paths = sorted(file for file in folder.iterdir() if file.is_file())
        if not paths:
            raise CommandError(f"{folder} contains no files.")
        with opened_study(self, options) as study, boards_once():
            outcomes = {path: self._one(study, path, options) for path in paths}
            refused = [path.name for path, outcome in outcomes.items() if isinstance(outcome, str)]
            self._summary(outcomes)
            if len(refused) == len(paths):
                raise CommandError("None of the files was imported.")
        if options["dry_run"]:
            self.stdout.write("Dry run, each file separately: nothing was imported.")
        if refused:
            raise CommandError(f"Not imported: {', '.join(refused)}")

    def _one(self, study: Study, path: Path, options: dict[str, Any]) -> ImportOutcome | str:
        """Return the outcome of a file, or the reason why nothing was imported from it."""
        try:
            return self._run(study, path, options | {"file": path})
        except (ImportRefused, CommandError) as refusal:
            return str(refusal)

    def _summary(self, outcomes: dict[Path, ImportOutcome | str]) -> None:
        """Print one line per file, with a reason for each file that was not imported."""
        words = ["system", "scenario", "answers", "sheets", "unscored"]
        words += ["same", "changed", "rejected", "file"]
        self.stdout.write(" ".join(f"{word:>12}" for word in words))
        for path, outcome in outcomes.items():
            if isinstance(outcome, str):
                self.stdout.write(f"not imported: {path.name}: {outcome}")
                continue
            origin = origin_of(path.name, {})
            sheets = [outcome.counts[name] for name in (SCORE_SHEETS, UNSCORED_SHEETS)]
            new = (outcome.counts["answers"]["new"], *(counts["new"] for counts in sheets))
            others = [sum(counts[name] for counts in sheets) for name in ("same", "changed")]
            cells = (origin.system, origin.scenario, *new, *others, outcome.rejected)
            line = " ".join(f"{cell:>12}" for cell in cells)
            self.stdout.write(f"{line} {path.name:>12}")

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        folder = options["file"].resolve().parent.name
        judge = options["judge"] or (judge_of(folder) if judge_of(folder) != folder else "")
        return super().file_options(options) | {"rater": judge}
