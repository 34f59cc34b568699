import json
import os
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string

from cqa_site.web.reproduced import Paper, Reproduced

# By dotted path, as the apps of the papers lie above this package.
PAPERS = {
    "relevance": "annotation.management.papers.relevance",
    "judge": "annotation.management.papers.judge",
    "compqa": "benchmark.management.papers.compqa",
    "argsum": "argsum.management.papers.argsum",
}


class Command(BaseCommand):
    help = (
        "Compute the published figures of a paper from its released data, in a database that "
        "exists only for this; the configured one is not touched. Exits 1 if a figure differs. "
        "“judge” trains a judge on the released labels of the relevance paper and checks it on "
        "pairs held back, beside the released labels of GPT-4. “compqa” and “argsum” need no "
        "database."
    )
    # The configured database is not used, so its migrations do not matter.
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paper", choices=list(PAPERS))
        parser.add_argument(
            "--data",
            type=Path,
            default=None,
            help="folder of the released files; default: COUNTERPOINT_REFERENCE_DATA",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        relevance = parser.add_argument_group("relevance")
        relevance.add_argument(
            "--min-accuracy", type=float, default=0.5, help="control accuracy of kept workers"
        )
        relevance.add_argument(
            "--control-label",
            action="append",
            default=[],
            type=_control_label,
            metavar="TASK_ID=LABEL",
            help="another known label of a control item; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        reproduce: Paper = import_string(PAPERS[options["paper"]])
        found = reproduce(options["data"] or reference_data(), options, self._say)
        self._print(found, as_json=options["json"])
        differing = [row.name for row in found.rows if row.is_unexplained]
        if differing:
            raise CommandError(f"{len(differing)} figures differ: {', '.join(differing)}")

    def _say(self, done: int, total: int, note: str) -> None:
        self.stderr.write(f"{note}: {done} of {total}")

    def _print(self, found: Reproduced, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps([row.values for row in found.rows], indent=2))
            return
        for cells in (found.headings, *(row.cells for row in found.rows)):
            *padded, last = cells
            texts = [cell.ljust(width) for cell, width in zip(padded, found.widths, strict=True)]
            self.stdout.write("  ".join([*texts, last]))


def reference_data() -> Path:
    """Where the released files lie unless somebody says otherwise."""
    default = settings.BASE_DIR.parent / "shared" / "data"
    return Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", default))


def _control_label(text: str) -> tuple[str, int]:
    task, _equals, label = text.rpartition("=")
    if not task or label not in ("0", "1", "2", "3"):
        raise ArgumentTypeError(f"{text!r} is not TASK_ID=LABEL with a label from 0 to 3")
    return task, int(label)
