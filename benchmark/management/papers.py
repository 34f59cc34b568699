"""The CompQA paper for `manage.py reproduce`."""

from pathlib import Path
from typing import Any

from django.core.management import CommandError

from benchmark.reports.compqa_paper import compqa_figures
from benchmark.reports.compqa_release import ReleaseMissing
from cqa_site.tabular import UnreadableFile
from cqa_site.web.published import reproduced
from cqa_site.web.reproduced import Reproduced, Say

WIDTHS = (11, 45, 16, 17, 17, 5)


def compqa(data: Path, options: dict[str, Any], say: Say) -> Reproduced:
    """Every figure of the released scores; no database is used, and no option changes one."""
    try:
        figures = compqa_figures(data)
    except (ReleaseMissing, UnreadableFile) as error:
        raise CommandError(str(error)) from error
    return reproduced(figures, WIDTHS)
