"""One file into one study: the path every page, command and test takes."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.imports.books.campaigns import ImportRefused
from annotation.imports.books.matching import match_to_study
from annotation.labelling.actions.guidelines import default_levels
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.models import Study, User
from cqa_site.tabular import UnreadableFile

from .reconcile import reconcile
from .registry import reader_of
from .rows import Line, Outcome
from .source import Source

__all__ = ["ImportRefused", "import_path"]
LONGEST_CAMPAIGN_NAME = 100


def import_path(
    *,
    study: Study,
    kind: str,
    path: Path,
    name: str,
    options: Mapping[str, Any] | None = None,
    write: bool,
    leave_out_rejected: bool = False,
    update_changed: bool = False,
    actor: User | None = None,
    progress=None,
) -> Outcome:
    """Compare a file with a study and, with ``write``, import it: all of it or nothing.

    Raises ImportRefused for a file that cannot be read, for a campaign name
    that is taken, and when rows are rejected without leave to go on without
    them. A dry run (``write=False``) only reads.
    """
    chosen = dict(options or {})
    source = Source(
        path=path,
        name=name,
        scale=_scale(study, chosen.get("campaign", "")),
        campaign=campaign_name(chosen.get("campaign", ""), name),
        study=study,
        options=chosen,
    )
    asked = {"study": study, "update_changed": update_changed, "actor": actor, "write": write}
    if not write:
        return reconcile(lines=_lines(study, kind, source), progress=progress, **asked)
    try:
        with transaction.atomic():
            outcome = reconcile(lines=_lines(study, kind, source), **asked)
            _refuse_rejected(outcome, leave_out_rejected)
    except IntegrityError as error:
        raise ImportRefused(
            _("Somebody else wrote the same rows just now; nothing was imported. Try again.")
        ) from error
    return outcome


def campaign_name(asked: str, file_name: str) -> str:
    """The name asked for, or the file's without its ending."""
    stem = Path(file_name).stem or file_name
    return (asked.strip() or stem)[:LONGEST_CAMPAIGN_NAME]


def _scale(study: Study, campaign: str) -> tuple[int, ...]:
    """Labels of the campaign's guideline, else of the study's newest, else 0–3."""
    found = Campaign.objects.filter(study=study, name=campaign).select_related("guideline").first()
    guideline = found.guideline if found else study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    return tuple(level["value"] for level in levels)


def _lines(study: Study, kind: str, source: Source) -> Iterator[Line]:
    """Read the file; what makes it unreadable becomes a refusal."""
    try:
        yield from match_to_study(study, kind, reader_of(kind)(source))
    except UnreadableFile as error:
        raise ImportRefused(str(error)) from error


def _refuse_rejected(outcome: Outcome, leave_out_rejected: bool) -> None:
    if outcome.rejected and not leave_out_rejected:
        raise ImportRefused(
            ngettext(
                "%s row is rejected, so nothing was imported.",
                "%s rows are rejected, so nothing was imported.",
                outcome.rejected,
            )
            % outcome.rejected
        )


def timed(progress, seconds: float = 0.5):
    """Call ``progress`` at most every so many seconds."""
    last = 0.0

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            progress(done)

    return report
