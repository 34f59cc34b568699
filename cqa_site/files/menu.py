"""Files in the menu of a study."""

from collections.abc import Iterator
from typing import Any

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
    )


def files_waiting(study: Any) -> int:
    """Files whose dry run is done and that nobody has confirmed."""
    return ImportFile.objects.filter(study=study, state=ImportFile.State.CHECKED).count()
