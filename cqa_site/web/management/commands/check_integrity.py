"""Check the invariants of labelling, editing, scoring, recorded calls and snapshots."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cqa_site.web.housekeeping import find_violations


class Command(BaseCommand):
    help = "Check slots, votes, sheets, snapshots and recorded calls; exit with 1 on errors."

    def handle(self, *args: Any, **options: Any) -> None:
        violations = list(find_violations())
        for violation in violations:
            self.stderr.write(violation)
        if violations:
            raise CommandError(f"{len(violations)} invariants are broken.")
        self.stdout.write("Every invariant holds.")
