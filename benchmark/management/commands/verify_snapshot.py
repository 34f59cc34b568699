"""Compute the figures of a board snapshot again from its rows, and compare."""

import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import BoardSnapshot
from benchmark.reports.board_files import NoSnapshotFile, check_archive, check_snapshot


class Command(BaseCommand):
    help = (
        "Compute a board's figures again from the rows of a snapshot, given as its id or as a "
        "downloaded archive; exit 1 and say what differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("snapshot", help="archive (ZIP), or the snapshot's id")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["snapshot"]
        path = Path(name)
        differences = self.of_file(path) if path.is_file() else self.of_id(name)
        for each in differences:
            self.stderr.write(each)
        if differences:
            raise CommandError("The snapshot does not match its rows.")
        self.stdout.write("The snapshot matches: rows, hashes, and every figure of the board.")

    def of_file(self, path: Path) -> list[str]:
        try:
            return check_archive(path)
        except NoSnapshotFile as error:
            raise CommandError(str(error)) from error

    def of_id(self, name: str) -> list[str]:
        try:
            snapshot = BoardSnapshot.objects.get(public_id=uuid.UUID(name))
        except (ValueError, BoardSnapshot.DoesNotExist) as error:
            raise CommandError(f"There is no file and no snapshot {name}.") from error
        return check_snapshot(snapshot)
