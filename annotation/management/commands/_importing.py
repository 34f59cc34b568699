"""What the import commands share: arguments, the study, the counts table, the exit code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import ngettext

from annotation.actions import importing
from annotation.actions.importing import ImportRefused, Outcome
from annotation.models import Answer
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
        parser.add_argument("--study", required=True, help="name or id of the study")
        parser.add_argument("--create-study", action="store_true", help="make it if it is missing")
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
            study = find_study(options["study"], create=options["create_study"])
            outcome = self._run(study, path, options)
        except ImportRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        self.report(outcome)
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
        self.stdout.write("".join(f"{word:>12}" for word in ("", *importing.RESULTS)))
        for name in importing.OBJECTS:
            numbers = outcome.counts[name].values()
            if any(numbers):
                self.stdout.write(f"{name:>12}" + "".join(f"{number:>12,}" for number in numbers))
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


def find_study(wanted: str, *, create: bool) -> Study:
    """The study of that id or name; made by that name if asked."""
    try:
        found = list(Study.objects.filter(public_id=UUID(wanted)))
    except ValueError:
        found = list(Study.objects.filter(name=wanted)[:2])
    if len(found) == 1:
        return found[0]
    if found:
        raise CommandError(f"Several studies are named {wanted!r}; give the id instead.")
    if not create:
        raise CommandError(f"There is no study {wanted!r}; --create-study makes it.")
    return Study.objects.create(name=wanted)


def pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file, one mebibyte at a time."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece
