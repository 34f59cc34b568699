import json
import os
from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string

from cqa_site.reproduction.figures import HEADINGS
from cqa_site.reproduction.reproduced import OfStudy, Paper, Reproduction
from cqa_site.reproduction.tables import TEXT_WIDTH, PaperTable, TableLayout, fill

# Dotted paths, because the apps of the papers are in a layer above this package.
PAPERS = {
    "relevance": "annotation.papers.papers.relevance",
    "judge": "annotation.papers.papers.judge",
    "compqa": "benchmark.papers.papers.compqa",
    "argsum": "argsum.papers.papers.argsum",
}
# Functions for the same tables from the rows of a study in the configured database.
OF_STUDIES = {
    "relevance": "annotation.papers.papers.study_relevance",
    "argsum": "argsum.papers.papers.argsum_study",
    "compqa": "benchmark.papers.papers.compqa_of_study",
}
FORMATS = ("text", "markdown", "latex")


class Command(BaseCommand):
    help = (
        "Compute the published figures of a paper from its released data, in a database that "
        "exists only for this; the configured one is not changed. Each is compared with the value "
        "in the paper or the authors' files; other figures are shown without a comparison. "
        "Exits 1 if a figure differs by more than .01 without a reason, or if an import changed "
        "one. With --study the paper's tables are computed from a study of the configured "
        "database instead. “judge” trains a judge on the released labels of the relevance paper "
        "and compares it with the released labels of GPT-4 on held-out pairs. “compqa” and "
        "“argsum” need no database."
    )
    # The configured database is not used without --study, so its migrations do not matter.
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paper", choices=list(PAPERS))
        parser.add_argument(
            "--data",
            type=Path,
            default=None,
            help="folder of the released files; default: COUNTERPOINT_REFERENCE_DATA",
        )
        parser.add_argument("--study", default="", help="name or id of a study to compute from")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")
        tables = parser.add_argument_group("the paper's own tables")
        tables.add_argument(
            "--tables",
            choices=FORMATS,
            help="print the tables as the paper lays them out, not a list of figures; "
            "“text” with --study",
        )
        tables.add_argument(
            "--table", action="append", default=[], metavar="NAME", help="only this table"
        )
        tables.add_argument(
            "--ours", action="store_true", help="our values first, the paper's recipe second"
        )
        tables.add_argument(
            "--text-width",
            type=float,
            default=TEXT_WIDTH,
            metavar="PT",
            help="\\textwidth that LaTeX tables must fit, in points; default: %(default)g",
        )
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
        reproduction = self._of_study(options) if options["study"] else self._of_release(options)
        self._print(reproduction, options)
        if failing := reproduction.failing:
            raise CommandError(f"{len(failing)} figures differ: {', '.join(failing)}")

    def _of_release(self, options: dict[str, Any]) -> Reproduction:
        reproduce: Paper = import_string(PAPERS[options["paper"]])
        return reproduce(options["data"] or reference_data(), options, self._say)

    def _of_study(self, options: dict[str, Any]) -> Reproduction:
        if options["data"]:
            raise CommandError("Give --data or --study: the tables come from one of the two.")
        if options["paper"] not in OF_STUDIES:
            raise CommandError(f"“{options['paper']}” has no tables of a study.")
        reproduce: OfStudy = import_string(OF_STUDIES[options["paper"]])
        return reproduce(options["study"], options, self._say)

    def _say(self, done: int, total: int, note: str) -> None:
        self.stderr.write(f"{note}: {done} of {total}")

    def _print(self, reproduction: Reproduction, options: dict[str, Any]) -> None:
        form = options["tables"] or ("text" if options["study"] or options["table"] else "")
        if options["json"]:
            values = [figure.as_dict() for figure in reproduction.figures]
            self.stdout.write(json.dumps(values, indent=2, ensure_ascii=False))
            if not options["study"]:
                self.stderr.write(reproduction.summary())
        elif form:
            for layout in _chosen(reproduction.layouts, options["table"]):
                table = fill(layout, reproduction.figures, prefers_ours=options["ours"])
                self.stdout.write(_written(table, form, options["text_width"]))
        else:
            rows = [HEADINGS, *(figure.as_row() for figure in reproduction.figures)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            self._print_cells(rows, widths[:-1])
            self.stdout.write(f"\n{reproduction.summary()}")

    def _print_cells(self, rows: Iterable[Sequence[str]], widths: Sequence[int]) -> None:
        """Print cells in columns; ``widths`` has the widths of all columns but the last."""
        for *padded, last in rows:
            texts = [cell.ljust(width) for cell, width in zip(padded, widths, strict=True)]
            self.stdout.write("  ".join([*texts, last]))


def reference_data() -> Path:
    """Return the folder of the released files, from COUNTERPOINT_REFERENCE_DATA if set."""
    default = settings.BASE_DIR.parent / "shared" / "data"
    return Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", default))


def _chosen(layouts: Sequence[TableLayout], names: Sequence[str]) -> list[TableLayout]:
    known = [layout.name for layout in layouts]
    if unknown := [name for name in names if name not in known]:
        raise CommandError(f"No table {', '.join(unknown)}; there are {', '.join(known)}.")
    return [layout for layout in layouts if not names or layout.name in names]


def _written(table: PaperTable, form: str, text_width: float) -> str:
    if form == "latex":
        return table.to_latex(text_width)
    return table.to_markdown() if form == "markdown" else table.to_text()


def _control_label(text: str) -> tuple[str, int]:
    task, _equals, label = text.rpartition("=")
    if not task or label not in ("0", "1", "2", "3"):
        raise ArgumentTypeError(f"{text!r} is not TASK_ID=LABEL with a label from 0 to 3")
    return task, int(label)
