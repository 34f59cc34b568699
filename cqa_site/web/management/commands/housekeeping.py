"""Delete data that is no longer needed; workers do the same every hour."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cqa_site.web.housekeeping import run_chores


class Command(BaseCommand):
    help = (
        "Delete expired sessions, old export files, uploads that nobody imported, and leftovers."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = run_chores()
        for name, count in done.items():
            self.stdout.write(f"{name}: {'failed' if count is None else count}")
        if None in done.values():
            raise CommandError("Some tasks failed. The log above has the reasons.")
