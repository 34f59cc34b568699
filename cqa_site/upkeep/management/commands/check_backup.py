"""Check a backup without restoring it."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Read a backup from its first to its last byte and say whether it is whole."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("backup", options["file"], check=True, stdout=self.stdout, stderr=self.stderr)
