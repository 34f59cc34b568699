"""Entry points for the CompQA paper in `manage.py reproduce`."""

from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.management.environment import find_study
from benchmark.papers.reports.paper import compqa_reproduction
from benchmark.papers.reports.release import AnswerReleaseMissing
from benchmark.papers.reports.study import NothingScored, study_reproduction
from cqa_site.reproduction.reproduced import Reproduction, Say
from cqa_site.tabular import UnreadableFile


def compqa(data: Path, options: dict[str, Any], say: Say) -> Reproduction:
    """Compute every figure from the released scores, without a database; options are ignored."""
    try:
        return compqa_reproduction(data)
    except (AnswerReleaseMissing, UnreadableFile) as error:
        raise CommandError(str(error)) from error


def compqa_of_study(wanted: str, options: dict[str, Any], say: Say) -> Reproduction:
    """Compute the paper's tables from the score sheets of a study."""
    study = find_study(wanted)
    if study is None:
        raise CommandError(f"There is no study {wanted!r}.")
    try:
        return study_reproduction(study)
    except NothingScored as error:
        raise CommandError(str(error)) from error
