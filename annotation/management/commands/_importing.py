"""What the import commands share: arguments, the study, the counts table, the exit code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import ngettext

from annotation.answers.models.answers import Answer
from annotation.management.studies import add_study_arguments, opened_study
from cqa_site.files import actions as importing
from cqa_site.files.actions import ImportRefused, Outcome
from cqa_site.files.counted import COUNTED, RESULTS
from cqa_site.people.models import Study

MOST_SHOWN = 50
ORIGIN = ("system", "scenario")
PIECE = 1024 * 1024


class ImportCommand(BaseCommand):
    """Reads one file through the same code as the import page; exits 1 on a refusal."""

    kind = ""
    has_campaign = True
    has_answers = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to import")
        add_study_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
        parser.add_argument(
            "--leave-out-rejected", action="store_true", help="import the rows that are in order"
        )
        parser.add_argument(
            "--update-changed", action="store_true", help="replace what differs by the file's"
        )
        if self.has_campaign:
            parser.add_argument("--campaign", default="", help="default: the file's name")
        if self.has_answers:
            parser.add_argument("--system", default="", help="who wrote the answers")
            parser.add_argument(
                "--scenario",
                type=int,
                choices=Answer.Scenario.values,
                help="prompt they were written under; 0 for none",
            )

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
        """What the reader of this kind of file wants to know."""
        chosen = {"campaign": options.get("campaign", "")}
        return chosen | {name: options[name] for name in ORIGIN if self.has_answers}

    def _run(self, study: Study, path: Path, options: dict[str, Any]) -> Outcome:
        """Look first, so that a file that cannot be taken leaves no trace; then import."""
        asked = {"study": study, "kind": self.kind, "options": self.file_options(options)}
        looked = importing.import_path(path=path, name=path.name, write=False, **asked)
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
        record = importing.store_upload(name=path.name, chunks=pieces(path), actor=None, **asked)
        outcome = importing.apply_import(
            import_file=record,
            leave_out_rejected=options["leave_out_rejected"],
            update_changed=options["update_changed"],
        )
        if outcome is None:
            raise CommandError(record.refusal)
        return outcome

    def report(self, outcome: Outcome) -> None:
        """Print the counts table, the notes and the first rows to look at."""
        self.stdout.write("".join(f"{word:>12}" for word in ("", *RESULTS)))
        for name in COUNTED:
            numbers = outcome.counts[name].values()
            if any(numbers):
                self.stdout.write(f"{name:>12}" + "".join(f"{number:>12,}" for number in numbers))
        counted = outcome.rows
        if counted["read"]:
            self.stdout.write(
                f"{counted['read']:,} rows read, {counted['rejected']:,} of them rejected "
                f"({counted['problems']:,} problems in cells)"
            )
        for near in outcome.near:
            said = near.decision or "not decided"
            self.stdout.write(f"near: row {near.row}, {near.about}, {near.likeness:.0%}: {said}")
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


def pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file, one mebibyte at a time."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece
