"""One file into one study: the path every page, command and test takes."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.files.formats import format_of
from cqa_site.people.models import Study, User
from cqa_site.tabular import UnreadableFile

from .rows import ImportRefused, Line, Outcome, Source


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
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Compare a file with a study and, with ``write``, import it: all of it or nothing.

    Raises ImportRefused for a file that cannot be read or taken, and when rows are rejected
    without leave to go on without them. A dry run (``write=False``) only reads.
    """
    lines = _lines(kind, Source(path, name, study, dict(options or {})))
    work = format_of(kind).reconciliation(
        study, write=write, update_changed=update_changed, actor=actor
    )
    if not write:
        return work.run(lines, progress)
    try:
        with transaction.atomic():
            outcome = work.run(lines)
            _refuse_rejected(outcome, leave_out_rejected)
    except IntegrityError as error:
        raise ImportRefused(
            _("Somebody else wrote the same rows just now; nothing was imported. Try again.")
        ) from error
    return outcome


def _lines(kind: str, source: Source) -> Iterator[Line]:
    """Read the file; what makes it unreadable becomes a refusal."""
    try:
        yield from format_of(kind).read(source)
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


def timed(progress: Callable[[int], None], seconds: float = 0.5) -> Callable[[int], None]:
    """Call ``progress`` at most every so many seconds."""
    last = 0.0

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            progress(done)

    return report
