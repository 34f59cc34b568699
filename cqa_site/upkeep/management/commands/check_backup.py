"""Check a backup without restoring it."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cqa_site.upkeep.backups.archive import Archive, ProgressLine, told
from cqa_site.upkeep.backups.tables import BackupRefused


class Command(BaseCommand):
    help = "Read a backup from its first to its last byte and report whether it is intact."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with Archive(options["file"]) as archive:
                archive.check(ProgressLine(self.stderr))
                self.stdout.write(f"The backup is intact. {told(archive.manifest)}")
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from refusal
