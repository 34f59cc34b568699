"""The relevance paper, and a judge trained on its release, for `manage.py reproduce`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.actions.importing import ImportRefused
from annotation.reports.relevance_published import DIFFERS, Figure
from cqa_site.runs.jobs import JobRefused
from cqa_site.web.reproduced import Reproduced, Row, Say

from .judge_reproduction import reproduce_judge
from .reproduction import Choices, DataMissing, NoSuchControl, reproduce_relevance
from .throwaway import throwaway_database

HEADINGS = ("figure", "paper", "released data", "ours", "status")
WIDTHS = (44, 16, 29, 29)


def relevance(data: Path, options: dict[str, Any], say: Say) -> Reproduced:
    """Every figure of the released votes, labels and answers."""
    choices = Choices(options["min_accuracy"], dict(options["control_label"]))
    return _reproduced(lambda: reproduce_relevance(data, choices))


def judge(data: Path, options: dict[str, Any], say: Say) -> Reproduced:
    """A judge trained on the released labels, on pairs held back."""
    return _reproduced(lambda: reproduce_judge(data, say))


def _reproduced(compute: Callable[[], list[Figure]]) -> Reproduced:
    """Compute in a database that exists only for this; the configured one is not touched."""
    try:
        with throwaway_database():
            figures = compute()
    except (DataMissing, NoSuchControl, ImportRefused, JobRefused) as error:
        raise CommandError(str(error)) from error
    return Reproduced(HEADINGS, WIDTHS, tuple(map(_row, figures)))


def _row(figure: Figure) -> Row:
    status = figure.status + (f": {figure.why}" if figure.why else "")
    released = _text(figure.released, figure.digits)
    ours = _text(figure.ours, figure.digits)
    return Row(
        name=figure.name,
        cells=(figure.name, figure.paper or "–", released, ours, status),
        values=figure.as_dict(),
        # A figure that differs because of an option has a reason; the others should not differ.
        is_unexplained=figure.status == DIFFERS and not figure.why,
    )


def _text(value: Any, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, tuple):
        return " / ".join(f"{part:,}" for part in value)
    return f"{value:.{digits}f}" if isinstance(value, float) else f"{value:,}"
