"""The argument summarization paper for `manage.py reproduce`."""

from pathlib import Path
from typing import Any

from django.core.management import CommandError

from argsum.reports.paper_figures import argsum_figures
from argsum.reports.paper_release import ReleaseMissing
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.tabular import UnreadableFile
from cqa_site.web.published import reproduced
from cqa_site.web.reproduced import Reproduced, Say

WIDTHS = (25, 56, 24, 27, 27, 4)


def argsum(data: Path, options: dict[str, Any], say: Say) -> Reproduced:
    """Every figure that needs no foreign model; no database is used, no option changes one."""
    try:
        figures = argsum_figures(data, say)
    except (ReleaseMissing, UnreadableFile, EmbeddingsUnavailable) as error:
        raise CommandError(str(error)) from error
    return reproduced(figures, WIDTHS)
