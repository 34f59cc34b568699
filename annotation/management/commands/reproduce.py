import json
import os
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.actions.importing import ImportRefused
from annotation.management.judge_reproduction import reproduce_judge
from annotation.management.reproduction import (
    Choices,
    DataMissing,
    NoSuchControl,
    reproduce_relevance,
)
from annotation.management.throwaway import throwaway_database
from annotation.reports.relevance_published import DIFFERS, Figure
from cqa_site.runs.jobs import JobRefused

WIDTHS = (44, 16, 29, 29)


class Command(BaseCommand):
    help = (
        "Compute the published figures of a paper from its released data, in a database that "
        "exists only for this; the configured one is not touched. Exits 1 if a figure differs. "
        "“judge” trains a judge on the released labels of the relevance paper and checks it on "
        "pairs held back, beside the released labels of GPT-4."
    )
    # The configured database is not used, so its migrations do not matter.
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paper", choices=["relevance", "judge"])
        parser.add_argument(
            "--data",
            type=Path,
            default=None,
            help="folder of the released files; default: COUNTERPOINT_REFERENCE_DATA",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--min-accuracy", type=float, default=0.5, help="control accuracy of kept workers"
        )
        parser.add_argument(
            "--control-label",
            action="append",
            default=[],
            type=_control_label,
            metavar="TASK_ID=LABEL",
            help="another known label of a control item; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        choices = Choices(options["min_accuracy"], dict(options["control_label"]))
        data = options["data"] or reference_data()
        try:
            with throwaway_database():
                if options["paper"] == "judge":
                    figures = reproduce_judge(data, self._say)
                else:
                    figures = reproduce_relevance(data, choices)
        except (DataMissing, NoSuchControl, ImportRefused, JobRefused) as error:
            raise CommandError(str(error)) from error
        self._print(figures, as_json=options["json"])
        # A figure that differs because of an option has a reason; the others should not differ.
        differing = [each.name for each in figures if each.status == DIFFERS and not each.why]
        if differing:
            raise CommandError(f"{len(differing)} figures differ: {', '.join(differing)}")

    def _say(self, done: int, total: int, note: str) -> None:
        self.stderr.write(f"{note}: {done} of {total}")

    def _print(self, figures: list[Figure], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps([figure.as_dict() for figure in figures], indent=2))
            return
        self._print_row("figure", "paper", "released data", "ours", "status")
        for figure in figures:
            status = figure.status + (f": {figure.why}" if figure.why else "")
            released = _text(figure.released, figure.digits)
            ours = _text(figure.ours, figure.digits)
            self._print_row(figure.name, figure.paper or "–", released, ours, status)

    def _print_row(self, *cells: str) -> None:
        padded = [cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=False)]
        self.stdout.write("  ".join([*padded, cells[-1]]))


def reference_data() -> Path:
    """Where the released files lie unless somebody says otherwise."""
    default = settings.BASE_DIR.parent / "shared" / "data"
    return Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", default))


def _control_label(text: str) -> tuple[str, int]:
    task, _equals, label = text.rpartition("=")
    if not task or label not in ("0", "1", "2", "3"):
        raise ArgumentTypeError(f"{text!r} is not TASK_ID=LABEL with a label from 0 to 3")
    return task, int(label)


def _text(value: Any, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, tuple):
        return " / ".join(f"{part:,}" for part in value)
    return f"{value:.{digits}f}" if isinstance(value, float) else f"{value:,}"
