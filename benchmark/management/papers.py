"""The CompQA paper for `manage.py reproduce`."""

from pathlib import Path
from typing import Any

from django.core.management import CommandError

from benchmark.reports.compqa_compare import DIFFERS, Figure
from benchmark.reports.compqa_paper import compqa_figures
from benchmark.reports.compqa_release import ReleaseMissing
from cqa_site.tabular import UnreadableFile
from cqa_site.web.reproduced import Reproduced, Row, Say

HEADINGS = ("table", "cell", "paper", "released data", "ours", "n", "verdict")
WIDTHS = (11, 45, 16, 17, 17, 5)


def compqa(data: Path, options: dict[str, Any], say: Say) -> Reproduced:
    """Every figure of the released scores; no database is used, and no option changes one."""
    try:
        figures = compqa_figures(data)
    except (ReleaseMissing, UnreadableFile) as error:
        raise CommandError(str(error)) from error
    return Reproduced(HEADINGS, WIDTHS, tuple(map(_row, figures)))


def _row(figure: Figure) -> Row:
    verdict = figure.status + (f": {figure.why}" if figure.why else "")
    cells = (
        figure.table,
        figure.cell,
        figure.paper or "–",
        figure.released or "–",
        figure.shown,
        "–" if figure.n is None else f"{figure.n:,}",
        verdict,
    )
    return Row(
        name=f"{figure.table}: {figure.cell}",
        cells=cells,
        values=figure.as_dict(),
        is_unexplained=figure.status == DIFFERS and not figure.why,
    )
