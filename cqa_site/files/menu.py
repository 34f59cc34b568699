"""Files in the menu of a study."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from cqa_site.web.navigation.menu import Entry

from .models import ImportFile


def file_entries() -> Iterator[Entry]:
    """What came in as a file."""
    yield Entry(
        "data",
        _("Imports"),
        "imports",
        place=10,
        waits=files_waiting,
        tour=_("Files come in here. Each is checked first, and you see what it would add."),
        also=_("upload files samples"),
    )


def files_waiting(study: Any) -> int:
    """Dry runs that nobody has confirmed; files that came together count once."""
    files = ImportFile.objects.filter(study=study, state=ImportFile.State.CHECKED)
    found = files.aggregate(
        alone=Count("pk", filter=Q(batch=None)), together=Count("batch", distinct=True)
    )
    return found["alone"] + found["together"]
