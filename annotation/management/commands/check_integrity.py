"""Check the invariants of labelling."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.reports.integrity import find_violations


class Command(BaseCommand):
    help = "Check slots, votes, history and snapshots; exit 1 and say what is broken."

    def handle(self, *args: Any, **options: Any) -> None:
        violations = list(find_violations())
        for violation in violations:
            self.stderr.write(violation)
        if violations:
            raise CommandError(f"{len(violations)} invariants are broken.")
        self.stdout.write("Every invariant holds.")
