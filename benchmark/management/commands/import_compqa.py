import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.db.models import Case, Count, When

from annotation.management.commands._importing import stored_and_imported, write_counts
from annotation.management.environment import add_study_arguments, study_of
from benchmark.imports.actions.reconciliation import boards_once
from benchmark.imports.methods.columns import guess_columns
from benchmark.imports.methods.individual_sheets import is_own_sheets
from benchmark.imports.methods.score_files import judge_of
from benchmark.rubrics.methods.rubric import COMPQA
from cqa_site.files.actions.imports import ImportOutcome, ImportRefused, import_path
from cqa_site.files.formats import format_of
from cqa_site.people.models import Study
from cqa_site.tabular import preview

# In import order, because later files refer to contents of earlier ones.
ANSWERS, JUDGED, HUMAN = "raw_summaries", "judged", "human"
# Kind, file, and options for the reader.
Job = tuple[str, Path, dict[str, Any]]


class Command(BaseCommand):
    help = (
        "Import a folder of released CompQA files: raw_summaries/*.json (answers), "
        "judged_NAME/*.json (judgements by NAME), human/*.tsv (people's consolidated scores and "
        "individual sheets). Importing the same folder again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        add_study_arguments(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="import, report what happened, and undo it"
        )
        parser.add_argument("--rubric", default="", help="id of the version; default: CompQA")

    def handle(self, *args: Any, **options: Any) -> None:
        jobs = list(jobs_of(options["folder"], options["rubric"]))
        if not jobs:
            raise CommandError(f"{options['folder']} contains none of the folders of a release.")
        begun = time.monotonic()
        # One transaction, because later files refer to rows of earlier ones.
        with transaction.atomic():
            study = study_of(self, options)
            with boards_once():
                outcomes = [self._take(study, *job, is_dry=options["dry_run"]) for job in jobs]
            sheets = _sheets_of(study)
            transaction.set_rollback(options["dry_run"])
        self._report(jobs, outcomes)
        for rater, state, reason, number in sheets:
            outcome = f"{state}, {reason}" if reason else state
            self.stdout.write(f"sheets of {rater}: {outcome}: {number:,}")
        seconds = time.monotonic() - begun
        self.stdout.write(f"{len(jobs)} files in {seconds:.1f} s")
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was imported.")

    def _take(
        self, study: Study, kind: str, path: Path, options: dict[str, Any], *, is_dry: bool
    ) -> ImportOutcome:
        chosen: dict[str, Any] = {"study": study, "kind": kind, "options": options}
        try:
            if is_dry:
                return import_path(
                    path=path, name=path.name, write=True, leave_out_rejected=True, **chosen
                )
            return stored_and_imported(path, chosen, leave_out_rejected=True)
        except ImportRefused as refusal:
            raise CommandError(f"{path}: {refusal}") from refusal

    def _report(self, jobs: list[Job], outcomes: list[ImportOutcome]) -> None:
        """Print counts by kind of file, then all notes that a person should check."""
        for kind in dict.fromkeys(kind for kind, _path, _asked in jobs):
            of_kind = [
                outcome for job, outcome in zip(jobs, outcomes, strict=True) if job[0] == kind
            ]
            self.stdout.write(f"{format_of(kind).title}: {len(of_kind)} files")
            write_counts(self, of_kind)
        for (_kind, path, _asked), outcome in zip(jobs, outcomes, strict=True):
            for flag in outcome.flags:
                word = "rejected" if flag.is_rejection else "remark"
                row = f" row {flag.row}," if flag.row else ""
                self.stdout.write(f"{word}: {path.name},{row} {flag.column}: {flag.reason}")


def _sheets_of(study: Study) -> list[tuple[str, str, str, int]]:
    """Return the number of each rater's sheets in the study, by state and reason."""
    # People have no name here, only the identifier in their file.
    who = Case(When(rater__name="", then="rater__external_id"), default="rater__name")
    sheets = study.score_sheets.order_by().annotate(who=who).values("who", "state", "reason")
    counted = sheets.annotate(number=Count("pk")).order_by("who", "state", "reason")
    return list(counted.values_list("who", "state", "reason", "number"))


def jobs_of(folder: Path, rubric: str = "") -> Iterator[Job]:
    """Yield the files of a release in import order."""
    for path in sorted((folder / ANSWERS).glob("*.json")):
        yield "answers", path, {}
    for judged in sorted(folder.glob(f"{JUDGED}_*")):
        for path in sorted(judged.glob("*.json")):
            yield "judged", path, {"rater": judge_of(judged.name), "rubric": rubric}
    for path in sorted((folder / HUMAN).glob("*.tsv")):
        if is_own_sheets(path):
            yield "score_sheets", path, own_sheets_options(path, rubric)
        else:
            yield "human_scores", path, {"rubric": rubric}


def own_sheets_options(path: Path, rubric: str = "") -> dict[str, Any]:
    """Return the import options for individual sheets, with the person named in the file name."""
    mapping = guess_columns(preview(path, name=path.name).columns, COMPQA)
    # Ignored, because this column is 0 if the row was not scored.
    mapping.pop("total", None)
    whose = path.stem.removeprefix("dataset_").removesuffix("_evaluation")
    return {"mapping": mapping, "rater": whose, "rater_kind": "person", "rubric": rubric}
