"""The relevance paper, and a judge trained on its release, for `manage.py reproduce`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.papers.reports.relevance_published import layouts
from cqa_site.files.actions.rows import ImportRefused
from cqa_site.reproduction.figures import Figure
from cqa_site.reproduction.reproduced import Reproduction, Say
from cqa_site.runs.jobs import JobRefused

from ..management.throwaway import throwaway_database
from .judge_reproduction import reproduce_judge
from .reproduction import Choices, DataMissing, NoSuchControl, reproduce_relevance


def relevance(data: Path, options: dict[str, Any], say: Say) -> Reproduction:
    """Every figure of the released votes, labels and answers."""
    choices = Choices(options["min_accuracy"], dict(options["control_label"]))
    figures = _computed(lambda: reproduce_relevance(data, choices))
    return Reproduction(figures, layouts(), is_imported=True)


def judge(data: Path, options: dict[str, Any], say: Say) -> Reproduction:
    """A judge trained on the released labels, on pairs held back."""
    return Reproduction(_computed(lambda: reproduce_judge(data, say)), is_imported=True)


def _computed(compute: Callable[[], list[Figure]]) -> tuple[Figure, ...]:
    """Compute in a database that exists only for this; the configured one is not touched."""
    try:
        with throwaway_database():
            return tuple(compute())
    except (DataMissing, NoSuchControl, ImportRefused, JobRefused) as error:
        raise CommandError(str(error)) from error
