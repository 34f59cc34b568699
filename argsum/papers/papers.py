"""The argument summarization paper for `manage.py reproduce`."""

from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.management.environment import find_study
from argsum.papers.reports.release import KeyPointReleaseMissing
from argsum.papers.reports.reproduction import argsum_reproduction
from argsum.papers.reports.study import argsum_of_study
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.reproduction.reproduced import Reproduction, Say
from cqa_site.tabular import UnreadableFile


def argsum(data: Path, options: dict[str, Any], say: Say) -> Reproduction:
    """Compute all figures that need no external model, without a database or options."""
    try:
        return argsum_reproduction(data, say)
    except (KeyPointReleaseMissing, UnreadableFile, EmbeddingsUnavailable) as error:
        raise CommandError(str(error)) from error


def argsum_study(wanted: str, options: dict[str, Any], say: Say) -> Reproduction:
    """Compute the paper's tables from the datasets, counts and systems of a study."""
    study = find_study(wanted)
    if study is None:
        raise CommandError(f"There is no study {wanted!r}.")
    reproduction = argsum_of_study(study)
    if not reproduction.layouts:
        raise CommandError(f"The study {wanted!r} has no arguments, counts or summaries.")
    return reproduction
