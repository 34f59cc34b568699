"""Shared parts of the import commands: arguments, study, counts table, exit code."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import ngettext

from annotation.corpus.methods.generic_table import RATER_KINDS
from annotation.management.environment import add_study_arguments, opened_study
from cqa_site.files.actions.files import store_upload
from cqa_site.files.actions.import_jobs import apply_import
from cqa_site.files.actions.imports import READING, ImportOutcome, ImportRefused, import_path
from cqa_site.files.actions.recognition import fitting_sheet, previewed
from cqa_site.files.format_parts import COUNTED, OPTIONS, RESULTS
from cqa_site.files.formats import format_of
from cqa_site.people.models import Study
from cqa_site.tabular import UnreadableFile
from cqa_site.tabular.detection import ACCEPTED

MOST_SHOWN = 50
PIECE = 1024 * 1024


class ImportCommand(BaseCommand):
    """Import of one file with the import page's code; exits with status 1 if refused."""

    kind = ""
    # Options of the reader, one argument each.
    asks: tuple[str, ...] = ("label_round",)
    # Whether sheet, encoding and header row can be said.
    reads_tables = False
    study: Study

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to import")
        add_study_arguments(parser)
        if self.reads_tables:
            hint = "default: the one that fits"
            parser.add_argument("--sheet", default="", help=f"title of the sheet; {hint}")
            parser.add_argument("--encoding", default="", choices=["", *ACCEPTED])
            row = "row with the column names; default: detected"
            parser.add_argument("--header-row", type=int, default=None, help=row)
        parser.add_argument("--dry-run", action="store_true", help="only show what would happen")
        parser.add_argument(
            "--leave-out-rejected", action="store_true", help="import the valid rows"
        )
        parser.add_argument(
            "--update-changed",
            action="store_true",
            help="replace differing values with those of the file",
        )
        for name in self.asks:
            OPTIONS[name].add_to(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path} is not a file.")
        try:
            with opened_study(self, options) as study:
                self.report(self._run(study, path, options))
        except ImportRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was imported.")

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options for the reader of this kind of file."""
        own = {name: options[name] for name in self.asks}
        return own | (self.reading(options, self.kind) if self.reads_tables else {})

    def reading(self, options: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return sheet, encoding and header row; by default the sheet that fits."""
        path, chosen = options["file"], {name: options[name] for name in READING}
        if not chosen["sheet"]:
            chosen["sheet"] = fitting_sheet(path, path.name, [format_of(kind)])
        return chosen

    def _run(self, study: Study, path: Path, options: dict[str, Any]) -> ImportOutcome:
        """Do a dry run first, so that a rejected file leaves no trace, then import."""
        self.study = study
        parameters: dict[str, Any] = {
            "study": study,
            "kind": self.kind,
            "options": self.file_options(options),
        }
        looked = import_path(path=path, name=path.name, write=False, **parameters)
        if options["dry_run"]:
            return looked
        if looked.rejected and not options["leave_out_rejected"]:
            self.report(looked)
            text = ngettext(
                "%s row is rejected, so nothing was imported.",
                "%s rows are rejected, so nothing was imported.",
                looked.rejected,
            )
            raise CommandError(text % looked.rejected)
        chosen = {name: options[name] for name in ("leave_out_rejected", "update_changed")}
        return stored_and_imported(path, parameters, **chosen)

    def report(self, outcome: ImportOutcome) -> None:
        """Print the counts table, the notes and the first rows to check."""
        write_counts(self, [outcome])
        counted = outcome.rows
        if counted["read"]:
            self.stdout.write(
                f"{counted['read']:,} rows read, {counted['rejected']:,} of them rejected "
                f"({counted['problems']:,} problems in cells)"
            )
        for near in outcome.near:
            decision = near.decision or "not decided"
            self.stdout.write(
                f"near: row {near.row}, {near.about}, {near.likeness:.0%}: {decision}"
            )
            self.stdout.write(f"  file:  {' '.join(near.given.split())}")
            self.stdout.write(f"  study: {' '.join(near.found.split())}")
        for note in outcome.notes:
            self.stdout.write(f"note: {note}")
        flags = sorted(outcome.flags, key=lambda flag: not flag.is_rejection)
        for flag in flags[:MOST_SHOWN]:
            word = "rejected" if flag.is_rejection else "remark"
            place = ", ".join(
                part for part in (f"row {flag.row}" if flag.row else "", flag.column) if part
            )
            self.stdout.write(f"{word}: {place}: {flag.reason}")
        if len(flags) > MOST_SHOWN:
            more = len(flags) - MOST_SHOWN
            rows = ngettext("row", "rows", more)
            self.stdout.write(f"… and {more:,} more {rows} to look at")


class TableCommand(ImportCommand):
    """Import of any table; columns are guessed from the headers unless given."""

    reads_tables = True
    table_asks: tuple[str, ...] = ("rater_kind", "undo_spreadsheet_marks")
    # Whether fields that are not named are guessed beside those that are.
    fills_up = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        hint = "without a column, the field is left out"
        parser.add_argument(
            "--map", action="append", default=[], metavar="FIELD=COLUMN", help=hint
        )
        if "rater_kind" not in self.table_asks:
            return
        parser.add_argument("--rater-kind", default="person", choices=RATER_KINDS)
        parser.add_argument(
            "--undo-spreadsheet-marks",
            action="store_true",
            help="take off the apostrophes of a spreadsheet-safe CSV export",
        )

    def file_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the columns, and the reading options of the table."""
        seen = self.reading(options, self.kind)
        chosen = {name: options[name] for name in self.table_asks} | seen
        try:
            preview = previewed(options["file"], options["file"].name, self.kind, seen)
        except UnreadableFile as error:
            raise CommandError(str(error)) from error
        pairs = [pair.partition("=") for pair in options["map"]]
        mapping = {field.strip(): column for field, _equals, column in pairs}
        if self.fills_up or not mapping:
            guess = format_of(self.kind).guess_columns(self.study, preview, options)
            taken = mapping.values()
            left = {field: column for field, column in guess.items() if column not in taken}
            mapping = left | mapping
        mapping = {field: column for field, column in mapping.items() if column}
        text = ", ".join(f"{field}={column}" for field, column in mapping.items())
        self.stdout.write(f"columns: {text}")
        return super().file_options(options) | chosen | {"mapping": mapping}


def write_counts(command: BaseCommand, outcomes: Collection[ImportOutcome]) -> None:
    """Print the counts of one file, or of several files together."""
    heads = "".join(f"{word:>12}" for word in RESULTS)
    command.stdout.write(f"{'':>20}{heads}")
    for name, kind in COUNTED.items():
        numbers = [sum(outcome.counts[name][result] for outcome in outcomes) for result in RESULTS]
        if any(numbers):
            cells = "".join(f"{number:>12,}" for number in numbers)
            command.stdout.write(f"{str(kind.title).lower():>20}{cells}")


def stored_and_imported(
    path: Path,
    parameters: dict[str, Any],
    *,
    leave_out_rejected: bool,
    update_changed: bool = False,
) -> ImportOutcome:
    """Store a file and import it; raises ImportRefused."""
    record = store_upload(name=path.name, chunks=pieces(path), actor=None, **parameters)
    outcome = apply_import(
        import_file=record, leave_out_rejected=leave_out_rejected, update_changed=update_changed
    )
    if outcome is None:
        raise ImportRefused(record.refusal)
    return outcome


def pieces(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, one mebibyte at a time."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece
