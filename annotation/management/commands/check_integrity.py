"""Check the invariants of labelling and of the ledger."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.reports import integrity as labelling
from cqa_site.runs import integrity as ledger


class Command(BaseCommand):
    help = "Check slots, votes, snapshots and the ledger of calls; exit 1 and say what is broken."

    def handle(self, *args: Any, **options: Any) -> None:
        violations = [*labelling.find_violations(), *ledger.find_violations()]
        for violation in violations:
            self.stderr.write(violation)
        if violations:
            raise CommandError(f"{len(violations)} invariants are broken.")
        self.stdout.write("Every invariant holds.")
