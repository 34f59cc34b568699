"""Write a whole site to one backup file while people continue to work."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cqa_site.upkeep.backups.archive import ProgressLine, told
from cqa_site.upkeep.backups.backup import make_backup
from cqa_site.upkeep.backups.files import ask_passphrase, given_passphrase, keys_here
from cqa_site.upkeep.backups.tables import BackupRefused


class Command(BaseCommand):
    help = (
        "Write the database, uploads, exports, trained weights and keys to one file, at any time. "
        "The command asks for a passphrase that encrypts the keys."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="target file; must not exist yet")
        parser.add_argument(
            "--passphrase-file", default="", help="its first line is the passphrase"
        )
        parser.add_argument("--without-keys", action="store_true", help="leave the keys out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._make(options["file"], options)
        except BackupRefused as refusal:
            raise CommandError(str(refusal)) from refusal

    def _make(self, path: Path, options: dict[str, Any]) -> None:
        if path.exists():
            raise BackupRefused(f"{path} already exists. Nothing was written.")
        passphrase = ""
        if not options["without_keys"]:
            passphrase = given_passphrase(options["passphrase_file"]) or ask_passphrase(twice=True)
        keys = None if options["without_keys"] else keys_here()
        manifest = make_backup(
            path, keys=keys, passphrase=passphrase, say=ProgressLine(self.stderr)
        )
        self.stdout.write(f"{path} is intact. {told(manifest)}")
