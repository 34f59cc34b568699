"""Move the site to another database, from SQLite to PostgreSQL or back."""

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cqa_site.upkeep.backups.archive import ProgressLine
from cqa_site.upkeep.backups.backup import move_database
from cqa_site.upkeep.backups.tables import BackupRefused, from_url

VARIABLE = "MOVE_TO"


class Command(BaseCommand):
    help = (
        "Copy everything in the configured database into an empty one. Stop web servers "
        "and workers first: moving a running site is refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "url",
            help="postgres://… or sqlite:///…; an address with a password in it is better set as "
            "the variable MOVE_TO, with “-” here",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            moved = move_database(
                from_url(_address(options["url"])), say=ProgressLine(self.stderr)
            )
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        rows = sum(contents.rows for contents in moved.values())
        self.stdout.write(
            f"Moved {rows:,} rows in {len(moved)} tables. All tables match the original.\n"
            "Now set DATABASE_URL to the new address wherever it is set (environment, .env, "
            "service), then start the site. Everyone must sign in again. The old database was not "
            "changed."
        )


def _address(argument: str) -> str:
    """Return the address; for "-", read it from the environment, which other users cannot see."""
    if argument != "-":
        return argument
    if not (address := os.environ.get(VARIABLE)):
        raise BackupRefused(f"{VARIABLE} is not set.")
    return address
