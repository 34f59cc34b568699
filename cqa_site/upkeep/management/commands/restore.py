"""Fill an empty installation from a backup."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from cqa_site.upkeep.backups.archive import Archive, ProgressLine, told
from cqa_site.upkeep.backups.backup import RestoreResult, restore_backup
from cqa_site.upkeep.backups.files import Keys, ask_passphrase, given_passphrase, unseal
from cqa_site.upkeep.backups.tables import BackupRefused, configured


class Command(BaseCommand):
    help = (
        "Restore a backup into the configured database and data folder, which must be empty. It "
        "succeeds completely or changes nothing. Stop web servers and workers first."
    )
    # No checks, because tables may be missing and settings may still change.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--passphrase-file", default="", help="its first line is the passphrase"
        )
        parser.add_argument(
            "--without-keys",
            action="store_true",
            help="do not decrypt the keys; stored API keys are then read with SECRETS_KEYS",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        say = ProgressLine(self.stderr)
        try:
            with Archive(options["file"]) as archive:
                keys = _opened_keys(archive, options)
                archive.check(say)
                restored = restore_backup(
                    archive, configured(), Path(settings.DATA_DIR), keys=keys, say=say
                )
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        self._tell(restored)

    def _tell(self, restored: RestoreResult) -> None:
        self.stdout.write(
            f"Restored. All tables match the backup. {told(restored.manifest)}\n"
            "Everyone must sign in again with the same password."
        )
        if restored.held.runs:
            self.stdout.write(
                f"Runs in progress that are now paused: {restored.held.runs}. Resume each on "
                "its page."
            )
        if restored.held.jobs:
            self.stdout.write(
                f"Ended jobs that would have sent something: {restored.held.jobs}. "
                "Start them again."
            )
        for name in restored.unreadable:
            self.stdout.write(f"The stored key cannot be read. Enter it again: {name}")


def _opened_keys(archive: Archive, options: dict[str, Any]) -> Keys | None:
    if options["without_keys"] or not archive.manifest.keys:
        return None
    passphrase = given_passphrase(options["passphrase_file"]) or ask_passphrase(twice=False)
    return unseal(archive.keys(), passphrase)
