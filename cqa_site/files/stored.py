"""Where finished exports lie."""

from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from cqa_site.web.not_there import NotThere

from .models import ExportFile

FOLDER = "exports"


def stored_path(file: ExportFile) -> Path:
    """Where the finished file lies; raises NotThere if it has expired."""
    if not file.stored_as:
        raise NotThere(_("This file was deleted because it is old. Make it anew."))
    return settings.MEDIA_ROOT / file.stored_as


def manifest_path(file: ExportFile) -> Path:
    """Where the description of the finished file lies."""
    return stored_path(file).with_suffix(".manifest.json")
