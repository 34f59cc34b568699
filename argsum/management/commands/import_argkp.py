import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from argsum.datasets.methods.argument_files import is_wanted
from argsum.management.base_commands import ArgumentImportCommand
from cqa_site.tabular.binary_formats import packed


class Command(ArgumentImportCommand):
    help = (
        "Import the files of ArgKP (arguments_…, key_points_… and labels_… for train, dev, test), "
        "as a folder or a ZIP archive."
    )
    kind = "argkp"

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["file"]
        if not folder.is_dir():
            return super().handle(*args, **options)
        with tempfile.TemporaryDirectory(prefix="counterpoint-") as place:
            archive = Path(place) / f"{folder.resolve().name}.zip"
            if not packed(folder, archive, is_wanted=is_wanted):
                raise CommandError(f"{folder} does not contain arguments_….csv")
            return super().handle(*args, **options | {"file": archive})
