"""Are the collected static files those of this version?"""

import re
from pathlib import Path
from typing import cast

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, staticfiles_storage
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.preparing import static_sources

from ..examining import Family, examination
from ..findings import Finding, manage, well, wrong

HASH = re.compile(rb"\.[0-9a-f]{12}(?=\.\w)")


@examination(Family.FILES, gettext_lazy("Static files"))
def static() -> Finding:
    """Compare every source with what was collected of it."""
    if not isinstance(staticfiles_storage, ManifestStaticFilesStorage):
        return well(_("Served from their sources."))
    # The stubs know of another return value.
    known, _hash = cast(tuple[dict[str, str], str], staticfiles_storage.load_manifest())
    sources = static_sources()
    if not known:
        return _collect(_("None were collected into %s, so no page has its style."))
    stale = [name for name, file in sources.items() if _differs(known.get(name), file)]
    if not stale:
        return well(_("All %d are those of this version.") % len(sources))
    says = ngettext(
        "%(n)d file in %%s is not that of this version: %(first)s.",
        "%(n)d files in %%s are not those of this version, first %(first)s.",
        len(stale),
    )
    return _collect(says % {"n": len(stale), "first": min(stale)})


def _differs(collected: str | None, source: Path) -> bool:
    """Whether a collected file came from another source, or is not there."""
    copy = Path(settings.STATIC_ROOT) / (collected or "")
    if not copy.is_file():
        return True
    here, there = source.read_bytes(), copy.read_bytes()
    return here != there and _without_names(here) != _without_names(there)


def _without_names(content: bytes) -> bytes:
    """A style or script without what collecting writes into it: hashes of names, and quotes."""
    return HASH.sub(b"", content).translate(None, b"\"'")


def _collect(says: str) -> Finding:
    remedy = _("Collect them anew, then start the web server again:")
    return wrong(says % settings.STATIC_ROOT, remedy, manage("collectstatic --noinput --clear"))
