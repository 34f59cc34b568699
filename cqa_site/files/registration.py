"""Job handlers, maintenance tasks and menu entries for files."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from cqa_site.runs.jobs import handles
from cqa_site.web.housekeeping import chore
from cqa_site.web.navigation import MenuEntry
from .actions import exports
from .actions.files import APPLY_JOB, CHECK_JOB
from .actions.import_jobs import BATCH_JOB, run_apply, run_batch, run_check
from .models import ImportFile

handles(CHECK_JOB)(run_check)
handles(APPLY_JOB)(run_apply)
handles(BATCH_JOB)(run_batch)

chore("expired exports")(exports.expire_exports)
chore("uploads never imported")(exports.discard_old_imports)
chore("leftover files")(exports.remove_leftovers)


def file_entries() -> Iterator[MenuEntry]:
    yield MenuEntry(
        "data",
        _("Imports"),
        "imports",
        place=10,
        waits=files_waiting,
        tour=_("Import files here. Each is checked first, and you see what it would add."),
        also=_("upload files samples"),
    )


def files_waiting(study: Any) -> int:
    """Return the number of dry runs to confirm; files from one upload count once."""
    files = ImportFile.objects.filter(study=study, state=ImportFile.State.CHECKED)
    counts = files.aggregate(
        alone=Count("pk", filter=Q(batch=None)), together=Count("batch", distinct=True)
    )
    return counts["alone"] + counts["together"]
