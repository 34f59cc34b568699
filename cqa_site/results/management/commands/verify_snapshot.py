"""Recompute the figures of a snapshot from its rows and compare them."""

import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cqa_site.results.snapshots import KINDS, NoSnapshotFile, check_archive, check_snapshot


class Command(BaseCommand):
    help = (
        "Recompute figures from the rows of a snapshot, given as its id or as a "
        "downloaded archive; list any differences and exit with 1. For snapshots of earlier "
        "versions, values are compared, but not intervals and tests."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("snapshot", help="archive (ZIP), or the snapshot's id")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["snapshot"]
        path = Path(name)
        differences = self.of_file(path) if path.is_file() else self.of_id(name)
        for difference in differences:
            self.stderr.write(difference)
        if differences:
            raise CommandError("The snapshot does not match its rows.")
        self.stdout.write("The snapshot's rows, hashes and recomputed figures match.")

    def of_file(self, path: Path) -> list[str]:
        try:
            return check_archive(path)
        except NoSnapshotFile as error:
            raise CommandError(str(error)) from error

    def of_id(self, name: str) -> list[str]:
        try:
            wanted = uuid.UUID(name)
        except ValueError as error:
            raise CommandError(f"There is no file or snapshot {name}.") from error
        for kind in KINDS.values():
            if snapshot := kind.Model._default_manager.filter(public_id=wanted).first():
                return check_snapshot(kind, snapshot)
        raise CommandError(f"There is no snapshot {name}.")
